// MemoryBench: how much of what was said a memory finds again, beside searching by words alone and beside showing everything.
// Owns the sample, the scores and the report. Leaves files to suites.ts, living to lives.ts, answers to answers.ts.
// B1  The same files, seed and limit ask the same questions in the same order.
// B2  recall@k is the mean over questions of the share of evidence turns among the first k messages found; `sessions@k` the
//     share of questions of which any session with the answer is among the first k sessions found.
// B3  All three ways answer the same questions, asked and judged in the same words.
// B4  What a question costs is said in tokens beside each figure.
// B5  A model, or an embedder, that does not answer is found out before anything is lived through; what fails later is counted, and
//     loses nothing.

import * as Effect from "effect/Effect"
import { Tokens } from "@reverie/model"
import { defined } from "@reverie/protocol"
import { gptTokenizerLayer } from "@reverie/tokens"
import { openModel, type OpenModel } from "reverie/testing"
import { answer, type Answered } from "./answers.ts"
import { assertEmbeds, type Found, liveThrough, type LifeOptions, turnLine } from "./lives.ts"
import { plainSearch } from "./plain-search.ts"
import type { Life, Question, Suite } from "./suites.ts"

const CUTS = [5, 10, 25] as const
const SESSION_CUTS = [5, 10] as const
const MOST = 50

export interface MemoryBenchOptions extends Pick<LifeOptions, "embedder"> {
  readonly suite: Suite
  readonly seed: number
  /** Questions at most. */
  readonly limit?: number
  /** Memories, or turns, that a question is shown. */
  readonly top: number
  /** Dreams, and answers; no answers are asked for when not said. */
  readonly model?: string
  /** Judges answers; the model itself when not said. */
  readonly judge?: string
  /** Longest conversation that is shown whole, in tokens. */
  readonly window: number
  readonly progress: (line: string) => void
}

export interface Retrieval {
  readonly questions: number
  readonly "recall@5": number
  readonly "recall@10": number
  readonly "recall@25": number
  readonly "sessions@5"?: number
  readonly "sessions@10"?: number
}

export interface Retrievals {
  readonly overall: Retrieval
  readonly categories: Readonly<Record<string, Retrieval>>
}

export interface Answers {
  readonly asked: number
  /** Longer than the window. */
  readonly tooLong: number
  /** No answer, or no verdict, came of the server. */
  readonly failed: number
  readonly right: number
  /** Of what was asked, from 0 to 1. */
  readonly accuracy: number
  readonly unjudged: number
  /** Of a question, in the mean, as the server counts them. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly categories: Readonly<Record<string, number>>
}

/** From what is remembered, from what a search by words finds, from all that was said. */
type Way = "memory" | "plain" | "whole"

export interface MemoryReport {
  readonly suite: Suite
  readonly seed: number
  readonly conversations: number
  readonly turns: number
  /** Left out, for they have no text. */
  readonly emptyTurns: number
  readonly questions: number
  /** With evidence, by which retrieval is measured. */
  readonly measured: number
  readonly top: number
  readonly facts: number
  readonly retrieval: Readonly<Record<"plain" | "before" | "after", Retrievals>>
  /** How many searches of the embedder's went without it, at least in part, and why the first of them. */
  readonly degraded?: { readonly searches: number; readonly why: string }
  /** In how many pairs of an answered and an unanswered question the memory is the less sure of the latter. */
  readonly unansweredTold?: number
  /** Of what a question is shown, in the mean. */
  readonly tokens: Readonly<Record<Way, number>>
  readonly answers?: { readonly model: string; readonly judge: string } & Readonly<Record<Way, Answers>>
  readonly cpuSeconds: number
}

// Sample.

const randomFrom = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** So many questions, chosen by the seed, each in its conversation. */
export const sampled = (lives: ReadonlyArray<Life>, seed: number, limit: number | undefined): ReadonlyArray<Life> => {
  if (limit === undefined) return lives
  const random = randomFrom(seed)
  const drawn = lives.flatMap(({ questions }) => questions.map((question) => ({ question, place: random() })))
  const chosen = new Set(
    drawn
      .toSorted((a, b) => a.place - b.place)
      .slice(0, limit)
      .map(({ question }) => question)
  )
  return lives
    .map((life) => ({ ...life, questions: life.questions.filter((question) => chosen.has(question)) }))
    .filter(({ questions }) => questions.length > 0)
}

// Scores.

const mean = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length)

interface Ranked {
  readonly question: Question
  readonly turns: ReadonlyArray<string>
  /** The session of each, where the suite has them. */
  readonly sessions: ReadonlyArray<string>
}

const shareAt = ({ question, turns }: Ranked, k: number): number => {
  const wanted = [...new Set(question.evidence)]
  return wanted.filter((id) => turns.slice(0, k).includes(id)).length / wanted.length
}

const sessionAt = ({ question, sessions }: Ranked, k: number): number =>
  [...new Set(sessions)].slice(0, k).some((session) => question.sessions.includes(session)) ? 1 : 0

