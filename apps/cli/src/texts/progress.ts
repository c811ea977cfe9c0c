// Progress: what happens in a fleet, told a line at a time to the one who watches.
// Owns which notices are worth a line and how it reads. Leaves counting to report.ts.
// P1  Everything that came from a message, a model or a tool is made harmless and fits on its line.
// P2  Data stands there as words: no line holds JSON.

import { type Activity, activityOf, type Notice } from "reverie"
import { note, painted } from "../output.ts"
import { onOneLine, withoutJson } from "./plain.ts"

const LONGEST_QUOTE = 100

const quoted = (text: string): string => onOneLine(withoutJson(text), LONGEST_QUOTE)

/** What is worth a line when it begins; the rest comes and goes with every tick. */
const tellingActivities: Partial<Readonly<Record<Activity, string>>> = {
  dreaming: "falls asleep",
  compacting: "compacts its history",
  halted: "is halted",
  retired: "has retired"
}

/** What each was doing when its state was told last. */
const lastActivities = new Map<string, Activity>()

/** The line for a state that has begun; undefined where it goes on with what it did. */
const beginningOf = ({ address, status }: Extract<Notice, { readonly type: "state-changed" }>): string | undefined => {
  const activity = activityOf(status)
  const before = lastActivities.get(address.assistant)
  lastActivities.set(address.assistant, activity)
  // A sleeper that makes room for its history goes on sleeping.
  const goesOn = before === activity || (before === "compacting" && activity === "dreaming")
  return goesOn ? undefined : tellingActivities[activity]
}

const endOf = (notice: Extract<Notice, { readonly type: "tick-ended" }>): string => {
  // A terminal tool has been told with its words already.
  if (notice.outcome === "slept" || notice.outcome === "terminal") return ""
  if (notice.outcome === "failed") return painted("red", "could not answer")
  const reply = notice.reply === "" ? painted("dim", "(no words)") : quoted(notice.reply)
  if (notice.outcome === "misshapen") return `${painted("yellow", "answered in no form that it must have:")} ${reply}`
  if (notice.outcome === "refused")
    return `${painted("yellow", "a hook refused its answer:")} ${quoted(notice.refusal ?? "")}`
  return notice.outcome === "max-iterations" ? `${painted("yellow", "ran out of iterations:")} ${reply}` : reply
}

/** A field of an event that the statechart emitted. */
const textIn = (value: unknown): string => (typeof value === "string" ? value : "")

/** The line for a notice; undefined when it needs none. */
const lineOf = (notice: Notice): string | undefined => {
  switch (notice.type) {
    case "tick-started":
      return notice.text === undefined
        ? undefined
        : painted("dim", `< ${quoted(`${notice.from ?? ""}: ${notice.text}`)}`)
    case "tool-finished": {
      const result = notice.content === "" ? "started, its report comes later" : quoted(notice.content)
      return `${painted(notice.ok ? "cyan" : "yellow", notice.ok ? "tool" : "tool failed")} ${quoted(notice.tool)}: ${result}`
    }
    case "model-failed":
      return `${painted("yellow", "model failed:")} ${quoted(notice.reason)}`
    case "tool-refused":
      return `${painted("yellow", "refused:")} ${quoted(notice.tool)}: ${quoted(notice.reason)}`
    case "sub-agent-started":
      return painted("dim", `hands a task to ${quoted(notice.id)}: ${quoted(notice.task)}`)
    case "step-skipped":
      return painted("dim", `${notice.step}: skipped, ${quoted(notice.reason)}`)
    case "approval-asked":
      return `${painted("yellow", "asks for approval:")} ${quoted(notice.tool)} (${notice.approval})`
    case "state-changed": {
      const told = beginningOf(notice)
      return told === undefined ? undefined : painted("yellow", told)
    }
    case "tick-ended":
      return endOf(notice) || undefined
    case "envelope-settled":
      if (notice.outcome === "handled") return undefined
      return `${painted(notice.outcome === "dead" ? "red" : "dim", notice.outcome === "dead" ? "dead letter:" : "ignored:")} ${quoted(
        notice.reason ?? notice.envelope
      )}`
    case "emitted": {
      const { others = [], reason, server, type } = notice.event
      if (type !== "model-away") return undefined
      return `${painted("yellow", "waits for the model")} at ${quoted([server].concat(others).map(textIn).join(" or "))}: ${quoted(textIn(reason))}`
    }
    case "model-replied": {
      const earlier = (notice.earlier ?? [])
        .map(({ model, reason }) => `${model} did not answer (${reason})`)
        .join(", ")
      return earlier === "" ? undefined : `${painted("yellow", "another model answers:")} ${quoted(earlier)}`
    }
    case "approval-decided":
    case "created":
    case "step-finished":
    case "sub-agent-ended":
    case "part":
      return undefined
  }
}

const NAME_WIDTH = 10
const EVERY = 100

/** Tells a notice. */
export const tellNotice = (notice: Notice): void => {
  const line = lineOf(notice)
  if (line !== undefined) note(`${painted("bold", onOneLine(notice.address.assistant).padEnd(NAME_WIDTH))} ${line}`)
}

/** For long courses: only trouble gets a line of its own, and each hundredth tick a count. */
export const sparingly = (): ((notice: Notice) => void) => {
  let ticks = 0
  return (notice) => {
    if (notice.type === "tick-ended") {
      ticks++
      if (ticks % EVERY === 0) note(painted("dim", `${ticks} ticks`))
    }
    const isTrouble =
      notice.type === "model-failed" ||
      (notice.type === "emitted" && notice.event.type === "model-away") ||
      notice.type === "approval-asked" ||
      (notice.type === "envelope-settled" && notice.outcome === "dead") ||
      (notice.type === "state-changed" && notice.status === "halted")
    if (isTrouble) tellNotice(notice)
  }
}
