// Rules: which of the calls a model asked for may run under the tool rules of its assistant.
// Owns the verdicts and what a model learns of a refusal. Leaves telling the rules beforehand to `context`, and what
// else a call must pass (category, approval, arguments) to the statechart and to `execute.ts`.
// I1  A call is judged by the calls before it: those of the tick, and those of the same reply that may run.
// I2  A refused call was not called: it opens no way for another one and uses up nothing.
// I3  A call that failed was called: it counts as any other.
// I4  A refusal names the rule's tools and says what to do instead, in bounded words.

import type { ToolRule } from "@reverie/protocol"
import { clipped } from "../results/sentences.ts"

export interface CallsToJudge {
  readonly rules: ReadonlyArray<ToolRule>
  /** Every call of the tick so far, in order, failed ones included and refused ones left out. */
  readonly calledThisTick: ReadonlyArray<string>
  /** What one reply of the model asks for. */
  readonly calls: ReadonlyArray<{ readonly tool: string }>
  /** The tools that can be called now. A start tool that is not among them is waited for by no one. */
  readonly available?: ReadonlyArray<string>
}

export interface CallVerdict {
  /** Why the call may not run, for the model. */
  readonly refusal?: string
  /** What a call that may run means for the tick: `exit` ends it, `continue` keeps it going. */
  readonly ends?: "exit" | "continue"
}

/** One verdict for each call, in their order. */
export const judgeCalls = ({ available, calledThisTick, calls, rules }: CallsToJudge): ReadonlyArray<CallVerdict> => {
  const called = [...calledThisTick]
  return calls.map(({ tool }) => {
    const refusal = refusalOf(tool, rules, called, available)
    if (refusal !== undefined) return { refusal }
    called.push(tool)
    const ends = endOf(tool, rules)
    return ends === undefined ? {} : { ends }
  })
}

const refusalOf = (
  tool: string,
  rules: ReadonlyArray<ToolRule>,
  called: ReadonlyArray<string>,
  available: ReadonlyArray<string> | undefined
): string | undefined => {
  const canBeCalled = (name: string) => available === undefined || available.includes(name)
  const missing = (names: ReadonlyArray<string>) => names.filter((name) => !called.includes(name))
  const starts = toolsOf(rules, "start")
  const unstarted = starts.includes(tool) ? [] : missing(starts).filter(canBeCalled)
  if (unstarted.length > 0) return tooEarly(tool, unstarted)
  const priors = missing(priorsOf(tool, rules))
  if (priors.length > 0)
    return withoutPrior(
      tool,
      priors,
      priors.filter((name) => !canBeCalled(name))
    )
  const max = maxOf(tool, rules)
  const used = called.filter((name) => name === tool).length
  return used >= max ? usedUp(tool, max, used) : undefined
}

const toolsOf = (rules: ReadonlyArray<ToolRule>, type: ToolRule["type"]): ReadonlyArray<string> => [
  ...new Set(rules.filter((rule) => rule.type === type).map((rule) => rule.tool))
]

const priorsOf = (tool: string, rules: ReadonlyArray<ToolRule>): ReadonlyArray<string> => [
  ...new Set(rules.flatMap((rule) => (rule.type === "requires" && rule.tool === tool ? rule.prior : [])))
]

/** The least of its limits. */
const maxOf = (tool: string, rules: ReadonlyArray<ToolRule>): number =>
  Math.min(...rules.map((rule) => (rule.type === "max-calls" && rule.tool === tool ? rule.max : Infinity)))

/** Under both rules the tick ends: the narrower one holds. */
const endOf = (tool: string, rules: ReadonlyArray<ToolRule>): CallVerdict["ends"] =>
  (["exit", "continue"] as const).find((type) => toolsOf(rules, type).includes(tool))

const tooEarly = (tool: string, starts: ReadonlyArray<string>): string =>
  `${listed(starts)} must be called before any other tool of this tick. ` +
  `Call ${listed(starts)} first, and ${quoted(tool)} after that.`

const withoutPrior = (tool: string, priors: ReadonlyArray<string>, closed: ReadonlyArray<string>): string => {
  const why = `${quoted(tool)} can be called only after ${listed(priors)} in this tick.`
  if (closed.length === 0) return `${why} Call ${listed(priors)} first, and ${quoted(tool)} after that.`
  return `${why} ${listed(closed)} can not be called now, so go on without ${quoted(tool)}.`
}

const usedUp = (tool: string, max: number, used: number): string => {
  if (max <= 0) return `${quoted(tool)} may not be called: 0 calls of it are left. Go on without it.`
  return (
    `${quoted(tool)} may be called at most ${times(max)} in a tick and was called ${times(used)}, failed calls ` +
    "included: 0 calls are left. Go on with the results you have, or call it in a later tick."
  )
}

const times = (count: number): string => (count === 1 ? "once" : `${count} times`)

/** Most names in one sentence. */
const MAX_NAMES = 8

const quoted = (name: string): string => JSON.stringify(clipped(name, 64))

const listed = (names: ReadonlyArray<string>): string => {
  const shown = names.slice(0, MAX_NAMES).map(quoted)
  const all = names.length > MAX_NAMES ? [...shown, `${names.length - MAX_NAMES} more tools`] : shown
  return all.length < 2 ? (all[0] ?? "") : `${all.slice(0, -1).join(", ")} and ${all.at(-1) ?? ""}`
}
