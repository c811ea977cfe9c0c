// Age: what a tick of an assistant with recall costs after 500 messages and after 100,000.
// Owns the lives that are compared, the rounds and the bounds. Leaves their past to age-life.ts.
// A1  Lives of all ages on one store are measured in turns, a round each; a figure is the median of its rounds.
// A2  CPU is that of the whole process, its threads included. A database server has its own, which is not in it.
// A3  What a recall costs is said twice: of the process, and of the event loop alone, where everybody else waits for it.
// A4  A hold is the longest time that a timer of the process came late while ticks went on, whatever held it up. It is
//     said, and has no bound: it tells of garbage and of the machine as much as of age.
// A5  What was not measured, because there was no server or no data for it, is said.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { startPostgres } from "@reverie/testkit/servers"
import { storePostgresLayer } from "@reverie/store-postgres"
import { storeSqliteLayer } from "@reverie/store-sqlite"
import * as Redacted from "effect/Redacted"
import { type AssistantDefinition, defineAssistant, defineFleet, Fleet } from "reverie"
import { seedLife } from "./age-life.ts"
import { type Likeness, likenessOf } from "./age-likeness.ts"
import { conversationSayings, type Sayings, zipfSayings } from "./age-sayings.ts"
import { median } from "./fleet.ts"

const AGES = [500, 4_000, 12_000, 100_000] as const
const SHORT_AGES = [500, 4_000] as const
const WARM_TICKS = 60
const ROUNDS = 7
/** About as many as there are between two compactions, so that every round has one. */
const TICKS_A_ROUND = 40
const QUESTIONS = 40
const BOUNDS = { ratio: 1.5, recallMillis: 3 } as const

export interface AgeFigures {
  readonly messages: number
  readonly cpuMillisPerTick: number
  /** Of one question to the whole memory, as a person asks it. */
  readonly recallCpuMillis: number
  /** What of it the event loop does. */
  readonly recallLoopMillis: number
  /** The longest while ticks went on. */
  readonly holdMillis: number
  readonly residentMegabytes: number
  readonly hitsPerQuestion: number
  readonly seedSeconds: number
  readonly indexSeconds: number
}

export interface AgeReport {
  readonly ok: boolean
  /** What was written for a life is like what ticks leave. */
  readonly likeness: Likeness
  /** By store and sayings. */
  readonly lives: Readonly<Record<string, ReadonlyArray<AgeFigures>>>
  readonly bounds: typeof BOUNDS
  readonly leftOut: ReadonlyArray<string>
  readonly targets: Readonly<Record<string, boolean>>
}

const assistantOf = (id: string): AssistantDefinition =>
  defineAssistant({ id, instructions: "You listen, and remember what you are told.", maxContextTokens: 8_000 })

const millisOf = ({ system, user }: NodeJS.CpuUsage): number => (system + user) / 1_000
const cpuMillis = (): number => millisOf(process.cpuUsage())

interface Living {
  readonly messages: number
  readonly id: string
  readonly fleet: Fleet
  readonly sayings: Sayings
  readonly seedSeconds: number
  readonly indexSeconds: number
  readonly rounds: Array<{ readonly cpuMillisPerTick: number; readonly holdMillis: number }>
  told: number
}

/** Says so many things, one after the other, and waits for each to be answered. */
const tell = async (living: Living, count: number): Promise<void> => {
  const { fleet, id, messages, sayings } = living
  for (let index = 0; index < count; index++) {
    const { from, text } = sayings.at(messages + living.told++)
    await fleet.answer(id, text, { from })
  }
}

const roundOf = async (living: Living): Promise<void> => {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const before = cpuMillis()
  await tell(living, TICKS_A_ROUND)
  const cpuMillisPerTick = (cpuMillis() - before) / TICKS_A_ROUND
  delay.disable()
  living.rounds.push({ cpuMillisPerTick, holdMillis: delay.max / 1e6 })
}

const questionOf = ({ messages, sayings }: Living, index: number): string =>
  sayings.at((index * 7_919) % messages).text.slice(0, 200)

const recallOf = async (living: Living) => {
  const { fleet, id } = living
  let hits = 0
  const costs: Array<number> = []
  const loops: Array<number> = []
  for (let index = 0; index < 2 * QUESTIONS; index++) {
    const question = questionOf(living, index)
    const before = cpuMillis()
    // Within the other one, which takes some of it to ask.
    const loopBefore = millisOf(process.threadCpuUsage())
    const found = await fleet.memory.recall(id, question)
    loops.push(millisOf(process.threadCpuUsage()) - loopBefore)
    costs.push(cpuMillis() - before)
    hits += found.hits.length
  }
  // Half of them warm the code.
  return {
    recallCpuMillis: median(costs.slice(QUESTIONS)),
    recallLoopMillis: median(loops.slice(QUESTIONS)),
    hitsPerQuestion: hits / (2 * QUESTIONS)
  }
}

const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1_000
}

/** Where a life is kept: seeds it, and opens a fleet on it. */
interface Place {
  readonly name: string
  readonly hasIndex: boolean
  readonly open: (sayings: Sayings, messages: number) => Promise<Living>
}

