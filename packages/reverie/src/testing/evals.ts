// Evals: a task judged on a list of cases, with a score and a gate.
// Owns the form of an eval, running it, and its report. Leaves scorers and tasks to scorers.ts, files to who calls.
// V1  The form is that of `describeEval(name, { data, task, scorers, threshold })` of vitest-evals: a task and a scorer that
//     fit there fit here, and the other way round.
// V2  The score of a case is the mean of its scorers, one that answers null left out. A case passes from the threshold on;
//     an eval passes when all its cases do. A task that throws scores 0, and the report says why.
// V3  An eval without a case or a scorer is no pass: it is refused.

import { defined, isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { EvalBroken } from "./errors.ts"

/** A call of a tool, as vitest-evals has it. */
export interface CalledTool {
  /** The name of the tool. */
  readonly name: string
  /** As they were given; not compared where a case does not say them. */
  readonly arguments?: unknown
}

/** What a task came to. */
export interface TaskResult {
  /** The output of the case. */
  readonly result: string
  /** The tools that were called, in their order. */
  readonly toolCalls?: Array<CalledTool>
  /** What it used; scorers of cost look at it. */
  readonly usage?: { readonly modelCalls: number; readonly tokens: number; readonly costMicros: number }
}

/** One case: the input, and whatever else its scorers look at. */
export interface EvalCase {
  /** What the task is given. */
  readonly input: string
  /** How the report calls it; the input when not said. */
  readonly name?: string
  readonly [key: string]: unknown
}

/** What a scorer is given: the case, with what the task came to. */
export interface Scored extends EvalCase {
  /** What the task came to. */
  readonly output: string
  /** The tools that were called, in their order, where the task tells them. */
  readonly toolCalls?: Array<CalledTool>
  /** What it used, where the task tells it. */
  readonly usage?: TaskResult["usage"]
}

/** From 0 to 1; null: this case is none for this scorer. */
export interface Score {
  /** From 0 to 1; null where the scorer has nothing to say. */
  readonly score: number | null
  /** Why, for people. */
  readonly metadata?: { readonly rationale?: string; readonly [key: string]: unknown }
}

export type Task = (input: string) => Promise<string | TaskResult>
/** Judges what a case came to. */
export type Scorer = (scored: Scored) => Score | Promise<Score>

/** What an eval consists of. */
export interface EvalOptions {
  /** The cases, or what makes them; at least one. `casesFrom` reads them out of a file. */
  readonly data: ReadonlyArray<EvalCase> | (() => ReadonlyArray<EvalCase> | Promise<ReadonlyArray<EvalCase>>)
  /** Does the work of a case; `assistantTask` and `fixtureTask` make one. */
  readonly task: Task
  /** At least one; each looks at every case. */
  readonly scorers: ReadonlyArray<Scorer>
  /** What the score of a case must reach, from 0 to 1; 1 when not said. */
  readonly threshold?: number
  /** How many cases run at once; 1 when not said. */
  readonly concurrency?: number
}

/** An eval, as `defineEval` makes it. */
export interface Eval extends EvalOptions {
  /** Tells an eval from whatever else a file exports. */
  readonly kind: "reverie-eval"
  /** How reports call it. */
  readonly name: string
}

/** What one case came to. */
export interface CaseReport {
  /** How the case is called. */
  readonly name: string
  /** What the task came to; empty when it threw. */
  readonly output: string
  /** The mean of its scorers, from 0 to 1. */
  readonly score: number
  /** The score reaches the threshold. */
  readonly passed: boolean
  /** What each scorer gave, with its reason. */
  readonly scores: ReadonlyArray<{ readonly scorer: string; readonly score: number; readonly rationale?: string }>
  /** What the task or a scorer threw. */
  readonly error?: string
}

/** What an eval came to. */
export interface EvalReport {
  /** How the eval is called. */
  readonly name: string
  /** The mean of the cases, from 0 to 1. */
  readonly score: number
  /** What the score of a case had to reach, from 0 to 1. */
  readonly threshold: number
  /** Every case reaches the threshold. */
  readonly passed: boolean
  /** In the order of the data. */
  readonly cases: ReadonlyArray<CaseReport>
}

const refuse = (message: string): never => {
  throw new EvalBroken({ message })
}

/**
 * Describes an eval for `runEval`, and for a file of `reverie eval FILE`, which runs every eval that the file exports.
 * Throws EvalBroken with one sentence.
 * @example
 * export default defineEval("berths", { data: [{ input: "Is there a berth?", expected: "7" }], task, scorers: [contains()] })
 */
export const defineEval = (name: string, options: EvalOptions): Eval => {
  const { scorers, threshold = 1 } = options
  if (name.trim() === "") refuse("an eval needs a name")
  if (scorers.length === 0) refuse(`eval "${name}": it has no scorers`)
  if (!(threshold >= 0 && threshold <= 1)) refuse(`eval "${name}": its threshold must be from 0 to 1`)
  return Object.freeze({ ...options, kind: "reverie-eval", name })
}

const isEval = (value: unknown): value is Eval =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "reverie-eval"

/** Every eval that a module exports, by itself or in a list. Throws EvalBroken when there is none. */
export const evalsIn = (module: object): ReadonlyArray<Eval> => {
  const all = new Set(Object.values(module).flatMap((value: unknown) => (Array.isArray(value) ? value : [value])))
  const found = [...all].filter(isEval)
  return found.length > 0
    ? found
    : refuse("it exports no eval: export default defineEval(name, { data, task, scorers })")
}

/**
 * Cases out of a file of JSON lines: each an object with at least an `input` text. Throws EvalBroken with the line.
 * @example
 * const data = () => casesFrom(readFileSync("berths.jsonl", "utf8"))
 */
export const casesFrom = (text: string): ReadonlyArray<EvalCase> =>
  text.split("\n").flatMap((line, index): ReadonlyArray<EvalCase> => {
    if (line.trim() === "") return []
    const value: Json = Result.getOrElse(parseJson(line), () => null)
    const fields = isJsonObject(value) ? Object.fromEntries(Object.entries(value)) : {}
    const { input } = fields
    if (typeof input === "string") return [{ ...fields, input }]
    return refuse(`line ${index + 1} is no case: it must be a JSON object with an "input" text`)
  })

const mean = (numbers: ReadonlyArray<number>): number =>
  numbers.length === 0 ? 0 : numbers.reduce((sum, each) => sum + each, 0) / numbers.length

const MAX_NAME_CHARS = 60

const nameOf = ({ input, name }: EvalCase): string =>
  name ?? (input.length > MAX_NAME_CHARS ? `${input.slice(0, MAX_NAME_CHARS)}…` : input)

const scoreOf = async (scorer: Scorer, index: number, scored: Scored) => {
  const name = scorer.name === "" ? `scorer ${index + 1}` : scorer.name
  const { metadata, score } = await scorer(scored)
  if (score === null) return []
  if (!(score >= 0 && score <= 1)) return refuse(`${name} gave ${score}, which is no score from 0 to 1`)
  const { rationale } = metadata ?? {}
  return [{ scorer: name, score, ...defined({ rationale }) }]
}

const judged = async ({ scorers, task, threshold = 1 }: Eval, each: EvalCase): Promise<CaseReport> => {
  const name = nameOf(each)
  let output = ""
  try {
    const done = await task(each.input)
    const { result, ...rest } = typeof done === "string" ? { result: done } : done
    output = result
    const given = await Promise.all(
      scorers.map((scorer, index) => scoreOf(scorer, index, { ...each, ...rest, output }))
    )
    const scores = given.flat()
    if (scores.length === 0) return refuse("no scorer had anything to say of it")
    const score = mean(scores.map((one) => one.score))
    return { name, output, score, passed: score >= threshold, scores }
  } catch (cause) {
    const error = cause instanceof Error ? cause.message : String(cause)
    return { name, output, score: 0, passed: false, scores: [], error }
  }
}

/** Runs an eval, one case after the other when no concurrency is said. Rejects with EvalBroken when it has no case. */
export const runEval = async (asked: Eval): Promise<EvalReport> => {
  const { concurrency = 1, data, name, threshold = 1 } = asked
  const cases = typeof data === "function" ? await data() : data
  if (cases.length === 0) refuse(`eval "${name}": it has no cases`)
  const reports = await Effect.runPromise(
    Effect.forEach(cases, (each) => Effect.promise(() => judged(asked, each)), { concurrency })
  )
  const score = mean(reports.map((report) => report.score))
  return { name, score, threshold, passed: reports.every(({ passed }) => passed), cases: reports }
}

const percent = (score: number): string => `${Math.round(score * 100)} %`

const caseLines = ({ error, name, output, passed, score, scores }: CaseReport): ReadonlyArray<string> => {
  const head = `  ${passed ? "pass" : "FAIL"} ${percent(score)}  ${name}`
  if (passed) return [head]
  const why = scores.map(
    (one) => `       ${one.scorer}: ${percent(one.score)}${one.rationale === undefined ? "" : `, ${one.rationale}`}`
  )
  return [head, ...(error === undefined ? [] : [`       ${error}`]), ...why, `       output: ${output}`]
}

/** A report for people: one line a case, and why for those that failed. */
export const evalText = ({ cases, name, passed, score, threshold }: EvalReport): string => {
  const count = cases.filter((each) => each.passed).length
  const head = `${name}: ${percent(score)}, ${count} of ${cases.length} cases reach ${percent(threshold)}`
  return [`${passed ? "pass" : "FAIL"} ${head}`, ...cases.flatMap(caseLines)].join("\n")
}
