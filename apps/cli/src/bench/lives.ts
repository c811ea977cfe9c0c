// Lives: a conversation told to an assistant of its own, and what is found of it by questions.
// Owns telling it, dreaming, and asking the memory. Leaves scores to memory-bench.ts, answers to answers.ts.
// L1  Every turn goes in by the front door as a message of its own time. Among people the assistant listens, and says nothing;
//     in a chat it is the assistant, and answers in the very words of the file.
// L2  A hit counts by the very message or answer that it is, in its place among all that are found.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { defined } from "@reverie/protocol"
import { defineAssistant, defineFleet, EnvelopeInvalid, Fleet, type PromiseModel, type ServerEmbedder } from "reverie"
import { openEmbedder } from "reverie/testing"
import { CommandFailed } from "../failure.ts"
import type { Life, Question, Turn } from "./suites.ts"

const ID = "listener"
const ASSISTANT = "assistant"
/** To a turn without an answer. */
const NOTHING_TO_SAY = "Noted."
const PAGE = 500
/** So many messages are looked at, for ten sessions to be among them. */
const MOST = 50
/** What is out of the window can only be remembered. */
const WINDOW_TOKENS = 8_000
/** A few answers of a chat are as long as all that. */
const CHAT_WINDOW_TOKENS = 32_000

export interface LifeOptions {
  /** Asked by the dream; the offline model when not said. */
  readonly model?: string
  readonly embedder?: ServerEmbedder
  /** How many memories a question is shown. */
  readonly top: number
}

/** What the memory found for a question. */
export interface Found {
  readonly question: Question
  /** Ids of turns, the best first. */
  readonly turns: ReadonlyArray<string>
  /** What a model is shown of it, a memory a line. */
  readonly memories: ReadonlyArray<string>
  /** From 0 to 1: how sure the memory is that it holds the answer. */
  readonly certainty: number
  /** Why it was searched otherwise than asked for, where it was. */
  readonly degraded?: string
}

export interface LivedThrough {
  readonly before: ReadonlyArray<Found>
  /** After one dream. */
  readonly after: ReadonlyArray<Found>
  readonly facts: number
}

const listening = defineFleet({
  assistants: [
    defineAssistant({
      id: ID,
      instructions: "You only listen to what is said, and remember it.",
      toolRules: [{ type: "exit", tool: "noop" }],
      maxContextTokens: WINDOW_TOKENS
    })
  ]
})

const chatting = defineFleet({
  assistants: [defineAssistant({ id: ID, instructions: "You help a person.", maxContextTokens: CHAT_WINDOW_TOKENS })]
})

const dayOf = (atMillis: number): string => new Date(atMillis).toISOString().slice(0, 10)

/** A turn as a model is shown it. */
export const turnLine = ({ atMillis, from, text }: Pick<Turn, "atMillis" | "from" | "text">): string =>
  `[${dayOf(atMillis)}] ${from}: ${text}`

/** In a chat: the turn in which the assistant answers another one. */
const replyTo = ({ isChat, turns }: Life, index: number): Turn | undefined => {
  const next = turns[index + 1]
  return isChat && turns[index]?.from !== ASSISTANT && next?.from === ASSISTANT ? next : undefined
}

const isReply = (life: Life, index: number): boolean => replyTo(life, index - 1) !== undefined

/** A model that says what was said then. */
class Replies implements PromiseModel {
  readonly name = "recorded"
  next = ""
  readonly infer = (): Promise<string> => Promise.resolve(this.next)
}

const tell = async (fleet: Fleet, life: Life, replies: Replies): Promise<void> => {
  for (const [index, { atMillis, from, id, text }] of life.turns.entries()) {
    if (isReply(life, index)) continue
    replies.next = replyTo(life, index)?.text ?? NOTHING_TO_SAY
    await fleet
      .post(ID, { type: "message", text, at: atMillis }, { id: `turn-${index}`, from })
      .catch((error: unknown) => {
        if (!(error instanceof EnvelopeInvalid)) throw error
        const message = `${life.name}, turn ${id}: ${error.message}`
        throw new CommandFailed("usage", message, {
          code: "suite-invalid",
          hint: "correct or remove that turn in its file"
        })
      })
    if (life.isChat) await fleet.idle()
  }
  await fleet.idle()
}

/** For the place of a message in the history, the turn it is. */
const placesOf = async (fleet: Fleet, life: Life): Promise<ReadonlyMap<string, string>> => {
  const places = new Map<string, string>()
  let reply: Turn | undefined
  for (let from = 1; ; from += PAGE) {
    const rows = await fleet.history.entries(ID, from, PAGE)
    for (const { entry } of rows) {
      for (const [index, { content, role }] of entry.messages.entries()) {
        const place = `m/${entry.no}/${index}`
        if (role === "user" && entry.cause.kind === "envelope") {
          const turn = Number(entry.cause.id.slice("turn-".length))
          const id = life.turns[turn]?.id
          if (id !== undefined) places.set(place, id)
          reply = replyTo(life, turn)
        } else if (role === "assistant" && content === reply?.text) {
          places.set(place, reply.id)
          reply = undefined
        }
      }
    }
    if (rows.length < PAGE) return places
  }
}

const findAll = async (fleet: Fleet, life: Life, top: number): Promise<ReadonlyArray<Found>> => {
  const places = await placesOf(fleet, life)
  const found: Array<Found> = []
  for (const question of life.questions) {
    const { text } = question
    const messages = await fleet.memory.recall(ID, text, { limit: MOST, kinds: ["message", "answer"] })
    const all = await fleet.memory.recall(ID, text, { limit: top })
    found.push({
      question,
      turns: messages.hits.flatMap(({ entry }) => places.get(entry.id) ?? []),
      memories: all.hits.map(({ entry: { at, kind, speaker, text: said } }) =>
        turnLine({ atMillis: at, from: speaker ?? kind, text: said })
      ),
      certainty: messages.certainty ?? 0,
      ...defined({ degraded: messages.degraded ?? all.degraded })
    })
  }
  return found
}

/** Asked first: without an answer every figure would be one of a search by words. */
export const assertEmbeds = async (embedder: ServerEmbedder): Promise<void> => {
  const { close, embed } = await openEmbedder(embedder)
  try {
    await embed(["Which colour has the boat?"])
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const message = `the embedder ${embedder.model} at ${embedder.baseURL} gives no vector: ${said}`
    throw new CommandFailed("model-unavailable", message, { hint: "check --embedder, and that its server is up" })
  } finally {
    await close()
  }
}

/** Lives through a conversation in a directory that is gone afterwards. */
export const liveThrough = async (life: Life, { embedder, model, top }: LifeOptions): Promise<LivedThrough> => {
  const directory = await mkdtemp(join(tmpdir(), "reverie-memory-"))
  const replies = new Replies()
  try {
    await using fleet = await Fleet.open({
      data: directory,
      fleet: life.isChat ? chatting : listening,
      // Not `model`: a fleet that is opened offline asks no other model for anything.
      models: {
        answer: life.isChat ? replies : "offline",
        assess: "offline",
        compact: "offline",
        dream: model ?? "offline"
      },
      embedder: embedder ?? "none",
      recall: "embedded",
      durability: "normal",
      // Of such a life compactions are the rule: their warnings would hide the course of the measurement.
      tracing: Layer.succeed(References.MinimumLogLevel, "None")
    })
    await tell(fleet, life, replies)
    const before = await findAll(fleet, life, top)
    await fleet.post(ID, { type: "sleep" })
    await fleet.idle()
    const after = await findAll(fleet, life, top)
    const facts = (await fleet.memory.facts(ID)).length
    return { before, after, facts }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
