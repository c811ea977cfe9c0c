// AiSdkPrompt: our messages as the AI SDK writes them.
// Owns their parts: texts, files, calls and results. Leaves the call to ai-sdk-model.ts.
// A1  A system message behind the conversation is said in the role of the user: some providers take none there.

import type { PromptMessage, PromptPart } from "@reverie/model"
import { type Signer, wireId, wireName, withReasoning } from "@reverie/model/wire"
import { defined, isJsonObject, type Json } from "@reverie/protocol"

type Part = { readonly type: string; readonly [key: string]: unknown }
type Message = { readonly role: PromptMessage["role"]; readonly content: string | ReadonlyArray<Part> }

const text = (said: string): Part => ({ type: "text", text: said.toWellFormed() })

/** The one who spoke, where it is not simply the user: the interface has no field for names. */
const speech = ({ content, name }: PromptMessage): string =>
  name === undefined || name === "user" ? content : `${name}: ${content}`

/** A part that was kept: of reasoning, or what came with the text or call at its place. */
const partOf = (part: Json): Part =>
  isJsonObject(part) && typeof part["type"] === "string" ? (part as Part) : { type: SIGNED }

export const SIGNED = "signed"

/** What was said and called, with the signatures that came with it. */
const signed = (items: ReadonlyArray<Part>, { reasoning = [] }: PromptMessage): ReadonlyArray<Part> =>
  reasoning.length === 0
    ? items
    : items.map((item, index) => {
        const own = reasoning.find(({ at, part }) => at === index && partOf(part).type === SIGNED)
        return own === undefined ? item : { ...item, providerOptions: partOf(own.part)["providerOptions"] }
      })

/** The latest version says of bytes that they are bytes. */
const filePart = ({ data, mediaType, name }: PromptPart, version: string): Part => ({
  type: "file",
  data: version === "v4" ? { type: "data", data } : data,
  mediaType,
  ...defined({ filename: name })
})

const messageOf = (
  message: PromptMessage,
  isLeading: boolean,
  toolByCall: Map<string, string>,
  signer: Signer,
  version: string
): Message => {
  switch (message.role) {
    case "system":
      return isLeading
        ? { role: "system", content: message.content.toWellFormed() }
        : { role: "user", content: [text(message.content)] }
    case "user": {
      const files = (message.parts ?? []).map((part) => filePart(part, version))
      const said = message.content === "" && files.length > 0 ? [] : [text(speech(message))]
      return { role: "user", content: [...said, ...files] }
    }
    case "assistant": {
      const calls = (message.calls ?? []).map(({ arguments: input, id, tool }): Part => {
        toolByCall.set(id, tool)
        return { type: "tool-call", toolCallId: wireId(id), toolName: wireName(tool), input }
      })
      const said = message.content === "" && calls.length > 0 ? [] : [text(message.content)]
      const items = withReasoning(signed([...said, ...calls], message), message, signer, partOf)
      return { role: "assistant", content: items.filter(({ type }) => type !== SIGNED) }
    }
    case "tool": {
      const { call = "", content, name = toolByCall.get(call) ?? "unnamed" } = message
      const output = { type: "text", value: content.toWellFormed() }
      return {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: wireId(call), toolName: wireName(name), output }]
      }
    }
  }
}

/** The messages of a prompt, for an interface of that version. */
export const messagesOf = (
  messages: ReadonlyArray<PromptMessage>,
  signer: Signer,
  version: string
): ReadonlyArray<Message> => {
  const first = messages.findIndex(({ role }) => role !== "system")
  const toolByCall = new Map<string, string>()
  return messages.map((message, index) => messageOf(message, first < 0 || index < first, toolByCall, signer, version))
}
