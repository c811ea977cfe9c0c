// Visibility: what a viewer may find, said as a filter and asked again of every point that comes back.
// Owns isolation: the server can not enforce it, so both halves stand here, side by side.
// V1  Every filter that is made here names the tenant, and the assistants whose entries the viewer may read.
// V2  `isAskedFor` says of a point what the filter of the same question says; it alone decides.
// V3  How rare a word is counts over what the viewer may read, so that nothing else shows in a score.

import {
  fits,
  type IndexPosition,
  kindsOf,
  mayRead,
  memoryKinds,
  type RecallQuery,
  type RecallScope,
  spokenKinds
} from "@reverie/memory"
import { defined, type Address, addressKey } from "@reverie/protocol"
import type { Schemas } from "@qdrant/js-client-rest"
import { EVERYBODY, keyOf, type StoredMemory } from "./point.ts"

export type Filter = Schemas["Filter"]
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

export const memoriesOf = (address: Address): Filter => ({ must: [...ofAssistant(address).must, isMemory] })

/** A position that is still where it was. */
export const standingAt = ({ digest }: IndexPosition): Filter => ({ must: [is("digest", digest)] })

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
  const { entities = [], messagesUntil, minTrust, scope, since, tags = [], thread, until } = query
  return {
    must: [
      ...visibleTo(viewer, scope).must,
      oneOf("kind", kindsOf(query)),
      ...bounds("at", since, until),
      ...bounds("trust", minTrust, undefined),
      ...(messagesUntil === undefined ? [] : [inViewNot(messagesUntil)]),
      ...(entities.length === 0 ? [] : [oneOf("entity_keys", entities.map(keyOf))]),
      ...(tags.length === 0 ? [] : [oneOf("tag_keys", tags.map(keyOf))]),
      ...(thread === undefined ? [] : [is("thread", thread.toWellFormed())])
    ]
  }
}
