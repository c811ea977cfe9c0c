// Fallback: kills a process whose models are away every other time that they are asked, and the next one answers in their place.
// Owns the servers of the four wires, the moments between two models, and the count of what was thought. Leaves processes to
// lane.ts, and the models that are objects to child.ts.
// F1  Each server is strict: it refuses what another one thought, and a call without its result.
// F2  Whatever a recorded reply was thought with is recorded with it, and given back to its server with the next call.
// F3  No thought is recorded twice.
// F4  A lane in which the models behind the first hardly ever answered, or that was killed at no such moment, fails.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type ModelRequest,
  type ModelServer,
  refusalOf,
  type Script,
  startModelServer
} from "@reverie/testkit/model-server"
import type { OutboxRow } from "reverie"
import { isClean, judged } from "./judge.ts"
import { type Killer, type LaneOptions, type LaneReport, minimumOperations, numbersFrom, oneLife } from "./lane.ts"
import { toolsFor } from "./life.ts"

/** In the order in which they are asked. The last two are objects: a language model of the AI SDK, and an async `infer`. */
const names = ["first", "second", "third", "fourth"] as const
type Name = (typeof names)[number]

/** Between two models: each with the share of calls that come so far. */
const shareOf = {
  "first-refuses": 1 / 2,
  "second-asked": 1 / 2,
  "second-answered": 1 / 4,
  "second-refuses": 1 / 4,
  "third-asked": 1 / 4,
  "third-answered": 1 / 8,
  "third-refuses": 1 / 8,
  "fourth-asked": 1 / 8,
  "fourth-answered": 1 / 8,
  "answer-under-way": 1 / 2
} as const
type Moment = keyof typeof shareOf
const moments = Object.keys(shareOf) as ReadonlyArray<Moment>

/** Of the process around them. */
const points = ["before-model", "after-model", "before-tool", "after-tool", "before-commit", "after-commit"] as const

export interface FallbackReport extends LaneReport {
  /** Kills between two models, or while the answer of one behind the first is on its way into the ledger. */
  readonly killsInFallback: number
  /** Recorded replies that another model gave because the first did not. */
  readonly fallbacks: number
  /** The same by the model that gave it. */
  readonly fallbacksBy: Readonly<Record<string, number>>
  readonly thoughts: number
  readonly lostThoughts: number
  readonly doubledThoughts: number
  /** Of strict servers. */
  readonly refusedRequests: ReadonlyArray<string>
}

const textOf = (content: unknown): string => (typeof content === "string" ? content : JSON.stringify(content ?? ""))

const sealsIn = (value: unknown): ReadonlyArray<string> =>
  [...JSON.stringify(value ?? null).matchAll(/seal-[a-z]+-\d+/g)].map(([seal]) => seal)

const statusOf: Readonly<Record<Name, number>> = { first: 503, second: 503, third: 403, fourth: 503 }

const LATEST_MILLIS = 20

/** Servers that outlive every process, and what they saw. */
class Providers {
  readonly refused: Array<string> = []
  readonly returned = new Set<string>()
  readonly #servers: Array<ModelServer> = []
  readonly #choice: Array<object> = []
  readonly #asked = new Map<Name, number>()
  readonly #next: (limit: number) => number
  #thoughts = 0
  #moment: { readonly at: Moment; readonly kill: () => void } | undefined

  constructor(next: (limit: number) => number) {
    this.#next = next
  }

  async open(): Promise<void> {
    for (const name of names) {
      const server = await startModelServer({ script: this.#script(name), record: false })
      this.#servers.push(server)
      const { url } = server
      this.#choice.push(
        name === "first" || name === "second"
          ? { baseURL: url, model: name, wire: name === "first" ? "responses" : "chat", retries: 0 }
          : { object: name === "third" ? "ai-sdk" : "promise", url, name }
      )
    }
  }

  get choice(): string {
    return JSON.stringify(this.#choice)
  }

  killAt(at: Moment, kill: () => void): void {
    this.#moment = { at, kill }
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()))
  }

  #script(name: Name): Script {
    const isOwn = (seal: unknown) => String(seal).startsWith(`seal-${name}-`)
    return (request) => {
      const seals = sealsIn(request.body)
      const foreign = seals.find((seal) => !isOwn(seal))
      const refusal = refusalOf(request, ({ encrypted_content: seal }) => isOwn(seal)) ?? foreign
      if (refusal !== undefined) {
        this.refused.push(`${name}: ${refusal}`)
        return { refuse: refusal }
      }
      for (const seal of seals) this.returned.add(seal)
      const asked = (this.#asked.get(name) ?? 0) + 1
      this.#asked.set(name, asked)
      if (name !== "first") this.#pass(`${name}-asked`)
      if (name !== "fourth" && asked % 2 === 0) {
        this.#pass(`${name}-refuses`)
        return { refuse: "overloaded", status: statusOf[name] }
      }
      if (name !== "first") this.#answered(name)
      const seal = `seal-${name}-${++this.#thoughts}`
      const thought = { type: "reasoning", id: `rs_${this.#thoughts}`, summary: [], encrypted_content: seal }
      return { reasoning: [thought], ...answerTo(request) }
    }
  }

  #answered(name: Exclude<Name, "first">): void {
    setImmediate(() => this.#pass(`${name}-answered`))
    // Read, recorded, or already followed by its tools.
    setTimeout(() => this.#pass("answer-under-way"), this.#next(LATEST_MILLIS))
  }

  #pass(moment: Moment): void {
    const waits = this.#moment
    if (waits?.at !== moment) return
    this.#moment = undefined
    waits.kill()
  }
}

