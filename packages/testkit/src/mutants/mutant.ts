// Mutant: a store that is wrong on purpose in one way, to prove that the laws notice.
// Owns the wrapping. Leaves the mistakes to the lists beside it.
// M1  A mutant is the right store but for its one mistake, over a disk of its own.

import type { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { FreshLayer } from "../law.ts"
import { MemoryDisk, type Resident } from "../memory-disk.ts"
import { memoryStore, type Store, storeLayer } from "../memory-store.ts"

/** What a mistake puts in the place of the right verbs. It may also lay hands on the disk. */
export type Mistake = (
  right: Store,
  disk: MemoryDisk
) => { readonly mailbox?: Partial<Mailbox["Service"]>; readonly ledger?: Partial<Ledger["Service"]> }

export type Mutants = Readonly<Record<string, FreshLayer<Mailbox | Ledger>>>

const mutant =
  (mistake: Mistake): FreshLayer<Mailbox | Ledger> =>
  () => {
    const disk = new MemoryDisk()
    const right = memoryStore(disk)
    const wrong = mistake(right, disk)
    return storeLayer({
      mailbox: { ...right.mailbox, ...wrong.mailbox },
      ledger: { ...right.ledger, ...wrong.ledger }
    })
  }

export const mutantsOf = (mistakes: Readonly<Record<string, Mistake>>): Mutants =>
  Object.fromEntries(Object.entries(mistakes).map(([name, mistake]) => [name, mutant(mistake)]))

/** The same disk, each assistant seen through a lens. What is written to it is lost. */
export const seenThrough = (disk: MemoryDisk, lens: (resident: Resident) => Resident): Store => {
  const view = new MemoryDisk()
  for (const [key, resident] of disk.residents) view.residents.set(key, lens(resident))
  return memoryStore(view)
}

/** Assistants that share their name with this one, itself among them, whatever their tenant. */
export const namesakes = (disk: MemoryDisk, { assistant }: Address): ReadonlyArray<Resident> =>
  [...disk.residents.values()].filter(({ address }) => address.assistant === assistant)

/** Does something to the disk once an effect has succeeded. */
export const afterwards = <A, E, R>(effect: Effect.Effect<A, E, R>, change: (value: A) => void) =>
  Effect.tap(effect, (value) => Effect.sync(() => change(value)))

/** What becomes of text that passes through UTF-8. */
export const throughUtf8 = <A>(value: A): A =>
  JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === "string" ? part.replace(/[\ud800-\udfff]/g, "\ufffd") : part
  ) as A
