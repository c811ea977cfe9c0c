// Fleet: many processes on real servers, killed, paused, cut off and lied to while they work.
// Owns the run: servers, crew, the release of events and the rhythm of faults. Leaves the faults to fleet-nemeses.ts and the
// judgement to fleet-report.ts.
// L1  Events come in bursts, one before each fault, so that a fault finds work in hand.
// L3  A planted run (`sweepless`: no worker sweeps, and wake-ups are lost) is judged like any other, and must be guilty.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { blackHole, startPostgres, startRedis } from "@reverie/testkit/servers"
import type { ChildLife } from "./fleet-child.ts"
import { type Hand, type Listener, startPost } from "./fleet-crew.ts"
import { readDiaries, steadyMillis } from "./fleet-diary.ts"
import { comesToRest, grantsIn, ledgerOf, noteGrants, openObserver } from "./fleet-evidence.ts"
import type { Evidence } from "./fleet-judge.ts"
import { inflict, type Nemesis, planOf, type Stage, type WorkerPlace } from "./fleet-nemeses.ts"
import { type Asked, type FleetReport, reportOf } from "./fleet-report.ts"

export interface FleetLaneOptions extends Asked {
  readonly assistants: number
  readonly workers: number
  readonly seed: number
  /** Breaks the fleet on purpose. */
  readonly plant?: "sweepless"
  /** How long, after the last fault, the rest of the work may take. */
  readonly patienceMillis?: number
  readonly progress: (kills: number) => void
}

const PRODUCERS = 2
const HOUR_MILLIS = 3_600_000
const MOST_MISHAPS = 10
const FIRST_SWEEP_MILLIS = 20_000
const PATIENCE_MILLIS = 120_000
/** After a fault. */
const PAUSE_MILLIS = 2_000

/** Cheap, and the same for the same run. */
const randomFrom = (seed: number) => {
  let state = seed
  return (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return limit <= 1 ? 0 : (state >>> 8) % limit
  }
}

/** Runs what was opened back to front, whatever fails. */
const openBin = () => {
  const ends: Array<() => Promise<unknown>> = []
  return {
    add: <A>(value: A, end: (value: A) => Promise<unknown>): A => {
      ends.push(() => end(value))
      return value
    },
    empty: async (): Promise<void> => {
      for (const end of ends.toReversed()) await end().catch(() => undefined)
    }
  }
}

type Bin = ReturnType<typeof openBin>

/** What is left to post, and who has posted. */
const newTraffic = () => {
  let below = 0
  const acked = new Set<string>()
  const hands = new Set<Hand>()
  return {
    acked,
    /** Receives producers, and tells each new one how far it may go. */
    listener: ((word, hand) => {
      if (word.is === "acked") acked.add(word.id)
      if (word.is !== "ready") return
      hands.add(hand)
      hand.order({ do: "release", below })
    }) satisfies Listener,
    release: (upTo: number): void => {
      below = upTo
      for (const hand of hands) if (hand.isReady()) hand.order({ do: "release", below })
    }
  }
}

const openStage = async (bin: Bin, options: FleetLaneOptions, diaries: string) => {
  const { assistants, events, plant, seed } = options
  const redis = bin.add(await startRedis({ own: true, durable: true }), ({ stop }) => stop())
  const postgres = bin.add(await startPostgres({ own: true, fsync: false }), ({ stop }) => stop())
  const deployment = { database: postgres.url, redis: redis.url, name: "crash" }
  // The first to open makes the tables, and everybody's creation.
  const observer = bin.add(await openObserver(deployment, assistants), (fleet) => fleet.close())
  await noteGrants(deployment)
  const life = {
    diaries,
    assistants,
    events,
    producers: PRODUCERS,
    deployment,
    ...(plant === "sweepless" ? { sweepMillis: HOUR_MILLIS } : {})
  }
  const traffic = newTraffic()
  const place = async (nth: number): Promise<WorkerPlace> => {
    const roads = { redis: await blackHole(redis.url), postgres: await blackHole(postgres.url) }
    bin.add(roads, async (these) => Promise.all([these.redis.close(), these.postgres.close()]))
    const lifeOf = (number: number): ChildLife => {
      const clockShiftMillis = number === 0 ? 0 : worker.nextShiftMillis
      worker.nextShiftMillis = 0
      const own = { ...deployment, redis: roads.redis.url, database: roads.postgres.url }
      return { ...life, role: "worker", name: `worker-${nth}.${number}`, nth, deployment: own, clockShiftMillis }
    }
    const worker: { -readonly [K in keyof WorkerPlace]: WorkerPlace[K] } = {
      ...roads,
      nextShiftMillis: 0,
      post: undefined as unknown as WorkerPlace["post"]
    }
    worker.post = bin.add(
      startPost(lifeOf, () => undefined),
      (post) => post.dismiss()
    )
    return worker
  }
  const workers = await Promise.all(Array.from({ length: options.workers }, (_, nth) => place(nth)))
  const producers = Array.from({ length: PRODUCERS }, (_, nth) => {
    const lifeOf = (number: number): ChildLife => {
      return { ...life, role: "producer", name: `producer-${nth}.${number}`, nth, clockShiftMillis: 0 }
    }
    return bin.add(startPost(lifeOf, traffic.listener), (post) => post.dismiss())
  })
  await Promise.all([...workers.map(({ post }) => post.hand().ready), ...producers.map((post) => post.hand().ready)])
  const stage: Stage = {
    redis,
    postgres,
    workers,
    producers,
    random: randomFrom(seed),
    wounds: [],
    lasting: new Set(),
    disabled: undefined
  }
  return { stage, observer, traffic, deployment }
}

