// Measures: how long things take and how much they use, as metrics.
// Owns the histograms and their labels. Leaves showing them to the SDK.
// M1  No assistant, tenant, envelope or text is a label: only what the code, a definition or an operator has named.
// M2  What is written costs less than what it measures by orders of magnitude; there are no metrics of single decisions.

import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { attributes as named, metrics } from "./names.ts"

/** The buckets that the conventions advise, in seconds. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const LONG_SECONDS = [0.01, 0.04, 0.16, 0.64, 2.56, 10.24, 40.96, 163.84, 655.36, 2621.44]
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]

type Labels = Readonly<Record<string, string>>

/** A histogram with labels, each combination made once. */
const labelled = (name: string, description: string, boundaries: ReadonlyArray<number>) => {
  const whole = Metric.histogram(name, { description, boundaries })
  const known = new Map<string, Metric.Histogram<number>>()
  return (labels: Labels, value: number): Effect.Effect<void> => {
    const key = Object.values(labels).join("\u0000")
    const found = known.get(key) ?? Metric.withAttributes(whole, labels)
    known.set(key, found as Metric.Histogram<number>)
    return Metric.update(found, value)
  }
}

const chatDuration = labelled(metrics.chatDuration, "Seconds that a model call took.", SECONDS)
const tokenUsage = labelled(metrics.tokenUsage, "Tokens of a model call.", TOKENS)
const toolDuration = labelled(metrics.toolDuration, "Seconds that a tool call took.", SECONDS)
const turnDuration = labelled(metrics.turnDuration, "Seconds from taking work up until nothing runs.", LONG_SECONDS)
const queueAge = labelled(metrics.queueAge, "Seconds that an envelope waited to be taken up.", LONG_SECONDS)

export interface Served {
  readonly provider: string
  readonly model: string
}

const labelsOf = ({ model, provider }: Served) => ({
  [named.operation]: "chat",
  [named.provider]: provider,
  [named.requestModel]: model
})

export const measureChat = (served: Served, millis: number, error: string | undefined): Effect.Effect<void> =>
  chatDuration({ ...labelsOf(served), [named.errorType]: error ?? "" }, millis / 1_000)

export const measureTokens = (served: Served, inputTokens: number, outputTokens: number): Effect.Effect<void> => {
  const labels = labelsOf(served)
  return Effect.andThen(
    tokenUsage({ ...labels, [named.tokenType]: "input" }, inputTokens),
    tokenUsage({ ...labels, [named.tokenType]: "output" }, outputTokens)
  )
}

export const measureTool = (tool: string, millis: number, error: string | undefined): Effect.Effect<void> =>
  toolDuration({ [named.toolName]: tool, [named.errorType]: error ?? "" }, millis / 1_000)

export const measureTurn = (outcome: string, millis: number): Effect.Effect<void> =>
  turnDuration({ [named.outcome]: outcome }, millis / 1_000)

export const measureWait = (lane: string, millis: number): Effect.Effect<void> =>
  queueAge({ "reverie.lane": lane }, Math.max(0, millis) / 1_000)
