// OfflineModel: the Model port without a model. It exists so that the machinery runs anywhere, with no key and no network.
// Owns what is done next in a turn. Leaves choosing a tool to `calls.ts`, making sentences to `answers.ts`,
// dividing a goal to `steps.ts`, what is asked for memory's sake to `sleep/`.
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

import {
  type Model,
  ModelRefused,
  type Prompt,
  type PromptMessage,
  type Reply,
  type ToolOffer,
  TOKENS_PER_MESSAGE
} from "@reverie/model"
import * as Effect from "effect/Effect"
import { quotesFor, toldBy } from "./answers.ts"
import { fittingCall, propertiesOf, type Request, speaks, writtenSteps } from "./calls.ts"
import { AT_A_LOSS, DONE, NOTED, SELF } from "./chatter.ts"
import { answerOf } from "./sleep/tasks.ts"
import { asksForList, stepsFor } from "./steps.ts"

export const MAX_CALLS = 2

const asksWhoIAm =
  /\b(?:who|what) are you\s*[?!.]*\s*$|\bare you (?:an? )?(?:real|human|person|ai|bot|robot|machine|llm|(?:language )?model)\b|\b(?:which|what) model\b/i
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
    serves: { provider: "reverie", model: MODEL },
    infer: (prompt, { onText } = {}) =>
      Effect.suspend((): Effect.Effect<Reply, ModelRefused> => {
        if (asksNothing(prompt)) return Effect.fail(refusal)
        const { requests = [], text = "" } = nextOf(prompt)
        if (onText !== undefined) for (const [word] of text.matchAll(/\S+\s*/g)) onText(word)
        const calls = requests.map((request, index) => ({ id: `${prompt.callPrefix}.${index}`, ...request }))
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

const asksNothing = ({ messages }: Prompt): boolean =>
  messages.findLast(({ role }) => role === "user")?.content.trim() === ""

interface Next {
  readonly text?: string
  readonly requests?: ReadonlyArray<Request>
}

const nextOf = (prompt: Prompt): Next => answerOf(prompt) ?? nextInTick(prompt)

/** Ids of calls begin with their tick: what was saved for memory's sake in the middle of it is none of its own. */
const isOfTick = (prefix: string, { call, calls }: PromptMessage): boolean => {
  const [tick = ""] = prefix.split(".")
  const ids = calls?.map(({ id }) => id) ?? (call === undefined ? [] : [call])
  return ids.length === 0 || ids.some((id) => id.startsWith(`${tick}.`))
}

const nextInTick = ({ callPrefix, messages, tools }: Prompt): Next => {
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
    const aloud = made < MAX_CALLS ? spoken(text, tools) : undefined
    return aloud === undefined ? { text } : { requests: [aloud] }
  }
  if (made > 0) return { text: DONE }
  if (asksWhoIAm.test(asked)) return { text: SELF }
  const steps = tools.length === 0 ? stepsFor(asked) : undefined
  if (steps !== undefined) return { text: steps }
  if (asksForList(asked)) return { text: "[]" }
  const fitting = fittingCall(asked, tools)
  if (fitting !== undefined) return { requests: [fitting] }
  return { text: asks.test(asked) ? (quotesFor(asked, messages.slice(0, at)) ?? AT_A_LOSS) : NOTED }
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
