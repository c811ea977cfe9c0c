// Writing: changes of one assistant's entries, brought to the server.
// Owns turning changes into points, and their packing into requests. Leaves who may write at once to `qdrant-recall.ts`.
// W1  The points first, the position last, each request in order: what was cut off is done again, to the same end.
// W4  The position moves only from where it was read: points of anyone who was overtaken, or erased, in between are no gap.
// W5  Points of anyone who was overtaken by another beginning of the index may be of a life that is gone: what is there of the assistant is
//     then emptied, and begun once more by the next one that comes.
// W2  A change of what an entry means takes its vectors of meaning with it; any other change leaves them.
// W3  What is as it was is not written.

import {
  beginningOf,
  type IndexChange,
  type IndexPosition,
  type IndexSpan,
  meaningOf,
  type RecallUnavailable,
  samePosition
} from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import type { Schemas } from "@qdrant/js-client-rest"
import * as Effect from "effect/Effect"
import { PointsAnswer, type Qdrant } from "./client.ts"
import { MAX_BATCH_POINTS } from "./form.ts"
import {
  type Memory,
  memoryIn,
  ofAssistant,
  payloadOf,
  pointId,
  positionIn,
  positionPoint,
  positionPointId,
  standingAt,
  WORDS,
  wordsOf
} from "./point.ts"

type Operation = Schemas["UpdateOperation"]

/** A request is sent when it has come to this size; far below what the server takes. */
const MAX_REQUEST_CHARACTERS = 2_000_000

/** How many points are asked for at once. */
const MAX_POINTS_READ = 256

interface Slot {
  /** What the server has. */
  readonly before: Memory | undefined
  readonly now: Memory | undefined
  /** It was taken away in between, and what is there now is another one. */
  readonly isNew: boolean
}

const idOf = (change: IndexChange): string => {
  if (change.type === "put") return change.entry.id
  return change.type === "remove" ? change.id : change.of
}

const changed = (slot: Slot, change: IndexChange): Slot => {
  const facts = slot.now?.facts ?? []
  if (change.type === "put") return { ...slot, now: { entry: change.entry, facts } }
  if (change.type === "remove") return { ...slot, now: undefined, isNew: true }
  if (slot.now === undefined) return slot
  const { fact: id, text } = change
  const known = facts.some((fact) => fact.id === id)
  if (text === null) return { ...slot, now: { ...slot.now, facts: facts.filter((fact) => fact.id !== id) } }
  const next = known ? facts.map((fact) => (fact.id === id ? { id, text } : fact)) : [...facts, { id, text }]
  return { ...slot, now: { ...slot.now, facts: next } }
}

/** What has to be asked of the server so that it holds what it should. */
const operationsOf = (address: Address, id: string, { before, isNew, now }: Slot): ReadonlyArray<Operation> => {
  const point = pointId(address, id)
  if (now === undefined) return before === undefined ? [] : [{ delete: { points: [point] } }]
  const payload = payloadOf(address, now)
  const vector = wordsOf(now)
  const upsert: Operation = { upsert: { points: [{ id: point, payload, vector }] } }
  if (before === undefined || isNew || !(WORDS in vector)) return [upsert]
  if (meaningOf(before.entry) !== meaningOf(now.entry)) return [upsert]
  const old = payloadOf(address, before)
  if (JSON.stringify(old) === JSON.stringify(payload)) return []
  return [{ update_vectors: { points: [{ id: point, vector }] } }, { overwrite_payload: { points: [point], payload } }]
}

/** Operations in requests that are neither too many nor too large. */
const packed = (operations: ReadonlyArray<Operation>): ReadonlyArray<Array<Operation>> => {
  const requests: Array<Array<Operation>> = []
  let characters = Infinity
  for (const operation of operations) {
    const size = JSON.stringify(operation).length
    const last = requests.at(-1)
    if (last === undefined || last.length >= MAX_BATCH_POINTS || characters + size > MAX_REQUEST_CHARACTERS) {
      requests.push([operation])
      characters = size
    } else {
      last.push(operation)
      characters += size
    }
  }
  return requests
}

/**
 * Moves the position, unless someone else has moved it since it was read. It goes with the last points, in one request.
 */
const moving = (address: Address, before: unknown, { from, to }: IndexSpan): Operation => {
  const points = [positionPoint(address, to)]
  return before === undefined
    ? { upsert: { points, update_mode: "insert_only" } }
    : { upsert: { points, update_mode: "update_only", update_filter: standingAt(from) } }
}

export interface Writing {
  readonly apply: (
    address: Address,
    changes: ReadonlyArray<IndexChange>,
    span: IndexSpan
  ) => Effect.Effect<IndexPosition, RecallUnavailable>
  readonly position: (address: Address) => Effect.Effect<IndexPosition, RecallUnavailable>
  readonly erase: (address: Address) => Effect.Effect<void, RecallUnavailable>
}

export const writing = ({ read, write }: Qdrant, collection: string): Writing => {
  const payloads = (operation: string, ids: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const found = new Map<string, unknown>()
      for (let from = 0; from < ids.length; from += MAX_POINTS_READ) {
        const some = ids.slice(from, from + MAX_POINTS_READ)
        const points = yield* read(operation, PointsAnswer, (client) =>
          client.retrieve(collection, { ids: some, with_payload: true, consistency: "majority" })
        )
        for (const { id, payload } of points) found.set(String(id), payload)
      }
      return found
    })
  const standing = (operation: string, address: Address) => {
    const id = positionPointId(address)
    return Effect.map(payloads(operation, [id]), (found) => positionIn(found.get(id)))
  }

  const erase = (address: Address) =>
    write("erase", (client) =>
      client.delete(collection, { filter: ofAssistant(address), wait: true, ordering: "strong" })
    )

  return {
    position: (address) => standing("position", address),
    erase,
    apply: (address, changes, span) =>
      Effect.gen(function* () {
        const mark = positionPointId(address)
        const touched = [...new Set(changes.map(idOf))]
        const found = yield* payloads("apply", [mark, ...touched.map((id) => pointId(address, id))])
        const present = positionIn(found.get(mark))
        if (!samePosition(present, span.from)) return present
        const slots = new Map<string, Slot>()
        for (const id of touched) {
          const before = memoryIn(found.get(pointId(address, id)))
          slots.set(id, { before, now: before, isNew: false })
        }
        for (const change of changes) {
          const slot = slots.get(idOf(change))
          if (slot !== undefined) slots.set(idOf(change), changed(slot, change))
        }
        const operations = [...slots].flatMap(([id, slot]) => operationsOf(address, id, slot))
        for (const request of packed([...operations, moving(address, found.get(mark), span)])) {
          yield* write("apply", (client) =>
            client.batchUpdate(collection, { operations: request, wait: true, ordering: "strong" })
          )
        }
        const reached = yield* standing("apply", address)
        if (operations.length === 0 || beginningOf(reached) === beginningOf(span.to)) return reached
        yield* erase(address)
        return yield* standing("apply", address)
      })
  }
}
