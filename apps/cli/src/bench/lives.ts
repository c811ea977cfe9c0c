// Lives: a conversation told to an assistant of its own, and what is found of it by questions.
// Owns telling it, dreaming, and asking the memory. Leaves scores to memory-bench.ts, answers to answers.ts.
// L1  Every turn goes in by the front door as a message of its own time; the assistant listens, and says nothing.
// L2  A hit counts by the very message that it is, in its place among all messages found.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defined } from "@reverie/protocol"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { defineAssistant, defineFleet, Fleet, type FleetOptions } from "reverie"
import type { Life, Question, Turn } from "./suites.ts"

const ID = "listener"
const PAGE = 500
/** So many messages are looked at, for ten sessions to be among them. */
const MOST = 50
/** What is out of the window can only be remembered. */
const WINDOW_TOKENS = 8_000

export interface LifeOptions {
  /** Asked by the dream; the offline model when not said. */
  readonly model?: string
  readonly embedder?: FleetOptions["embedder"]
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

const dayOf = (atMillis: number): string => new Date(atMillis).toISOString().slice(0, 10)

/** A turn as a model is shown it. */
export const turnLine = ({ atMillis, from, text }: Pick<Turn, "atMillis" | "from" | "text">): string =>
  `[${dayOf(atMillis)}] ${from}: ${text}`

const tell = async (fleet: Fleet, turns: ReadonlyArray<Turn>): Promise<void> => {
  for (const [index, { atMillis, from, text }] of turns.entries()) {
    await fleet.post(ID, { type: "message", text, at: atMillis }, { id: `turn-${index}`, from })
  }
  await fleet.idle()
}

/** For the place of a message in the history, the turn it is. */
const placesOf = async (fleet: Fleet, turns: ReadonlyArray<Turn>): Promise<ReadonlyMap<string, string>> => {
  const places = new Map<string, string>()
  for (let from = 1; ; from += PAGE) {
    const rows = await fleet.history.entries(ID, from, PAGE)
    for (const { entry } of rows) {
      const index = entry.messages.findIndex(({ role }) => role === "user")
      const turn = entry.cause.kind === "envelope" ? turns[Number(entry.cause.id.slice("turn-".length))] : undefined
      if (turn !== undefined && index >= 0) places.set(`m/${entry.no}/${index}`, turn.id)
    }
    if (rows.length < PAGE) return places
  }
}

const findAll = async (fleet: Fleet, { questions, turns }: Life, top: number): Promise<ReadonlyArray<Found>> => {
  const places = await placesOf(fleet, turns)
  const found: Array<Found> = []
  for (const question of questions) {
    const { text } = question
    const messages = await fleet.memory.recall(ID, text, { limit: MOST, kinds: ["message"] })
    const all = await fleet.memory.recall(ID, text, { limit: top })
    found.push({
      question,
      turns: messages.hits.flatMap(({ entry }) => places.get(entry.id) ?? []),
      memories: all.hits.map(({ entry: { at, kind, speaker, text: said } }) =>
        turnLine({ atMillis: at, from: speaker ?? kind, text: said })
      ),
      certainty: messages.certainty ?? 0
    })
  }
  return found
}

/** Lives through a conversation in a directory that is gone afterwards. */
export const liveThrough = async (life: Life, { embedder, model, top }: LifeOptions): Promise<LivedThrough> => {
  const directory = await mkdtemp(join(tmpdir(), "reverie-memory-"))
  try {
    await using fleet = await Fleet.open({
      data: directory,
      fleet: listening,
      model: "offline",
      ...defined({ models: model === undefined ? undefined : { dream: model } }),
      embedder: embedder ?? "none",
      recall: "embedded",
      durability: "normal",
      // Of such a life compactions are the rule: their warnings would hide the course of the measurement.
      tracing: Layer.succeed(References.MinimumLogLevel, "None")
    })
    await tell(fleet, life.turns)
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
