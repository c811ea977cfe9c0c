// AiSdkPrompt: a prompt as the options of a call of the AI SDK.
// Owns messages and their parts, tools, the form of the answer, and what each provider gets besides. Leaves the call to
// ai-sdk-model.ts.
// A1  A system message behind the conversation is said in the role of the user: some providers take none there.
// A6  A mark for a cache stands beside a message or a tool and changes no text. A provider gets only what it is known to
//     understand; what a program says itself stands in its place.
// A7  The list of tools is the same with every call: where the tools that may be called now can not be named beside it, a call of
//     another one is refused when it is made.

import type { Prompt, PromptMessage, PromptPart } from "@reverie/model"
import { offersByName, type Signer, wireId, wireName, withReasoning } from "@reverie/model/wire"
import { defined, isJsonObject, type Json } from "@reverie/protocol"

/** How a model that is given as an object is asked: the names are those of a server. */
export interface ModelSettings {
  /** From 0 to 2. */
  readonly temperature?: number
  /** How hard it is to think, as its provider knows it. */
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** By the names of providers, as the AI SDK has them: they stand in place of what would be sent. */
  readonly providerOptions?: Readonly<Record<string, { readonly [key: string]: Json }>>
}

type Part = { readonly type: string; readonly [key: string]: unknown }
type Message = {
  readonly role: PromptMessage["role"]
  readonly content: string | ReadonlyArray<Part>
  readonly providerOptions?: ProviderOptions
}

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
const messagesOf = (
  messages: ReadonlyArray<PromptMessage>,
  signer: Signer,
  version: string
): ReadonlyArray<Message> => {
  const first = messages.findIndex(({ role }) => role !== "system")
  const toolByCall = new Map<string, string>()
  return messages.map((message, index) => messageOf(message, first < 0 || index < first, toolByCall, signer, version))
}

// Hints: what goes beside messages and tools.

type ProviderOptions = NonNullable<ModelSettings["providerOptions"]>

/** Who is asked. */
export interface Addressee {
  readonly provider: string
  readonly modelId: string
  readonly version: string
  readonly signer: Signer
}

/** What a call of the AI SDK is given: each of its versions has a type of its own for it. */
export type Asked = never

const EPHEMERAL: ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } }
const CACHE_POINT: ProviderOptions = { bedrock: { cachePoint: { type: "default" } } }

/** Bedrock refuses a cache point for any other model. */
const keepsOnBedrock = /claude-(?!instant|v2|3-(?:opus|sonnet|haiku)|3-5-sonnet-20240620)|\bnova-/

/** The mark of where that ends which comes again; undefined for a provider that finds it by itself, or is not known to know one. */
const markOf = ({ modelId, provider }: Addressee): ProviderOptions | undefined => {
  if (/anthropic/i.test(provider)) return EPHEMERAL
  if (/bedrock/i.test(provider)) return keepsOnBedrock.test(modelId) ? CACHE_POINT : undefined
  // A gateway passes it on.
  return /claude/i.test(modelId) ? EPHEMERAL : undefined
}

/** An empty text carries no mark. */
const isMarkable = ({ calls = [], content }: PromptMessage): boolean => content !== "" || calls.length > 0

/** The last message of so many that can carry a mark, or -1. */
const lastMarkable = (messages: ReadonlyArray<PromptMessage>, count: number): number =>
  messages.slice(0, count).findLastIndex(isMarkable)

/** The end of the instructions is marked, and the end of what lasts: of four marks a request may have three are used. */
const markedAt = ({ lasting = 0, messages }: Prompt): ReadonlySet<number> => {
  const first = messages.findIndex(({ role }) => role !== "system")
  const leading = first < 0 ? messages.length : first
  return new Set([lastMarkable(messages, leading), lastMarkable(messages, lasting)])
}

