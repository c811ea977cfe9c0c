// JsonTools: tool calls for servers that know none, as one JSON object in plain text.
// Owns the description of tools in the system prompt, the history in plain words, and the tolerant reading of the reply.
// Leaves judging the calls to `@reverie/model/wire`, which treats them like native ones.
// J1  A prompt on the wire holds no `tools`, no tool message and no call; neighbours of one role are joined.
// J2  A reply is read whether its object stands alone, in a code fence, or between sentences.
//     What the prompt itself says of its tools is not said twice.
// J3  Text that is no object is an answer; an object that is broken, or asks for nothing known, is complained about.

import type { Prompt, PromptMessage, ToolOffer } from "@reverie/model"
import { isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import type { Assembled } from "./assembly.ts"
import { wireMessage, type WireMessages } from "./wire.ts"

const RULES = `You can use tools. Reply with exactly one JSON object and nothing else, in one of two forms.
To use a tool: {"tool": "<name>", "arguments": {...}}
To answer: {"answer": "<text>"}
Results of tools are given to you in later messages. The tools, each with the JSON Schema of its arguments:`

const describe = ({ description, name, parameters }: ToolOffer): string =>
  `- ${name}: ${description}\n  arguments: ${JSON.stringify(parameters)}`

const described = (offers: ReadonlyArray<ToolOffer>): string => [RULES, ...offers.map(describe)].join("\n")

type PlainMessage = Pick<PromptMessage, "role" | "content" | "name">

const plain = (message: PromptMessage, toolByCall: Map<string, string>): PlainMessage => {
  if (message.role === "tool") {
    const tool = message.name ?? toolByCall.get(message.call ?? "") ?? "a tool"
    return { role: "user", content: `Result of ${tool}: ${message.content}` }
  }
  const calls = message.calls ?? []
  for (const call of calls) toolByCall.set(call.id, call.tool)
  if (calls.length === 0) return message
  const lines = calls.map((call) => JSON.stringify({ tool: call.tool, arguments: call.arguments }))
  return { role: "assistant", content: [...(message.content === "" ? [] : [message.content]), ...lines].join("\n") }
}

const joined = (messages: ReadonlyArray<PlainMessage>): ReadonlyArray<PlainMessage> => {
  const out: Array<PlainMessage> = []
  for (const message of messages) {
    const last = out.at(-1)
    if (last !== undefined && last.role === message.role && last.name === message.name) {
      out[out.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` }
    } else out.push(message)
  }
  return out
}

export const plainMessages = (prompt: Prompt): WireMessages => {
  const toolByCall = new Map<string, string>()
  const messages = prompt.messages.map((message) => plain(message, toolByCall))
  if (prompt.tools.length > 0 && prompt.describesTools !== true) {
    const first = messages[0]?.role === "system" ? 1 : 0
    messages.splice(first, 0, { role: "system", content: described(prompt.tools) })
  }
  return [joined(messages).map(wireMessage).join(",")]
}

/** Where the object that opens at `from` closes, or -1. */
const closeOf = (text: string, from: number): number => {
  let depth = 0
  let inString = false
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === 92) at++
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 123) depth++
    else if (code === 125 && --depth === 0) return at
  }
  return -1
}

/** Braces that open nothing are few in honest text; a hostile one is not searched for ever. */
const MOST_TRIES = 8

type Found = { readonly object: { readonly [key: string]: Json } } | { readonly broken: string } | undefined

const findObject = (text: string): Found => {
  let broken: string | undefined
  let from = text.indexOf("{")
  for (let tries = 0; from !== -1 && tries < MOST_TRIES; tries++) {
    const close = closeOf(text, from)
    if (close === -1) return { broken: broken ?? "the JSON object is not closed" }
    const parsed = parseJson(text.slice(from, close + 1))
    if (Result.isSuccess(parsed) && isJsonObject(parsed.success)) return { object: parsed.success }
    broken ??= Result.isFailure(parsed) ? `the JSON object can not be read: ${parsed.failure}` : undefined
    from = text.indexOf("{", close + 1)
  }
  return broken === undefined ? undefined : { broken }
}

const firstOf = (object: { readonly [key: string]: Json }, names: ReadonlyArray<string>): Json | undefined => {
  for (const name of names) if (object[name] !== undefined && object[name] !== null) return object[name]
  return undefined
}

const toolWords = ["tool", "name", "tool_name", "function", "action"]
const argumentWords = ["arguments", "args", "parameters", "input", "action_input"]
const answerWords = ["answer", "final_answer", "response", "text", "content", "message"]

const namedTool = /"(?:tool|name|tool_name|function|action)"\s*:\s*"([^"\\]{1,64})"/

/** An answer that must have a form may have any words in it: only what names an offered tool as the rules say is a call. */
const readStrictCall = (object: { readonly [key: string]: Json }, tools: ReadonlyArray<ToolOffer>) =>
  tools.some(({ name }) => name === object["tool"]) ? readCall(object) : undefined

const readCall = (object: { readonly [key: string]: Json }): { name: string; arguments: Json } | undefined => {
  const tool = firstOf(object, toolWords)
  if (isJsonObject(tool)) return readCall(tool)
  if (typeof tool !== "string") return undefined
  return { name: tool, arguments: firstOf(object, argumentWords) ?? {} }
}

/** The answer itself, or what the rules have put around it. */
const readFormedAnswer = (assembly: Assembled, object: { readonly [key: string]: Json }): undefined => {
  const { answer, ...more } = object
  if (Object.keys(more).length > 0 || answer === undefined) return
  assembly.text = typeof answer === "string" ? answer : JSON.stringify(answer)
}

/** Moves the calls that the text spells out to where native calls stand. Answers what is wrong with the text, if anything. */
export const readPlainReply = (
  assembly: Assembled,
  { output, tools }: Pick<Prompt, "output" | "tools">
): string | undefined => {
  const hasForm = output !== undefined
  const found = tools.length > 0 ? findObject(assembly.text) : undefined
  if (found === undefined) return undefined
  if ("broken" in found) {
    const name = namedTool.exec(assembly.text)?.[1]
    if (name === undefined || hasForm) return undefined
    assembly.addCall(name, assembly.text.slice(assembly.text.indexOf("{")))
    assembly.text = ""
    return found.broken
  }
  const { object } = found
  const listed = object["tool_calls"]
  const calls = (Array.isArray(listed) ? listed : [object]).flatMap((item) => {
    const call = !isJsonObject(item) ? undefined : hasForm ? readStrictCall(item, tools) : readCall(item)
    return call === undefined ? [] : [call]
  })
  if (calls.length > 0) {
    for (const call of calls) assembly.addCall(call.name, call.arguments)
    assembly.text = ""
    return undefined
  }
  if (hasForm) return readFormedAnswer(assembly, object)
  const answer = firstOf(object, answerWords)
  if (typeof answer === "string") assembly.text = answer
  return undefined
}
