// Compare: two ways through one tick, side by side.
// Owns what counts as a difference. Leaves the digests to digest.ts, the comparison of two reports to `context`.
// C1  Equal digests differ in nothing; whatever differs is named once, in the order in which a person would ask.

import { compareReports, type ReportComparison } from "@reverie/context"
import type { CallDigest, TickDigest } from "./digest.ts"

export interface ForkDifference {
  readonly what:
    | "reply"
    | "outcome"
    | "iterations"
    | "calls"
    | "results"
    | "model-calls"
    | "models"
    | "failures"
    | "tokens"
    | "cost"
    | "sends"
    | "context"
  /** In short. */
  readonly original: string
  readonly forked: string
}

export interface ContextDifference {
  readonly iteration: number
  readonly comparison: ReportComparison
}

export interface ForkComparison {
  readonly original: TickDigest
  readonly forked: TickDigest
  readonly differs: ReadonlyArray<ForkDifference>
  /** The calls of the model whose prompts differ in their parts. */
  readonly contexts: ReadonlyArray<ContextDifference>
}

const asked = (calls: ReadonlyArray<CallDigest>): string =>
  calls.map((call) => `${call.tool}(${call.arguments})`).join("; ")

const answers = (calls: ReadonlyArray<CallDigest>): string =>
  calls.map(({ result = "(no answer)", tool }) => `${tool}: ${result}`).join("\n")

const told = (sends: TickDigest["sends"]): string =>
  sends.map(({ text, to, type }) => `${type} to ${to}: ${text}`).join("\n")

const shown: Readonly<Record<Exclude<ForkDifference["what"], "context">, (digest: TickDigest) => string>> = {
  reply: ({ reply }) => reply,
  outcome: ({ outcome, unfinished }) => (unfinished === undefined ? outcome : `${outcome}: ${unfinished}`),
  iterations: ({ iterations }) => String(iterations),
  calls: ({ calls }) => asked(calls),
  results: ({ calls }) => answers(calls),
  "model-calls": ({ modelCalls }) => String(modelCalls),
  models: ({ models }) => models.join(", "),
  failures: ({ failures }) => failures.join("\n"),
  tokens: ({ tokens }) => `${tokens.input} in, ${tokens.output} out`,
  cost: ({ costMicros }) => String(costMicros),
  sends: ({ sends }) => told(sends)
}

/** What was left out is counted by whoever held the window; it is told in the comparison, and is no part of a prompt. */
const isSame = ({ absent, cuts, interrupted, parts, toolTokens, tokensMore }: ReportComparison): boolean =>
  parts.length + absent.length === 0 &&
  tokensMore === 0 &&
  [cuts, interrupted, toolTokens].every(([one, other]) => one === other)

/** Call by call of the model; the second one of an iteration is one that was tried again. */
const contextsOf = (original: TickDigest, forked: TickDigest): ReadonlyArray<ContextDifference> =>
  original.contexts.flatMap((report, index) => {
    const other = forked.contexts[index]
    if (other === undefined) return []
    const comparison = compareReports(report, other)
    return isSame(comparison) ? [] : [{ iteration: report.iteration, comparison }]
  })

export const compareTicks = (original: TickDigest, forked: TickDigest): ForkComparison => {
  const contexts = contextsOf(original, forked)
  const named = (Object.keys(shown) as ReadonlyArray<keyof typeof shown>).flatMap((what): Array<ForkDifference> => {
    const [one, other] = [shown[what](original), shown[what](forked)]
    return one === other ? [] : [{ what, original: one, forked: other }]
  })
  const tokens = (digest: TickDigest): string => digest.contexts.map((report) => report.tokens).join(", ")
  const inContext: ReadonlyArray<ForkDifference> =
    contexts.length === 0
      ? []
      : [{ what: "context", original: `${tokens(original)} tokens`, forked: `${tokens(forked)} tokens` }]
  return { original, forked, differs: [...named, ...inContext], contexts }
}