const toolsOf = ({ tools }: Prompt, mark: ProviderOptions | undefined) => {
  const offers = [...offersByName(tools)]
  return offers.map(([name, { description, parameters: inputSchema }], index) => ({
    type: "function",
    name,
    description,
    inputSchema,
    ...defined({ providerOptions: index === offers.length - 1 ? mark : undefined })
  }))
}

const isOpenAi = ({ provider }: Addressee): boolean => /^(?:openai|azure)\b/.test(provider)

/** OpenAI knows a key for its cache, and by its Responses API a choice among tools that leaves their list as it is. */
const openAiOptions = ({ allowed, cacheKey, tools }: Prompt, { provider }: Addressee): ProviderOptions => {
  const isNarrowed = allowed !== undefined && allowed.length > 0 && tools.length > 0 && provider.endsWith(".responses")
  const toolNames = isNarrowed ? [...offersByName(tools)].filter(([, { name }]) => allowed.includes(name)) : []
  const allowedTools = toolNames.length === 0 ? undefined : { toolNames: toolNames.map(([name]) => name), mode: "auto" }
  return { openai: defined({ promptCacheKey: cacheKey, allowedTools }) }
}

/** Providers whose wire knows no choice of no tool: there the list itself would be left out, and the beginning be another one. */
const knowsNoNone = /anthropic|bedrock/i

/** Before version 4 each provider has an option of its own for it. */
const effortOptions = ({ provider }: Addressee, effort: string): ProviderOptions => {
  const [name = provider] = provider.split(".")
  if (/anthropic/i.test(provider)) return { anthropic: { effort } }
  if (/bedrock/i.test(provider))
    return { bedrock: { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } } }
  if (/^(?:google|vertex)/.test(provider)) return { google: { thinkingConfig: { thinkingLevel: effort } } }
  return { [name.startsWith("azure") ? "openai" : name]: { reasoningEffort: effort } }
}

/** By providers; of two values the later one stands. */
const mergedOptions = (...all: ReadonlyArray<ProviderOptions>): ProviderOptions | undefined => {
  const merged: { [name: string]: { readonly [key: string]: Json } } = {}
  for (const options of all) {
    for (const [name, each] of Object.entries(options)) merged[name] = { ...merged[name], ...each }
  }
  const said = Object.entries(merged).filter(([, each]) => Object.keys(each).length > 0)
  return said.length === 0 ? undefined : Object.fromEntries(said)
}

/** The options of calls of one model. */
export const asker = (to: Addressee, settings: ModelSettings) => {
  const { headers, providerOptions: own = {}, reasoningEffort: effort, temperature } = settings
  const mark = markOf(to)
  const isLatest = to.version === "v4"
  const always = effort === undefined || isLatest ? {} : effortOptions(to, effort)
  const reasoning = isLatest && effort === "max" ? "xhigh" : effort
  return (prompt: Prompt, abortSignal: AbortSignal): Asked => {
    const { allowed, maxOutputTokens, output } = prompt
    const marked = mark === undefined ? undefined : markedAt(prompt)
    const messages = messagesOf(prompt.messages, to.signer, to.version)
    const tools = toolsOf(prompt, mark)
    const choice = allowed?.length === 0 && !knowsNoNone.test(to.provider) ? "none" : "auto"
    const options = {
      prompt: messages.map((message, index) =>
        marked?.has(index) === true ? { ...message, providerOptions: mark } : message
      ),
      abortSignal,
      ...defined({
        maxOutputTokens,
        temperature,
        headers,
        reasoning: isLatest ? reasoning : undefined,
        tools: tools.length === 0 ? undefined : tools,
        toolChoice: tools.length === 0 ? undefined : { type: choice },
        responseFormat:
          output === undefined ? undefined : { type: "json", name: wireName(output.name), schema: output.schema },
        providerOptions: mergedOptions(isOpenAi(to) ? openAiOptions(prompt, to) : {}, always, own)
      })
    }
    return options as unknown as Asked
  }
}
