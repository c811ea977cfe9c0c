// Facts: the facts of assistants, as pages of them are asked for one after the other.
// Owns keeping the last read ones at hand. Leaves reading and checking them to the SDK.
// G1  What is kept belongs to one commit of one assistant of one tenant: after the next commit it is read again.
//     Where something was forgotten for good, too.
// G2  At most MOST_KEPT lists are kept, however many are asked for.

import { type AssistantRecord, type ContextKindView, type Fact, type FleetReadings, UnreadableRecord } from "reverie"
import type { ReadFleet } from "../gateway.ts"
import type { Drops } from "../live.ts"
import { newestFirst } from "./paging.ts"
import { NotFound } from "../api/index.ts"

const MOST_KEPT = 8

interface Kept {
  readonly version: number
  readonly facts: Promise<ReadonlyArray<Fact>>
}

/** Facts of an assistant at a version of it, those that were learnt last first. */
export type FactCache = (fleet: ReadFleet, id: string, version: number) => Promise<ReadonlyArray<Fact>>

export const datedFact = ({ id, learnt_at: at }: Fact) => ({ id, at })

/** One for each fleet: what two fleets know of one name is not the same. */
export const factCache = (drops?: Drops): FactCache => {
  const cache = new Map<string, Kept>()
  drops?.listen(() => cache.clear())
  return (fleet, id, version) => {
    const key = `${fleet.tenant}/${id}`
    const kept = cache.get(key)
    if (kept?.version === version) return kept.facts
    const facts = fleet.memory.facts(id).then((all) => newestFirst(all, datedFact))
    cache.delete(key)
    cache.set(key, { version, facts })
    const [oldest] = cache.keys()
    if (cache.size > MOST_KEPT && oldest !== undefined) cache.delete(oldest)
    // What could not be read is asked for again.
    facts.catch(() => cache.delete(key))
    return facts
  }
}

// Living: whom a request is about.
// L1  A reading about no one is `NotFound`, never an empty answer.

export const living = async (records: Pick<FleetReadings, "inspect">, id: string): Promise<AssistantRecord> => {
  const record = await records.inspect(id)
  if (record === undefined) throw new NotFound({ message: `there is no assistant ${id}` })
  return record
}

/** The same where all of it is to be forgotten: then it need not be readable. */
export const livingOrUnread = async (records: Pick<FleetReadings, "inspect">, id: string): Promise<void> => {
  await living(records, id).catch((error: unknown) => {
    if (!(error instanceof UnreadableRecord)) throw error
  })
}

/** What was found, or a refusal that names it. */
export const found = <A>(value: A | undefined, what: string): A => {
  if (value === undefined) throw new NotFound({ message: `there is no ${what}` })
  return value
}

/** A kind of context for one who may only look: without the texts that it puts into prompts. */
export const unworded = ({ overrides: _texts, ...rest }: ContextKindView) => rest
