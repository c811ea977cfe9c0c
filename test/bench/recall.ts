// Recall: how much of what was said is found again by questions about it, before and after one dream.
// Owns living through real conversations and the score. Leaves finding to the fleet, by the way anybody takes.
// R1  Every turn goes in by the front door as a message of its own time; the offline model answers it, and dreams.
// R2  The score is evidence recall@k: the mean over questions of the share of evidence turns among the first k hits. Only
//     the very messages count, in the place they have among all messages that are found: whatever else is found (an
//     answer of the assistant) takes up its place, and a fact helps only by bringing up the message that it came from.
// R3  Each conversation is lived through twice, because what an assistant says itself is indexed beside what it heard.
//     The listener is asked to listen only, for it has nothing to say among others: it calls noop after each message. The
//     targets are judged on it. The answerer says something after each message, as any assistant does that is spoken to;
//     its figures are given beside, and not judged.
// R4  With an embedder the listener is asked once more, by words and by meaning, as soon as no vector is missing. Then it
//     must do better than by words alone, at every k, before a dream and after it.
// R5  The profile of each who speaks was made of every fact that names them: as many were read as there are, and of one of
//     them at least 200. Both figures stand under `profiles` of each conversation.
// R6  A question that the conversation does not answer (of the category `adversarial`) is told from others by the certainty
//     of its answer: in how many pairs it has the lower one.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defined } from "@reverie/protocol"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import type { Recall } from "@reverie/memory"
import type { Embedder } from "@reverie/model"
import { embedderAt, fillVectors, withPostgresIndex } from "./recall-vectors.ts"
import { type Conversation, type Question, readConversations, type Turn } from "./conversations.ts"

const ID = "witness"
type Manner = "listening" | "answering"

const CUTS = [5, 10, 25] as const
/** What recall by words has to reach: without a single fact, and after a dream. */
const TARGETS = { before: [0.76, 0.83, 0.895], after: [0.772, 0.85, 0.91] } as const
/** What recall@10 has to reach where an answer is in several messages. */
const MULTI_HOP = { category: "multi-hop", least: 0.55 } as const
/** What the conversation does not answer, and how often its answer has to be the less certain one of a pair. */
const UNANSWERED = { category: "adversarial", least: 0.75 } as const
/** Of those who speak, the one most spoken of (Caroline of `conv-26`): no dream leaves evidence unread because there is much. */
const MANY_FACTS = 200
const MOST = CUTS[2]
const PAGE = 500

type Shares = readonly [at5: number, at10: number, at25: number]

interface Score {
  readonly questions: number
  readonly "recall@5": number
  readonly "recall@10": number
  readonly "recall@25": number
}

interface Scores {
  readonly certainty: Certainty
  readonly overall: Score
  readonly categories: Readonly<Record<string, Score>>
}

/** Of how many pairs of an answered and an unanswered question the latter is the less certain, and how certain both are. */
interface Certainty {
  readonly separation: number
  readonly answered: number
  readonly unanswered: number
}

interface Pair {
  readonly before: Scores
  readonly after: Scores
}

/** How many facts name someone, and of how many of them the profile was made. */
interface Read {
  readonly facts: number
  readonly read: number
}

type Profiled = Readonly<Record<string, Read>>

interface Lived extends Pair {
  readonly vectors?: Pair
  readonly facts: number
  readonly profiles: Profiled
  readonly seconds: number
}

export interface RecallReport {
  readonly ok: boolean
  readonly listening: Pair
  /** The listener with the embedder, where there is one. */
  readonly vectors?: Pair
  readonly answering: Pair
  readonly conversations: Readonly<Record<string, { readonly turns: number } & Readonly<Record<Manner, Lived>>>>
  /** Of the listener. */
  readonly targets: Readonly<Record<string, boolean>>
}

/** The share of a question's evidence among the first k hits, for each k. */
interface Marked {
  readonly category: string
  readonly shares: Shares
  readonly certainty: number
}

const scoreOf = (marked: ReadonlyArray<Marked>): Score => {
  const mean = (index: 0 | 1 | 2): number =>
    marked.reduce((sum, { shares }) => sum + shares[index], 0) / Math.max(1, marked.length)
  return { questions: marked.length, "recall@5": mean(0), "recall@10": mean(1), "recall@25": mean(2) }
}

const meanOf = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length)

const certaintyOf = (marked: ReadonlyArray<Marked>): Certainty => {
  const of = (isUnanswered: boolean) =>
    marked.flatMap(({ category, certainty }) =>
      (category === UNANSWERED.category) === isUnanswered ? [certainty] : []
    )
  const [answered, unanswered] = [of(false), of(true)]
  const pairs = answered.flatMap((a) => unanswered.map((b) => (a === b ? 0.5 : a > b ? 1 : 0)))
  return { separation: meanOf(pairs), answered: meanOf(answered), unanswered: meanOf(unanswered) }
}

