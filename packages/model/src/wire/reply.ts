// Reply: a whole answer as the model room understands it, with everything that is wrong with it.
// Owns parsing of calls, names on the wire, our call ids, the finish reason, what an answer cost where no one says, and what a
// model reads of its mistakes. Leaves asking again to the adapter.
// R1  A call's arguments are a parsed object without hostile keys, or the call is marked malformed.
// R2  Call ids are `<callPrefix>.<index>`, whatever the server called them.
// R3  A complaint is one sentence that says exactly what to correct.

import {
  defined,
  type FinishReason,
  type GivenPart,
  isJsonObject,
  type Json,
  parseJson,
  type ReasoningPart,
  type ToolCall,
  type Usage
} from "@reverie/protocol"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { outputText, type Prompt, type PromptMessage, type Reply, type ToolOffer } from "../model.ts"
import { partTokens } from "../parts.ts"
import { TOKENS_PER_MESSAGE } from "../tokens.ts"
import type { Scrub } from "./failure.ts"

// Names: of tools and calls as every server takes them.
// N1  They hold letters, digits, _ and - only, and fit the limits of the strictest servers.
// N2  Two tools of one prompt never have the same name there.

const MAX_NAME_CHARS = 64
const MAX_ID_CHARS = 40

const unsafe = /[^A-Za-z0-9_-]/g

export const wireName = (name: string): string => name.slice(0, MAX_NAME_CHARS).replace(unsafe, "_") || "unnamed"

/** Longer ids than servers take are replaced by their hash, so that two of them do not meet. */
export const wireId = (id: string): string => {
  const safe = id.replace(unsafe, "_")
  return safe.length <= MAX_ID_CHARS ? safe : createHash("sha256").update(id).digest("hex").slice(0, MAX_ID_CHARS)
}

/** The offered tools by their names on the wire. */
export const offersByName = (offers: ReadonlyArray<ToolOffer>): ReadonlyMap<string, ToolOffer> => {
  const byName = new Map<string, ToolOffer>()
  for (const offer of offers) {
    let name = wireName(offer.name)
    for (let twin = 2; byName.has(name); twin++) name = `${wireName(offer.name).slice(0, MAX_NAME_CHARS - 4)}_${twin}`
    byName.set(name, offer)
  }
  return byName
}

// Reasoning: what a model thought, kept for the one that can read it.
// K1  A part is given back to the provider and the model that made it, at its place, and to no one else.
// K2  A part that holds a secret, or what no store keeps, is not kept, nor is any where they are too large or nothing comes after them: a reply
//     can be used without.

/** Who made a part: the wire and the place of the server, and the model as it is asked for. */
export interface Signer {
  readonly provider: string
  readonly model: string
}

export interface RawReasoning {
  readonly part: Json
  /** How much of what was said and called came before it: a text is one, and each call is one. */
  readonly at: number
}

const MOST_REASONING_CHARS = 1_000_000

const keptReasoning = (
  { reasoning = [], reasoningTokens }: RawReply,
  items: number,
  signer: Signer,
  scrub: Scrub
): ReadonlyArray<ReasoningPart> | undefined => {
  const found = reasoning.flatMap(({ at, part }) => {
    const text = JSON.stringify(part)
    return at < items && JSON.stringify(scrub.keptJson(part)) === text ? [{ at, part, text }] : []
  })
  const chars = found.reduce((sum, { text }) => sum + text.length, 0)
  if (found.length === 0 || chars > MOST_REASONING_CHARS) return undefined
  const share = reasoningTokens === undefined ? undefined : Math.ceil(reasoningTokens / found.length)
  return found.map(({ at, part, text }) => ({ ...signer, part, at, tokens: share ?? roughCount(text) }))
}

/** What this message holds of the reasoning of this one. */
export const ownReasoning = ({ reasoning = [] }: PromptMessage, signer: Signer): ReadonlyArray<ReasoningPart> =>
  reasoning.filter(({ model, provider }) => provider === signer.provider && model === signer.model)

/** The prompt without what others thought. */
export const withOwnReasoning = (prompt: Prompt, signer: Signer): Prompt =>
  prompt.messages.every(({ reasoning }) => reasoning === undefined)
    ? prompt
    : {
        ...prompt,
        messages: prompt.messages.map((message) => {
          if (message.reasoning === undefined) return message
          const { reasoning: _, ...rest } = message
          const own = ownReasoning(message, signer)
          return own.length === 0 ? rest : { ...rest, reasoning: own }
        })
      }

/** What a message says and calls, with what this one thought at its places. */
export const withReasoning = <A>(
  items: ReadonlyArray<A>,
  message: PromptMessage,
  signer: Signer,
  written: (part: Json) => A
): ReadonlyArray<A> => {
  const own = ownReasoning(message, signer)
  if (own.length === 0) return items
  const before = (index: number) => own.filter(({ at }) => at === index).map(({ part }) => written(part))
  return items.flatMap((item, index) => [...before(index), item])
}

// Raw: an answer as an adapter has put it together.

