// FleetBudget: what everybody had used of what it was granted, after every one of its commits.
// Owns folding the ledger to states. Leaves what an account is to the assistant.
// B1  After every commit spent + reserved + promised ≤ granted, at every node of a tree.
// B2  A sub-agent was born with exactly what its parent had promised it.

import {
  accountOf,
  birth,
  type Commission,
  contextOf,
  decide,
  type Decoded,
  flawsOf,
  grantKey,
  type Input,
  isOpen,
  type Settings
} from "@reverie/assistant"
import type { Entry } from "@reverie/protocol"
import { subAgentId } from "@reverie/runtime"
import { laneFleet } from "./fleet-scene.ts"

type Born = Commission & { readonly settings: Partial<Settings> }

/** What a sub-agent was born with; undefined for anybody else. */
const bornIn = ([first]: ReadonlyArray<Entry>): Born | undefined => {
  const born = first?.cause.kind === "birth" ? (first.event as Partial<Born> | null) : null
  return born?.errand === undefined ? undefined : (born as Born)
}

/** Every state that an assistant has been in, as its entries tell it. */
const statesOf = (entries: ReadonlyArray<Entry>, settings: Partial<Settings>): ReadonlyArray<Decoded> => {
  const born = bornIn(entries)
  let now = born === undefined ? birth(settings).next : birth(born.settings, born).next
  const states = [now]
  for (const { event } of entries.slice(1)) {
    if (event !== null) now = decide(now, event as unknown as Input).next
    states.push(now)
  }
  return states
}

export interface Budgets {
  readonly subAgents: number
  readonly budgetOverruns: number
}

export const budgetsIn = (ledger: ReadonlyMap<string, ReadonlyArray<Entry>>): Budgets => {
  const settings = laneFleet(1).assistants[0]?.settings ?? {}
  const promised = new Map<string, string>()
  let budgetOverruns = 0
  for (const [id, entries] of ledger) {
    for (const context of statesOf(entries, settings).map(contextOf)) {
      const account = accountOf(context)
      if (flawsOf(account).length > 0) budgetOverruns++
      for (const line of context.subAgents.filter(isOpen)) {
        promised.set(subAgentId(id, line.call, line.tries), JSON.stringify(account.out[grantKey(line)]))
      }
    }
  }
  let subAgents = 0
  for (const [id, entries] of ledger) {
    const born = bornIn(entries)
    if (born === undefined) continue
    subAgents++
    if (promised.get(id) !== JSON.stringify(born.granted)) budgetOverruns++
  }
  return { subAgents, budgetOverruns }
}
