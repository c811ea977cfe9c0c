// Fallback: kills a process while the first of its models is away every other call, and the second answers in its place.
// Owns the two servers, the moments between them, and the count of what was thought. Leaves processes to lane.ts.
// F1  Both servers are strict: they refuse what the other one thought, and a call without its result.
// F2  Whatever a recorded reply was thought with is recorded with it, and given back to its server with the next call.
// F3  No thought is recorded twice.
// F4  A lane in which the second model hardly ever answered, or that was killed at no such moment, fails.

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

/** Between two models, and points of the process around them. */
const moments = ["first-refuses", "second-asked", "second-answered"] as const
type Moment = (typeof moments)[number]
const points = ["before-model", "after-model", "before-tool", "after-tool", "before-commit", "after-commit"] as const

export interface FallbackReport extends LaneReport {
  /** Recorded replies that the second model gave because the first did not. */
  readonly fallbacks: number
  readonly thoughts: number
  readonly lostThoughts: number
  readonly doubledThoughts: number
  /** Of strict servers. */
  readonly refusedRequests: ReadonlyArray<string>
}

const textOf = (content: unknown): string => (typeof content === "string" ? content : JSON.stringify(content ?? ""))

const sealsIn = (value: unknown): ReadonlyArray<string> =>
  [...JSON.stringify(value ?? null).matchAll(/seal-[a-z]+-\d+/g)].map(([seal]) => seal)

/** Two servers that outlive every process, and what they saw. */
class Providers {
  readonly refused: Array<string> = []
  readonly returned = new Set<string>()
  readonly #servers: Array<ModelServer> = []
  readonly #choice: Array<object> = []
  #thoughts = 0
  #asked = 0
  #moment: { readonly at: Moment; readonly kill: () => void } | undefined

  async open(): Promise<void> {
    await this.#serve("first", "responses")
    await this.#serve("second", "chat")
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

  async #serve(name: "first" | "second", wire: "chat" | "responses"): Promise<void> {
    const server = await startModelServer({ script: this.#script(name), record: false })
    this.#servers.push(server)
    this.#choice.push({ baseURL: server.url, model: name, wire, retries: 0 })
  }

  #script(name: "first" | "second"): Script {
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
      if (name === "first" && ++this.#asked % 2 === 0) {
        this.#pass("first-refuses")
        return { refuse: "overloaded", status: 503 }
      }
      if (name === "second") this.#pass("second-asked")
      const seal = `seal-${name}-${++this.#thoughts}`
      if (name === "second") setImmediate(() => this.#pass("second-answered"))
      const thought = { type: "reasoning", id: `rs_${this.#thoughts}`, summary: [], encrypted_content: seal }
      return { reasoning: [thought], ...answerTo(request) }
    }
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
  let fallbacks = 0
  let lostThoughts = 0
  for (const one of rows) {
    const replies = one.flatMap(({ entry }) =>
      entry.step?.kind === "infer" && entry.step.ok
        ? [{ tick: entry.tick, detail: entry.step.detail ?? {}, message: entry.messages[0] }]
        : []
    )
    for (const [index, { detail, message, tick }] of replies.entries()) {
      const seals = sealsIn(message?.reasoning)
      const own = seals.filter((seal) => seal.startsWith(`seal-${String(detail["model"])}-`))
      if (detail["earlier"] !== undefined) fallbacks++
      if (own.length !== 1 || seals.length !== 1) lostThoughts++
      const next = replies[index + 1]
      const isAskedAgain = next?.tick === tick && next.detail["model"] === detail["model"]
      if (isAskedAgain && own.some((seal) => !returned.has(seal))) lostThoughts++
      kept.push(...seals)
    }
  }
  return { fallbacks, lostThoughts, thoughts: kept.length, doubledThoughts: kept.length - new Set(kept).size }
}

const PLACES = [...moments, ...points]
const isMoment = (place: string): place is Moment => (moments as ReadonlyArray<string>).includes(place)

export const runFallbackLane = async ({ events, kills, progress, seed }: LaneOptions): Promise<FallbackReport> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-fallback-"))
  const next = numbersFrom(seed)
  const providers = new Providers()
  const killsByPoint: Record<string, number> = {}
  const perLife = Math.max(1, Math.floor(events / (kills * LIVES_PER_KILL)))
  let killed = 0
  try {
    await providers.open()
    for (let life = 0; killed < kills; life++) {
      if (life > kills * 3) throw new Error(`only ${killed} of ${life} processes could be killed in time`)
      const place = PLACES[life % PLACES.length] ?? "before-model"
      const upTo = String(Math.min(events, (life + 1) * perLife))
      const passing = 1 + next(perLife)
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
    const everyPlace = kills < PLACES.length || PLACES.every((place) => (killsByPoint[place] ?? 0) > 0)
    const clean = isClean(verdict) && thoughts.lostThoughts + thoughts.doubledThoughts + providers.refused.length === 0
    const examined = verdict.acknowledged === events && events >= minimumOperations(kills)
    return {
      ok: clean && everyPlace && examined && thoughts.fallbacks * 5 >= thoughts.thoughts,
      kills: killed,
      operations: verdict.acknowledged,
      killsByPoint,
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