const retrievalOf = (ranked: ReadonlyArray<Ranked>): Retrieval => {
  const at = (k: number): number => mean(ranked.map((each) => shareAt(each, k)))
  const inSessions = ranked.filter(({ question }) => question.sessions.length > 0)
  const sessions = SESSION_CUTS.map((k) => [`sessions@${k}`, mean(inSessions.map((each) => sessionAt(each, k)))])
  return {
    questions: ranked.length,
    "recall@5": at(CUTS[0]),
    "recall@10": at(CUTS[1]),
    "recall@25": at(CUTS[2]),
    ...(inSessions.length > 0 && Object.fromEntries(sessions))
  }
}

const byCategory = <A extends { readonly question: Question }>(all: ReadonlyArray<A>) =>
  [...Map.groupBy(all, ({ question }) => question.category)].toSorted(([a], [b]) => (a < b ? -1 : 1))

const retrievalsOf = (ranked: ReadonlyArray<Ranked>): Retrievals => {
  const measured = ranked.filter(({ question }) => question.evidence.length > 0)
  return {
    overall: retrievalOf(measured),
    categories: Object.fromEntries(byCategory(measured).map(([name, some]) => [name, retrievalOf(some)]))
  }
}

const toldApart = (found: ReadonlyArray<Found>): number | undefined => {
  const of = (isUnanswered: boolean) =>
    found.flatMap(({ certainty, question }) => (question.isUnanswered === isUnanswered ? [certainty] : []))
  const pairs = of(false).flatMap((a) => of(true).map((b) => (a === b ? 0.5 : a > b ? 1 : 0)))
  return pairs.length === 0 ? undefined : mean(pairs)
}

// Answers.

interface Asked {
  readonly question: Question
  readonly answered: Answered | "too long" | "failed"
}

const answersOf = (asked: ReadonlyArray<Asked>): Answers => {
  const done = asked.flatMap(({ answered, question }) =>
    typeof answered === "string" ? [] : [{ ...answered, question }]
  )
  const countOf = (what: Asked["answered"]): number => asked.filter(({ answered }) => answered === what).length
  const accuracy = (some: ReadonlyArray<Answered>): number => mean(some.map(({ isRight }) => (isRight ? 1 : 0)))
  return {
    asked: done.length,
    tooLong: countOf("too long"),
    failed: countOf("failed"),
    right: done.filter(({ isRight }) => isRight).length,
    accuracy: accuracy(done),
    unjudged: done.filter(({ isUnjudged }) => isUnjudged).length,
    inputTokens: mean(done.map(({ inputTokens }) => inputTokens)),
    outputTokens: mean(done.map(({ outputTokens }) => outputTokens)),
    categories: Object.fromEntries(byCategory(done).map(([name, some]) => [name, accuracy(some)]))
  }
}

/** What each way shows for a question. */
interface Shown {
  readonly question: Question
  readonly life: Life
  readonly memory: ReadonlyArray<string>
  readonly plain: ReadonlyArray<string>
  readonly tokens: Readonly<Record<Way, number>>
}

/** A conversation as a whole is put into lines when it is asked for: all at once they would be many megabytes. */
const linesOf = (shown: Shown, way: Way): ReadonlyArray<string> =>
  way === "whole" ? shown.life.turns.map(turnLine) : shown[way]

interface Looked {
  readonly shown: ReadonlyArray<Shown>
  readonly before: ReadonlyArray<Ranked>
  readonly after: ReadonlyArray<Ranked>
  readonly plain: ReadonlyArray<Ranked>
  readonly found: ReadonlyArray<Found>
  /** Why a search went without the embedder, of each that did. */
  readonly degraded: ReadonlyArray<string>
  readonly facts: number
}

type Count = (text: string) => number

const lookedAt = async (life: Life, count: Count, { embedder, model, top }: MemoryBenchOptions): Promise<Looked> => {
  const lived = await liveThrough(life, { top, ...defined({ embedder, model }) })
  const search = plainSearch(life.turns)
  const known = new Map(life.turns.map((turn) => [turn.id, turn]))
  const tokensOf = (lines: ReadonlyArray<string>): number => count(lines.join("\n"))
  const whole = tokensOf(life.turns.map(turnLine))
  const plain = life.questions.map((question) => ranked(life, question, search(question.text, MOST)))
  const shown = lived.after.map(({ memories, question }, index): Shown => {
    const turns = plain[index]?.turns.slice(0, top) ?? []
    const lines = turns.flatMap((id) => known.get(id) ?? []).map(turnLine)
    const tokens = { memory: tokensOf(memories), plain: tokensOf(lines), whole }
    return { question, life, memory: memories, plain: lines, tokens }
  })
  const rankedOf = (found: ReadonlyArray<Found>) => found.map(({ question, turns }) => ranked(life, question, turns))
  return {
    shown,
    plain,
    before: rankedOf(lived.before),
    after: rankedOf(lived.after),
    found: lived.after,
    degraded: [...lived.before, ...lived.after].flatMap(({ degraded }) => degraded ?? []),
    facts: lived.facts
  }
}

