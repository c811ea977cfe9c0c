// RecallSteps: what laws of an index do over and over, said once.
// Owns the short forms over the port. Leaves every assertion to the law that makes it.

import {
  entryId,
  type Hit,
  type IndexChange,
  type IndexPosition,
  type IndexSpan,
  type MemoryEntry,
  messageId,
  Recall,
  type RecallQuery,
  type RecallScope
} from "@reverie/memory"
import { type Address, AssistantId, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { LAW_START_MILLIS } from "../law.ts"

export const addressOf = (tenant: string, assistant: string): Address => ({
  tenant: TenantId.make(tenant),
  assistant: AssistantId.make(assistant)
})

/** The assistants of the laws: two of one tenant, a third, and a namesake of the first elsewhere. */
export const ada = addressOf("harbor", "ada")
export const bob = addressOf("harbor", "bob")
export const eve = addressOf("harbor", "eve")
export const otherAda = addressOf("tower", "ada")

/** Long before the laws begin, so that nothing is recent. */
export const LONG_AGO_MILLIS = LAW_START_MILLIS - 1_000 * 86_400_000

/** A passage, unless said otherwise: neighbours and speakers have no part in it. */
export const aMemory = (key: string, text: string, request: Partial<MemoryEntry> = {}): MemoryEntry => ({
  id: entryId("passage", key),
  kind: "passage",
  at: LONG_AGO_MILLIS,
  text,
  entities: [],
  tags: [],
  trust: 0.9,
  importance: 1,
  readers: "owner",
  ...request
})

export const aMessageAt = (
  no: number,
  speaker: string,
  text: string,
  request: Partial<MemoryEntry> = {}
): MemoryEntry =>
  aMemory(String(no), text, {
    id: messageId({ no, index: 0 }),
    kind: "message",
    at: LONG_AGO_MILLIS + no * 1_000,
    speaker,
    thread: "quay",
    ...request
  })

export const putting = (entry: MemoryEntry): IndexChange => ({ type: "put", entry })
export const removing = (entry: Pick<MemoryEntry, "id">): IndexChange => ({ type: "remove", id: entry.id })
export const attaching = (of: Pick<MemoryEntry, "id">, fact: string, text: string | null): IndexChange => ({
  type: "fact",
  of: of.id,
  fact,
  text
})

/** The position at an entry of a ledger. `life` tells it from the entry of that number in another life. */
export const at = (no: number, life = ""): IndexPosition => ({ no, digest: `entry ${no}${life}` })

export const applyAt = (address: Address, changes: ReadonlyArray<IndexChange>, span: IndexSpan) =>
  Recall.use((recall) => recall.apply(address, changes, span))

/** Applies changes from where the index stands, as anyone who reads on in the ledger does. */
export const apply = (address: Address, changes: ReadonlyArray<IndexChange>, no = 1) =>
  Effect.flatMap(standing(address), (from) => applyAt(address, changes, { from, to: at(no) }))

/** Lets an assistant remember entries. */
export const remember = (address: Address, ...entries: ReadonlyArray<MemoryEntry>) =>
  apply(address, entries.map(putting))

export const asking = (text: string, request: Partial<RecallQuery> = {}): RecallQuery => ({
  text,
  search: "fts",
  scope: "own",
  limit: 10,
  now: LAW_START_MILLIS,
  ...request
})

export const ask = (viewer: Address, text: string, request: Partial<RecallQuery> = {}) =>
  Recall.use((recall) => recall.search(viewer, asking(text, request)))

/** Whose entries were found, and which, the best first. */
export const namesOf = (hits: ReadonlyArray<Hit>): ReadonlyArray<string> =>
  hits.map(({ entry, owner }) => `${owner} ${entry.id}`)

export const idsOf = (hits: ReadonlyArray<Hit>): ReadonlyArray<string> => hits.map(({ entry }) => entry.id)

export const found = (viewer: Address, text: string, request: Partial<RecallQuery> = {}) =>
  Effect.map(ask(viewer, text, request), idsOf)

export const inScope = (viewer: Address, text: string, scope: RecallScope) =>
  Effect.map(ask(viewer, text, { scope }), (hits) => namesOf(hits).toSorted())

export const standing = (address: Address) => Recall.use((recall) => recall.position(address))
/** The number of the last entry that was indexed. */
export const position = (address: Address) => Effect.map(standing(address), ({ no }) => no)
export const count = (address: Address) => Recall.use((recall) => recall.count(address))
export const erase = (address: Address) => Recall.use((recall) => recall.erase(address))

/** The vector models of the laws. */
export const north = { id: "north-1", dimensions: 3 } as const
export const south = { id: "south-1", dimensions: 4 } as const

export const prepare = (model: { readonly id: string; readonly dimensions: number }) =>
  Recall.use((recall) => recall.prepareVectors(model))

export const promote = (model: { readonly id: string }) => Recall.use((recall) => recall.promoteVectors(model.id))

export const missing = (model: { readonly id: string }, limit = 100) =>
  Effect.map(
    Recall.use((recall) => recall.missingVectors(model.id, limit)),
    (rows) => rows.map(({ address, id }) => `${address.tenant}/${address.assistant} ${id}`).toSorted()
  )

export const putVector = (
  model: { readonly id: string },
  address: Address,
  entry: Pick<MemoryEntry, "id">,
  vector: ReadonlyArray<number>
) => Recall.use((recall) => recall.putVectors(model.id, [{ address, id: entry.id, vector }]))
