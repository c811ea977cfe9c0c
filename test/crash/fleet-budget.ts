// FleetBudget: what everybody had used of what it was granted, after every one of its commits.
// Owns counting. Leaves what an account is to the assistant, telling lives from entries to the testkit.
// B1  After every commit spent + reserved + promised ≤ granted, at every node of a tree.
// B2  A sub-agent was created with exactly what its parent had promised it.

import { accountOf, contextOf, flawsOf } from "@reverie/assistant"
import type { Entry } from "@reverie/protocol"
import { subAgentStartIn, type Promised, promisesOf, statesOf } from "@reverie/testkit/world"
import { laneFleet } from "./fleet-scene.ts"

export interface Budgets {
  readonly subAgents: number
  readonly budgetOverruns: number
}

export const budgetsIn = (ledger: ReadonlyMap<string, ReadonlyArray<Entry>>): Budgets => {
  const settings = laneFleet(1).assistants[0]?.settings ?? {}
  const promises = new Map<string, Promised>()
  let budgetOverruns = 0
  for (const [id, entries] of ledger) {
    const contexts = statesOf(entries, settings).map(contextOf)
    budgetOverruns += contexts.filter((context) => flawsOf(accountOf(context)).length > 0).length
    for (const [child, promise] of promisesOf(id, contexts)) promises.set(child, promise)
  }
  let subAgents = 0
  for (const [id, entries] of ledger) {
    const created = subAgentStartIn(entries)
    if (created === undefined) continue
    subAgents++
    if (JSON.stringify(promises.get(id)?.granted) !== JSON.stringify(created.granted)) budgetOverruns++
  }
  return { subAgents, budgetOverruns }
}
