// Point: one memory as Qdrant keeps it.
// Owns ids, payload and the way back from a payload to an entry. Leaves vectors of meaning to `vector-models.ts`.
// P1  The id of a point follows from tenant, assistant and entry: to write it again is to write the same point.
// P2  What comes back from the server is read as data of a stranger: what does not fit is no entry.
// P3  A point is found by words (`bm25`) as soon as it is written; the weights are those of `memory`.
// P4  No half of a surrogate pair is sent: the server would refuse the request. What has one is kept a second time,
//     as JSON in a text, which is what is read back.

import { createHash } from "node:crypto"
import {
  type AttachedFact,
  fieldsOf,
  fits,
  INDEX_START,
  type IndexPosition,
  kindsOf,
  mayRead,
  type MemoryEntry,
  type MemoryKind,
  memoryKinds,
  nameKey,
  type RecallQuery,
  type RecallScope,
  sparseEntry,
  spokenKinds,
  threadsOf
} from "@reverie/memory"
import { type Address, addressKey, AssistantId, defined, parseJson, TenantId } from "@reverie/protocol"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Schemas } from "@qdrant/js-client-rest"

/** The sparse vector of words. */
export const WORDS = "bm25"

/** Stands in `readers` for every assistant of the tenant; no assistant can be called so. */
const EVERYBODY = "*"

/** The payload. `agent` is tenant and assistant in one, the key by which a collection is divided. */
const Payload = Schema.Struct({
  tenant: TenantId,
  owner: AssistantId,
  agent: Schema.String,
  id: Schema.String,
  kind: Schema.Literals(memoryKinds),
  at: Schema.Finite,
  text: Schema.String,
  speaker: Schema.optionalKey(Schema.String),
  context: Schema.optionalKey(Schema.String),
  thread: Schema.optionalKey(Schema.String),
  entities: Schema.Array(Schema.String),
  tags: Schema.Array(Schema.String),
  /** As they are compared: without regard to case. */
  entity_keys: Schema.Array(Schema.String),
  tag_keys: Schema.Array(Schema.String),
  trust: Schema.Finite,
  importance: Schema.Finite,
  /** Empty for its owner alone. */
  readers: Schema.Array(Schema.String),
  facts: Schema.Array(Schema.Struct({ id: Schema.String, text: Schema.String }))
})
type Payload = typeof Payload.Type

const decodePayload = Schema.decodeUnknownOption(Payload)

const Inexact = Schema.Struct({ exact: Schema.String })
const isInexact = Schema.is(Inexact)

/** An entry with the facts that are attached to it. */
export interface Memory {
  readonly entry: MemoryEntry
  readonly facts: ReadonlyArray<AttachedFact>
}

export interface StoredMemory extends Memory {
  readonly address: Address
}

const uuidOf = (text: string): string => {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString("hex").replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5")
}

export const pointId = (address: Address, id: string): string => uuidOf(`entry\n${addressKey(address)}\n${id}`)

/** The point that remembers how far an assistant was indexed. */
export const positionPointId = (address: Address): string => uuidOf(`position\n${addressKey(address)}`)

export const positionPoint = (address: Address, { digest, no }: IndexPosition) => ({
  id: positionPointId(address),
  vector: {},
  payload: { tenant: address.tenant, owner: address.assistant, agent: addressKey(address), position: no, digest }
})

const Position = Schema.Struct({ position: Schema.Finite, digest: Schema.String })
const decodePosition = Schema.decodeUnknownOption(Position)

/** What is no position is none: then everything is indexed again. */
export const positionIn = (payload: unknown): IndexPosition => {
  const found = decodePosition(payload)
  return Option.isNone(found) ? INDEX_START : { no: found.value.position, digest: found.value.digest }
}

const Owned = Schema.Struct({
  tenant: TenantId,
  owner: AssistantId,
  agent: Schema.String,
  copied: Schema.optionalKey(Schema.Boolean)
})
const decodeOwned = Schema.decodeUnknownOption(Owned)

