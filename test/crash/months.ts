// Months: kills a process that talks, dreams, archives and forgets, at its every step, and judges what goes on from there.
// Owns the killing and the figures. Leaves the life to months-life.ts, what must be true to months-judge.ts.
// M4  After any kill nothing is lost, half forgotten, half archived or half dreamt: the life that goes on ends with the same
//     memory, to the line, as one that no one harmed.
// M5  A lane that did not kill in each stage and each kind of forgetting, or that looked at nothing, fails.

import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dreamOperations } from "@reverie/assistant"
import { startPostgres } from "@reverie/testkit/servers"
import type { Judged } from "./months-judge.ts"
import { kinds, letters } from "./months-life.ts"

export interface MonthsReport {
  readonly ok: boolean
  readonly kills: number
  readonly killsByPlace: Readonly<Record<string, number>>
  /** Steps of an unharmed life, by place: each can be killed at. */
  readonly passings: Readonly<Record<string, number>>
  /** What all judgements looked at, in sum. */
  readonly looked: Readonly<Record<string, number>>
  /** Places that nothing was killed in. */
  readonly missed: ReadonlyArray<string>
  /** Kills whose moment did not come: the work took another number of steps. */
  readonly unreached: number
  /** What is wrong, and after which kill. */
  readonly problems: ReadonlyArray<string>
}

interface Lived {
  readonly passed: Readonly<Record<string, number>>
  readonly unopened: ReadonlyArray<string>
  readonly found: Judged
  readonly ended: Judged
  readonly after: ReadonlyArray<string>
  readonly lines: ReadonlyArray<string>
}

/** Where a life lies: what is in its directory, and the environment that says where the rest is. */
interface Home {
  readonly data: string
  readonly env: Readonly<Record<string, string>>
}

/** Undefined when the process was killed. */
const life = ({ data, env }: Home, kill?: Kill): Promise<Lived | undefined> =>
  new Promise((resolve, reject) => {
    const where = kill === undefined ? [] : [kill.place, String(kill.passing)]
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "months-child.ts"), data, ...where],
      { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } }
    )
    const [out, err]: [Array<Buffer>, Array<Buffer>] = [[], []]
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk))
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk))
    child.on("error", reject)
    child.on("close", (code, signal) => {
      const said = Buffer.concat(out).toString()
      if (signal === "SIGKILL") resolve(undefined)
      else if (code === 0) resolve(JSON.parse(said.slice(said.indexOf('{"passed"'))) as Lived)
      else reject(new Error(`a life ended with code ${code}: ${Buffer.concat(err).toString().slice(0, 1_500)}`))
    })
  })

