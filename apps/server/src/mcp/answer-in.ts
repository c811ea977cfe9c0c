// AnswerIn: what a run comes to, for anyone who can not watch it.
// Owns reading the end off the events of a run, or that there is none yet.
// A1  Anyone who waits long enough gets the whole answer; anyone who does not learns that it is pending, and nothing of it is lost.

import { clip, WHOLE_CHARS } from "../views/message-view.ts"
import type { Answer } from "./mcp-fleet.ts"

type Event = { readonly type: string; readonly [key: string]: unknown }

const textAt = (value: unknown, key: string): string => {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined
  return typeof found === "string" ? found : ""
}

const approvalsIn = (outcome: unknown): Answer["approvals"] => {
  const interrupts: unknown = typeof outcome === "object" && outcome !== null ? Reflect.get(outcome, "interrupts") : []
  return (Array.isArray(interrupts) ? interrupts : []).map((each: unknown) => ({
    approval: textAt(each, "id"),
    call: textAt(each, "toolCallId"),
    says: clip(textAt(each, "message"))
  }))
}

export const answerIn = async (
  agent: string,
  envelope: string,
  events: AsyncIterable<Event> | Iterable<Event>
): Promise<Answer> => {
  const answer: Answer = { agent, envelope, state: "pending", reply: "", approvals: [] }
  for await (const event of events) {
    if (event.type === "RUN_ERROR") {
      const state = event["code"] === "halted" ? "halted" : "failed"
      const reply = clip(textAt(event["result"], "reply"), WHOLE_CHARS)
      return { ...answer, state, reply, reason: clip(textAt(event, "message"), WHOLE_CHARS) }
    }
    if (event.type !== "RUN_FINISHED") continue
    const outcome = event["outcome"]
    if (textAt(outcome, "type") === "interrupt") {
      return { ...answer, state: "waiting_for_approval", approvals: approvalsIn(outcome) }
    }
    return { ...answer, state: "answered", reply: clip(textAt(event["result"], "reply"), WHOLE_CHARS) }
  }
  return answer
}