export interface RawCall {
  readonly name: string
  /** The text to be parsed, or the value when the server sent one. */
  readonly arguments: Json
}

export interface RawReply {
  readonly text: string
  /** What a provider says in the place of an answer. */
  readonly refusal: string
  /** There was reasoning, whether it can be kept or not. */
  readonly reasoned: boolean
  /** What of it the provider wants back. */
  readonly reasoning?: ReadonlyArray<RawReasoning>
  /** Tokens of all of it, where the provider says so. */
  readonly reasoningTokens?: number | undefined
  readonly calls: ReadonlyArray<RawCall>
  /** Images, files and audio that it made. */
  readonly parts?: ReadonlyArray<GivenPart>
  /** With those that were not kept. */
  readonly callCount: number
  /** As the server words it. */
  readonly finish: string
  readonly model: string
}

export interface Judged {
  readonly reply: Reply
  /** What is wrong with the call at the same index; undefined when nothing is. */
  readonly callComplaints: ReadonlyArray<string | undefined>
  /** What is wrong with the reply as a whole. */
  readonly complaint: string | undefined
}

interface JudgeContext {
  readonly prompt: Prompt
  readonly nameByWire: ReadonlyMap<string, string>
  readonly usage: Usage
  readonly model: string
  /** Whose its reasoning is; without one it is not kept. */
  readonly signer?: Signer
  readonly maxCalls: number
  readonly scrub: Scrub
}

const MOST_NAMES_SHOWN = 40
const MAX_QUOTE_CHARS = 80
const MAX_MODEL_CHARS = 128

const finishOf = (finish: string, hasCalls: boolean): FinishReason => {
  switch (finish.toLowerCase()) {
    case "length":
    case "max_tokens":
      return "length"
    case "content_filter":
      return "content-filter"
    default:
      // Servers disagree on the word, and some say `stop` after calls: what the reply holds decides.
      return hasCalls ? "tool-calls" : "stop"
  }
}

type ReadArguments = { readonly value: Json } | { readonly why: string }