/** Where an assistant stands, as a point says it. */
export interface Standing {
  readonly address: Address
  readonly agent: string
  readonly position: IndexPosition
  /** False where its position is none that this format knows. */
  readonly isRead: boolean
  /** It was copied from another collection, and nothing was applied since. */
  readonly isCopied: boolean
}

export const standingIn = (payload: unknown): Standing | undefined => {
  const decoded = decodeOwned(payload)
  if (Option.isNone(decoded)) return undefined
  const { agent, copied = false, owner, tenant } = decoded.value
  const address = { tenant, assistant: owner }
  if (agent !== addressKey(address)) return undefined
  return {
    address,
    agent,
    position: positionIn(payload),
    isRead: Option.isSome(decodePosition(payload)),
    isCopied: copied
  }
}

const Vectors = Schema.Record(Schema.String, Schema.Unknown)
const decodeVectors = Schema.decodeUnknownOption(Vectors)
const isVector = Schema.is(Schema.Array(Schema.Finite))

/** The vectors of meaning of a point that fit their models. */
export const vectorsIn = (
  vectors: unknown,
  models: ReadonlyArray<{ readonly vector: string; readonly dimensions: number }>
): Record<string, Array<number>> => {
  const named = Option.getOrElse(decodeVectors(vectors), () => ({}) as typeof Vectors.Type)
  return Object.fromEntries(
    models.flatMap(({ dimensions, vector }) => {
      const found = named[vector]
      return isVector(found) && found.length === dimensions ? [[vector, [...found]] as const] : []
    })
  )
}

/** A name or a tag as it is compared. */
const keyOf = (name: string): string => nameKey(name.toWellFormed())

const readersOf = ({ readers }: MemoryEntry): ReadonlyArray<string> => {
  if (readers === "owner") return []
  return readers === "fleet" ? [EVERYBODY] : readers
}

/** Every text in a value that is made of plain data. */
const wellFormed = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed()
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, wellFormed(inner)]))
}

/** Half a pair as JSON writes it. */
const halfPair = /\\ud[89a-f]/

export const payloadOf = (address: Address, { entry, facts }: Memory): Record<string, unknown> => {
  const { at, context, entities, id, importance, kind, speaker, tags, text, thread, trust } = entry
  // In one order, whatever order the entry has: what is as it was reads as it was.
  const payload = {
    tenant: address.tenant,
    owner: address.assistant,
    agent: addressKey(address),
    id,
    kind,
    at,
    text,
    ...defined({ speaker, context, thread }),
    entities,
    tags,
    entity_keys: entities.map(keyOf),
    tag_keys: tags.map(keyOf),
    trust,
    importance,
    readers: readersOf(entry),
    facts
  } satisfies Payload
  const exact = JSON.stringify(payload)
  return halfPair.test(exact) ? { ...(wellFormed(payload) as Payload), exact } : payload
}

/** The vector of words; none for an entry without any. */
export const wordsOf = ({
  entry,
  facts
}: Memory): Record<string, { indices: Array<number>; values: Array<number> }> => {
  const { indices, values } = sparseEntry(fieldsOf(entry, facts))
  return indices.length === 0 ? {} : { [WORDS]: { indices: [...indices], values: [...values] } }
}

const jsonIn = (text: string): unknown => Result.getOrUndefined(parseJson(text))

/** What a payload holds; undefined when it is no memory of ours. */
export const memoryIn = (payload: unknown): StoredMemory | undefined => {
  const decoded = decodePayload(isInexact(payload) ? jsonIn(payload.exact) : payload)
  if (Option.isNone(decoded)) return undefined
  const { agent, entity_keys: _entities, facts, owner, readers, tag_keys: _tags, tenant, ...plain } = decoded.value
  const address = { tenant, assistant: owner }
  if (agent !== addressKey(address)) return undefined
  const named = readers.length === 0 ? "owner" : readers.includes(EVERYBODY) ? "fleet" : readers.map(asAssistant)
  return { address, entry: { ...plain, readers: named }, facts }
}

const asAssistant = (id: string): AssistantId => AssistantId.make(id)

// Visibility: what a viewer may find, said as a filter and asked again of every point that comes back.
// V1  Every filter that is made here names the tenant, and the assistants whose entries the viewer may read.
// V2  `isAskedFor` says of a point what the filter of the same question says; it alone decides.
// V3  How rare a word is counts over what the viewer may read, so that nothing else shows in a score.

