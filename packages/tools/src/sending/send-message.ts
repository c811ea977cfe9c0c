// SendMessage: the tool by which an assistant writes to others.
// Owns what the model learns of who was reached. Leaves finding them to the fleet's directory, delivery to the relay.
// M1  An unknown or shared name sends nothing: the result says why, and who can be reached.
// M2  Of several recipients each is sent to or refused by itself, and the result names both.

import { defined } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { defineTool } from "../define.ts"
import type { Tool, ToolRun } from "../tool.ts"

interface Message {
  readonly to: string
  readonly text: string
  readonly expect_answer?: boolean
}

const iso = (millis: number): string => new Date(millis).toISOString()

const sendAll = ({ expect_answer = false, text, to }: Message, run: ToolRun) => {
  const reached = run.reach(to)
  if ("refused" in reached) {
    const { candidates, reason, refused } = reached
    return { sent: [], refused, reason, reachable: candidates }
  }
  const sent: Array<string> = []
  const refused: Array<{ readonly to: string; readonly reason: string; readonly retry_at: string }> = []
  for (const id of reached.ids) {
    const refusal = run.mayNotWrite(id)
    if (refusal === undefined) {
      run.send(id, text, { wantsAnswer: expect_answer })
      sent.push(id)
    } else refused.push({ to: id, reason: refusal.reason, retry_at: iso(refusal.retryAt) })
  }
  return { sent, ...defined({ refused: refused.length === 0 ? undefined : refused }) }
}

/** The tool by which an assistant writes to another one. */
export const sendMessage: Tool = defineTool({
  name: "send_message",
  description:
    "Writes to another assistant: by its id or name, to a team as `group:<team>`, or to everybody with a role as " +
    "`role:<role>` or `role:<team>/<role>`. It leaves with the result of this call.",
  idempotent: true,
  input: Schema.Struct({
    to: Schema.NonEmptyString.annotate({ description: "An id, a name, group:<team> or role:<role>." }),
    text: Schema.NonEmptyString,
    expect_answer: Schema.optionalKey(Schema.Boolean.annotate({ description: "The answer comes back as a message." }))
  }),
  run: sendAll
})
