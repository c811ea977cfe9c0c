// CheckSubAgents: what must be true of sub-agents and budgets in a world that has come to rest.
// Owns the judgement over accounts at every commit, over creations, ends and what model calls really took. Leaves everything
// else to check.ts.
// C12 After every commit: spent + reserved + promised ≤ granted, and every promise has its open line.
// C13 A sub-agent was created with exactly what its parent promised it, and its parent is the one that promised.
// C14 Every sub-agent's line ends once, and at rest none is open.
// C15 No orphan: at rest every sub-agent has retired.
// C16 What the model calls for a task really took is within what was counted for it, crashes included.

import {
  accountOf,
  type AssistantContext,
  contextOf,
  flawsOf,
  grantKey,
  isOpen,
  type Settings
} from "@reverie/assistant"
import { addressKey, type Amount, type Entry } from "@reverie/protocol"
import { subAgentId } from "@reverie/runtime"
import type { MemoryDisk, Resident } from "../memory-disk.ts"
import { subAgentStartIn, type Promised, promisesOf, statesOf } from "./lives.ts"

/** A model call for a task, as the world outside knows it. */
export interface TakenCall {
  readonly task: string
  readonly tokens: number
}

export const entriesOf = ({ entries }: Resident): ReadonlyArray<Entry> => entries.map(({ entry }) => entry)

const checkAccounts = (name: string, contexts: ReadonlyArray<AssistantContext>): ReadonlyArray<string> => {
  for (const [no, context] of contexts.entries()) {
    const account = accountOf(context)
    const [flaw] = flawsOf(account)
    if (flaw !== undefined) return [`C12 ${name} after commit ${no + 1}: ${flaw}`]
    const lines = context.subAgents.filter(isOpen).map(grantKey).toSorted().join(" ")
    const promises = Object.keys(account.out).toSorted().join(" ")
    if (lines !== promises) return [`C12 ${name} after commit ${no + 1}: open are [${lines}], promised [${promises}]`]
  }
  return []
}

const checkLines = (name: string, contexts: ReadonlyArray<AssistantContext>): ReadonlyArray<string> => {
  const ends = new Map<string, number>()
  let open = new Set<string>()
  for (const { subAgents } of contexts) {
    const now = new Set(subAgents.filter(isOpen).map(grantKey))
    for (const key of open) if (!now.has(key)) ends.set(key, (ends.get(key) ?? 0) + 1)
    open = now
  }
  return [
    ...[...open].map((key) => `C14 ${name}: ${key} is open at rest`),
    ...[...ends].flatMap(([key, times]) => (times === 1 ? [] : [`C14 ${name}: ${key} ended ${times} times`]))
  ]
}

const checkCreation = (resident: Resident, promises: ReadonlyMap<string, Promised>): ReadonlyArray<string> => {
  const created = subAgentStartIn(entriesOf(resident))
  if (created === undefined) return []
  const id = resident.address.assistant
  const promise = promises.get(id)
  if (promise === undefined) return [`C13 ${id} was promised nothing by anybody`]
  if (promise.parent !== created.assignment.parent) return [`C13 ${id} was created to ${created.assignment.parent}`]
  const isKept = JSON.stringify(promise.granted) === JSON.stringify(created.granted)
  return [
    ...(isKept
      ? []
      : [`C13 ${id} has ${JSON.stringify(created.granted)}, promised ${JSON.stringify(promise.granted)}`]),
    ...(resident.state.status === "retired" ? [] : [`C15 ${id} is ${resident.state.status}, an orphan`])
  ]
}

/** The task that a sub-agent was created for, by the words of its first message. */
export const taskIn = (texts: ReadonlyArray<string>): string | undefined =>
  texts.flatMap((text) => /(?:^|^Your task: )(assignment \d+)$/m.exec(text)?.[1] ?? [])[0]

