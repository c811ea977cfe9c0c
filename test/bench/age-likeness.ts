// AgeLikeness: whether a past that was written is like one that was lived.
// Owns living a small life message by message, and what of the two is compared: for each message how many entries, bytes
// and envelopes the store has, how many entries the index. Leaves writing a past to age-life.ts.
// E1  What was written must not be smaller than what ticks leave, nor much larger.

import { join } from "node:path"
import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { Recall } from "@reverie/memory"
import { type Address, AssistantId, DEFAULT_TENANT, EnvelopeId } from "@reverie/protocol"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import { storeSqliteLayer } from "@reverie/store-sqlite"
import * as Effect from "effect/Effect"
import { type AssistantDefinition, defineFleet, Fleet } from "reverie"
import { seedLife } from "./age-life.ts"
import type { Sayings } from "./age-sayings.ts"

const MESSAGES = 120
const MOST_ENTRIES = 10 * MESSAGES
const BOUNDS = { least: 0.8, most: 1.6 } as const

const figuresOf = (data: string, id: string) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const address: Address = { tenant: DEFAULT_TENANT, assistant: AssistantId.make(id) }
      const entries = (yield* (yield* Ledger).entries(address, 1, MOST_ENTRIES)).map(({ entry }) => entry)
      const envelopes = entries.flatMap(({ cause }) => (cause.kind === "envelope" ? [cause.id] : []))
      const accepted = yield* (yield* Mailbox).accepted(
        address,
        envelopes.map((each) => EnvelopeId.make(each))
      )
      const indexed = yield* (yield* Recall).count(address)
      const a = (count: number): number => count / MESSAGES
      return {
        entries: a(entries.length),
        bytes: a(entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0)),
        messages: a(entries.reduce((sum, { messages }) => sum + messages.length, 0)),
        answers: a(entries.filter(({ tickEnd }) => tickEnd !== undefined).length),
        envelopes: a(accepted.length),
        indexed: a(indexed)
      }
    }).pipe(Effect.provide([storeSqliteLayer(data), recallSqliteLayer(data, { readOnly: true })]))
  )

type Figures = Awaited<ReturnType<typeof figuresOf>>

export interface Likeness {
  /** For each message. */
  readonly lived: Figures
  readonly written: Figures
  readonly isAlike: boolean
  readonly bounds: typeof BOUNDS
}

/** The same small life twice, in two directories of `directory`. */
export const likenessOf = async (
  directory: string,
  sayings: Sayings,
  definition: AssistantDefinition
): Promise<Likeness> => {
  const { id } = definition
  const [livedIn, writtenIn] = ["lived", "written"].map((name) => join(directory, name)) as [string, string]
  const opened = (data: string) =>
    Fleet.open({ data, fleet: defineFleet({ assistants: [definition] }), model: "offline", durability: "normal" })
  const living = await opened(livedIn)
  for (let place = 0; place < MESSAGES; place++) {
    const { from, text } = sayings.at(place)
    await living.answer(id, text, { from })
  }
  await living.close()
  const store = storeSqliteLayer(writtenIn, { durability: "normal" })
  await seedLife({ id, definition, sayings, messages: MESSAGES, now: Date.now() }, store)
  const indexing = await opened(writtenIn)
  await indexing.memory.rebuild(id)
  await indexing.close()
  const [lived, written] = [await figuresOf(livedIn, id), await figuresOf(writtenIn, id)]
  const isAlike = Object.entries(lived).every(([name, each]) => {
    const ratio = written[name as keyof Figures] / each
    return ratio >= BOUNDS.least && ratio <= BOUNDS.most
  })
  return { lived, written, isAlike, bounds: BOUNDS }
}
