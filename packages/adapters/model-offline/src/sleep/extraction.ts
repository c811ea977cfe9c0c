// Extraction: what of a conversation is written into the journal before it is compacted.
// Owns choosing it, and the calls. Leaves checking arguments to the tools.
// X1  Nothing is written twice: neither what an earlier call of the conversation wrote, nor what the prompt shows already.
// X2  It ends: at most MAX_CALLS calls a reply, at most MAX_ROUNDS replies with calls after the last message, then noop.

import type { Prompt, PromptMessage, ToolOffer } from "@reverie/model"
import { isJsonObject, type Json } from "@reverie/protocol"
import { isChatter, linesOf, NOTHING_LEFT, propertiesOf, type Request, saidIn, type SaidLine } from "../calls.ts"
import { gistOf, saysTheSame } from "./grammar.ts"
import { statementsOf } from "./statements.ts"

const MAX_CALLS = 8
const MAX_ROUNDS = 3
const MIN_IMPORTANCE = 5

const JOURNAL = "add_journal_entry"
const OBSERVATION = "update_entity_observation"

/** What someone said has a name; what else stands in the user role is brought to mind, and is read only alone. */
const conversationIn = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<PromptMessage> => {
  const said = messages.filter(({ role }) => role === "user")
  const named = said.filter(({ name }) => name !== undefined && name !== "clock")
  return named.length > 0 ? named : said
}

/** What a message of the conversation says: the message itself, or the lines of an ask. */
const saidOf = ({ content, name }: PromptMessage): ReadonlyArray<SaidLine> => {
  const lines = linesOf(content)
  return lines.length > 0 ? lines.map(({ text }) => saidIn(text)) : [{ speaker: name ?? "Somebody", text: content }]
}

interface Worth {
  readonly text: string
  readonly speaker: string
  readonly importance: number
  readonly place: number
}

const worthOf = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<Worth> => {
  const said = conversationIn(messages).flatMap(saidOf)
  return said.flatMap((line, at) => {
    const { importance, statements } = statementsOf({ ...line, ...questionBefore(said[at - 1], line) })
    if (importance < MIN_IMPORTANCE || isChatter(line.text)) return []
    return statements.map((text, place) => ({ text, speaker: line.speaker, importance, place: at + place / 10 }))
  })
}

const questionBefore = (before: SaidLine | undefined, { speaker }: SaidLine) =>
  before === undefined || before.speaker === speaker ? {} : { question: before.text, asker: before.speaker }

/** The texts that calls of the conversation have written already. */
const writtenBy = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<string> =>
  messages.flatMap(({ calls = [] }) =>
    calls.flatMap(({ arguments: args, tool }) => {
      const content = tool === JOURNAL && isJsonObject(args) ? args["content"] : undefined
      return typeof content === "string" ? [content] : []
    })
  )

const isIn = (text: string, written: ReadonlyArray<string>): boolean => {
  const gist = gistOf(text)
  return written.some((other) => saysTheSame(gist, gistOf(other)))
}

const sinceLast = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<PromptMessage> =>
  messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1)

const rounds = (messages: ReadonlyArray<PromptMessage>): number =>
  sinceLast(messages).filter(({ calls = [] }) => calls.some(({ tool }) => tool === JOURNAL)).length

/** A call with those of the values that the tool has a parameter for; undefined when it needs one that is not there. */
const callOf = (
  offer: ToolOffer | undefined,
  values: ReadonlyArray<readonly [pattern: RegExp, value: Json]>
): Request | undefined => {
  if (offer === undefined) return undefined
  const { required } = offer.parameters
  const filled: Record<string, Json> = {}
  for (const [name] of propertiesOf(offer)) {
    const value = values.find(([pattern]) => pattern.test(name))?.[1]
    if (value !== undefined) filled[name] = value
    else if (Array.isArray(required) && required.includes(name)) return undefined
  }
  return { tool: offer.name, arguments: filled }
}

/** What a text says of its speaker that lasts; undefined when it says nothing of the kind. */
type AttributeIn = (text: string, speaker: string) => string | undefined

const callsFor = (
  { importance, speaker, text }: Worth,
  tools: ReadonlyArray<ToolOffer>,
  attributeIn: AttributeIn
): ReadonlyArray<Request> => {
  const offerOf = (wanted: string) => tools.find(({ name }) => name === wanted)
  const entry = callOf(offerOf(JOURNAL), [
    [/^content$/, text],
    [/^source_type$/, "direct"],
    [/^source_entity$/, speaker.slice(0, 100).toWellFormed()],
    [/^importance$/, importance]
  ])
  const attribute = attributeIn(text, speaker)
  const observation =
    attribute === undefined
      ? undefined
      : callOf(offerOf(OBSERVATION), [
          [/^(?:entity(?:_id|_name)?|name|about)$/, speaker.slice(0, 100).toWellFormed()],
          [/^(?:observation|content|text|attribute)$/, attribute]
        ])
  return [entry, observation].flatMap((call) => call ?? [])
}

/** The calls that save the most telling of what is not saved yet, or noop. */
export const extracted = (
  { messages, tools }: Prompt,
  attributeIn: AttributeIn
): { readonly requests: ReadonlyArray<Request> } | { readonly text: string } => {
  const written = writtenBy(messages)
  const shown = messages.flatMap(({ content, role }) => (role === "system" ? [content.toLowerCase()] : []))
  const fresh: Array<Worth> = []
  if (rounds(messages) < MAX_ROUNDS) {
    for (const worth of worthOf(messages).toSorted((a, b) => b.importance - a.importance || a.place - b.place)) {
      if (fresh.length === MAX_CALLS) break
      const isShown = shown.some((content) => content.includes(worth.text.toLowerCase()))
      if (!isShown && !isIn(worth.text, [...written, ...fresh.map(({ text }) => text)])) fresh.push(worth)
    }
  }
  const requests = fresh
    .toSorted((a, b) => a.place - b.place)
    .flatMap((worth) => callsFor(worth, tools, attributeIn))
    .slice(0, MAX_CALLS)
  if (requests.length > 0) return { requests }
  const isAtRest = sinceLast(messages).some(({ calls = [] }) => calls.some(({ tool }) => tool === "noop"))
  return !isAtRest && tools.some(({ name }) => name === "noop")
    ? { requests: [{ tool: "noop", arguments: {} }] }
    : { text: NOTHING_LEFT }
}
