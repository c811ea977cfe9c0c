// Responses: a prompt as the JSON text of a request of OpenAI's Responses API.
// Owns the items that messages are written as, and what is asked for besides. Leaves names and ids to `@reverie/model/wire`,
// sending to `attempt.ts`, and what comes back to `responses-answer.ts`.
// R1  Nothing is kept there: every request holds the whole conversation, and asks for its reasoning in a form that can be kept here.
// R2  Reasoning is given back to the server and the model that it came from, at its place, and to no one else.
// R3  The text is well-formed, as that of the chat wire (W3).

import type { PromptMessage, PromptPart, ToolOffer } from "@reverie/model"
import { offersByName, type Signer, wireId, wireName, withReasoning } from "@reverie/model/wire"
import { defined, isJsonObject, type Json } from "@reverie/protocol"
import {
  argumentsText,
  audioFormat,
  base64Of,
  type BodyStyle,
  type BodyWriter,
  dataUrl,
  extraOf,
  fileName,
  type Hints,
  isStrict,
  quoted,
  type WireTools
} from "./wire.ts"

const said = (role: string, content: string): string =>
  `{"type":"message","role":"${role}","content":${quoted(content)}}`

const partJson = (part: PromptPart): string => {
  switch (part.type) {
    case "image":
      return `{"type":"input_image","detail":"auto","image_url":"${dataUrl(part)}"}`
    case "audio": {
      const { data = new Uint8Array(), mediaType } = part
      return `{"type":"input_audio","input_audio":{"data":"${base64Of(data)}","format":${quoted(audioFormat(mediaType))}}}`
    }
    case "file":
      return `{"type":"input_file","filename":${quoted(fileName(part))},"file_data":"${dataUrl(part)}"}`
  }
}

/** What the user says, with what is loaded beside it. */
const asked = (message: PromptMessage): string => {
  const loaded = (message.parts ?? []).filter(({ data }) => data !== undefined)
  if (loaded.length === 0) return said("user", speech(message))
  const text = message.content === "" ? [] : [`{"type":"input_text","text":${quoted(speech(message))}}`]
  return `{"type":"message","role":"user","content":[${[...text, ...loaded.map(partJson)].join(",")}]}`
}

/** The one who spoke, where it is not simply the user: there is no field for names. */
const speech = ({ content, name }: PromptMessage): string =>
  name === undefined || name === "user" ? content : `${name}: ${content}`

/** Only reasoning that is whole without the server's memory can be given back. */
export const keptItem = (item: { readonly [key: string]: Json }): Json | undefined => {
  const { content, encrypted_content: encrypted, id, summary } = item
  const isWhole = typeof encrypted === "string" || (Array.isArray(content) && content.length > 0)
  if (!isWhole) return undefined
  const of = (value: Json | undefined, isFit: boolean) => (isFit ? value : undefined)
  return {
    type: "reasoning",
    summary: Array.isArray(summary) ? summary : [],
    ...defined({
      id: of(id, typeof id === "string"),
      encrypted_content: of(encrypted, typeof encrypted === "string"),
      content: of(content, Array.isArray(content))
    })
  }
}

/** A message as one item or several, with commas between them. */
export const responseItems =
  (signer: Signer) =>
  (message: PromptMessage): string => {
    switch (message.role) {
      case "system":
        return said("system", message.content)
      case "user":
        return asked(message)
      case "tool":
        return `{"type":"function_call_output","call_id":"${wireId(message.call ?? "")}","output":${quoted(message.content)}}`
      case "assistant": {
        const calls = (message.calls ?? []).map(
          ({ arguments: args, id, tool }) =>
            `{"type":"function_call","call_id":"${wireId(id)}","name":"${wireName(tool)}","arguments":${quoted(argumentsText(args))}}`
        )
        const text = message.content === "" && calls.length > 0 ? [] : [said("assistant", message.content)]
        return withReasoning([...text, ...calls], message, signer, (part) => JSON.stringify(part)).join(",")
      }
    }
  }

const renderedTools = new WeakMap<ReadonlyArray<ToolOffer>, WireTools>()

export const responseTools = (offers: ReadonlyArray<ToolOffer>): WireTools => {
  const known = renderedTools.get(offers)
  if (known !== undefined) return known
  const byName = [...offersByName(offers)]
  const json = byName.map(([name, { description, parameters }]) => {
    return `{"type":"function","name":"${name}","description":${quoted(description)},"parameters":${JSON.stringify(parameters)},"strict":false}`
  })
  const tools: WireTools = {
    json: json.length === 0 ? "" : `[${json.join(",")}]`,
    nameByWire: new Map(byName.map(([name, offer]) => [name, offer.name]))
  }
  renderedTools.set(offers, tools)
  return tools
}

/** OpenAI itself knows a key for its cache, and a choice among tools that leaves their list as it is. */
const openAiHints = ({ allowed, cacheKey }: Hints, hasTools: boolean) => {
  const tools = allowed?.map((name) => ({ type: "function", name }))
  const choice: Json = tools?.length === 0 ? "none" : { type: "allowed_tools", mode: "auto", tools: tools ?? [] }
  return { prompt_cache_key: cacheKey, tool_choice: tools === undefined || !hasTools ? undefined : choice }
}

const formatOf = ({ name, schema }: NonNullable<Hints["output"]>): Json => ({
  format: { type: "json_schema", name: wireName(name), schema, strict: isStrict(schema) }
})

/** Older models think nothing, and refuse to be asked for it. */
const thinksNothing = /^(?:gpt-[34]|chatgpt)/

/** Writes request bodies; what the caller adds stands in place of what would be sent. */
export const makeResponsesWriter = (style: BodyStyle): BodyWriter => {
  const isOpenAi = URL.parse(style.baseURL)?.hostname === "api.openai.com"
  const { reasoningEffort: effort, temperature } = style
  const always = {
    model: style.model,
    store: false,
    ...defined({
      include: thinksNothing.test(style.model) ? undefined : ["reasoning.encrypted_content"],
      temperature,
      reasoning: effort === undefined ? undefined : { effort }
    })
  }
  return (messages, tools, stream, maxOutputTokens, hints = {}) => {
    const rest: { readonly [key: string]: Json } = {
      ...always,
      ...defined({
        ...(isOpenAi && openAiHints(hints, tools !== "")),
        text: hints.output === undefined ? undefined : formatOf(hints.output),
        max_output_tokens: maxOutputTokens,
        stream: stream ? true : undefined
      })
    }
    const own = Object.entries(rest).filter(([key]) => !Object.hasOwn(style.extraBody, key))
    const fields = own.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")
    return [
      `{${extraOf(style.extraBody)}${fields},"input":[`,
      ...messages,
      `]${tools === "" ? "" : `,"tools":${tools}`}}`
    ]
  }
}

type ResponsesUsage = { readonly [Name in "input" | "output" | "cached" | "reasoning"]?: Json | undefined }

/** What a server says that it used, by the names of this wire. */
export const responsesUsage = (usage: Json | undefined): ResponsesUsage => {
  if (usage === undefined || !isJsonObject(usage)) return {}
  const detail = (name: string, key: string) => {
    const details = usage[name]
    return details !== undefined && isJsonObject(details) ? details[key] : undefined
  }
  return {
    input: usage["input_tokens"],
    output: usage["output_tokens"],
    cached: detail("input_tokens_details", "cached_tokens"),
    reasoning: detail("output_tokens_details", "reasoning_tokens")
  }
}