const inDirectory = async <A>(use: (data: string) => Promise<A>): Promise<A> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-months-"))
  try {
    return await use(data)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

/** Where segments are put and taken away. */
const placesApart: ReadonlyArray<string> = ["archive", ...kinds.map((kind) => `forget ${kind}`)]

const places: ReadonlyArray<string> = [
  "talk",
  ...dreamOperations.map((operation) => `dreaming.${operation}`),
  "archive",
  ...kinds.map((kind) => `forget ${kind}`)
]

/** Small and repeatable: which step of a place is next, by a seed. */
const fractions = function* (seed: number): Generator<number> {
  let state = seed >>> 0 || 1
  while (true) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

interface Kill {
  readonly place: string
  readonly passing: number
}

/** The places in turn, and in each another step each time. */
const killsOf = (
  passings: Readonly<Record<string, number>>,
  required: ReadonlyArray<string>,
  count: number,
  seed: number
): ReadonlyArray<Kill> => {
  const random = fractions(seed)
  return Array.from({ length: count }, (_, index) => {
    const place = required[index % required.length]!
    const steps = passings[place] ?? 1
    return { place, passing: 1 + Math.floor(random.next().value * steps) }
  })
}

const firstDifference = (expected: ReadonlyArray<string>, found: ReadonlyArray<string>): string | undefined => {
  const index = Array.from({ length: Math.max(expected.length, found.length) }, (_, at) => at).find(
    (at) => expected[at] !== found[at]
  )
  if (index === undefined) return undefined
  const [one = "nothing", other = "nothing"] = [expected[index], found[index]]
  const at = Math.max(0, [...one].findIndex((char, place) => char !== other[place]) - 60)
  return `${one.slice(0, 40)}: expected …${one.slice(at, at + 160)}…, found …${other.slice(at, at + 160)}…`
}

const problemsOf = ({ after, ended, found, unopened }: Lived): ReadonlyArray<string> => [
  ...unopened.map((each) => `unopened: ${each}`),
  ...found.problems,
  ...ended.problems.map((each) => `in the end: ${each}`),
  ...after.map((each) => `closed: ${each}`),
  ...(ended.looked.acknowledged === letters.length && ended.looked.receipts === kinds.length
    ? []
    : [`it ended early: ${JSON.stringify(ended.looked)}`]),
  ...(ended.looked.segments > 0 ? [] : ["nothing was archived"])
]

export interface MonthsOptions {
  /** Segments lie in a directory apart, and kills go where these are put and taken away. */
  readonly apart?: boolean
  /** Everything lies in a PostgreSQL, its queue included. */
  readonly postgres?: boolean
  readonly kills: number
  readonly seed: number
  readonly progress: (kills: number) => void
}

/** Processes at a time. */
const AT_ONCE = 2

export const runMonthsLane = (options: MonthsOptions): Promise<MonthsReport> =>
  inDirectory(async (compiled) => {
    const common = { NODE_COMPILE_CACHE: compiled }
    if (options.postgres !== true) {
      const apart = (data: string) => (options.apart === true ? { REVERIE_SEGMENTS: join(data, "segments") } : {})
      return killMonths(options, (use) => inDirectory((data) => use({ data, env: { ...common, ...apart(data) } })))
    }
    const server = await startPostgres({ own: true, fsync: false })
    try {
      return await killMonths(options, (use) =>
        inDirectory(async (data) => {
          const { drop, url } = await server.freshDatabase()
          try {
            return await use({ data, env: { ...common, REVERIE_MONTHS_POSTGRES: url } })
          } finally {
            await drop()
          }
        })
      )
    } finally {
      await server.stop()
    }
  })

type AtHome = <A>(use: (home: Home) => Promise<A>) => Promise<A>

const killMonths = async (options: MonthsOptions, atHome: AtHome): Promise<MonthsReport> => {
  const required = options.apart === true ? placesApart : places
  const whole = async (home: Home): Promise<Lived> => {
    const lived = await life(home)
    if (lived === undefined) throw new Error("a life that no one was to kill was killed")
    return lived
  }
  const unharmed = await atHome(whole)
  const problems = problemsOf(unharmed).map((each) => `unharmed: ${each}`)
  const waiting = [...killsOf(unharmed.passed, required, options.kills, options.seed)]
  const killsByPlace: Record<string, number> = {}
  const looked: Record<string, number> = {}
  let [kills, unreached] = [0, 0]
  const killAt = (kill: Kill): Promise<void> =>
    atHome(async (home) => {
      if ((await life(home, kill)) !== undefined) return void unreached++
      const { passing, place } = kill
      options.progress(++kills)
      killsByPlace[place] = (killsByPlace[place] ?? 0) + 1
      const lived = await whole(home)
      for (const [name, count] of [...Object.entries(lived.found.looked), ...Object.entries(lived.ended.looked)])
        looked[name] = (looked[name] ?? 0) + count
      const difference = firstDifference(unharmed.lines, lived.lines)
      const found = [...problemsOf(lived), ...(difference === undefined ? [] : [difference])]
      problems.push(...found.map((each) => `${place}, step ${passing}: ${each}`))
    })
  const killInTurn = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await killAt(next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, killInTurn))
  const missed = required.filter((place) => killsByPlace[place] === undefined)
  const ok = problems.length === 0 && missed.length === 0 && Object.values(looked).every((count) => count > 0)
  return { ok, kills, killsByPlace, passings: unharmed.passed, looked, missed, unreached, problems }
}
