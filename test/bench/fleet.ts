// Fleet: how many events a second go through a fleet of processes on Redis and PostgreSQL, beside the bare queue.
// Owns the rounds and the comparison. Leaves the contestants to fleet-child.ts.
// B1  All contestants run on the same servers, and rounds of them alternate; a figure is the median of its rounds.
// B2  PostgreSQL and SQLite write as they would in earnest: an fsync for every group of commits.
// B3  Every event is accepted through a process of the role api, and settled by another process.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { servers, startPostgres, startRedis } from "@reverie/testkit/servers"
import { type Asked, type Contestant, type Member, startMember } from "./fleet-crew.ts"

export interface FleetBenchReport {
  readonly ok: boolean
  readonly servers: string
  /** Medians, in events (or jobs) a second. */
  readonly eventsPerSecond: number
  readonly ticksPerSecond: number
  readonly rawJobsPerSecond: number
  readonly embeddedEventsPerSecond: number
  readonly ratio: number
  readonly rounds: Readonly<Record<string, ReadonlyArray<number>>>
  /** Events a second by the number of workers. */
  readonly scaling: Readonly<Record<string, number>>
  /** From the durable acceptance to the granted claim, one event at a time. */
  readonly latency: { readonly samples: number; readonly p50Millis: number; readonly p99Millis: number }
  /** Of the processes of the fleet, an event; the servers' own is not in it. */
  readonly cpuMillisPerEvent: Readonly<Record<"api" | "workers", number>>
  readonly targets: Readonly<Record<string, boolean>>
}

const WORKERS = 4
const ASSISTANTS = 200
const RATIO_BOUND = 0.2
const EMBEDDED_BOUND = 3_000

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length === 0 ? 0 : (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle) - 1]!) / 2
}

export const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

const rateOf = async (member: Member, count: number, kind: "noop" | "tick"): Promise<number> => {
  const { millis = Number.NaN } = await member.ask({ ask: "run", count, kind })
  return (count * 1_000) / millis
}

interface Round {
  readonly name: string
  readonly member: Member
  readonly kind: "noop" | "tick"
}

/** Rounds of all of them in turn, each of about so many seconds; the first, in which code gets warm, does not count. */
const alternate = async (contestants: ReadonlyArray<Round>, rounds: number, secondsEach: number) => {
  const rates: Record<string, Array<number>> = {}
  const counts = new Map<string, number>()
  for (const { kind, member, name } of contestants) {
    await rateOf(member, WARM_EVENTS, kind)
    counts.set(name, Math.max(WARM_EVENTS, Math.round((await rateOf(member, WARM_EVENTS, kind)) * secondsEach)))
  }
  for (let round = 0; round < rounds; round++) {
    for (const { kind, member, name } of contestants) {
      rates[name] = [...(rates[name] ?? []), await rateOf(member, counts.get(name) ?? WARM_EVENTS, kind)]
    }
  }
  return rates
}

const WARM_EVENTS = 1_000

const latencyThrough = async (api: Member, workers: ReadonlyArray<Member>, count: number) => {
  const all = [api, ...workers]
  for (const member of all) await member.ask({ ask: "moments" })
  await api.ask({ ask: "trickle", count, everyMillis: 15 })
  const told = await Promise.all(all.map((member) => member.ask({ ask: "moments" })))
  const claims = new Map<string, Array<number>>()
  for (const [assistant, at] of told.flatMap(({ claimed = [] }) => claimed)) {
    claims.set(assistant, [...(claims.get(assistant) ?? []), at])
  }
  const millis = told
    .flatMap(({ accepted = [] }) => accepted)
    .flatMap(([assistant, at]) => {
      const claimed = (claims.get(assistant) ?? []).filter((each) => each >= at)
      return claimed.length === 0 ? [] : [Math.min(...claimed) - at]
    })
  return { samples: millis.length, p50Millis: percentile(millis, 0.5), p99Millis: percentile(millis, 0.99) }
}

