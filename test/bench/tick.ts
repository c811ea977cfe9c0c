// Tick: what a tick costs, beside the same work done by hand with nothing kept.
// Owns the two contestants and the comparison. Leaves the model to a server of no think time in a process of its own.
// B1  Both send the same prompts to the same server through the same client; rounds of both alternate in one process.
// B2  Reverie runs with full durability (an fsync for every group of commits) on a real directory.
// B3  What is compared is warm code: V8 compiles for some 10,000 ticks, and that cost stands apart (`warmingCpuRatio`).

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Fleet } from "reverie"
import { rawLoop } from "./raw-loop.ts"
import { fleetOf, idsOf } from "./scene.ts"
import { seedHistory } from "./seed-history.ts"
import { type Lap, lap, play, withServer } from "./tick-laps.ts"

export interface Cost {
  readonly ticks: number
  readonly ticksPerSecond: number
  readonly cpuMillisPerTick: number
}

export interface StoredCost extends Cost {
  readonly bytesPerTick: number
  readonly transactionsPerTick: number
}

export interface Pair {
  readonly raw: Cost
  readonly reverie: StoredCost
  readonly cpuRatio: number
  readonly throughputRatio: number
  /** The same ratio in the ticks before the first that counts: code that is being compiled, windows that grow. */
  readonly warmingCpuRatio: number
}

export interface TickReport {
  readonly ok: boolean
  readonly synchronous: "FULL"
  readonly concurrency1: Pair
  readonly concurrency32: Pair
  readonly history: Readonly<Record<string, StoredCost>>
  readonly historyCpuRatio: number
  readonly historyBytesRatio: number
  readonly targets: Readonly<Record<string, boolean>>
}

const writtenBy = async (fleet: Fleet) => {
  const written = await fleet.monitor.writes()
  if (written === undefined) throw new Error("this benchmark counts what an embedded store writes")
  return written
}

const costOf = (laps: ReadonlyArray<Lap>, ticks: number): Cost => ({
  ticks,
  ticksPerSecond: (ticks * 1_000) / laps.reduce((sum, { millis }) => sum + millis, 0),
  cpuMillisPerTick: laps.reduce((sum, { cpuMillis }) => sum + cpuMillis, 0) / ticks
})

