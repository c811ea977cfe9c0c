// Story: a tick in plain sentences.
// Owns the words. Leaves the times and figures to the Trace level.
// S1  Everything that happened stands in it once, in the order in which it ended.

import { count } from "../../parts/format.ts"
import { duration } from "../../parts/time.tsx"
import type { View } from "./rows.ts"

export interface Sentence {
  readonly kind: "heard" | "waited" | "thought" | "used" | "pending" | "did" | "ended" | "failed"
  readonly at: number
  readonly says: string
  /** Words of somebody, below the sentence. */
  readonly quote?: string
}

const begun: Readonly<Record<View["kind"], string>> = {
  tick: "Something came",
  dream: "The night began",
  compaction: "The window was compacted",
  order: "An order came"
}

const ends: Readonly<Record<string, string>> = {
  answered: "It answered",
  terminal: "It ended the tick with a tool",
  "max-iterations": "It was stopped after too many rounds",
  cut: "It was cut off: what it had to spend was used up",
  failed: "It failed",
  slept: "It went to sleep",
  noted: "It took note and said nothing"
}

const kindWords: Readonly<Record<string, string>> = {
  assess: "weighed the task",
  dream: "dreamt",
  compact: "compacted",
  coordinate: "coordinated the team",
  child: "saw to a sub-agent"
}

const endOf = ({ outcome }: View): string | undefined =>
  outcome === undefined ? undefined : (ends[outcome] ?? `It ended: ${outcome}`)

const quoted = (quote: string | undefined): { readonly quote?: string } =>
  quote === undefined || quote === "" ? {} : { quote }

const heard = ({ beganAt, kind, sender, text, waitMillis = 0 }: View): ReadonlyArray<Sentence> => [
  {
    kind: "heard",
    at: beganAt,
    says: kind === "tick" && sender !== undefined ? `${sender} said` : begun[kind],
    ...quoted(text)
  },
  ...(waitMillis < 1_000
    ? []
    : [{ kind: "waited", at: beganAt, says: `That had waited ${duration(waitMillis)} until it was taken up` } as const])
]

const thought = ({ at, elapsedMillis, error, model, ok, text, usage }: View["models"][number]): Sentence => {
  const whom = model === undefined ? "" : ` with ${model}`
  if (!ok) return { kind: "failed", at, says: `The model did not answer${whom}`, ...quoted(error) }
  const took = usage === undefined ? "" : `, ${count(usage.inputTokens)} tokens in, ${count(usage.outputTokens)} out`
  return { kind: "thought", at, says: `It thought for ${duration(elapsedMillis)}${whom}${took}`, ...quoted(text) }
}

const used = ({ at, ok, pending, result, tool }: View["tools"][number]): Sentence => {
  if (pending === true) return { kind: "pending", at, says: `It waits for ${tool}: for a person, a report, or its end` }
  return { kind: ok ? "used" : "failed", at, says: ok ? `It used ${tool}` : `${tool} failed`, ...quoted(result) }
}

/** `linking` of a dream's step that is called `dream linking`. */
export const stepName = ({ kind, name }: Pick<View["steps"][number], "kind" | "name">): string =>
  name.startsWith(`${kind} `) ? name.slice(kind.length + 1) : name

const did = ({ at, kind, name, note, ok }: View["steps"][number]): Sentence => ({
  kind: ok ? "did" : "failed",
  at,
  says: `It ${kindWords[kind] ?? kind} (${stepName({ kind, name })})${ok ? "" : ": that failed"}`,
  ...quoted(note)
})

const ended = (view: View): ReadonlyArray<Sentence> => {
  const says = endOf(view)
  if (says === undefined || view.endedAt === undefined) return []
  return [{ kind: view.outcome === "failed" ? "failed" : "ended", at: view.endedAt, says, ...quoted(view.reply) }]
}

export const storyOf = (view: View): ReadonlyArray<Sentence> => {
  const between = [...view.models.map(thought), ...view.tools.map(used), ...view.steps.map(did)]
  return [...heard(view), ...between.toSorted((one, other) => one.at - other.at), ...ended(view)]
}