/** What the step between two states counted for those that ended in it, by the keys of their grants. */
const countedIn = (before: AssistantContext, after: AssistantContext): ReadonlyArray<readonly [string, Amount]> => {
  const promises = before.account?.out ?? {}
  const gone = Object.keys(promises).filter((key) => !Object.hasOwn(after.account?.out ?? {}, key))
  const [only, ...others] = gone
  if (only === undefined) return []
  const was = before.account?.spent ?? { tokens: 0, costMicros: 0, calls: 0 }
  const is = after.account?.spent ?? was
  const delta = { tokens: is.tokens - was.tokens, costMicros: 0, calls: is.calls - was.calls }
  // Several end at once only when nothing is known of any of them: each counts whole.
  return others.length === 0
    ? [[only, delta]]
    : gone.map((key) => [key, { tokens: promises[key]?.tokens ?? 0, costMicros: 0, calls: promises[key]?.calls ?? 0 }])
}

/** What was counted for each task, over all its tries. */
const countedFor = (lives: ReadonlyMap<string, ReadonlyArray<AssistantContext>>, disk: MemoryDisk) => {
  const counted = new Map<string, Amount>()
  const tasks = new Map(
    [...disk.residents.values()].map(({ address, entries }) => [
      address.assistant as string,
      taskIn(entries.flatMap(({ entry }) => entry.messages.map(({ content }) => content)))
    ])
  )
  for (const [id, contexts] of lives) {
    for (const [index, after] of contexts.entries()) {
      const before = contexts[index - 1]
      for (const [key, amount] of before === undefined ? [] : countedIn(before, after)) {
        const [call = "", tries = "1"] = key.split("#")
        const task = tasks.get(subAgentId(id, call, Number(tries)))
        if (task === undefined) continue
        const sum = counted.get(task) ?? { tokens: 0, costMicros: 0, calls: 0 }
        counted.set(task, { tokens: sum.tokens + amount.tokens, costMicros: 0, calls: sum.calls + amount.calls })
      }
    }
  }
  return counted
}

const checkTaken = (counted: ReadonlyMap<string, Amount>, taken: ReadonlyArray<TakenCall>): ReadonlyArray<string> => {
  const sums = new Map<string, Amount>()
  for (const { task, tokens } of taken) {
    const before = sums.get(task) ?? { tokens: 0, costMicros: 0, calls: 0 }
    sums.set(task, { tokens: before.tokens + tokens, costMicros: 0, calls: before.calls + 1 })
  }
  return [...sums].flatMap(([task, { calls, tokens }]) => {
    const { calls: mostCalls, tokens: mostTokens } = counted.get(task) ?? { calls: 0, tokens: 0 }
    return calls <= mostCalls && tokens <= mostTokens
      ? []
      : [`C16 ${task} took ${tokens} tokens in ${calls} calls; counted are ${mostTokens} in ${mostCalls}`]
  })
}

export const checkSubAgents = (
  disk: MemoryDisk,
  settings: Partial<Settings>,
  taken: ReadonlyArray<TakenCall>
): ReadonlyArray<string> => {
  const residents = [...disk.residents.values()]
  const lives = new Map(
    residents.map((resident) => [
      resident.address.assistant as string,
      statesOf(entriesOf(resident), settings).map(contextOf)
    ])
  )
  const promises = new Map([...lives].flatMap(([id, contexts]) => promisesOf(id, contexts)))
  return [
    ...residents.flatMap((resident) => {
      const contexts = lives.get(resident.address.assistant) ?? []
      const name = addressKey(resident.address)
      return [...checkAccounts(name, contexts), ...checkLines(name, contexts), ...checkCreation(resident, promises)]
    }),
    ...checkTaken(countedFor(lives, disk), taken)
  ]
}

/** Sub-agents that came into the world. */
export const countSubAgents = ({ residents }: MemoryDisk): number =>
  [...residents.values()].filter((resident) => subAgentStartIn(entriesOf(resident)) !== undefined).length