const withDirectory = async <A>(work: (directory: string) => Promise<A>): Promise<A> => {
  const directory = await mkdtemp(join(tmpdir(), "reverie-bench-"))
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const open = (directory: string, url: string, ids: ReadonlyArray<string>) =>
  Fleet.open({
    data: directory,
    fleet: fleetOf(ids),
    model: { baseURL: url, model: "bench", stream: false },
    durability: "full"
  })

interface Size {
  readonly concurrency: number
  readonly rounds: number
  /** Ticks each assistant takes in a round. */
  readonly each: number
  /** Ticks each takes before: at least until both have a full window. */
  readonly warm: number
}

const compare = (url: string, { concurrency, each, rounds, warm }: Size): Promise<Pair> =>
  withDirectory(async (directory) => {
    const ids = idsOf(concurrency)
    const raw = await rawLoop(url, concurrency)
    await using fleet = await open(directory, url, ids)
    const rawWarming = await lap(() => raw(warm, 0))
    const ourWarming = await lap(() => play(fleet, ids, warm, 0))
    const before = await writtenBy(fleet)
    const rawLaps: Array<Lap> = []
    const ourLaps: Array<Lap> = []
    for (let round = 0; round < rounds; round++) {
      const from = warm + round * each
      rawLaps.push(await lap(() => raw(each, from)))
      ourLaps.push(await lap(() => play(fleet, ids, each, from)))
    }
    const after = await writtenBy(fleet)
    const ticks = rounds * each * concurrency
    const rawCost = costOf(rawLaps, ticks)
    const ours = {
      ...costOf(ourLaps, ticks),
      bytesPerTick: (after.walBytes - before.walBytes) / ticks,
      transactionsPerTick: (after.transactions - before.transactions) / ticks
    }
    return {
      raw: rawCost,
      reverie: ours,
      cpuRatio: ours.cpuMillisPerTick / rawCost.cpuMillisPerTick,
      throughputRatio: ours.ticksPerSecond / rawCost.ticksPerSecond,
      warmingCpuRatio: ourWarming.cpuMillis / rawWarming.cpuMillis
    }
  })

const HISTORIES = [200, 2_000, 10_000] as const

/** The same ticks behind histories of different lengths; rounds alternate. */
const behindHistories = async (
  url: string,
  rounds: number,
  each: number
): Promise<Readonly<Record<string, StoredCost>>> => {
  const costs: Record<string, StoredCost> = {}
  const contestants = await Promise.all(
    HISTORIES.map(async (messages) => {
      const directory = await mkdtemp(join(tmpdir(), "reverie-bench-"))
      await seedHistory(directory, messages)
      const fleet = await open(directory, url, idsOf(1))
      // An assistant that has lived through it has it in its index.
      await fleet.memory.rebuild()
      return { messages, directory, fleet, laps: [] as Array<Lap> }
    })
  )
  try {
    for (const { fleet } of contestants) await play(fleet, idsOf(1), 60, 0)
    const before = await Promise.all(contestants.map(({ fleet }) => writtenBy(fleet)))
    for (let round = 0; round < rounds; round++) {
      for (const { fleet, laps } of contestants)
        laps.push(await lap(() => play(fleet, idsOf(1), each, 60 + round * each)))
    }
    const ticks = rounds * each
    for (const [index, { fleet, laps, messages }] of contestants.entries()) {
      const { transactions, walBytes } = await writtenBy(fleet)
      costs[messages] = {
        ...costOf(laps, ticks),
        bytesPerTick: (walBytes - before[index]!.walBytes) / ticks,
        transactionsPerTick: (transactions - before[index]!.transactions) / ticks
      }
    }
    return costs
  } finally {
    for (const { directory, fleet } of contestants) {
      await fleet.close()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

const MAX_BYTES_PER_TICK = 24 * 1_024

export const benchTick = (isShort: boolean): Promise<TickReport> =>
  withServer(async (url) => {
    const scale = isShort ? 1 : 5
    // The first of both, in a process whose code no other fleet has shaped.
    const concurrency32 = await compare(url, {
      concurrency: 32,
      rounds: 4 * scale,
      each: 12,
      warm: isShort ? 45 : 300
    })
    const concurrency1 = await compare(url, { concurrency: 1, rounds: scale, each: 60, warm: 60 })
    const history = await behindHistories(url, scale, 40)
    const short = history[HISTORIES[0]]!
    const long = history[HISTORIES[2]]!
    const historyCpuRatio = long.cpuMillisPerTick / short.cpuMillisPerTick
    const historyBytesRatio = long.bytesPerTick / short.bytesPerTick
    const bytes = [concurrency1.reverie, concurrency32.reverie, ...Object.values(history)].map(
      (cost) => cost.bytesPerTick
    )
    const targets = {
      "cpu per tick at 32 ≤ 2.0 × raw": concurrency32.cpuRatio <= 2,
      "ticks/s at 32 ≥ 0.4 × raw": concurrency32.throughputRatio >= 0.4,
      "bytes per tick < 24 KB": bytes.every((each) => each < MAX_BYTES_PER_TICK),
      "bytes per tick ±20 % from 200 to 10,000 messages": Math.abs(historyBytesRatio - 1) <= 0.2,
      "cpu per tick at 10,000 messages ≤ 1.5 × at 200": historyCpuRatio <= 1.5
    }
    const ok = Object.values(targets).every(Boolean)
    return {
      ok,
      synchronous: "FULL",
      concurrency1,
      concurrency32,
      history,
      historyCpuRatio,
      historyBytesRatio,
      targets
    }
  })
