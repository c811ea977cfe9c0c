// Lane: kills a process again and again, and starts it again on the same data.
// Owns when and where to kill. Leaves what the process does to life.ts, and the judgement to judge.ts.
// L1  Every named fault point is killed at, and as many processes again at moments of no name.
// L2  A lane with too few acknowledged events, or too few kills that hit, fails: it proved nothing.

import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { faultPoints } from "@reverie/runtime"
import { isClean, judge, type Verdict } from "./judge.ts"

export interface LaneReport extends Verdict {
  readonly ok: boolean
  readonly kills: number
  readonly operations: number
  readonly killsByPoint: Readonly<Record<string, number>>
}

/** Cheap, and the same for the same lane. */
export const numbersFrom = (seed: number) => {
  let state = seed
  return (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % limit
  }
}

/** Points that a life passes less often than it has events. */
const MOST_PASSINGS: Readonly<Record<string, number>> = { "after-claim": 3, "before-deliver": 2, "after-deliver": 2 }

/** About how long one event takes when four assistants share the work. */
const LIFE_MILLIS_PER_EVENT = 10

type Ending = "killed" | "done"

/** Who may kill a process, as soon as it is ready. */
export type Killer = (kill: () => void) => void

const after =
  (millis: number): Killer =>
  (kill) =>
    void setTimeout(kill, millis)

/** Runs one process. */
export const oneLife = (args: ReadonlyArray<string>, killer?: Killer): Promise<Ending> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "child.ts"), ...args],
      {
        stdio: ["ignore", "pipe", "pipe"]
      }
    )
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk: Buffer) => {
      const wasReady = out.includes("ready")
      out += chunk.toString()
      if (!wasReady && out.includes("ready")) killer?.(() => child.kill("SIGKILL"))
    })
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString()
    })
    child.on("error", reject)
    child.on("close", (code, signal) => {
      if (signal === "SIGKILL") resolve("killed")
      else if (code === 0 && out.includes("done")) resolve("done")
      else
        reject(
          new Error(`a process of the lane ended with code ${code}: ${err.trim().split("\n").slice(0, 12).join("\n")}`)
        )
    })
  })

export interface LaneOptions {
  readonly kills: number
  /** Most events that are posted. */
  readonly events: number
  readonly seed: number
  readonly progress: (kills: number) => void
}

/** Fewer than this, and the lane has proved nothing. */
export const minimumOperations = (kills: number): number => Math.min(1_000, kills * 10)

/** Some processes are done before their kill comes. */
const LIVES_PER_KILL = 1.3

export const runLane = async ({ events, kills, progress, seed }: LaneOptions): Promise<LaneReport> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-crash-"))
  const next = numbersFrom(seed)
  const killsByPoint: Record<string, number> = {}
  const perLife = Math.max(1, Math.floor(events / (kills * LIVES_PER_KILL)))
  let killed = 0
  try {
    for (let life = 0; killed < kills; life++) {
      if (life > kills * 3) throw new Error(`only ${killed} of ${life} processes could be killed in time`)
      const point = life % 2 === 0 ? faultPoints[(life / 2) % faultPoints.length]! : "no-name"
      // Each life gets some more events, so that there is something to do until the last kill.
      const upTo = String(Math.min(events, (life + 1) * perLife))
      const ending =
        point === "no-name"
          ? await oneLife([data, upTo], after(next(perLife * LIFE_MILLIS_PER_EVENT)))
          : await oneLife([data, upTo, point, String(1 + next(MOST_PASSINGS[point] ?? perLife))])
      if (ending !== "killed") continue
      killed++
      killsByPoint[point] = (killsByPoint[point] ?? 0) + 1
      progress(killed)
    }
    await oneLife([data, String(events)])
    const verdict = await judge(data)
    const clean = isClean(verdict)
    const everyPoint =
      kills < faultPoints.length * 2 + 2 || faultPoints.every((point) => (killsByPoint[point] ?? 0) > 0)
    const ok = clean && everyPoint && verdict.acknowledged === events && events >= minimumOperations(kills)
    return { ok, kills: killed, operations: verdict.acknowledged, killsByPoint, ...verdict }
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}
