// Reply: a whole answer as the model room understands it, with everything that is wrong with it.
// Owns parsing of calls, our call ids, the finish reason. Leaves telling the model to `openai-model.ts`.
// R1  A call's arguments are a parsed object without hostile keys, or the call is marked malformed.
// R2  Call ids are `<callPrefix>.<index>`, whatever the server called them.
// R3  A complaint is one sentence that says exactly what to correct.

import type { Prompt, Reply } from "@reverie/model"
import { type FinishReason, isJsonObject, type Json, parseJson, type ToolCall, type Usage } from "@reverie/protocol"
import * as Result from "effect/Result"
import type { Assembly, RawCall } from "./assembly.ts"
import type { Scrub } from "../failure.ts"
import { wireName } from "./wire.ts"

export interface Judged {
  readonly reply: Reply
  /** What is wrong with the call at the same index; undefined when nothing is. */
  readonly callComplaints: ReadonlyArray<string | undefined>
  /** What is wrong with the reply as a whole. */
  readonly complaint: string | undefined
}

export interface JudgeContext {
  readonly prompt: Prompt
  readonly nameByWire: ReadonlyMap<string, string>
  readonly usage: Usage
  readonly model: string
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

export const judge = (assembly: Assembly, context: JudgeContext): Judged => {
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
  const isEmpty = calls.length === 0 && text.trim() === ""
  return {
    reply: {
      text,
      calls,
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
export const isEmpty = ({ reply }: Judged): boolean => reply.calls.length === 0 && reply.text.trim() === ""
