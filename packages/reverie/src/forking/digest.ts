// TickDigest: what a tick came to, small enough to be compared and kept.
// Owns reading it out of entries. Leaves the comparison of two to digest.ts.
// D1  It is JSON and bounded: long texts are cut, and say so.
// D2  Two ticks in which the same was said and done have equal digests: no time, no commit number and no worker is in it.

import { chargeOf, type Price, type Tariff } from "@reverie/model"
import { defined, type Entry, type Json, type ToolCall, type Usage } from "@reverie/protocol"
import type { AnsweredBy } from "@reverie/runtime"
import { compareReports, type ReportComparison } from "@reverie/context"
import type { FleetDefinition } from "../fleet-options.ts"
import { type ContextReport, contextReportOf } from "../views/context-report.ts"

const MAX_TEXT_CHARS = 4_000
const MAX_CALLS = 200

/** One tool call of a tick, to be compared. */
export interface CallDigest {
  /** The id of the call. */
  readonly id: string
  /** The name of the tool. */
  readonly tool: string
  /** As JSON text. */
  readonly arguments: string
  /** What it was answered with; absent where nothing has answered it. */
  readonly result?: string
  /** In a fork: where the answer is from; absent for what the assistant itself refused. */
  readonly answeredBy?: AnsweredBy
}

/** What a tick came to, to be compared. */
export interface TickDigest {
  /** Its number. */
  readonly tick: number
  /** The id of the envelope that began it. */
  readonly envelope: string
  /** As its end says; `unfinished` where there is none. */
  readonly outcome: string
  /** Why it did not come to an end; absent where it did. */
  readonly unfinished?: string
  /** What was answered; empty where nothing was. */
  readonly reply: string
  /** Model calls that led on. */
  readonly iterations: number
  /** The models that answered, each once. */
  readonly models: ReadonlyArray<string>
  /** Calls of the model, failed ones included. */
  readonly modelCalls: number
  /** Calls of the model that failed, in its words. */
  readonly failures: ReadonlyArray<string>
  /** Its tool calls, in their order. */
  readonly calls: ReadonlyArray<CallDigest>
  /** Of all its model calls together. */
  readonly tokens: { readonly input: number; readonly output: number }
  /** In millionths of a unit, without `unpricedCalls`. */
  readonly costMicros: number
  /** Model calls whose price no one knows. */
  readonly unpricedCalls: number
  /** Written for others; in a fork it is not sent. */
  readonly sends: ReadonlyArray<{ readonly to: string; readonly type: string; readonly text: string }>
  /** What the model was shown, call by call. */
  readonly contexts: ReadonlyArray<ContextReport>
}

/** A text as far as there is room for it. */
const cutText = (text: string, most: number = MAX_TEXT_CHARS): string =>
  text.length <= most ? text : `${text.slice(0, most).toWellFormed()}\n[Cut: ${text.length} characters.]`

const resultsIn = (entries: ReadonlyArray<Entry>): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap(({ messages }) =>
      messages.flatMap(({ call, content, role }) => (role === "tool" && call !== undefined ? [[call, content]] : []))
    )
  )

const argumentsOf = ({ arguments: args, malformed }: ToolCall): string =>
  cutText(malformed === undefined ? JSON.stringify(args) : `malformed: ${malformed}`)

const callsIn = (
  entries: ReadonlyArray<Entry>,
  answered: ReadonlyMap<string, AnsweredBy>
): ReadonlyArray<CallDigest> => {
  const results = resultsIn(entries)
  return entries
    .flatMap(({ messages }) => messages.flatMap(({ calls = [] }) => calls))
    .slice(0, MAX_CALLS)
    .map((call): CallDigest => {
      const result = results.get(call.id)
      const by = answered.get(call.id)
      return {
        id: call.id,
        tool: cutText(call.tool, 128),
        arguments: argumentsOf(call),
        ...defined({ result: result === undefined ? undefined : cutText(result), answeredBy: by })
      }
    })
}

