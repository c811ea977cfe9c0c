// Sentence: a notice as a person reads it, in one line.
// Owns which notices are worth a line, and its words. Leaves colours, cuts and making it harmless to the one who shows it.
// S1  What comes and goes with every tick gets no line of its own: a state gets one when it begins, and only where it matters.
// S2  `subject` and `text` are of messages, models and tools: nothing of them is trusted.

import { type Activity, activityOf } from "@reverie/assistant"
import { type Notice, senderName } from "@reverie/protocol"

/** A line about something that happened. */
export interface Sentence {
  /** heard: said to it. said: its answer. tool: what a tool came to. note: in passing. warn, bad: worth a look. */
  readonly tone: "heard" | "said" | "tool" | "note" | "warn" | "bad"
  /** How the line begins; empty where the text says it all. */
  readonly lead: string
  /** Of whom or what: a tool, a sub-agent, who spoke. */
  readonly subject?: string
  /** The rest of it. */
  readonly text: string
}

/** What is worth a line when it begins. */
const beginnings: Partial<Readonly<Record<Activity, string>>> = {
  dreaming: "falls asleep",
  compacting: "compacts its history",
  halted: "is halted",
  retired: "has retired"
}

const endOf = (notice: Extract<Notice, { readonly type: "tick-ended" }>): Sentence | undefined => {
  const { outcome, refusal = "", reply } = notice
  // A terminal tool has been told with its words already.
  if (outcome === "slept" || outcome === "terminal" || outcome === "noted") return undefined
  if (outcome === "failed") return { tone: "bad", lead: "could not answer", text: "" }
  if (outcome === "misshapen") return { tone: "warn", lead: "answered in no form that it must have:", text: reply }
  if (outcome === "refused") return { tone: "warn", lead: "a hook refused its answer:", text: refusal }
  if (outcome === "stopped") {
    return { tone: "warn", lead: `was stopped by a person${reply === "" ? "" : ":"}`, text: reply }
  }
  if (outcome === "max-iterations") {
    return { tone: "warn", lead: `ran out of steps${reply === "" ? "" : ":"}`, text: reply }
  }
  return reply === "" ? { tone: "note", lead: "(no words)", text: "" } : { tone: "said", lead: "", text: reply }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

const emittedOf = (event: { readonly [name: string]: unknown }): Sentence | undefined => {
  const { others, reason, server, type } = event
  if (type !== "model-away") return undefined
  const subject = [server, ...(Array.isArray(others) ? others : [])].map(textOf).join(" or ")
  return { tone: "warn", lead: "waits for the model at", subject, text: textOf(reason) }
}

const MOST_NAMED = 2

const kilo = (tokens: number): string => (tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(1)}k`)

/** The first of many, and how many more there are. */
const some = (texts: ReadonlyArray<string>, count: number): string => {
  const shown = texts.slice(0, MOST_NAMED)
  return [...shown, ...(count > shown.length ? [`and ${count - shown.length} more`] : [])].join("; ")
}

/** What a dream has learnt, what of it is held back, and what waits for a person's word. */
const dreamtOf = (notice: Extract<Notice, { readonly type: "step-finished" }>): Sentence | undefined => {
  const { heldBack = [], learnt = [], waiting = [] } = notice
  const learntCount = notice.learntCount ?? learnt.length
  const heldCount = notice.heldBackCount ?? heldBack.length
  const waitingCount = notice.waitingCount ?? waiting.length
  const facts = (count: number): string => (count === 1 ? "a fact" : `${count} facts`)
  const [isLearnt, isHeld, isWaiting] = [learntCount > 0, heldCount > 0, waitingCount > 0]
  const others = waitingCount === 1 ? "1 waits" : `${waitingCount} wait`
  const parts = [
    ...(isLearnt ? [`learns ${facts(learntCount)}`] : []),
    ...(isHeld ? [`holds back ${isLearnt ? heldCount : facts(heldCount)}`] : []),
    ...(isWaiting && (isLearnt || isHeld) ? [`${others} for a person`] : []),
    ...(isWaiting && !isLearnt && !isHeld
      ? [`has ${facts(waitingCount)} that ${waitingCount === 1 ? "waits" : "wait"} for a person`]
      : [])
  ]
  const last = parts.pop()
  if (last === undefined) return undefined
  const lead = `${parts.length === 0 ? "" : `${parts.join(", ")}, and `}${last}:`
  const [texts, count] = isLearnt ? [learnt, learntCount] : isHeld ? [heldBack, heldCount] : [waiting, waitingCount]
  return { tone: "note", lead, text: some(texts, count) }
}

/** What a dream has come to, and what a compaction has made room for. */
const stepOf = (notice: Extract<Notice, { readonly type: "step-finished" }>): Sentence | undefined => {
  const { compacted } = notice
  const dreamt = dreamtOf(notice)
  if (dreamt !== undefined) return dreamt
  if (compacted === undefined) return undefined
  const { messages, tokensAfter, tokensBefore } = compacted
  const text = `${messages} messages, ${kilo(tokensBefore)} to ${kilo(tokensAfter)} tokens`
  return { tone: "note", lead: "has compacted", text }
}

/** As the text of a timer begins, with its name; what anyone else says may begin so, too. */
const CLOCK = "clock"
const OF_A_TIMER = /^\[timer ([^\]]*)\] /

const heard = ({ from = "", text }: Extract<Notice, { readonly type: "tick-started" }>): Sentence | undefined => {
  if (text === undefined) return undefined
  const [mark = "", timer] = (from === CLOCK ? OF_A_TIMER.exec(text) : null) ?? []
  const who = timer === undefined ? senderName(from) : `timer ${timer}`
  return { tone: "heard", lead: "<", subject: who, text: text.slice(mark.length) }
}

/** Tells notices one after the other: it remembers what each assistant was doing. */
export class Sentences {
  readonly #activities = new Map<string, Activity>()

  /** Undefined where the notice needs no line. */
  of(notice: Notice): Sentence | undefined {
    switch (notice.type) {
      case "tick-started":
        return heard(notice)
      case "tool-finished": {
        const text = notice.content === "" ? "started, its report comes later" : notice.content
        return {
          tone: notice.ok ? "tool" : "warn",
          lead: notice.ok ? "tool" : "tool failed",
          subject: notice.tool,
          text
        }
      }
      case "model-failed":
        return { tone: "warn", lead: "model failed:", text: notice.reason }
      case "tool-refused":
        return { tone: "warn", lead: "refused:", subject: notice.tool, text: notice.reason }
      case "sub-agent-started":
        return { tone: "note", lead: "hands a task to", subject: notice.id, text: notice.task }
      case "step-skipped":
        return { tone: "note", lead: `${notice.step}: skipped,`, text: notice.reason }
      case "approval-asked":
        return { tone: "warn", lead: "asks for approval:", text: notice.tool }
      case "state-changed":
        return this.#beginning(notice)
      case "tick-ended":
        return endOf(notice)
      case "envelope-settled": {
        if (notice.outcome === "handled") return undefined
        const isDead = notice.outcome === "dead"
        const text = notice.reason ?? notice.envelope
        return { tone: isDead ? "bad" : "note", lead: isDead ? "dead letter:" : "ignored:", text }
      }
      case "emitted":
        return emittedOf(notice.event)
      case "model-replied": {
        const earlier = (notice.earlier ?? []).map(({ model, reason }) => `${model} did not answer (${reason})`)
        return earlier.length === 0
          ? undefined
          : { tone: "warn", lead: "another model answers:", text: earlier.join(", ") }
      }
      case "step-finished":
        return stepOf(notice)
      case "approval-decided":
      case "created":
      case "sub-agent-ended":
      case "part":
        return undefined
    }
  }

  /** The line for a state that has begun; undefined where it goes on with what it did. */
  #beginning({ address, status }: Extract<Notice, { readonly type: "state-changed" }>): Sentence | undefined {
    const key = `${address.tenant}/${address.assistant}`
    const activity = activityOf(status)
    const before = this.#activities.get(key)
    this.#activities.set(key, activity)
    // A sleeper that makes room for its history goes on sleeping.
    const goesOn = before === activity || (before === "compacting" && activity === "dreaming")
    const lead = goesOn ? undefined : beginnings[activity]
    return lead === undefined ? undefined : { tone: "warn", lead, text: "" }
  }
}