const answerTo = ({ messages, tools }: ModelRequest) => {
  const heard = textOf(messages.findLast(({ role }) => role === "user")?.content)
  const asked = tools.length === 0 || messages.at(-1)?.role === "tool" ? [] : toolsFor(heard)
  return asked.length === 0
    ? { text: `done with ${heard.slice(0, 40)}` }
    : { calls: asked.map((tool) => ({ tool, arguments: {} })) }
}

/** What the ledger holds of thoughts, beside what the servers were given back. */
const thoughtsOf = (rows: ReadonlyArray<ReadonlyArray<OutboxRow>>, returned: ReadonlySet<string>) => {
  const kept: Array<string> = []
  const fallbacksBy: Record<string, number> = {}
  let fallbacks = 0
  let lostThoughts = 0
  for (const one of rows) {
    const replies = one.flatMap(({ entry }) =>
      entry.step?.kind === "infer" && entry.step.ok
        ? [{ tick: entry.tick, detail: entry.step.detail ?? {}, message: entry.messages[0] }]
        : []
    )
    for (const [index, { detail, message, tick }] of replies.entries()) {
      const name = String(detail["model"])
      const seals = sealsIn(message?.reasoning)
      const own = seals.filter((seal) => seal.startsWith(`seal-${name}-`))
      if (detail["earlier"] !== undefined) {
        fallbacks++
        fallbacksBy[name] = (fallbacksBy[name] ?? 0) + 1
      }
      if (own.length !== 1 || seals.length !== 1) lostThoughts++
      const next = replies[index + 1]
      const isAskedAgain = next?.tick === tick && next.detail["model"] === detail["model"]
      if (isAskedAgain && own.some((seal) => !returned.has(seal))) lostThoughts++
      kept.push(...seals)
    }
  }
  return {
    fallbacks,
    fallbacksBy,
    lostThoughts,
    thoughts: kept.length,
    doubledThoughts: kept.length - new Set(kept).size
  }
}

/** In turn, so that a short lane is killed at both kinds. */
const everywhere = moments.flatMap((moment, index) => [moment, ...points.slice(index, index + 1)])

const isMoment = (place: string): place is Moment => Object.hasOwn(shareOf, place)

export interface FallbackOptions extends LaneOptions {
  /** True: each kill is at a moment of a fallback, and none at the points of the process around it. */
  readonly onlyMoments?: boolean
}

export const runFallbackLane = async (options: FallbackOptions): Promise<FallbackReport> => {
  const { events, kills, onlyMoments = false, progress, seed } = options
  const data = await mkdtemp(join(tmpdir(), "reverie-fallback-"))
  const next = numbersFrom(seed)
  const providers = new Providers(next)
  const places = onlyMoments ? moments : everywhere
  const killsByPoint: Record<string, number> = {}
  const perLife = Math.max(1, Math.floor(events / (kills * LIVES_PER_KILL)))
  let killed = 0
  try {
    await providers.open()
    for (let life = 0; killed < kills; life++) {
      if (life > kills * 3) throw new Error(`only ${killed} of ${life} processes could be killed in time`)
      const place = places[life % places.length] ?? "before-model"
      const upTo = String(Math.min(events, (life + 1) * perLife))
      const mostPassings = Math.max(1, Math.floor(perLife * (isMoment(place) ? shareOf[place] : 1)))
      // Two fallbacks at least: lives that end at their first one let no assistant come any further.
      const passing = (isMoment(place) ? 2 : 1) + next(mostPassings)
      let left = passing
      const killer: Killer = (kill) => {
        const arm = (): void => {
          if (isMoment(place)) providers.killAt(place, () => (--left > 0 ? arm() : kill()))
        }
        arm()
      }
      const point = isMoment(place) ? "" : place
      const ending = await oneLife([data, upTo, point, String(passing), providers.choice], killer)
      if (ending !== "killed") continue
      killed++
      killsByPoint[place] = (killsByPoint[place] ?? 0) + 1
      progress(killed)
    }
    await oneLife([data, String(events), "", "1", providers.choice])
    const { rows, ...verdict } = await judged(data)
    const thoughts = thoughtsOf(rows, providers.returned)
    const everyPlace = kills < places.length * 2 || places.every((place) => (killsByPoint[place] ?? 0) > 0)
    const everyModel = kills < places.length || names.slice(1).every((name) => (thoughts.fallbacksBy[name] ?? 0) > 0)
    const clean = isClean(verdict) && thoughts.lostThoughts + thoughts.doubledThoughts + providers.refused.length === 0
    const examined = verdict.acknowledged === events && events >= minimumOperations(kills)
    return {
      ok: clean && everyPlace && everyModel && examined && thoughts.fallbacks * 5 >= thoughts.thoughts,
      kills: killed,
      operations: verdict.acknowledged,
      killsByPoint,
      killsInFallback: moments.reduce((sum, moment) => sum + (killsByPoint[moment] ?? 0), 0),
      ...verdict,
      ...thoughts,
      refusedRequests: providers.refused.slice(0, 10)
    }
  } finally {
    await providers.close()
    await rm(data, { recursive: true, force: true })
  }
}

/** Some processes are done before their kill comes. */
const LIVES_PER_KILL = 1.3