const seeded = async (
  place: Pick<Place, "hasIndex">,
  sayings: Sayings,
  messages: number,
  store: Parameters<typeof seedLife>[1],
  where: { readonly data: string } | { readonly deployment: { readonly database: string; readonly name: string } }
): Promise<Living> => {
  const id = `old-${messages}`
  const definition = assistantOf(id)
  const life = { id, definition, sayings, messages, now: Date.now() }
  const seedSeconds = await secondsOf(() => seedLife(life, store))
  const fleet = await Fleet.open({
    ...where,
    fleet: defineFleet({ assistants: [definition] }),
    model: "offline",
    durability: "normal"
  })
  const indexSeconds = place.hasIndex ? await secondsOf(() => fleet.memory.rebuild(id)) : 0
  return { messages, id, fleet, sayings, seedSeconds, indexSeconds, rounds: [], told: 0 }
}

const measured = async (
  { open }: Place,
  sayings: Sayings,
  ages: ReadonlyArray<number>
): Promise<ReadonlyArray<AgeFigures>> => {
  const lives: Array<Living> = []
  try {
    for (const messages of ages) lives.push(await open(sayings, messages))
    for (const living of lives) await tell(living, WARM_TICKS)
    for (let round = 0; round < ROUNDS; round++) for (const living of lives) await roundOf(living)
    const figures: Array<AgeFigures> = []
    for (const living of lives) {
      const { indexSeconds, messages, rounds, seedSeconds } = living
      figures.push({
        messages,
        cpuMillisPerTick: median(rounds.map((round) => round.cpuMillisPerTick)),
        holdMillis: Math.max(...rounds.map((round) => round.holdMillis)),
        ...(await recallOf(living)),
        residentMegabytes: process.memoryUsage().rss / 1e6,
        seedSeconds,
        indexSeconds
      })
    }
    return figures
  } finally {
    for (const { fleet } of lives) await fleet.close()
  }
}

const targetsOf = (name: string, figures: ReadonlyArray<AgeFigures>): ReadonlyArray<readonly [string, boolean]> => {
  const [young, old] = [figures[0], figures.at(-1)]
  if (young === undefined || old === undefined) return []
  return [
    [
      `${name}: CPU per tick at ${old.messages} messages ≤ ${BOUNDS.ratio} × at ${young.messages}`,
      old.cpuMillisPerTick <= BOUNDS.ratio * young.cpuMillisPerTick
    ],
    [
      `${name}: a recall takes ≤ ${BOUNDS.recallMillis} ms of the event loop`,
      old.recallLoopMillis <= BOUNDS.recallMillis
    ],
    [`${name}: questions are answered`, old.hitsPerQuestion > 0]
  ]
}

const embedded = (directory: string): Place => {
  let lives = 0
  const place = { name: "embedded", hasIndex: true }
  return {
    ...place,
    open: (sayings, messages) => {
      const data = join(directory, String(++lives))
      return seeded(place, sayings, messages, storeSqliteLayer(data, { durability: "normal" }), { data })
    }
  }
}

const deployed = (database: string): Place => {
  let lives = 0
  const place = { name: "PostgreSQL", hasIndex: true }
  return {
    ...place,
    open: (sayings, messages) => {
      const name = `age_${++lives}`
      const store = storePostgresLayer(Redacted.make(database), { schema: name })
      return seeded(place, sayings, messages, store, { deployment: { database, name } })
    }
  }
}

/** A server of its own, or why there is none. */
const postgresHere = async () => {
  try {
    return { server: await startPostgres() }
  } catch (error) {
    return { reason: `no PostgreSQL: ${error instanceof Error ? error.message : String(error)}` }
  }
}

export interface AgeOptions {
  readonly isShort: boolean
  /** A directory of `conv-*.jsonl`. */
  readonly data?: string
}

export const benchAge = async ({ data, isShort }: AgeOptions): Promise<AgeReport> => {
  const ages = isShort ? SHORT_AGES : AGES
  const sources = [zipfSayings(), ...(data === undefined ? [] : [await conversationSayings(data)])]
  const directory = await mkdtemp(join(tmpdir(), "reverie-bench-age-"))
  const postgres = await postgresHere()
  const likeness = await likenessOf(directory, zipfSayings(), assistantOf("small"))
  const lives: Record<string, ReadonlyArray<AgeFigures>> = {}
  try {
    const places = [embedded(directory), ...("server" in postgres ? [deployed(postgres.server.url)] : [])]
    for (const place of places) {
      for (const sayings of sources) lives[`${place.name}, ${sayings.name}`] = await measured(place, sayings, ages)
    }
  } finally {
    if ("server" in postgres) await postgres.server.stop()
    await rm(directory, { recursive: true, force: true })
  }
  const targets = {
    "a life that was written is like one that was lived": likeness.isAlike,
    ...Object.fromEntries(Object.entries(lives).flatMap(([name, figures]) => targetsOf(name, figures)))
  }
  const leftOut = [
    ...("reason" in postgres ? [postgres.reason] : []),
    ...(data === undefined ? ["real conversations: none were given; --data DIR names some"] : [])
  ]
  return { ok: Object.values(targets).every(Boolean), likeness, lives, bounds: BOUNDS, leftOut, targets }
}