const scoresOf = (marked: ReadonlyArray<Marked>): Scores => ({
  certainty: certaintyOf(marked),
  overall: scoreOf(marked),
  categories: Object.fromEntries(
    [...Map.groupBy(marked, ({ category }) => category)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([category, some]) => [category, scoreOf(some)])
  )
})

const promptOf: Readonly<Record<Manner, string>> = {
  listening: "You only listen to what two people tell each other, and remember it.",
  answering: "You are in the company of two people, and remember what they tell each other."
}

const fleetOf = (manner: Manner) =>
  defineFleet({
    assistants: [
      defineAssistant({
        id: ID,
        instructions: promptOf[manner],
        toolRules: manner === "listening" ? [{ type: "exit", tool: "noop" }] : [],
        // What is out of the window can only be remembered.
        maxContextTokens: 8_000
      })
    ]
  })

const said = ({ image, text }: Turn): string => (image === undefined ? text : `${text} [image: ${image}]`)

const tell = async (fleet: Fleet, turns: ReadonlyArray<Turn>): Promise<void> => {
  for (const turn of turns) {
    const { at, from, id } = turn
    await fleet.post(ID, { type: "message", text: said(turn), at: Date.parse(at) }, { id, from })
  }
  await fleet.idle()
}

/** For the place of a message in the ledger, `m/<entry>/<index>`, the turn it is. */
const turnsByPlace = async (fleet: Fleet): Promise<ReadonlyMap<string, string>> => {
  const turns = new Map<string, string>()
  for (let from = 1; ; from += PAGE) {
    const rows = await fleet.history.entries(ID, from, PAGE)
    for (const { entry } of rows) {
      const index = entry.messages.findIndex(({ role }) => role === "user")
      if (entry.cause.kind === "envelope" && index >= 0) turns.set(`m/${entry.no}/${index}`, entry.cause.id)
    }
    if (rows.length < PAGE) return turns
  }
}

const mark = async (
  fleet: Fleet,
  questions: ReadonlyArray<Question>,
  mode: "fts" | "hybrid" = "fts"
): Promise<ReadonlyArray<Marked>> => {
  const turns = await turnsByPlace(fleet)
  const marked: Array<Marked> = []
  for (const { category, evidence, question } of questions) {
    const options = { limit: MOST, kinds: ["message" as const], mode }
    const { certainty = 0, degraded, hits, mode: asked } = await fleet.memory.recall(ID, question, options)
    if (degraded !== undefined) throw new Error(`the index did not answer: ${degraded}`)
    if (asked !== mode) throw new Error(`it was searched by ${asked}`)
    const found = hits.map(({ entry }) => turns.get(entry.id))
    const wanted = [...new Set(evidence)]
    const share = (k: number) => wanted.filter((id) => found.slice(0, k).includes(id)).length / wanted.length
    marked.push({ category, certainty, shares: [share(CUTS[0]), share(CUTS[1]), share(CUTS[2])] })
  }
  return marked
}

const dream = async (fleet: Fleet): Promise<void> => {
  await fleet.post(ID, { type: "sleep" })
  await fleet.idle()
}

interface Marks {
  readonly before: ReadonlyArray<Marked>
  readonly after: ReadonlyArray<Marked>
}

interface Witnessed extends Marks {
  readonly vectors?: Marks
  readonly facts: number
  readonly profiles: Profiled
  readonly seconds: number
}

/** Of those who speak. */
const profiledIn = async (fleet: Fleet, turns: ReadonlyArray<Turn>): Promise<Profiled> => {
  const facts = await fleet.memory.facts(ID)
  const profiles = await fleet.memory.profiles(ID)
  const speakers = [...new Set(turns.map(({ from }) => from))]
  return Object.fromEntries(
    speakers.map((name) => [
      name,
      {
        facts: facts.filter(({ entities, state }) => state === "active" && entities.includes(name)).length,
        read: profiles.find((profile) => profile.name === name)?.read ?? 0
      }
    ])
  )
}