const kindOf = (value: Json): string =>
  value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`

/** Accepts an object, a text that holds one, and nothing at all for no arguments. */
const readArguments = (args: Json, scrub: Scrub): ReadArguments => {
  let value = args
  // Once for the text, once more for the models that encode twice.
  for (let round = 0; round < 2 && typeof value === "string"; round++) {
    if (value.trim() === "") return { value: {} }
    const parsed = parseJson(value)
    if (Result.isFailure(parsed)) {
      const start = scrub.shown(value.slice(0, MAX_QUOTE_CHARS))
      return { why: `are not JSON (${scrub.shown(parsed.failure)}); they begin with: ${start}` }
    }
    value = parsed.success ?? {}
  }
  return isJsonObject(value) ? { value } : { why: `must be one JSON object, not ${kindOf(value)}` }
}

const cleaned = (value: Json, source: Json, scrub: Scrub): Json =>
  typeof source === "string" && !source.includes("\\u") && scrub.kept(source) === source ? value : scrub.keptJson(value)

const unknownTool = (name: string, names: ReadonlyArray<string>): string => {
  if (names.length === 0) return `there is no tool named ${name}; no tools can be called now`
  const shown = names.slice(0, MOST_NAMES_SHOWN).join(", ")
  return `there is no tool named ${name}; the tools are: ${shown}${names.length > MOST_NAMES_SHOWN ? ", ..." : ""}`
}

export const judge = (assembly: RawReply, context: JudgeContext): Judged => {
  const { maxCalls, nameByWire, prompt, scrub } = context
  const calls: Array<ToolCall> = []
  const callComplaints: Array<string | undefined> = []
  const take = (raw: RawCall, index: number): void => {
    const said = wireName(scrub.kept(raw.name))
    const tool = nameByWire.get(said) ?? said
    const id = `${prompt.callPrefix}.${index}`
    const read = readArguments(raw.arguments, scrub)
    if ("why" in read) {
      const malformed = `the arguments of ${tool} ${read.why}`
      calls.push({ id, tool, arguments: {}, malformed })
      callComplaints.push(malformed)
    } else {
      calls.push({ id, tool, arguments: cleaned(read.value, raw.arguments, scrub) })
      callComplaints.push(nameByWire.has(said) ? undefined : unknownTool(tool, [...nameByWire.values()]))
    }
  }
  const kept = Math.min(assembly.calls.length, maxCalls)
  for (let index = 0; index < kept; index++) take(assembly.calls[index] as RawCall, index)

  const text = scrub.kept(assembly.text === "" ? assembly.refusal : assembly.text)
  const { parts = [] } = assembly
  const isEmpty = calls.length === 0 && text.trim() === "" && parts.length === 0
  const items = calls.length + (text === "" ? 0 : 1)
  const reasoning = context.signer === undefined ? undefined : keptReasoning(assembly, items, context.signer, scrub)
  return {
    reply: {
      text,
      calls,
      ...defined({ reasoning, parts: parts.length === 0 ? undefined : parts }),
      finish: finishOf(assembly.finish, calls.length > 0),
      usage: context.usage,
      model: scrub.shown(assembly.model).slice(0, MAX_MODEL_CHARS) || context.model
    },
    callComplaints,
    complaint:
      assembly.callCount > maxCalls
        ? `${assembly.callCount} tool calls in one reply are too many; at most ${maxCalls} are allowed`
        : isEmpty
          ? assembly.reasoned
            ? "the reply held reasoning only, and neither text nor a tool call"
            : "the reply held neither text nor a tool call"
          : undefined
  }
}

export const isFine = (judged: Judged): boolean =>
  judged.complaint === undefined && judged.callComplaints.every((complaint) => complaint === undefined)

/** True when there is nothing in it that an assistant could use. */
export const isEmpty = ({ reply }: Judged): boolean =>
  reply.calls.length === 0 && reply.text.trim() === "" && reply.parts === undefined

// Correction: the messages that tell a model what was wrong with its reply.
// C1  Every call of the faulty reply is answered, so that the prompt stays a valid one.
// C2  The last message holds the exact complaint.

const NOT_RUN =
  "Not run: another part of this reply was wrong. Repeat the call in your next reply if it is still wanted."

const MAX_SHOWN_TEXT_CHARS = 4_000

const complaintMessage = (complaint: string): PromptMessage => ({
  role: "user",
  content: `Your last reply could not be used: ${complaint}. Reply again, in full, and correct this.`
})

/** In the form of native tool calls: each call gets its answer, and what was wrong is said last. */
export const corrections = ({ callComplaints, complaint, reply }: Judged): ReadonlyArray<PromptMessage> => {
  if (reply.calls.length === 0) return [complaintMessage(complaint ?? "it could not be read")]
  const wrong = callComplaints.filter((said) => said !== undefined)
  if (complaint !== undefined) wrong.push(complaint)
  const last = reply.calls.length - 1
  return [
    {
      role: "assistant",
      content: reply.text.slice(0, MAX_SHOWN_TEXT_CHARS),
      calls: reply.calls,
      ...defined({ reasoning: reply.reasoning })
    },
    ...reply.calls.map((call, index): PromptMessage => {
      const own = callComplaints[index]
      const said = index === last ? wrong.join("; ") : own
      const content = said === undefined ? NOT_RUN : `Not run: ${said}. Correct this in your next reply.`
      return { role: "tool", content, call: call.id }
    })
  ]
}

/** In plain text, for servers that know no tools. */
export const plainCorrections = (said: string, complaints: ReadonlyArray<string>): ReadonlyArray<PromptMessage> => [
  ...(said.trim() === "" ? [] : [{ role: "assistant" as const, content: said.slice(0, MAX_SHOWN_TEXT_CHARS) }]),
  complaintMessage(complaints.join("; "))
]

// Usage: what a call cost in tokens.
// U1  A usage is made of whole numbers from 0; anything else a provider says is replaced by our own count.

/** More tokens than any model has ever been given: a larger number is a mistake. */
const MOST_TOKENS = 1_000_000_000

const tokens = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS ? value : undefined

/** A part of a number of tokens; undefined where it is said to be more than the whole. */
const partOf = (whole: number, value: unknown): number | undefined => {
  const part = tokens(value)
  return part !== undefined && part > whole ? undefined : part
}

/** Which of the tokens came out of a cache, and which were of reasoning, as far as a provider says it. */
interface TokenParts {
  readonly cached?: unknown
  readonly reasoning?: unknown
}

/** What a provider says; undefined where that is of no use. */
export const providerUsage = (input: unknown, output: unknown, parts: TokenParts = {}): Usage | undefined => {
  const [inputTokens, outputTokens] = [tokens(input), tokens(output)]
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  return {
    inputTokens,
    outputTokens,
    ...defined({
      cachedInputTokens: partOf(inputTokens, parts.cached),
      reasoningTokens: partOf(outputTokens, parts.reasoning)
    }),
    source: "provider"
  }
}

type Count = (text: string) => number

/** A rough count for when no vocabulary is at hand: four bytes a token. */
export const roughCount: Count = (text) => Math.ceil(Buffer.byteLength(text) / 4)

export const countedUsage = (
  prompt: Prompt,
  { calls, text }: Pick<RawReply, "calls" | "text">,
  count: Count
): Usage => {
  let inputTokens = 0
  for (const message of prompt.messages) {
    inputTokens += TOKENS_PER_MESSAGE + count(message.content)
    for (const part of message.parts ?? []) inputTokens += partTokens(part)
    for (const { tokens = 0 } of message.reasoning ?? []) inputTokens += tokens
    for (const call of message.calls ?? []) inputTokens += count(call.tool) + count(JSON.stringify(call.arguments))
  }
  for (const offer of prompt.tools) {
    inputTokens += count(offer.name) + count(offer.description) + count(JSON.stringify(offer.parameters))
  }
  if (prompt.output !== undefined) inputTokens += count(outputText(prompt.output))
  let outputTokens = count(text)
  for (const call of calls) {
    outputTokens +=
      count(call.name) + count(typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments))
  }
  return { inputTokens, outputTokens, source: "counted" }
}
