// Idle: what a million sleeping assistants cost a worker that has to wake one of them.
// Owns the comparison with a thousand, on both stores. Leaves registering and measuring to processes of idle-child.ts.
// B1  Few and many are measured in turn, each time by a new process; a figure is over all rounds.
// B2  Both stores write as they would in earnest while sleepers are woken.

import { fork } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { placeOf, servers, startPostgres, startRedis } from "@reverie/testkit/servers"
import { median, percentile } from "./fleet.ts"
import type { IdleFigures, IdleTask, Look } from "./idle-child.ts"

type Where = IdleTask["where"]

interface Sleepers {
  readonly assistants: number
  readonly registeredPerSecond: number
  /** After the collector has run, of a process that has woken some. */
  readonly residentMegabytes: number
  readonly wake: { readonly samples: number; readonly p50Millis: number; readonly p99Millis: number }
  /** Medians. */
  readonly nextDue: Look
  readonly due: Look
}

interface StoreFigures {
  readonly few: Sleepers
  readonly many: Sleepers
  readonly residentMegabytesMore: number
  readonly wakeP99Ratio: number
}

export interface IdleReport {
  readonly ok: boolean
  readonly servers: string
  readonly registration: string
  readonly embedded: StoreFigures
  /** Undefined where there are no servers, which is a target missed. */
  readonly postgres: StoreFigures | undefined
  readonly targets: Readonly<Record<string, boolean>>
}

const FEW = 1_000
const ROUNDS = 5
const MAX_MEGABYTES_MORE = 10
const MAX_WAKE_RATIO = 2
const MAX_NEXT_DUE_MILLIS = 2
const MAX_DUE_MILLIS = 5
const MEGABYTE = 1_024 * 1_024

const tell = (words: string): void => void process.stderr.write(`bench: ${words}\n`)

const inProcess = (task: IdleTask): Promise<IdleFigures> =>
  new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, "idle-child.ts"), [JSON.stringify(task)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: ["--disable-warning=ExperimentalWarning", "--expose-gc"]
    })
    child.once("message", (figures: IdleFigures) => resolve(figures))
    child.once("exit", (code, signal) => reject(new Error(`a process of the benchmark ended with ${code ?? signal}`)))
  })

const lookOf = (looks: ReadonlyArray<Look>): Look => ({
  wallMillis: median(looks.map(({ wallMillis }) => wallMillis)),
  cpuMillis: median(looks.map(({ cpuMillis }) => cpuMillis))
})

const register = async (where: Where, assistants: number): Promise<number> => {
  const begun = performance.now()
  await inProcess({ do: "register", where, assistants, wakes: 0, seed: 0 })
  const seconds = (performance.now() - begun) / 1_000
  tell(`${assistants} sleepers registered in ${Math.round(seconds)} s`)
  return assistants / seconds
}

const sleepersOf = (assistants: number, registeredPerSecond: number, rounds: ReadonlyArray<IdleFigures>): Sleepers => {
  const wakes = rounds.flatMap(({ wakeMillis }) => wakeMillis)
  return {
    assistants,
    registeredPerSecond,
    residentMegabytes: median(rounds.map(({ residentBytes }) => residentBytes)) / MEGABYTE,
    wake: { samples: wakes.length, p50Millis: percentile(wakes, 0.5), p99Millis: percentile(wakes, 0.99) },
    nextDue: lookOf(rounds.flatMap(({ nextDue }) => nextDue)),
    due: lookOf(rounds.flatMap(({ due }) => due))
  }
}

const compare = async (few: Where, many: Where, assistants: number): Promise<StoreFigures> => {
  const registered = [await register(few, FEW), await register(many, assistants)] as const
  const rounds: { readonly few: Array<IdleFigures>; readonly many: Array<IdleFigures> } = { few: [], many: [] }
  const wakes = 100
  for (let seed = 0; seed < ROUNDS; seed++) {
    rounds.few.push(await inProcess({ do: "measure", where: few, assistants: FEW, wakes, seed }))
    rounds.many.push(await inProcess({ do: "measure", where: many, assistants, wakes, seed }))
    tell(`round ${seed + 1} of ${ROUNDS}`)
  }
  const [fewest, most] = [
    sleepersOf(FEW, registered[0], rounds.few),
    sleepersOf(assistants, registered[1], rounds.many)
  ]
  return {
    few: fewest,
    many: most,
    residentMegabytesMore: most.residentMegabytes - fewest.residentMegabytes,
    wakeP99Ratio: most.wake.p99Millis / fewest.wake.p99Millis
  }
}

const onSqlite = async (assistants: number): Promise<StoreFigures> => {
  const data = await mkdtemp(join(tmpdir(), "reverie-idle-"))
  try {
    return await compare({ data: join(data, "few") }, { data: join(data, "many") }, assistants)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

const hasServers = (): boolean =>
  (["redis", "postgres"] as const).every((server) => placeOf(server).origin !== undefined)

const onPostgres = async (assistants: number): Promise<StoreFigures> => {
  const redis = await startRedis()
  const postgres = await startPostgres()
  try {
    const other = await postgres.freshDatabase()
    const few = { database: postgres.url, redis: redis.url, name: "few" }
    const many = { database: other.url, redis: redis.url, name: "many" }
    return await compare({ deployment: few }, { deployment: many }, assistants)
  } finally {
    await redis.stop()
    await postgres.stop()
  }
}

const targetsOf = (store: string, figures: StoreFigures | undefined): Readonly<Record<string, boolean>> => {
  const { many, residentMegabytesMore = Infinity, wakeP99Ratio = Infinity } = figures ?? {}
  return {
    [`${store}: resident memory ≤ ${MAX_MEGABYTES_MORE} MB more than with ${FEW}`]:
      residentMegabytesMore <= MAX_MEGABYTES_MORE,
    [`${store}: wake p99 ≤ ${MAX_WAKE_RATIO} × that with ${FEW}`]: wakeP99Ratio <= MAX_WAKE_RATIO,
    [`${store}: next due ≤ ${MAX_NEXT_DUE_MILLIS} ms`]: (many?.nextDue.wallMillis ?? Infinity) <= MAX_NEXT_DUE_MILLIS,
    [`${store}: due ≤ ${MAX_DUE_MILLIS} ms`]: (many?.due.wallMillis ?? Infinity) <= MAX_DUE_MILLIS
  }
}

export const benchIdle = async (assistants: number): Promise<IdleReport> => {
  const embedded = await onSqlite(assistants)
  const postgres = hasServers() ? await onPostgres(assistants) : undefined
  const targets = { ...targetsOf("embedded", embedded), ...targetsOf("postgres", postgres) }
  return {
    ok: Object.values(targets).every(Boolean),
    servers: servers.describe(["redis", "postgres"]),
    registration: "every one created through the ledger's port; every second one has a timer a month away",
    embedded,
    postgres,
    targets
  }
}