const liveThrough = async (
  { questions, turns }: Conversation,
  manner: Manner,
  embedder?: Embedder["Service"],
  recall?: Recall["Service"]
): Promise<Witnessed> => {
  const directory = await mkdtemp(join(tmpdir(), "reverie-bench-"))
  const start = process.hrtime.bigint()
  try {
    await using fleet = await Fleet.open({
      data: directory,
      fleet: fleetOf(manner),
      model: "offline",
      embedder: embedder ?? "none",
      recall: recall ?? "embedded",
      durability: "normal"
    })
    const markByBoth = async (): Promise<ReadonlyArray<Marked>> => {
      if (embedder === undefined) return []
      await fillVectors(directory, embedder)
      return mark(fleet, questions, "hybrid")
    }
    await tell(fleet, turns)
    const before = await mark(fleet, questions)
    const beforeByBoth = await markByBoth()
    await dream(fleet)
    const after = await mark(fleet, questions)
    const vectors = embedder === undefined ? undefined : { before: beforeByBoth, after: await markByBoth() }
    const facts = (await fleet.memory.records(ID, ["fact"])).length
    const profiles = await profiledIn(fleet, turns)
    const seconds = Number(process.hrtime.bigint() - start) / 1e9
    return { before, after, ...defined({ vectors }), facts, profiles, seconds }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const pairOf = (witnessed: ReadonlyArray<Marks>): Pair => ({
  before: scoresOf(witnessed.flatMap(({ before }) => before)),
  after: scoresOf(witnessed.flatMap(({ after }) => after))
})

const livedOf = (witnessed: Witnessed): Lived => ({
  facts: witnessed.facts,
  profiles: witnessed.profiles,
  seconds: witnessed.seconds,
  ...pairOf([witnessed]),
  ...defined({ vectors: witnessed.vectors === undefined ? undefined : pairOf([witnessed.vectors]) })
})

/** With vectors better than without. */
const vectorTargetsOf = (words: Pair, vectors: Pair): Readonly<Record<string, boolean>> =>
  Object.fromEntries(
    (["before", "after"] as const).flatMap((phase) =>
      CUTS.map((k) => {
        const [without, having] = [words[phase].overall[`recall@${k}`], vectors[phase].overall[`recall@${k}`]]
        return [`recall@${k} ${phase} the dream is higher with vectors`, having > without] as const
      })
    )
  )

const targetsOf = (
  { after, before }: Pair,
  facts: number,
  profiles: ReadonlyArray<Read>
): Readonly<Record<string, boolean>> => {
  const checks = CUTS.flatMap((k, index) => {
    const [was, is] = [before.overall[`recall@${k}`], after.overall[`recall@${k}`]]
    const [target, dreamt] = [TARGETS.before[index] ?? 1, TARGETS.after[index] ?? 1]
    return [
      [`recall@${k} ≥ ${target} before any dream`, was >= target] as const,
      [`recall@${k} ≥ ${dreamt} after one dream`, is >= dreamt] as const,
      [`recall@${k} not lower after one dream`, is >= was] as const
    ]
  })
  const several = (["before", "after"] as const).map((phase) => {
    const { category, least } = MULTI_HOP
    const found = { after, before }[phase].categories[category]?.["recall@10"] ?? 1
    return [`recall@10 of ${category} ≥ ${least} ${phase} the dream`, found >= least] as const
  })
  const { separation } = before.certainty
  return Object.fromEntries([
    ...checks,
    ...several,
    [`an unanswered question is told by its certainty: ≥ ${UNANSWERED.least}`, separation >= UNANSWERED.least],
    ["the dream found facts", facts > 0],
    ["profiles are made of all facts", profiles.every(({ facts, read }) => read >= facts)],
    [`one profile is made of ${MANY_FACTS} facts or more`, profiles.some(({ read }) => read >= MANY_FACTS)]
  ])
}

/** In the file beside the store, or on PostgreSQL, where only words are searched by. */
export const benchRecall = (
  directory: string,
  { embedder, isOnPostgres = false }: { readonly embedder?: string; readonly isOnPostgres?: boolean }
): Promise<RecallReport> =>
  isOnPostgres ? withPostgresIndex((recall) => scored(directory, undefined, recall)) : scored(directory, embedder)

const scored = async (
  directory: string,
  embedderUrl: string | undefined,
  recall?: Recall["Service"]
): Promise<RecallReport> => {
  const conversations = await readConversations(directory)
  if (conversations.length === 0) throw new Error(`${directory} has no conv-*.jsonl`)
  const embedder = embedderUrl === undefined ? undefined : await embedderAt(embedderUrl)
  const witnessed: Array<{ readonly conversation: Conversation } & Readonly<Record<Manner, Witnessed>>> = []
  for (const conversation of conversations) {
    const listening = await liveThrough(conversation, "listening", embedder, recall)
    witnessed.push({
      conversation,
      listening,
      answering: await liveThrough(conversation, "answering", undefined, recall)
    })
  }
  const [listening, answering] = [
    pairOf(witnessed.map((each) => each.listening)),
    pairOf(witnessed.map((each) => each.answering))
  ]
  const vectors = embedder === undefined ? undefined : pairOf(witnessed.flatMap((each) => each.listening.vectors ?? []))
  const facts = witnessed.reduce((sum, each) => sum + each.listening.facts, 0)
  const profiles = witnessed.flatMap((each) => Object.values(each.listening.profiles))
  const targets = {
    ...targetsOf(listening, facts, profiles),
    ...(vectors && vectorTargetsOf(listening, vectors))
  }
  return {
    ok: Object.values(targets).every(Boolean),
    listening,
    ...defined({ vectors }),
    answering,
    conversations: Object.fromEntries(
      witnessed.map(({ answering, conversation: { name, turns }, listening }) => [
        name,
        { turns: turns.length, listening: livedOf(listening), answering: livedOf(answering) }
      ])
    ),
    targets
  }
}
