// Night: kills a process at every step of a dream and of a compaction, and compares what is left with an unharmed night.
// Owns the killing. Leaves the night itself to night-life.ts, what is left of it to night-left.ts.
// N4  A night that was broken off anywhere ends with the same memory as one that was not: nothing lost, nothing doubled,
//     and no step of it committed twice.
// N5  A lane that did not kill in every operation of a dream, every phase of a compaction and at every point fails.

import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compactionPhases, dreamOperations } from "@reverie/assistant"
import type { Left } from "./night-left.ts"
import { NIGHT_POINTS } from "./night-life.ts"

export interface NightReport {
  readonly ok: boolean
  readonly kills: number
  readonly killsByPlace: Readonly<Record<string, number>>
  /** How often an unharmed night passes each place. */
  readonly passings: Readonly<Record<string, number>>
  /** What an unharmed night leaves, by kind of record. */
  readonly kept: Readonly<Record<string, number>>
  /** Commits of dreams and compactions in an unharmed night. */
  readonly steps: number
  /** States and points that nothing was killed in. */
  readonly missed: ReadonlyArray<string>
  /** Nights whose memory differs from the unharmed one, and where they were broken off. */
  readonly different: ReadonlyArray<string>
}

interface Lived {
  readonly passed: Readonly<Record<string, number>>
  readonly left: Left
}

/** Most of what a process of the lane does is to begin: it takes over what others have compiled. */
const compiled = join(tmpdir(), `reverie-night-compiled-${process.pid}`)

/** Undefined when the process was killed. */
const oneNight = (args: ReadonlyArray<string>): Promise<Lived | undefined> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "night-child.ts"), ...args],
      { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NODE_COMPILE_CACHE: compiled } }
    )
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
    child.on("error", reject)
    child.on("close", (code, signal) => {
      if (signal === "SIGKILL") resolve(undefined)
      else if (code === 0) resolve(JSON.parse(out.slice(out.indexOf('{"passed"'))) as Lived)
      else reject(new Error(`a night ended with code ${code}: ${err.trim().split("\n").slice(0, 12).join("\n")}`))
    })
  })

const wholeNight = async (data: string): Promise<Lived> => {
  const lived = await oneNight([data])
  if (lived === undefined) throw new Error("a night that no one was to kill was killed")
  return lived
}

const inDirectory = async <A>(use: (data: string) => Promise<A>): Promise<A> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-night-"))
  try {
    return await use(data)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

const unharmed = () =>
  inDirectory(async (data) => {
    const { left, passed } = await wholeNight(data)
    const passings = Object.fromEntries(
      Object.entries(passed).filter(([place]) => NIGHT_POINTS.some((point) => place.endsWith(` ${point}`)))
    )
    return { passings, ...left }
  })

const firstDifference = (expected: ReadonlyArray<string>, found: ReadonlyArray<string>): string | undefined => {
  const length = Math.max(expected.length, found.length)
  for (let index = 0; index < length; index++) {
    if (expected[index] === found[index]) continue
    return around(expected[index] ?? "nothing", found[index] ?? "nothing")
  }
  return undefined
}

const MAX_SHOWN = 200

/** Both from a little before they part. */
const around = (expected: string, found: string): string => {
  let same = 0
  while (same < Math.min(expected.length, found.length) && expected[same] === found[same]) same++
  const from = Math.max(0, same - MAX_SHOWN / 2)
  const shown = (text: string): string => text.slice(from, from + MAX_SHOWN)
  return `in ${expected.slice(0, 40)}: expected …${shown(expected)}…, found …${shown(found)}…`
}

interface Kill {
  readonly place: string
  readonly passing: number
}

const statusOf = (place: string): string => place.split(" ")[0] ?? ""

/** Of the passings of each state every so many-th, begun further on in each, so that few kills still hit many points. */
const killsOf = (passings: Readonly<Record<string, number>>, stride: number): ReadonlyArray<Kill> =>
  [...new Set(Object.keys(passings).map(statusOf))].flatMap((status, nth) => {
    const all = Object.entries(passings)
      .filter(([place]) => statusOf(place) === status)
      .flatMap(([place, count]) => Array.from({ length: count }, (_, index): Kill => ({ place, passing: index + 1 })))
    const first = Math.floor((nth * all.length) / NIGHT_POINTS.length) % Math.min(stride, all.length)
    return all.filter((_, index) => index % stride === first)
  })

/** Processes at a time: each waits for its disk as much as for its processor. */
const AT_ONCE = 2

export interface NightLaneOptions {
  /** Of the passings of a state every how many-th is killed at; 1 kills at each. */
  readonly stride: number
  readonly progress: (kills: number) => void
}

export const runNightLane = async (options: NightLaneOptions): Promise<NightReport> => {
  try {
    return await killNights(options)
  } finally {
    await rm(compiled, { recursive: true, force: true })
  }
}

const killNights = async ({ progress, stride }: NightLaneOptions): Promise<NightReport> => {
  const { kept, lines, passings, steps } = await unharmed()
  const waiting = [...killsOf(passings, stride)]
  const killsByPlace: Record<string, number> = {}
  const different: Array<string> = []
  let kills = 0
  const killAt = ({ passing, place }: Kill): Promise<void> =>
    inDirectory(async (data) => {
      const where = `${place}, passing ${passing}`
      if ((await oneNight([data, place, String(passing)])) !== undefined) {
        different.push(`${where}: nothing was killed`)
        return
      }
      kills++
      killsByPlace[place] = (killsByPlace[place] ?? 0) + 1
      const difference = firstDifference(lines, (await wholeNight(data)).left.lines)
      if (difference !== undefined) different.push(`${where}: ${difference}`)
      progress(kills)
    })
  const killInTurn = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await killAt(next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, killInTurn))
  const missed = missedBy(Object.keys(killsByPlace))
  const hasMemory = (["fact", "entity", "journal", "passage", "dream", "compaction"] as const).every(
    (kind) => (kept[kind] ?? 0) > 0
  )
  const ok = different.length === 0 && missed.length === 0 && hasMemory
  return { ok, kills, killsByPlace, passings, kept, steps, missed, different }
}

const missedBy = (places: ReadonlyArray<string>): ReadonlyArray<string> => {
  const states = [
    ...dreamOperations.map((operation) => `dreaming.${operation}`),
    ...compactionPhases.map((phase) => `compacting.${phase}`)
  ]
  return [
    ...states.filter((state) => !places.some((place) => statusOf(place) === state)),
    ...NIGHT_POINTS.filter((point) => !places.some((place) => place.endsWith(` ${point}`)))
  ]
}