type Opened = Awaited<ReturnType<typeof openStage>>

const mishapsOf = ({ producers, workers }: Stage): ReadonlyArray<string> =>
  [...producers, ...workers.map(({ post }) => post)].flatMap(({ mishaps }) => mishaps)

/** Bursts and faults in turn. */
const inflictAll = async ({ stage, traffic }: Opened, options: FleetLaneOptions, plan: ReadonlyArray<Nemesis>) => {
  for (const [index, nemesis] of plan.entries()) {
    const below = Math.round((options.events * (index + 1)) / (plan.length + 1))
    await inflict(nemesis, stage, () => traffic.release(below))
    options.progress(index + 1)
    await sleep(PAUSE_MILLIS)
    const mishaps = mishapsOf(stage)
    if (mishaps.length >= MOST_MISHAPS) throw new Error(`processes end by themselves: ${mishaps[0] ?? ""}`)
  }
  await Promise.all(stage.lasting)
}

/** No sweep but the one that each worker begins with, and no one learns of the last events. */
const loseHints = async ({ observer, stage, traffic }: Opened, options: FleetLaneOptions): Promise<void> => {
  const hands = stage.workers.map(({ post }) => post.hand())
  await Promise.all(hands.map(({ ready }) => ready))
  await comesToRest(observer, FIRST_SWEEP_MILLIS)
  for (const hand of hands) hand.signal("SIGSTOP")
  traffic.release(options.events)
  await until(() => traffic.acked.size >= options.events, PATIENCE_MILLIS)
  await stage.redis.send("FLUSHALL")
  for (const hand of hands) hand.signal("SIGCONT")
}

const until = async (isSo: () => boolean, patienceMillis: number): Promise<boolean> => {
  const end = performance.now() + patienceMillis
  while (!isSo() && performance.now() < end) await sleep(50)
  return isSo()
}

const live = async (bin: Bin, options: FleetLaneOptions, diaries: string): Promise<Omit<FleetReport, "seconds">> => {
  const began = Date.now()
  const opened = await openStage(bin, options, diaries)
  const { deployment, observer, stage, traffic } = opened
  const plan = planOf(options.kills, stage.random)
  await inflictAll(opened, options, plan)
  if (options.plant === "sweepless") await loseHints(opened, options)
  const patience = options.patienceMillis ?? PATIENCE_MILLIS
  traffic.release(options.events)
  await until(() => traffic.acked.size >= options.events, patience)
  const rested = await comesToRest(observer, patience)
  const entries = await ledgerOf(observer)
  const evidence: Evidence = {
    entries,
    grants: await grantsIn(deployment),
    diaries: readDiaries(diaries),
    wounds: stage.wounds,
    epochOffset: Date.now() - steadyMillis(),
    began,
    ended: Date.now()
  }
  const servers = `Redis ${stage.redis.version}, PostgreSQL ${stage.postgres.version}`
  return { ...reportOf(evidence, options, rested, mishapsOf(stage)), servers }
}

export const runFleetLane = async (options: FleetLaneOptions): Promise<FleetReport> => {
  const began = performance.now()
  const bin = openBin()
  const diaries = await mkdtemp(join(tmpdir(), "reverie-fleet-"))
  try {
    const report = await live(bin, options, diaries)
    return { ...report, seconds: Math.round((performance.now() - began) / 1_000) }
  } finally {
    await bin.empty()
    await rm(diaries, { recursive: true, force: true })
  }
}