const ranked = ({ turns }: Life, question: Question, found: ReadonlyArray<string>): Ranked => {
  const sessions = new Map(turns.map(({ id, session }) => [id, session]))
  return { question, turns: found, sessions: found.flatMap((id) => sessions.get(id) ?? []) }
}

/** Asked first: a key that is refused is known within a second, and not after an hour. */
const PROBE: Question = {
  id: "probe",
  text: "Which colour has the boat?",
  category: "",
  evidence: [],
  sessions: [],
  answer: "blue",
  rubric: [],
  isUnanswered: false
}

interface Minds {
  readonly model: OpenModel
  readonly judge: OpenModel
}

const askedOf = async (
  shown: ReadonlyArray<Shown>,
  way: Way,
  minds: Minds,
  { progress, window }: MemoryBenchOptions
): Promise<Answers> => {
  const asked: Array<Asked> = []
  for (const each of shown) {
    const { question, tokens } = each
    const isTooLong = way === "whole" && tokens.whole > window
    const answered = isTooLong
      ? "too long"
      : await answer(question, linesOf(each, way), minds).catch((error: unknown): "failed" => {
          progress(`${question.id}: ${error instanceof Error ? error.message : String(error)}`)
          return "failed"
        })
    asked.push({ question, answered })
    if (asked.length % 50 === 0) progress(`${way}: ${asked.length} of ${shown.length} questions answered`)
  }
  return answersOf(asked)
}

const counter = (): Promise<Count> =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(Tokens, ({ ready }) => ready),
      gptTokenizerLayer
    )
  )

const reportOf = (
  lives: ReadonlyArray<Life>,
  looked: ReadonlyArray<Looked>,
  { seed, suite, top }: MemoryBenchOptions
): Omit<MemoryReport, "answers" | "cpuSeconds"> => {
  const all = <A>(of: (each: Looked) => ReadonlyArray<A>): ReadonlyArray<A> => looked.flatMap(of)
  const shown = all((each) => each.shown)
  const tokensOf = (way: Way): number => mean(shown.map(({ tokens }) => tokens[way]))
  const plain = retrievalsOf(all((each) => each.plain))
  const degraded = all((each) => each.degraded)
  const [why] = degraded
  return {
    suite,
    seed,
    conversations: lives.length,
    turns: lives.reduce((sum, { turns }) => sum + turns.length, 0),
    emptyTurns: lives.reduce((sum, { emptyTurns = [] }) => sum + emptyTurns.length, 0),
    questions: shown.length,
    measured: plain.overall.questions,
    top,
    facts: looked.reduce((sum, { facts }) => sum + facts, 0),
    retrieval: {
      plain,
      before: retrievalsOf(all(({ before }) => before)),
      after: retrievalsOf(all(({ after }) => after))
    },
    ...defined({
      unansweredTold: toldApart(all(({ found }) => found)),
      degraded: why === undefined ? undefined : { searches: degraded.length, why }
    }),
    tokens: { memory: tokensOf("memory"), plain: tokensOf("plain"), whole: tokensOf("whole") }
  }
}

const openMinds = async (model: string, judge: string): Promise<Minds> => {
  const minds = { model: await openModel(model), judge: await openModel(judge) }
  try {
    await answer(PROBE, ["[2024-05-01] Ann: My boat is blue."], minds)
    return minds
  } catch (error) {
    await closeMinds(minds)
    throw error
  }
}

const closeMinds = async ({ judge, model }: Minds): Promise<void> => {
  await model.close()
  await judge.close()
}

/** Lives through every conversation, asks every question, and with a model has each answered in three ways. */
export const memoryBench = async (all: ReadonlyArray<Life>, options: MemoryBenchOptions): Promise<MemoryReport> => {
  const { judge = options.model, limit, model, progress, seed } = options
  if (options.embedder !== undefined) await assertEmbeds(options.embedder)
  const minds = model === undefined || judge === undefined ? undefined : await openMinds(model, judge)
  try {
    const started = process.cpuUsage()
    const lives = sampled(all, seed, limit)
    const count = await counter()
    const looked: Array<Looked> = []
    for (const life of lives) {
      progress(`${looked.length + 1} of ${lives.length}: ${life.name}, ${life.turns.length} turns`)
      looked.push(await lookedAt(life, count, options))
    }
    const { user, system } = process.cpuUsage(started)
    const report: MemoryReport = { ...reportOf(lives, looked, options), cpuSeconds: (user + system) / 1e6 }
    if (minds === undefined || model === undefined || judge === undefined) return report
    const shown = looked.flatMap((each) => each.shown)
    const askedBy = (way: Way) => askedOf(shown, way, minds, options)
    const [memory, plain, whole] = [await askedBy("memory"), await askedBy("plain"), await askedBy("whole")]
    return { ...report, answers: { model, judge, memory, plain, whole } }
  } finally {
    if (minds !== undefined) await closeMinds(minds)
  }
}
