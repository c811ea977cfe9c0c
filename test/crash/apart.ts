// Apart: kills a process that puts segments of a life on PostgreSQL into a directory, at each step of it, and judges what goes on from there.
// Owns the killing, the judging and the figures. Leaves the life to apart-child.ts.
// A2  After any kill the one that goes on ends with the same life as one that no one harmed: nothing is lost, and nothing half done.
// A3  Once forgetting was answered no file of the place has a word of it, before anything has had a chance to clear up.
// A4  Nothing lies in the place that the store does not know; nothing lacks there.

import { spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { openPostgresStore } from "@reverie/store-postgres"
import { segmentDirectory } from "@reverie/store-sqlite"
import { anAddress, plainLife } from "@reverie/testkit"
import { startPostgres } from "@reverie/testkit/servers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

export interface ApartReport {
  readonly ok: boolean
  readonly kills: number
  /** Of an unharmed life: each can be killed at. */
  readonly steps: number
  /** How many files were looked through. */
  readonly scanned: number
  readonly problems: ReadonlyArray<string>
}

const ada = anAddress("ada")
const WORD = "kestrel-9713"
const COMMITS = 60

/** A life of its own. */
interface Place {
  readonly url: string
  readonly schema: string
  readonly directory: string
}

const opened = ({ directory, schema, url }: Place) =>
  openPostgresStore(Redacted.make(url), { schema, connections: 3, segments: segmentDirectory(directory) })

const begin = (place: Place) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(opened(place), (store) => plainLife(store, COMMITS))))

/** What it has said, until it ended or was killed. */
const life = (
  { directory, schema, url }: Place,
  killAt = 0
): Promise<{ readonly said: string; readonly isKilled: boolean }> =>
  new Promise((resolve, reject) => {
    const args = [join(import.meta.dirname, "apart-child.ts"), url, schema, directory, WORD, String(killAt)]
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    const [out, err]: [Array<Buffer>, Array<Buffer>] = [[], []]
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk))
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk))
    child.on("error", reject)
    child.on("close", (code, signal) => {
      const said = Buffer.concat(out).toString()
      if (signal === "SIGKILL" || code === 0) resolve({ said, isKilled: code !== 0 })
      else reject(new Error(`a life ended with code ${code}: ${Buffer.concat(err).toString().slice(0, 1_500)}`))
    })
  })

const filesIn = (directory: string): ReadonlyArray<string> =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : []

/** What was cut off by a kill is no segment. */
const holds = (file: string): boolean => {
  const bytes = readFileSync(file)
  return file.endsWith(".segment") ? zstdDecompressSync(bytes).includes(WORD) : false
}

/** The life as it is read, without the moment at which something of it was deleted. */
const readings = (place: Place) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { archive, ledger } = yield* opened(place)
        const entries = (yield* ledger.entries(ada, 1, 1_000)).map(({ entry: { deleted: _, ...entry } }) => entry)
        const outbox = (yield* ledger.outbox(0, 1_000)).map(({ entry }) => entry.no)
        const [totals, reached] = [yield* ledger.totals, yield* archive.reached(ada)]
        return { lines: JSON.stringify({ entries, outbox, totals, reached }), apart: yield* archive.apart(true) }
      })
    )
  )

export interface ApartOptions {
  /** As many of the steps, in turn. */
  readonly kills: number
  readonly progress: (kills: number) => void
}

export const runApartLane = async ({ kills: wanted, progress }: ApartOptions): Promise<ApartReport> => {
  const server = await startPostgres({ own: true, fsync: false })
  const directories: Array<string> = []
  const fresh = async (): Promise<Place> => {
    const directory = await mkdtemp(join(tmpdir(), "reverie-apart-"))
    directories.push(directory)
    const place = { url: server.url, schema: `apart_${directories.length}`, directory: join(directory, "segments") }
    await begin(place)
    return place
  }
  try {
    const unharmed = await fresh()
    const steps = Number(/steps (\d+)/.exec((await life(unharmed)).said)?.[1] ?? 0)
    const expected = (await readings(unharmed)).lines
    const problems: Array<string> = []
    let [kills, scanned] = [0, 0]
    const look = (step: number, when: string, { directory }: Place): void => {
      const files = filesIn(directory)
      scanned += files.length
      problems.push(...files.filter(holds).map((file) => `step ${step}, ${when}: ${file} holds what was forgotten`))
    }
    for (let index = 0; index < wanted && steps > 0; index++) {
      const step = 1 + Math.floor((index * steps) / wanted)
      const place = await fresh()
      const { isKilled, said } = await life(place, step)
      if (!isKilled) problems.push(`step ${step}: it was not killed`)
      progress(++kills)
      if (said.includes("forgotten")) look(step, "killed", place)
      await life(place)
      look(step, "in the end", place)
      const { apart, lines } = await readings(place)
      if (lines !== expected) problems.push(`step ${step}: it is another life than the one that was not harmed`)
      if (apart?.missing.length !== 0 || apart.unknown !== 0)
        problems.push(`step ${step}: of the place it says ${JSON.stringify(apart)}`)
    }
    return { ok: problems.length === 0 && kills === wanted && scanned > 0, kills, steps, scanned, problems }
  } finally {
    await server.stop()
    for (const directory of directories) await rm(directory, { recursive: true, force: true })
  }
}