const cpuOf = async (members: ReadonlyArray<Member>): Promise<number> => {
  const asked: Asked = { ask: "cpu" }
  const answers = await Promise.all(members.map((member) => member.ask(asked)))
  return answers.reduce((sum, { millis = 0 }) => sum + millis, 0)
}

/** What a run of so many events costs each side. */
const cpuThrough = async (api: Member, workers: ReadonlyArray<Member>, count: number) => {
  const before = { api: await cpuOf([api]), workers: await cpuOf(workers) }
  await rateOf(api, count, "noop")
  return {
    api: ((await cpuOf([api])) - before.api) / count,
    workers: ((await cpuOf(workers)) - before.workers) / count
  }
}

export interface FleetBenchOptions {
  readonly isShort: boolean
  /** Where every process leaves a CPU profile. */
  readonly profiles?: string
}

/** Workers come one after the other, so that fewer of them are measured too; then everything in turn. */
const measure = async (
  start: (what: Contestant["what"]) => Promise<Member>,
  isShort: boolean
): Promise<Omit<FleetBenchReport, "ok" | "targets" | "servers">> => {
  const [rounds, seconds] = isShort ? [2, 1] : [5, 4]
  const api = await start("api")
  const workers: Array<Member> = []
  const scaling: Record<string, number> = {}
  for (let count = 1; count <= WORKERS; count++) {
    workers.push(await start("worker"))
    if (count === WORKERS || Math.log2(count) % 1 !== 0) continue
    const { noop = [] } = await alternate([{ name: "noop", member: api, kind: "noop" }], rounds, seconds)
    scaling[count] = median(noop)
  }
  const latency = await latencyThrough(api, workers, isShort ? 100 : 600)
  const rawWorkers = await Promise.all(Array.from({ length: WORKERS }, () => start("raw-worker")))
  const raw = await start("raw-adder")
  const embedded = await start("embedded")
  const rates = await alternate(
    [
      { name: "noop", member: api, kind: "noop" },
      { name: "raw", member: raw, kind: "noop" },
      { name: "tick", member: api, kind: "tick" },
      { name: "embedded", member: embedded, kind: "noop" }
    ],
    rounds,
    seconds
  )
  const eventsPerSecond = median(rates["noop"] ?? [])
  const rawJobsPerSecond = median(rates["raw"] ?? [])
  const cpuMillisPerEvent = await cpuThrough(api, workers, Math.round(eventsPerSecond * seconds))
  scaling[WORKERS] = eventsPerSecond
  for (const member of [api, raw, embedded, ...workers, ...rawWorkers]) await member.end()
  return {
    eventsPerSecond,
    rawJobsPerSecond,
    ratio: eventsPerSecond / rawJobsPerSecond,
    ticksPerSecond: median(rates["tick"] ?? []),
    embeddedEventsPerSecond: median(rates["embedded"] ?? []),
    latency,
    scaling,
    cpuMillisPerEvent,
    rounds: rates
  }
}

export const benchFleet = async ({ isShort, profiles }: FleetBenchOptions): Promise<FleetBenchReport> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-bench-"))
  const redis = await startRedis()
  const postgres = await startPostgres()
  try {
    const where = { assistants: ASSISTANTS, database: postgres.url, redis: redis.url, data }
    const figures = await measure((what) => startMember({ what, ...where }, profiles), isShort)
    const targets = {
      [`events/s ≥ ${RATIO_BOUND} × raw jobs/s`]: figures.ratio >= RATIO_BOUND,
      [`embedded events/s ≥ ${EMBEDDED_BOUND}`]: figures.embeddedEventsPerSecond >= EMBEDDED_BOUND
    }
    return {
      ok: Object.values(targets).every(Boolean),
      servers: servers.describe(["redis", "postgres"]),
      ...figures,
      targets
    }
  } finally {
    await redis.stop()
    await postgres.stop()
    await rm(data, { recursive: true, force: true })
  }
}
