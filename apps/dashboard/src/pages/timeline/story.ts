// Story: a tick in plain sentences.
// Owns the words. Leaves the times and figures to the Trace level.
// S1  Everything that happened stands in it once, in the order in which it ended.

import { senderName } from "@reverie/protocol/spoken"
import { useQueryClient } from "@tanstack/react-query"
import { useCallback, useEffect, useReducer, useRef, useState } from "react"
import { count } from "../../parts/format.ts"
import { duration } from "../../parts/time.tsx"
import { defined } from "../../api/defined.ts"
import { type Trouble, troubleOf } from "../../api/client.ts"
import type { Answer, Asked } from "../../api/contract.ts"
import { question, useAnswer } from "../../api/questions.ts"

export interface Sentence {
  readonly kind: "heard" | "waited" | "thought" | "used" | "pending" | "did" | "ended" | "failed"
  readonly at: number
  readonly says: string
  /** Words of someone, below the sentence. */
  readonly quote?: string
}

const begun: Readonly<Record<View["kind"], string>> = {
  tick: "Something came",
  dream: "The dream run began",
  compaction: "The window was compacted",
  order: "An order came"
}

const ends: Readonly<Record<string, string>> = {
  answered: "It answered",
  terminal: "It ended the run with a tool",
  "max-iterations": "It was stopped after too many rounds",
  cut: "It was cut off: what it had to spend was used up",
  misshapen: "It had no more tries: its answer has another form than it must have",
  refused: "It had no more tries: a hook refused its answer",
  stopped: "A person stopped it",
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

const heard = ({ beganAt, kind, sender, text, waitMs = 0 }: View): ReadonlyArray<Sentence> => [
  {
    kind: "heard",
    at: beganAt,
    says: kind === "tick" && sender !== undefined ? `${senderName(sender)} said` : begun[kind],
    ...quoted(text)
  },
  ...(waitMs < 1_000
    ? []
    : [{ kind: "waited", at: beganAt, says: `That had waited ${duration(waitMs)} until it was taken up` } as const])
]

/** Who did not answer before, and why. */
export const insteadOf = (earlier: View["models"][number]["earlier"] = []): string =>
  earlier
    .map(
      ({ model, reason, server }) => `${model}${server === undefined ? "" : ` at ${server}`} did not answer: ${reason}`
    )
    .join("; ")

const failedOver = ({ at, earlier = [] }: Pick<View["models"][number], "at" | "earlier">): ReadonlyArray<Sentence> =>
  earlier.length === 0 ? [] : [{ kind: "failed", at, says: insteadOf(earlier) }]

const thought = ({ at, elapsedMs, error, misfit, model, ok, text, usage }: View["models"][number]): Sentence => {
  const whom = model === undefined ? "" : ` with ${model}`
  if (!ok) return { kind: "failed", at, says: `The model did not answer${whom}`, ...quoted(error) }
  const took = usage === undefined ? "" : `, ${count(usage.inputTokens)} tokens in, ${count(usage.outputTokens)} out`
  const says = `It thought for ${duration(elapsedMs)}${whom}${took}`
  if (misfit === undefined) return { kind: "thought", at, says, ...quoted(text) }
  return { kind: "failed", at, says: `${says}, and its answer was not accepted (${misfit})`, ...quoted(text) }
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

type HookDone = NonNullable<View["hooks"]>[number]

/** What each hook guards, in words. */
const guards: Readonly<Record<HookDone["hook"], string>> = {
  onMessage: "the message",
  beforeModel: "the prompt",
  afterModel: "the answer",
  beforeTool: "the call",
  afterTool: "the result"
}

const deeds: Readonly<Record<HookDone["did"], string>> = {
  changed: "changed",
  refused: "refused",
  asked: "has a person asked about",
  failed: "failed, which refused"
}

const guarded = ({ at, before, did: deed, hook, of, reason, tool }: HookDone): Sentence => ({
  kind: deed === "refused" || deed === "failed" ? "failed" : "did",
  at,
  says: `The hook ${hook} of ${of} ${deeds[deed]} ${guards[hook]}${tool === undefined ? "" : ` of ${tool}`}`,
  ...quoted(reason ?? (before === undefined ? undefined : `before: ${before}`))
})

/** What hooks did, in words. */
export const guardedIn = ({ hooks = [] }: View): ReadonlyArray<Sentence> => hooks.map(guarded)

const ended = (view: View): ReadonlyArray<Sentence> => {
  const says = endOf(view)
  if (says === undefined || view.endedAt === undefined) return []
  const kind = ["failed", "misshapen", "refused"].includes(view.outcome ?? "") ? "failed" : "ended"
  return [{ kind, at: view.endedAt, says, ...quoted(view.reply) }]
}

export const storyOf = (view: View): ReadonlyArray<Sentence> => {
  const between = [
    ...view.models.flatMap((call) => [...failedOver(call), thought(call)]),
    ...guardedIn(view),
    ...view.tools.map(used),
    ...view.steps.flatMap((step) => [...failedOver(step), did(step)])
  ]
  return [...heard(view), ...between.toSorted((one, other) => one.at - other.at), ...ended(view)]
}

// Rows: a life, the newest first, as far back as one has looked.
// W1  Only the newest page is asked for again when something happens; what lies further back stays as it came.
// W2  No row stands there twice, and none is missing between two that stand there.
// W3  What comes while the page is left open lets the oldest rows go: they are asked for again when one looks further back.

const TICKS = "GET /v1/assistants/:id/ticks"
const PAGE_ROWS = 100
/** What comes makes no more rows than these, unless one has looked further back. */
const MOST_ROWS = 500

type Page = Answer<typeof TICKS>
export type View = Page["items"][number]

interface Life {
  readonly whose: string
  readonly rows: ReadonlyArray<View>
  /** Where the page before the last row begins; null when there is none. */
  readonly end: number | null
}

interface Came extends Page {
  readonly whose: string
  /** The newest page, or the one before this commit. */
  readonly before: number | "head"
}

const nobody: Life = { whose: "", rows: [], end: null }

export const joined = (life: Life, { before, items, next, whose }: Came): Life => {
  if (before !== "head") {
    if (life.whose !== whose || life.end !== before) return life
    return { ...life, rows: [...life.rows, ...items], end: next }
  }
  const lowest = items.at(-1)?.from ?? 0
  const newest = life.rows[0]?.from ?? 0
  // So much came at once that there is a gap: it is begun anew.
  if (life.whose !== whose || (newest < lowest && next !== null)) return { whose, rows: [...items], end: next }
  const rows = [...items, ...life.rows.filter(({ from }) => from < lowest)]
  const most = Math.max(MOST_ROWS, life.rows.length)
  const kept = rows.slice(0, most)
  return { ...life, rows: kept, end: kept.length < rows.length ? (kept.at(-1)?.from ?? null) : life.end }
}

const askedFor = (id: string, before: number | undefined): Asked<typeof TICKS> => ({
  params: { id },
  query: { limit: PAGE_ROWS, ...defined({ before }) }
})

/** The page before what has come; one at a time. */
const useFurther = (id: string, { end, whose }: Life, take: (came: Came) => void) => {
  const client = useQueryClient()
  const busy = useRef(false)
  const [trouble, setTrouble] = useState<Trouble>()
  const further = useCallback(() => {
    if (busy.current || end === null) return
    busy.current = true
    setTrouble(undefined)
    client
      .fetchQuery({ ...question(TICKS, askedFor(id, end)), meta: { live: false }, gcTime: 30_000 })
      .then(
        (page) => take({ ...page, whose, before: end }),
        (error: unknown) => setTrouble(troubleOf(error))
      )
      .finally(() => {
        busy.current = false
      })
  }, [client, end, id, take, whose])
  return { further, trouble }
}

/** From the newest back, or from a tick back. */
export const useLife = (id: string, tick: number | undefined) => {
  const anchor = useAnswer(
    "GET /v1/assistants/:id/ticks/:tick",
    { params: { id, tick: tick ?? 0 } },
    { enabled: tick !== undefined }
  )
  const before = tick === undefined || anchor.data === undefined ? undefined : anchor.data.to + 1
  const head = useAnswer(TICKS, askedFor(id, before), { enabled: tick === undefined || before !== undefined })
  const whose = `${id} ${before ?? ""}`
  const [life, take] = useReducer(joined, nobody)
  useEffect(() => {
    if (head.data !== undefined) take({ ...head.data, whose, before: "head" })
  }, [head.data, whose])
  const { further, trouble } = useFurther(id, life, take)
  const isHere = life.whose === whose && head.data !== undefined
  return {
    rows: isHere ? life.rows : [],
    isWhole: isHere && life.end === null,
    isReady: anchor.isError || head.isError || isHere,
    trouble: anchor.error ?? head.error,
    retry: () => void (anchor.isError ? anchor.refetch() : head.refetch()),
    further,
    furtherTrouble: trouble
  }
}