type Filter = Schemas["Filter"]
type Condition = Schemas["Condition"]

const is = (key: string, value: string): Condition => ({ key, match: { value } })

/** More values than this in one condition are cut into several, for the strict mode of the collection. */
export const MAX_CONDITION_VALUES = 256

const oneOf = (key: string, values: ReadonlyArray<string>): Condition => {
  const distinct = [...new Set(values)]
  const parts: Array<Condition> = []
  for (let from = 0; from < distinct.length; from += MAX_CONDITION_VALUES) {
    parts.push({ key, match: { any: distinct.slice(from, from + MAX_CONDITION_VALUES) } })
  }
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : { should: parts }
}

/** Memories of any kind, which a position is not. */
const isMemory: Condition = oneOf("kind", memoryKinds)

/** All points of one assistant. */
export const ofAssistant = (address: Address): { must: Array<Condition> } => ({
  must: [is("tenant", address.tenant), is("agent", addressKey(address))]
})

/** Memories of any assistant, of these kinds. */
export const anyMemory = (kinds: ReadonlyArray<MemoryKind> = memoryKinds): Filter => ({ must: [oneOf("kind", kinds)] })

/** What is no memory: where assistants stand. */
export const anyStanding = (): Filter => ({ must_not: [isMemory] })

export const memoriesOf = (address: Address): Filter => ({ must: [...ofAssistant(address).must, isMemory] })

/** A position that is still where it was. */
export const standingAt = ({ digest }: IndexPosition): Filter => ({ must: [is("digest", digest)] })

/** Memories of any assistant that have a vector of that name. */
export const withVector = (vector: string): Filter => ({ must: [isMemory, { has_vector: vector }] })

/** Memories of any assistant that have no vector of that name. */
export const without = (vector: string): Filter => ({ must: [isMemory], must_not: [{ has_vector: vector }] })

/** What the viewer may read in that scope. */
export const visibleTo = (viewer: Address, scope: RecallScope): { must: Array<Condition> } => {
  const own = is("agent", addressKey(viewer))
  const shared = is("readers", viewer.assistant)
  const fleet = is("readers", EVERYBODY)
  const scopes = { own: [own], shared: [own, shared], fleet: [own, shared, fleet] }
  return { must: [is("tenant", viewer.tenant), isMemory, { should: scopes[scope] }] }
}

/** Whether a point that came back is what the filter of the question asked for. */
export const isAskedFor = (viewer: Address, query: RecallQuery, { address, entry }: StoredMemory): boolean =>
  mayRead(viewer, address, entry, query.scope) && fits(entry, query)

const bounds = (key: string, gte: number | undefined, lte: number | undefined): ReadonlyArray<Condition> =>
  gte === undefined && lte === undefined ? [] : [{ key, range: defined({ gte, lte }) }]

const keptKinds = memoryKinds.filter((kind) => !spokenKinds.some((each) => each === kind))

/** No message after a time; what else is kept is not held to it. */
const inViewNot = (until: number): Condition => ({
  should: [oneOf("kind", keptKinds), ...bounds("at", undefined, until)]
})

/** What the viewer may read and the question asks for. */
export const askedFor = (viewer: Address, query: RecallQuery): Filter => {
  const { entities = [], messagesUntil, minTrust, scope, since, tags = [], until } = query
  const threads = threadsOf(query)
  return {
    must: [
      ...visibleTo(viewer, scope).must,
      oneOf("kind", kindsOf(query)),
      ...bounds("at", since, until),
      ...bounds("trust", minTrust, undefined),
      ...(messagesUntil === undefined ? [] : [inViewNot(messagesUntil)]),
      ...(entities.length === 0 ? [] : [oneOf("entity_keys", entities.map(keyOf))]),
      ...(tags.length === 0 ? [] : [oneOf("tag_keys", tags.map(keyOf))]),
      ...(threads.length === 0
        ? []
        : [
            oneOf(
              "thread",
              threads.map((thread) => thread.toWellFormed())
            )
          ])
    ]
  }
}