const NONE: Usage = { inputTokens: 0, outputTokens: 0, source: "counted" }

const detailText = (detail: { readonly [key: string]: Json } | undefined, name: string): ReadonlyArray<string> => {
  const value = detail?.[name]
  return typeof value === "string" ? [value] : []
}

const sendsIn = (entries: ReadonlyArray<Entry>): TickDigest["sends"] =>
  entries.flatMap(({ sends = [] }) =>
    sends.map(({ event, to }) => ({
      to: to.assistant,
      type: event.type,
      text: cutText("text" in event ? event.text : "content" in event ? event.content : "", 1_000)
    }))
  )

export interface DigestOptions {
  readonly tick: number
  readonly prices?: Tariff | undefined
  /** What the definition says that its models cost. */
  readonly own?: Price | undefined
  readonly answered?: ReadonlyMap<string, AnsweredBy>
  readonly unfinished?: string
}

/** What calls of a definition cost, as the ledger charges them. */
export const pricesFor = (
  { assistants, prices }: FleetDefinition,
  definition: string
): Pick<DigestOptions, "own" | "prices"> => ({
  prices,
  own: assistants.find(({ name }) => name === definition)?.prices
})

/** The digest of the entries of one tick, from its beginning on. */
export const digestOf = (entries: ReadonlyArray<Entry>, options: DigestOptions): TickDigest => {
  const { answered = new Map(), own, prices = {}, tick, unfinished = "it has no end" } = options
  const end = entries.findLast(({ tickEnd }) => tickEnd !== undefined)?.tickEnd
  const asks = entries.flatMap(({ step }) => (step?.kind === "infer" ? [step] : []))
  const cause = entries[0]?.cause
  const charges = asks.flatMap(({ detail, usage }) =>
    usage === undefined ? [] : [chargeOf(prices, own, detailText(detail, "model")[0] ?? "", usage)]
  )
  return {
    tick,
    envelope: cause?.kind === "envelope" ? cause.id : "",
    outcome: end?.outcome ?? "unfinished",
    ...defined({ unfinished: end === undefined ? cutText(unfinished, 500) : undefined }),
    reply: cutText(end?.reply ?? ""),
    iterations: end?.iterations ?? Math.max(0, ...entries.map(({ iteration }) => iteration)),
    models: [...new Set(asks.flatMap(({ detail }) => detailText(detail, "model")))],
    modelCalls: asks.length,
    failures: asks.flatMap(({ detail, ok }) =>
      ok ? [] : detailText(detail, "error").map((text) => cutText(text, 500))
    ),
    calls: callsIn(entries, answered),
    tokens: {
      input: asks.reduce((sum, { usage = NONE }) => sum + usage.inputTokens, 0),
      output: asks.reduce((sum, { usage = NONE }) => sum + usage.outputTokens, 0)
    },
    costMicros: charges.reduce((sum: number, charge) => sum + (charge ?? 0), 0),
    unpricedCalls: charges.filter((charge) => charge === undefined).length,
    sends: sendsIn(entries),
    contexts: entries.flatMap((entry) => contextReportOf(entry) ?? [])
  }
}

// Compare: two ways through one tick, side by side.
// C1  Equal digests differ in nothing; whatever differs is named once, in the order in which a person would ask.

/** What differs: the reply, the calls, the prompts, and so on. */
export interface ForkDifference {
  /** Which of its sides. */
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
  /** In short, of the fork. */
  readonly forked: string
}

/** How the prompts of two ticks differ. */
export interface ContextDifference {
  /** The model call of the tick, from 1 on. */
  readonly iteration: number
  /** How its two prompts differ. */
  readonly comparison: ReportComparison
}

/** How a forked tick differs from the recorded one. */
export interface ForkComparison {
  /** What was recorded. */
  readonly original: TickDigest
  /** What came now. */
  readonly forked: TickDigest
  /** What of the two is not the same; empty when all is. */
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

/** What was left out is counted where the window is filled; the comparison shows it, and it is no part of a prompt. */
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
