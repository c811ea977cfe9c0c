// Words: what of an entry stands in the table `words`, as numbers.
// Owns the groups of those who may read an entry, and its keys for each of them. Leaves what a term weighs to the text
// module, and what is done with numbers to tables.ts.
// W1  A key is of one group: whose words are searched finds nothing of anyone else's.
// W2  What an entry has follows from itself and its readers, so writing it asks the database nothing.

import {
  type AttachedFact,
  conditionKeys,
  fieldsOf,
  keyWithin,
  type MemoryEntry,
  type Readers,
  type RecallScope,
  termKey,
  termWeights
} from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import { WEIGHT_SCALE } from "./tables.ts"

/** No word of a question has it. */
const SIGN = "\u0000g"

const ownGroup = ({ assistant, tenant }: Address): number => termKey(`${SIGN}own ${tenant} ${assistant}`)
const fleetGroup = ({ tenant }: Address): number => termKey(`${SIGN}fleet ${tenant}`)
const namedGroup = ({ assistant, tenant }: Address): number => termKey(`${SIGN}named ${tenant} ${assistant}`)

/** Who may read the entries of an owner, the owner first. */
const readersOf = (owner: Address, readers: Readers): ReadonlyArray<number> => {
  if (readers === "owner") return [ownGroup(owner)]
  if (readers === "fleet") return [ownGroup(owner), fleetGroup(owner)]
  const others = [...new Set(readers)].filter((assistant) => assistant !== owner.assistant)
  return [ownGroup(owner), ...others.map((assistant) => namedGroup({ tenant: owner.tenant, assistant }))]
}

/** What a viewer reads in a scope, his own first. */
export const groupsOf = (viewer: Address, scope: RecallScope): ReadonlyArray<number> => {
  if (scope === "own") return [ownGroup(viewer)]
  return [ownGroup(viewer), namedGroup(viewer), ...(scope === "fleet" ? [fleetGroup(viewer)] : [])]
}

/** Each of some keys for each group, group by group. */
export const keysFor = (groups: ReadonlyArray<number>, keys: ReadonlyArray<number>): ReadonlyArray<number> =>
  groups.flatMap((group) => keys.map((key) => keyWithin(group, key)))

interface Numbers {
  readonly groups: ReadonlyArray<number>
  readonly keys: ReadonlyArray<number>
  readonly weights: ReadonlyArray<number>
  readonly conditions: ReadonlyArray<number>
}

export const numbersOf = (owner: Address, entry: MemoryEntry, facts: ReadonlyArray<AttachedFact>): Numbers => {
  const groups = readersOf(owner, entry.readers)
  const weighed = termWeights(fieldsOf(entry, facts))
  const terms = [...weighed.keys()].map(termKey)
  const weights = Array.from(weighed.values(), (weight) => Math.round(weight * WEIGHT_SCALE))
  return {
    groups,
    keys: keysFor(groups, terms),
    weights: groups.flatMap(() => weights),
    conditions: keysFor(groups, [...new Set(conditionKeys(entry))])
  }
}

export const factsIn = (facts: string | null): ReadonlyArray<AttachedFact> =>
  facts === null ? [] : (JSON.parse(facts) as ReadonlyArray<AttachedFact>)
