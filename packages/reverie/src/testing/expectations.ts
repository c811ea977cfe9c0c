// Expectations: what a test says of a fleet: what its models were shown, which tools ran, who is asked, what is known, what
// it cost.
// Owns the reading and the words of a failure. Leaves comparing values to expectations.ts.
// E1  Each is a plain function that throws an AssertionError of Node, with a line for everything that it looked at and both
//     sides as `actual` and `expected`: every test runner shows it.
// E2  They only read, from the ledger: a fleet of production and one that was opened again are looked at in the same way.

import type { Fact, RecallOptions } from "@reverie/memory"
import { parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import { AssertionError } from "node:assert/strict"
import type { Fleet } from "../fleet.ts"
import type { ApprovalAsked } from "../fleet/approvals.ts"
import type { ModelRequest } from "./scripted-model.ts"

// Likeness: whether a value is as a test wants it, and in words how it is not.
// L1  A pattern speaks only of what it names: properties that it leaves out may be anything. Lists have the same length.
// L2  A difference is one line, begins with the path to it, and shows both sides, each cut to 200 characters.

/**
 * How a value should be: the value itself, a RegExp for a text, a function that answers true, or an object or a list of
 * these. Of an object only the named properties count.
 */
export type Like = unknown

const MAX_CHARS = 200

/** A value in one line. */
export const inLine = (value: unknown): string => {
  const text =
    value instanceof RegExp || typeof value === "function" ? String(value) : (JSON.stringify(value) ?? String(value))
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text
}

const isPlain = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const at = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`)

const differs = (path: string, actual: unknown, pattern: unknown): string =>
  `${path === "" ? "" : `${path}: `}expected ${inLine(pattern)}, got ${inLine(actual)}`

/** One line that says where and how a value is not as the pattern says; undefined when it is. */
export const differenceOf = (actual: unknown, pattern: Like, path: string = ""): string | undefined => {
  if (typeof pattern === "function") {
    return (pattern as (value: unknown) => unknown)(actual) === true ? undefined : differs(path, actual, pattern)
  }
  if (pattern instanceof RegExp) {
    return typeof actual === "string" && new RegExp(pattern).test(actual) ? undefined : differs(path, actual, pattern)
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(actual) || actual.length !== pattern.length) return differs(path, actual, pattern)
    return pattern
      .map((each, index) => differenceOf(actual[index], each, at(path, String(index))))
      .find((line) => line !== undefined)
  }
  if (isPlain(pattern)) {
    if (!isPlain(actual)) return differs(path, actual, pattern)
    return Object.entries(pattern)
      .map(([key, each]) => differenceOf(Object.hasOwn(actual, key) ? actual[key] : undefined, each, at(path, key)))
      .find((line) => line !== undefined)
  }
  return Object.is(actual, pattern) ? undefined : differs(path, actual, pattern)
}

/** Whether a value is like another one, as `Like` says it. */
export const isLike = (actual: unknown, pattern: Like): boolean => differenceOf(actual, pattern) === undefined

/** True of a text that holds the pattern, or is matched by it. */
export const holds = (text: string, pattern: string | RegExp): boolean =>
  typeof pattern === "string" ? text.includes(pattern) : new RegExp(pattern).test(text)

/** What every test runner shows: one line of summary, then a line for each thing that is looked at. */
const fail = (summary: string, lines: ReadonlyArray<string>, actual: unknown, expected: unknown): never => {
  const message = [summary, ...lines.map((line) => `  ${line}`)].join("\n")
  throw new AssertionError({ message, actual, expected, operator: "like" })
}

/** A text that is contained, or a RegExp that matches. */
export type Words = string | RegExp

/** A tool by its name, or by what is to be true of the call; what is left out may be anything. */
export type ExpectedCall =
  | string
  | {
      readonly tool: string
      readonly arguments?: Like
      /** What the model was shown of the result: a text, a RegExp or a function. */
      readonly result?: Like
      readonly ok?: boolean
    }

/** A call of a tool as it is in the ledger. */
export interface MadeCall {
  /** The name of the tool. */
  readonly tool: string
  /** As the model wrote them: JSON, or a text that is none. */
  readonly arguments: unknown
  /** Undefined as long as there is none. */
  readonly result: string | undefined
  /** False when it failed or was refused. */
  readonly ok: boolean
  /** The tick that called it. */
  readonly tick: number
}

const PAGE = 500

const parsed = (text: string): unknown => Result.getOrElse(parseJson(text), () => text)

/**
 * Every call that an assistant's model has asked for, the oldest first; of one tick when that is said. Arguments are
 * parsed, texts are whole up to 100,000 characters.
 */
export const toolCallsOf = async (
  fleet: Pick<Fleet, "history">,
  id: string,
  { tick }: { readonly tick?: number } = {}
): Promise<ReadonlyArray<MadeCall>> => {
  const numbers: Array<number> = []
  for (let before: number | undefined; ;) {
    const page = await fleet.history.ticks(id, before === undefined ? { limit: PAGE } : { limit: PAGE, before })
    for (const { kind, tick: number, tools } of page.ticks)
      if (kind === "tick" && tools.length > 0) numbers.push(number)
    if (page.next === null) break
    before = page.next
  }
  const made: Array<MadeCall> = []
  for (const number of numbers.toReversed()) {
    if (tick !== undefined && number !== tick) continue
    for (const call of (await fleet.history.tick(id, number))?.tools ?? []) {
      const { arguments: args, ok, result, tool } = call
      made.push({ tool, arguments: parsed(args), result, ok, tick: number })
    }
  }
  return made
}

const callOf = (expected: ExpectedCall): Exclude<ExpectedCall, string> =>
  typeof expected === "string" ? { tool: expected } : expected

const shown = ({ arguments: args, tool }: { readonly tool: string; readonly arguments?: unknown }): string =>
  args === undefined ? tool : `${tool}(${inLine(args)})`

/** One line for each place, marked where the two differ. */
const sideBySide = (made: ReadonlyArray<MadeCall>, wanted: ReadonlyArray<Exclude<ExpectedCall, string>>) =>
  Array.from({ length: Math.max(made.length, wanted.length) }, (_, index) => {
    const [one, pattern] = [made[index], wanted[index]]
    if (one === undefined) return `- ${index + 1}. ${shown(pattern ?? { tool: "?" })} was not called`
    if (pattern === undefined) return `+ ${index + 1}. ${shown(one)} was not expected`
    const difference = differenceOf(one, pattern)
    return difference === undefined ? `  ${index + 1}. ${shown(one)}` : `! ${index + 1}. ${shown(one)}: ${difference}`
  })

/** Those that no call is left for, in order where that counts. */
const unmet = (
  made: ReadonlyArray<MadeCall>,
  wanted: ReadonlyArray<Exclude<ExpectedCall, string>>,
  inOrder: boolean
) => {
  const left = [...made]
  return wanted.filter((pattern) => {
    const at = left.findIndex((call) => isLike(call, pattern))
    if (at >= 0) left.splice(inOrder ? 0 : at, inOrder ? at + 1 : 1)
    return at < 0
  })
}

/** How calls are compared. */
export interface CallsOptions {
  /** exact: these calls and no others. in-order: others may stand between them. any-order: they are among the calls. */
  readonly order?: "exact" | "in-order" | "any-order"
  /** Of this tick alone; of the whole life when not said. */
  readonly tick?: number
}

/**
 * Which tools an assistant's model called: exactly these, in this order, when no order is said. Answers the calls there were.
 * @example
 * await expectToolCalls(fleet, "desk", ["find_berth", { tool: "assign_berth", arguments: { berth: 7 } }])
 */
export const expectToolCalls = async (
  fleet: Pick<Fleet, "history">,
  id: string,
  expected: ReadonlyArray<ExpectedCall>,
  { order = "exact", ...options }: CallsOptions = {}
): Promise<ReadonlyArray<MadeCall>> => {
  const made = await toolCallsOf(fleet, id, options)
  const wanted = expected.map(callOf)
  if (order === "exact") {
    const isSame = made.length === wanted.length && made.every((call, index) => isLike(call, wanted[index]))
    return isSame ? made : fail(`${id} called other tools`, sideBySide(made, wanted), made, expected)
  }
  const missing = unmet(made, wanted, order === "in-order")
  if (missing.length === 0) return made
  const lines = [
    ...missing.map((pattern) => `- ${shown(pattern)} was not called${order === "in-order" ? " in this order" : ""}`),
    ...made.map((call, index) => `  ${index + 1}. ${shown(call)} was called`)
  ]
  return fail(`${id} did not call all of these tools`, lines, made, expected)
}

/** What a request to the model must be like; what is not said is not judged. */
export interface ExpectedRequest {
  /** Words that stand in it. */
  readonly shows?: ReadonlyArray<Words>
  /** Words that do not. */
  readonly hides?: ReadonlyArray<Words>
  /** Names of tools that are offered, and of others that are not. */
  readonly offers?: ReadonlyArray<string>
  /** Names of tools that are not offered. */
  readonly withholds?: ReadonlyArray<string>
  /** What the model is asked for. */
  readonly purpose?: ModelRequest["purpose"]
}

/**
 * What the model was shown with one call, out of `model.requests` or `fleet.modelCalls`.
 * @example
 * expectRequest(model.requests.at(-1), { shows: ["Aurora"], hides: [/password/], offers: ["find_berth"] })
 */
export const expectRequest = (request: ModelRequest | undefined, expected: ExpectedRequest): ModelRequest => {
  if (request === undefined) return fail("there was no such call of the model", [], undefined, expected)
  const { hides = [], offers = [], purpose, shows = [], withholds = [] } = expected
  const offered = new Set(request.tools.map(({ name }) => name))
  const lines = [
    ...shows.flatMap((words) => (holds(request.text, words) ? [] : [`- ${inLine(words)} is not shown`])),
    ...hides.flatMap((words) => (holds(request.text, words) ? [`+ ${inLine(words)} is shown`] : [])),
    ...offers.flatMap((name) => (offered.has(name) ? [] : [`- the tool ${name} is not offered`])),
    ...withholds.flatMap((name) => (offered.has(name) ? [`+ the tool ${name} is offered`] : [])),
    ...(purpose === undefined || request.purpose === purpose ? [] : [`! it is a ${request.purpose}, not a ${purpose}`])
  ]
  if (lines.length === 0) return request
  const said = request.messages.map(({ content, role }) => `  ${role}: ${inLine(content)}`)
  return fail(`call ${request.number} of the model is another one`, [...lines, ...said], request.text, expected)
}

/**
 * Which approvals an assistant waits for now, the oldest first: exactly these, so none with an empty list. Answers them, to
 * be decided with `fleet.decide(id, approval, "approved")`.
 * @example
 * const [asked] = await expectApprovals(fleet, "desk", [{ tool: "wire", arguments: { amount: 5 } }])
 */
export const expectApprovals = async (
  fleet: Pick<Fleet, "approvals">,
  id: string,
  expected: ReadonlyArray<ExpectedCall>
): Promise<ReadonlyArray<ApprovalAsked>> => {
  const open = await fleet.approvals.list(id)
  const asked = open.map(({ arguments: args, tick, tool }): MadeCall => {
    return { tool, arguments: parsed(args), result: undefined, ok: false, tick }
  })
  const wanted = expected.map(callOf)
  const isSame = asked.length === wanted.length && asked.every((call, index) => isLike(call, wanted[index]))
  return isSame ? open : fail(`${id} waits for other approvals`, sideBySide(asked, wanted), asked, expected)
}

/** A fact by words of its text, or by what is to be true of it: `{ text: /Bergen/, origin: { name: "ann" } }`. */
export type ExpectedFact = Words | { readonly [Key in keyof Fact]?: Like }

const isFactLike = (fact: Fact, expected: ExpectedFact): boolean =>
  typeof expected === "string" || expected instanceof RegExp ? holds(fact.text, expected) : isLike(fact, expected)

/**
 * What an assistant has learnt and holds to be true: each of these is among it. Superseded, retired and quarantined facts
 * are looked at where `state` names them. Answers the facts that were meant.
 * @example
 * await expectFacts(fleet, "desk", [/Aurora/, { text: /Bergen/, trust: (trust: number) => trust > 0.8 }])
 */
export const expectFacts = async (
  fleet: Pick<Fleet, "memory">,
  id: string,
  expected: ReadonlyArray<ExpectedFact>
): Promise<ReadonlyArray<Fact>> => {
  const all = await fleet.memory.facts(id)
  const meant = expected.map((pattern) =>
    all.find(
      (fact) => isFactLike(fact, pattern) && (fact.state === "active" || (isPattern(pattern) && "state" in pattern))
    )
  )
  const missing = expected.filter((_, index) => meant[index] === undefined)
  const found = meant.filter((fact) => fact !== undefined)
  if (missing.length === 0) return found
  const lines = [
    ...missing.map((pattern) => `- ${inLine(pattern)} is not known`),
    ...all.map(({ state, text }) => `  ${state === "active" ? "" : `(${state}) `}${inLine(text)}`)
  ]
  return fail(`${id} does not know all of this`, lines, all, expected)
}

const isPattern = (expected: ExpectedFact): expected is { readonly [Key in keyof Fact]?: Like } =>
  typeof expected === "object" && !(expected instanceof RegExp)

/**
 * What comes to an assistant's mind with a question: words of each are in one of the memories found.
 * @example
 * await expectRecall(fleet, "desk", "Where does Ann sail?", ["Bergen"])
 */
export const expectRecall = async (
  fleet: Pick<Fleet, "memory">,
  id: string,
  question: string,
  expected: ReadonlyArray<Words>,
  options: RecallOptions = {}
): Promise<void> => {
  const { hits } = await fleet.memory.recall(id, question, options)
  const missing = expected.filter((words) => !hits.some(({ entry }) => holds(entry.text, words)))
  if (missing.length === 0) return
  const lines = [
    ...missing.map((words) => `- ${inLine(words)} is not recalled`),
    ...hits.map(({ entry }) => `  ${entry.kind}: ${inLine(entry.text)}`)
  ]
  fail(`${id} does not recall all of this for ${inLine(question)}`, lines, hits, expected)
}

/** Most that an assistant may have used; what is not said is not judged. */
export interface CostLimits {
  /** Most calls of the model, failed ones included. */
  readonly modelCalls?: number
  /** Input and output together. */
  readonly tokens?: number
  /** Millionths of the currency of the fleet's `prices`. */
  readonly costMicros?: number
}

/**
 * What an assistant has used, dreams included, is at most so much; from the hour of a moment on, in milliseconds since the epoch,
 * or in its whole life.
 * @example
 * await expectCostAtMost(fleet, "desk", { modelCalls: 2, costMicros: 5_000 })
 */
export const expectCostAtMost = async (
  fleet: Pick<Fleet, "history">,
  id: string,
  limits: CostLimits,
  sinceMillis: number = 0
): Promise<void> => {
  const { calls, costMicros, tokens } = await fleet.history.usage(id, sinceMillis)
  const used = { modelCalls: calls, tokens, costMicros }
  const names = Object.keys(used) as ReadonlyArray<keyof typeof used>
  const over = new Set(names.filter((name) => used[name] > (limits[name] ?? Number.POSITIVE_INFINITY)))
  if (over.size === 0) return
  const lines = names.map((name) => {
    const most = limits[name]
    return `${over.has(name) ? "+" : " "} ${name}: ${used[name]}${most === undefined ? "" : ` of at most ${most}`}`
  })
  fail(`${id} used too much`, lines, used, limits)
}

/** What a matcher of vitest and jest answers. */
export interface Verdict {
  /** The expectation holds. */
  readonly pass: boolean
  /** What was expected and what was found, for the case that the test fails. */
  readonly message: () => string
}

type Check = (...args: ReadonlyArray<never>) => unknown

/** The same expectation as a matcher: `expect(fleet).toCallTools("desk", [...])`. */
const matcherOf =
  <Args extends ReadonlyArray<unknown>>(check: (...args: Args) => unknown) =>
  async (...args: Args): Promise<Verdict> => {
    try {
      await check(...args)
      return { pass: true, message: () => "it is as it was expected not to be" }
    } catch (error) {
      if (error instanceof Error && error.name === "AssertionError")
        return { pass: false, message: () => error.message }
      throw error
    }
  }

/**
 * The expectations as matchers of vitest and jest; each answers a promise.
 * @example
 * expect.extend(matchers)
 * await expect(fleet).toCallTools("desk", ["find_berth"])
 */
export const matchers = {
  toCallTools: matcherOf(expectToolCalls),
  toAskForApprovals: matcherOf(expectApprovals),
  toKnowFacts: matcherOf(expectFacts),
  toRecall: matcherOf(expectRecall),
  toCostAtMost: matcherOf(expectCostAtMost),
  toBeRequest: matcherOf(expectRequest)
} satisfies Readonly<Record<string, Check>>

/**
 * The types of the matchers, for an `interface Matchers<...> extends ReverieMatchers {}` with the type parameters of your
 * vitest, in a `declare module "vitest"`. What `expect` was given is their first argument.
 */
export type ReverieMatchers = {
  readonly [Name in keyof typeof matchers]: (typeof matchers)[Name] extends (
    first: never,
    ...rest: infer Rest
  ) => unknown
    ? (...rest: Rest) => Promise<void>
    : never
}
