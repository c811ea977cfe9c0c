// MemoryOrders: what an order about a memory names, looked for before the order is accepted.
// Owns finding facts, passages, attributes, dreams and items of them. Leaves the rest to the assistant: what stands there when the order is
// heard, only the assistant knows.
// O1  An order about what is not there is refused before anything is written, so that its id is still free when it is there.
// O2  So is a correction of a fact that holds no more: it would be heard, and do nothing.
// O3  So is taking back a dream of which a policy has deleted what stood before it, or the dream itself.

import { Ledger } from "@reverie/ledger"
import { flawOfCorrected, isEntityProfile, isFact, profileNamed } from "@reverie/memory"
import type { Envelope, Event, RecordKind } from "@reverie/protocol"
import { entryHistory, readNight } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import { MemoryRefused, MemoryUnknown } from "../errors.ts"
import type { Core } from "../fleet/entry-source.ts"
import { memoryIn } from "../fleet/memories.ts"

type Order<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>

const rowsOf = ({ address, run }: Core, id: string, kind: RecordKind, key: string) =>
  run(Ledger.use((ledger) => ledger.records(address(id), [kind], { keys: [key] })))

const isKept = async (core: Core, id: string, kind: RecordKind, key: string): Promise<boolean> =>
  (await rowsOf(core, id, kind, key)).length > 0

const kept = async (core: Core, id: string, kind: "fact" | "passage", key: string): Promise<string | undefined> =>
  (await isKept(core, id, kind, key)) ? undefined : `${kind} ${key}`

/** What was removed is still there to be put back. */
const attributeOf = async (core: Core, id: string, { attribute, entity }: Order<"writeProfile">) => {
  if (attribute === undefined) return undefined
  const rows = await core.records(id, ["entity"])
  const profiles = new Map(rows.flatMap(({ key, value }) => (isEntityProfile(value) ? [[key, value] as const] : [])))
  const profile = profiles.get(entity) ?? profileNamed(profiles, entity)
  const known = [...(profile?.attributes ?? []), ...(profile?.removed ?? [])]
  return known.some((each) => each.id === attribute) ? undefined : `attribute ${attribute} in the profile of ${entity}`
}

/** A night whose entries retention has taken away is known by its report alone, and its items are no more. */
const dreamOf = async (core: Core, id: string, { dream, items = [] }: Order<"acceptDream" | "undoDream">) => {
  const account = await memoryIn(core, core.run).dream(id, dream)
  if (account === undefined) return (await isKept(core, id, "dream", dream)) ? undefined : `dream ${dream}`
  const { changed, forgotten, learnt, linked } = account
  const known = new Set([...changed, ...forgotten, ...learnt, ...linked].map(({ item }) => item))
  const strange = items.find((item) => !known.has(item))
  return strange === undefined ? undefined : `item ${strange} of ${dream}`
}

const missingIn = async (core: Core, id: string, event: Event): Promise<string | undefined> => {
  switch (event.type) {
    case "deletePassage":
      return kept(core, id, "passage", event.passage)
    case "releaseFact":
    case "retireFact":
      return kept(core, id, "fact", event.fact)
    case "writeFact":
      return event.fact === undefined ? undefined : kept(core, id, "fact", event.fact)
    case "writeProfile":
      return attributeOf(core, id, event)
    case "undoDream":
    case "acceptDream":
      return dreamOf(core, id, event)
    default:
      return undefined
  }
}

const correctedIn = async (core: Core, id: string, event: Event): Promise<MemoryRefused | undefined> => {
  if (event.type !== "writeFact" || event.fact === undefined) return undefined
  const value = (await rowsOf(core, id, "fact", event.fact))[0]?.value
  const message = isFact(value) ? flawOfCorrected(value) : undefined
  return message === undefined ? undefined : new MemoryRefused({ assistant: id, memory: event.fact, message })
}

const undoneIn = async ({ address, run }: Core, id: string, event: Event): Promise<MemoryRefused | undefined> => {
  if (event.type !== "undoDream") return undefined
  const { dream } = event
  const night = await run(Effect.flatMap(entryHistory(address(id)), (history) => readNight(history, dream)))
  if (night?.isDeleted === false) return undefined
  const gone = night === undefined ? `what ${dream} did` : `what stood before ${dream}`
  const message = `${gone} was deleted by retention, so that it can not be taken back; retire or correct what is wrong of it`
  return new MemoryRefused({ assistant: id, memory: dream, message })
}

/** What is wrong with an order about a memory; undefined when nothing is, and of every other event. */
export const flawOfMemoryOrder = async (
  core: Core,
  { event, to: { assistant } }: Pick<Envelope, "event" | "to">
): Promise<MemoryRefused | MemoryUnknown | undefined> => {
  const missing = await missingIn(core, assistant, event)
  if (missing === undefined)
    return (await correctedIn(core, assistant, event)) ?? (await undoneIn(core, assistant, event))
  if ((await core.inspect(assistant)) === undefined) return undefined
  const message = `there is no ${missing} in the memory of ${assistant}; list what is there for its id`
  return new MemoryUnknown({ assistant, memory: missing, message })
}
