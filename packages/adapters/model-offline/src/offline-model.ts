// OfflineModel: the Model port without a model. It exists so that the machinery runs anywhere, with no key and no network.
// Owns what is done next in a turn, making sentences, and dividing a goal. Leaves choosing a tool to `calls.ts`, what is asked
// for memory's sake to `sleep/`.
// O1  The same prompt has the same reply.
// O2  It never loops: after a user message it makes one call by rules, or those written out, and at most one to say the
//     answer, MAX_CALLS in all unless more are written out; never the same call twice.
// O3  A message without a word is refused, as servers do: what can not be answered shows how the machinery takes it.
// O4  Asked what it is, or at a loss, it says that it is not a language model.
// O5  Asked for the steps of a goal and offered no tool, it divides the goal's words into three. Any other list that is
//     asked for as JSON is empty: it has nothing to put in it.
// O6  What is asked for memory's sake (protocol `ask.ts`) is answered by rules in the form that was asked for, whatever
//     stands in it; nothing in it is an order.
// O7  Told by its instructions to listen only, it calls `noop` after a message, or notes it where that is not offered.
// O8  An answer that must have a form is what it would have said, put into that form by rules (`form.ts`).
// O9  Greeted, or asked what it can do, it names the tools that it is offered, in one sentence.

import {
  type Model,
  ModelRefused,
  type Prompt,
  type PromptMessage,
  type Reply,
  TOKENS_PER_MESSAGE,
  type ToolOffer,
  withPartsDescribed
} from "@reverie/model"
import * as Effect from "effect/Effect"
import { isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import {
  apart,
  AT_A_LOSS,
  CAN,
  DONE,
  fittingCall,
  inShort,
  NOTED,
  propertiesOf,
  type Request,
  SELF,
  sentencesOf,
  speaks,
  stemsOf,
  writtenSteps
} from "./calls.ts"
import { filledForm } from "./form.ts"
import { overlap } from "./sleep/grammar.ts"
import { answerOf } from "./sleep/tasks.ts"

// Answers: sentences made of what stands in the context.
// Q1  Only what stands in the context is said, and who said it. The assistant's own words are not quoted back.
// Q2  What is called to mind is quoted as what it is: what someone said with their name, what was learnt as remembered, and
//     neither with the marks it is shown under.

/** Two sentences that have so many of their words in common say the same to one who asks. */
const SAME = 0.6

/** The sentences that share the most words with a question, the newest first, at most two; undefined when none comes near. */
const quotesFor = (question: string, messages: ReadonlyArray<PromptMessage>): string | undefined => {
  const asked = stemsOf(question)
  const found = messages
    .filter(({ role }) => role !== "assistant")
    .flatMap((source) => sentencesIn(source))
    .map((sentence) => ({ ...sentence, score: asked.intersection(sentence.stems).size }))
  const most = found.reduce((most, { score }) => Math.max(most, score), 0)
  if (most === 0 || most < asked.size / 2) return undefined
  const nearest = found.filter(({ score }) => score === most).toReversed()
  const quotes: Array<Sentence> = []
  for (const sentence of nearest.toSorted((a, b) => Number(a.isLearnt) - Number(b.isLearnt))) {
    const isSaid = quotes.some(({ quote, stems }) => quote === sentence.quote || overlap(stems, sentence.stems) >= SAME)
    if (!isSaid) quotes.push(sentence)
  }
  return quotes
    .slice(0, 2)
    .map(({ quote }) => quote)
    .join(" ")
}

interface Sentence {
  readonly stems: ReadonlySet<string>
  readonly quote: string
  /** In words of memory, not of the one who said it. */
  readonly isLearnt: boolean
}

/** A line of what is called to mind: `- (kind, day, trust, from whom) text`. */
const remembered = /^- \(([^,()]+), [^()]*?trust [\d.]+(?:, from ([^,()]+))?[^()]*\) (.+)$/

interface Source {
  readonly said: string
  readonly text: string
  readonly isLearnt: boolean
}

const sourcesIn = (source: PromptMessage): ReadonlyArray<Source> => {
  const said = speakerOf(source)
  const lines = source.content.split("\n").map((line) => remembered.exec(line))
  if (lines.every((line) => line === null)) return [{ said, text: source.content, isLearnt: false }]
  return lines.flatMap((line) => {
    const [, kind, from, text = ""] = line ?? []
    if (kind === undefined) return []
    const isLearnt = kind !== "message" && kind !== "answer"
    return [{ said: isLearnt ? "I remember" : from === undefined ? said : `${from} said`, text, isLearnt }]
  })
}

// A prompt message is the same object from prompt to prompt: its sentences are taken apart once.
const known = new WeakMap<PromptMessage, ReadonlyArray<Sentence>>()

const sentencesIn = (source: PromptMessage): ReadonlyArray<Sentence> => {
  const before = known.get(source)
  if (before !== undefined) return before
  const sentences = sourcesIn(source).flatMap(({ isLearnt, said, text }) =>
    sentencesOf(text)
      .filter((sentence) => !sentence.trimEnd().endsWith("?"))
      .map((sentence) => ({ stems: stemsOf(sentence), quote: `${said}: "${inShort(sentence)}"`, isLearnt }))
  )
  known.set(source, sentences)
  return sentences
}

const speakerOf = ({ name, role }: PromptMessage): string => {
  if (role === "system") return "My instructions say"
  return role === "tool" ? `${name ?? "A tool"} reported` : `${name ?? "Somebody"} said`
}

/** What tools reported, in a sentence or two: of one the words, of several each with the name of its tool. */
const toldBy = (results: ReadonlyArray<PromptMessage>): string => {
  const told = results.slice(0, 2).map(({ content, name = "The tool" }) => {
    const value = Result.getOrElse(parseJson(content), () => content)
    const words = inShort(inWords(value))
    if (words === "") return `${name} is done.`
    const said = results.length > 1 ? `${name}: ${words}` : isPlain(value) ? words : capital(words)
    return `${said}${/[.!?…]$/.test(words) ? "" : "."}`
  })
  return [...told, ...(results.length > 2 ? [`And ${results.length - 2} more.`] : [])].join(" ")
}

const capital = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`

const isPlain = (value: Json): boolean => typeof value !== "object" || value === null

/** `birch, cedar and elm`; what is more than a word each is parted by semicolons. */
const listed = (values: ReadonlyArray<Json>): string => {
  const words = values.map(inWords)
  if (!values.every(isPlain)) return words.join("; ")
  return words.length < 2 ? (words[0] ?? "nothing") : `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`
}

/** That it went well says nothing beside what came of it; of a task that was done the summary says everything. */
const inWords = (value: Json): string => {
  if (Array.isArray(value)) return value.length === 0 ? "nothing" : listed(value)
  if (!isJsonObject(value)) return String(value)
  const { end, summary } = value
  if (end === "completed" && typeof summary === "string" && summary !== "") return summary
  const entries = Object.entries(value)
  return entries
    .filter(([key, each]) => key !== "success" || each !== true || entries.length === 1)
    .map(([key, each]) => `${apart(key).toLowerCase()} ${inWords(each)}`)
    .join(", ")
}

// Steps: the answer to a request for the steps of a goal.
// L1  The steps are made of the goal's own words: prepare it, do it, check it. Nothing is invented, for nothing is known.

/** A list is wanted, and nothing but a list. */
const asksForList = (text: string): boolean => /\banswer with a JSON array\b/i.test(text)

/** The goal whose steps are asked for as a JSON array; undefined when the text asks for something else. */
const goalIn = (text: string): string | undefined =>
  /\bsteps?\b/i.test(text) && /\bJSON array\b/i.test(text) ? /^Goal: *(\S.*)$/im.exec(text)?.[1]?.trim() : undefined

/** A goal's words without the stop at their end, to be gone on with. */
const phrase = (goal: string): string => goal.replace(/[\s.!?…]+$/u, "")

const stepsFor = (text: string): string | undefined => {
  const goal = goalIn(text)
  if (goal === undefined) return undefined
  return JSON.stringify([`Prepare: ${phrase(goal)}`, `Do: ${phrase(goal)}`, `Check: ${phrase(goal)}`])
}

export const MAX_CALLS = 2
/** Tools that are named to who asks what it can do. */
const MAX_NAMED = 12

const asksWhoIAm =
  /\b(?:who|what) are you\s*[?!.]*\s*$|\bare you (?:an? )?(?:real|human|person|ai|bot|robot|machine|llm|(?:language )?model)\b|\b(?:which|what) model\b/i
const asksWhatICan = /\bwhat can (?:you|i) do\b|\bwhat do you do\b|^\s*(?:hello|hi|hey|help)\b[\s!?.]*$/i
const listensOnly = /\b(?:only|just) listen\b|\blisten only\b/i
const asks = /\?|^\s*(?:who|what|when|where|which|why|how|tell|show|list|find|give|explain|describe|remind)\b/i

export interface OfflineModelOptions {
  /** Counts tokens for `usage`; without it a token is taken to be four characters. */
  readonly count?: (text: string) => number
}

const MODEL = "reverie-offline"

export const offlineModel = (options: OfflineModelOptions = {}): Model["Service"] => {
  const count = options.count ?? ((text: string) => Math.ceil(text.length / 4))
  // A message is the same object from prompt to prompt: it is counted once.
  const counted = new WeakMap<PromptMessage, number>()
  const price = (message: PromptMessage): number => {
    const calls = message.calls === undefined ? 0 : count(JSON.stringify(message.calls))
    const tokens = counted.get(message) ?? TOKENS_PER_MESSAGE + count(message.content) + calls
    counted.set(message, tokens)
    return tokens
  }
  return {
    serves: { provider: "reverie", model: MODEL, output: "native", accepts: [] },
    infer: (asked, { onCall, onText } = {}) =>
      Effect.suspend((): Effect.Effect<Reply, ModelRefused> => {
        const prompt = withPartsDescribed(asked)
        if (asksNothing(prompt)) return Effect.fail(refusal)
        const { requests = [], text = "" } = nextOf(prompt)
        if (onText !== undefined) for (const [word] of text.matchAll(/\S+\s*/g)) onText(word)
        const calls = requests.map((request, index) => ({ id: `${prompt.callPrefix}.${index}`, ...request }))
        for (const [call, { arguments: args, tool }] of calls.entries()) {
          onCall?.({ call, tool, arguments: JSON.stringify(args) })
        }
        return Effect.succeed({
          text,
          calls,
          finish: calls.length > 0 ? "tool-calls" : "stop",
          usage: {
            inputTokens: prompt.messages.reduce((sum, message) => sum + price(message), 0),
            outputTokens: count(calls.length > 0 ? JSON.stringify(calls) : text),
            source: "counted"
          },
          model: MODEL
        })
      })
  }
}

const refusal = new ModelRefused({
  provider: "offline",
  kind: "bad-request",
  message: "the message is empty, there is nothing to answer"
})

/** Also of what can not be seen. */
const asksNothing = ({ messages }: Prompt): boolean =>
  /^[\s\p{Cf}]*$/u.test(messages.findLast(({ role }) => role === "user")?.content ?? "?")

interface Next {
  readonly text?: string
  readonly requests?: ReadonlyArray<Request>
}

const nextOf = (prompt: Prompt): Next => answerOf(prompt) ?? formed(prompt, nextInTick(prompt))

const formed = ({ messages, output }: Prompt, next: Next): Next => {
  if (output === undefined || next.text === undefined) return next
  const question = messages.findLast(({ role }) => role === "user")?.content ?? ""
  return { text: JSON.stringify(filledForm(output.schema, next.text, question)) }
}

/** Ids of calls begin with their tick: what was saved for memory's sake in the middle of it is none of its own. */
const isOfTick = (prefix: string, { call, calls }: PromptMessage): boolean => {
  const [tick = ""] = prefix.split(".")
  const ids = calls?.map(({ id }) => id) ?? (call === undefined ? [] : [call])
  return ids.length === 0 || ids.some((id) => id.startsWith(`${tick}.`))
}

const nextInTick = ({ allowed, callPrefix, messages, output, tools: offered }: Prompt): Next => {
  const tools = allowed === undefined ? offered : offered.filter(({ name }) => allowed.includes(name))
  const at = messages.findLastIndex(({ role }) => role === "user")
  const asked = messages[at]?.content ?? ""
  const since = messages.slice(at + 1).filter((message) => isOfTick(callPrefix, message))
  const made = since.reduce((sum, { calls = [] }) => sum + calls.length, 0)
  const results = since.filter(({ name = "", role }) => role === "tool" && !speaks(name))
  const stepsMade = since.filter(({ calls = [] }) => calls.length > 0).length
  const isListener = messages.some(({ content, role }) => role === "system" && listensOnly.test(content))
  const step = writtenSteps(asked, tools)[stepsMade]
  if (step !== undefined && (stepsMade > 0 || results.length === 0)) return { requests: step }
  if (isListener && writtenSteps(asked, tools).length === 0) return listened(made, tools)
  if (results.length > 0) {
    const text = toldBy(results)
    const aloud = made < MAX_CALLS && output === undefined ? spoken(text, tools) : undefined
    return aloud === undefined ? { text } : { requests: [aloud] }
  }
  if (made > 0) return { text: DONE }
  if (asksWhoIAm.test(asked)) return { text: SELF }
  if (asksWhatICan.test(asked) && tools.length > 0) return { text: canDo(tools) }
  const steps = tools.length === 0 ? stepsFor(asked) : undefined
  if (steps !== undefined) return { text: steps }
  if (asksForList(asked)) return { text: "[]" }
  const fitting = fittingCall(asked, tools)
  if (fitting !== undefined) return { requests: [fitting] }
  return { text: asks.test(asked) ? (quotesFor(asked, messages.slice(0, at)) ?? AT_A_LOSS) : NOTED }
}

/** Tools that a person would ask for, in the words of their names. */
const canDo = (tools: ReadonlyArray<ToolOffer>): string => {
  const names = tools.map(({ name }) => name).filter((name) => !speaks(name) && name !== "noop")
  const shown = names.slice(0, MAX_NAMED).join(", ")
  return `${CAN}${shown}${names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ""}. Ask in plain words.`
}

const listened = (made: number, tools: ReadonlyArray<ToolOffer>): Next =>
  made === 0 && tools.some(({ name }) => name === "noop")
    ? { requests: [{ tool: "noop", arguments: {} }] }
    : { text: NOTED }

/** The answer as a call of a tool that speaks, when one is offered that takes a text and nothing else. */
const spoken = (answer: string, tools: ReadonlyArray<ToolOffer>): Request | undefined => {
  for (const offer of tools.filter(({ name }) => speaks(name))) {
    const [only, ...more] = propertiesOf(offer)
    if (only?.[1]["type"] === "string" && more.length === 0) {
      return { tool: offer.name, arguments: { [only[0]]: answer } }
    }
  }
  return undefined
}
