// Tick beside: what a tick costs in this tree and in another one, in turns.
// Owns the turns and the comparison. Leaves what is played to tick-child.ts.
// T1  Both trees answer the same messages of the same server, each in a process of its own; while one ticks the other rests.
// T2  Turns go A B B A, so that a machine that gets slower costs both alike.
// T3  The ratio comes with the interval in which it lies in 95 of 100 drawings of the pairs of processes: one figure alone says
//     little. Turns of one pair are alike, and pairs differ by some hundredths: many pairs say more than many turns.
// T4  Which of the two begins first changes from pair to pair: the one that began last ticks cheaper, by some hundredths, whatever
//     it is of. As many of each kind are drawn as there are.
// T5  What is encrypted is compared with the same tree in the clear, in the same turns.

import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { defined } from "@reverie/protocol"
import { type Lap, withServer } from "./tick-laps.ts"

export interface BesideReport {
  readonly ok: boolean
  readonly old: string
  readonly processes: number
  readonly rounds: number
  readonly oldCpuMillisPerTick: number
  readonly newCpuMillisPerTick: number
  readonly cpuRatio: number
  /** Of 100 drawings of the pairs of processes, with repetition, 95 lie in it. */
  readonly interval: readonly [number, number]
  readonly targets: Readonly<Record<string, boolean>>
}

const CONCURRENCY = 32
const EACH = 12
const WARM = 60
const PROCESSES = 24
const ROUNDS = 4
const DRAWINGS = 2_000

interface Child extends AsyncDisposable {
  readonly lap: (each: number, from: number) => Promise<Lap>
}

const childOf = async (tree: string, url: string, key?: string): Promise<Child> => {
  const main = join(import.meta.dirname, "tick-child.ts")
  const { REVERIE_KEY: _, ...env } = process.env
  const child = spawn(process.execPath, [main, tree, url, String(CONCURRENCY)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: key === undefined ? env : { ...env, REVERIE_KEY: key }
  })
  const ended = new Promise<void>((resolveEnd) => child.once("exit", () => resolveEnd()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async <A>(): Promise<A> => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error(`the fleet of ${tree} ended early`)
    return JSON.parse(value) as A
  }
  await next()
  return {
    lap: async (each, from) => {
      child.stdin.write(`${JSON.stringify({ each, from })}\n`)
      return next<Lap>()
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      await ended
    }
  }
}

interface Turn {
  readonly old: number
  readonly new: number
}

const HERE = resolve(import.meta.dirname, "../..")

interface Contestants {
  readonly url: string
  readonly old: string
  readonly key?: string
  readonly isNewFirst: boolean
}

const turnsOf = async ({ isNewFirst, key, old, url }: Contestants, rounds: number): Promise<ReadonlyArray<Turn>> => {
  const starts = [() => childOf(old, url), () => childOf(HERE, url, key)]
  if (isNewFirst) starts.reverse()
  await using first = await starts[0]!()
  await using second = await starts[1]!()
  const [before, after] = isNewFirst ? [second, first] : [first, second]
  await first.lap(WARM, 0)
  await second.lap(WARM, 0)
  const turns: Array<Turn> = []
  for (let round = 0; round < rounds; round++) {
    const costs: Partial<Record<keyof Turn, number>> = {}
    const order = [
      ["old", before],
      ["new", after]
    ] as const
    for (const [name, child] of round % 2 === 0 ? order : order.toReversed()) {
      costs[name] = (await child.lap(EACH, WARM + round * EACH)).cpuMillis / (EACH * CONCURRENCY)
    }
    turns.push(costs as Turn)
  }
  return turns
}

const meanOf = (pairs: ReadonlyArray<Turn>, name: keyof Turn): number =>
  pairs.reduce((sum, pair) => sum + pair[name], 0) / pairs.length

const ratioOf = (pairs: ReadonlyArray<Turn>): number => meanOf(pairs, "new") / meanOf(pairs, "old")

const drawnFrom = (pairs: ReadonlyArray<Turn>): ReadonlyArray<Turn> =>
  pairs.map(() => pairs[Math.floor(Math.random() * pairs.length)]!)

/** Pairs in which the one began first, and the other, by turns. */
const intervalOf = (pairs: ReadonlyArray<Turn>): readonly [number, number] => {
  const kinds = [0, 1].map((kind) => pairs.filter((_, index) => index % 2 === kind))
  const drawn = Array.from({ length: DRAWINGS }, () => ratioOf(kinds.flatMap(drawnFrom))).toSorted((a, b) => a - b)
  return [drawn[Math.floor(DRAWINGS * 0.025)]!, drawn[Math.floor(DRAWINGS * 0.975)]!]
}

interface Measured {
  readonly old: string
  readonly isShort: boolean
  readonly rounds: number
  /** The key of the new one. */
  readonly key?: string
  /** How many times what the old one takes the new one may take. */
  readonly most: number
  readonly says: string
}

/** So many pairs of processes, each with so many rounds: how a process compiles its code differs from one to the next. */
const measured = ({ isShort, key, most, old, rounds, says }: Measured): Promise<BesideReport> =>
  withServer(async (url) => {
    const processes = isShort ? 1 : PROCESSES
    const pairs: Array<Turn> = []
    for (let index = 0; index < processes; index++) {
      const contestants = { url, old: resolve(old), isNewFirst: index % 2 === 1, ...defined({ key }) }
      const turns = await turnsOf(contestants, rounds)
      pairs.push({ old: meanOf(turns, "old"), new: meanOf(turns, "new") })
    }
    const cpuRatio = ratioOf(pairs)
    return {
      ok: cpuRatio <= most,
      old: resolve(old),
      processes,
      rounds,
      oldCpuMillisPerTick: meanOf(pairs, "old"),
      newCpuMillisPerTick: meanOf(pairs, "new"),
      cpuRatio,
      interval: intervalOf(pairs),
      targets: { [says]: cpuRatio <= most }
    }
  })

export const benchTickBeside = (old: string, isShort: boolean, rounds = ROUNDS): Promise<BesideReport> =>
  measured({ old, isShort, rounds, most: 1, says: "cpu per tick ≤ 1.0 × the old tree" })

/** What encryption at rest costs a tick. */
export const benchTickEncrypted = (isShort: boolean, rounds = ROUNDS): Promise<BesideReport> => {
  const key = randomBytes(32).toString("hex")
  return measured({ old: HERE, isShort, rounds, key, most: 1.1, says: "cpu per tick ≤ 1.1 × in the clear" })
}
