// Spoken: the model of the attacks. It does what the last message of a person says.
// `!tool {"a":1}` calls that tool once and then says what it answered; anything else is answered with "aye".

import type { ModelRequest, ScriptedReply } from "@reverie/testkit/model-server"

const textOf = (content: unknown): string => (typeof content === "string" ? content : JSON.stringify(content ?? ""))

const COMMAND = /!([a-z_]+)(?:\s+(\{.*\}))?/s

export const spokenScript = ({ messages, tools }: ModelRequest): ScriptedReply => {
  const last = messages.at(-1)
  if (last?.role === "tool") return { text: `done: ${textOf(last.content).slice(0, 200)}` }
  const asked = messages.toReversed().find(({ role }) => role === "user")
  const [, tool, args = "{}"] = COMMAND.exec(textOf(asked?.content)) ?? []
  return tool !== undefined && tools.includes(tool) ? { calls: [{ tool, arguments: args }] } : { text: "aye" }
}
