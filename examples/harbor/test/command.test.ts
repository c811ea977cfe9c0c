// The day as `npm start` plays it, and what can be looked at afterwards: the commands that the README names.

import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { FleetReader } from "reverie"
import { afterAll, assert, beforeAll, describe, test } from "vitest"

const main = resolve(import.meta.dirname, "../../../apps/cli/src/main.ts")

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs a command; the process is killed as soon as it tells of `killAt`. */
const reverie = (args: ReadonlyArray<string>, killAt?: string): Promise<Ended> =>
  new Promise((done, failed) => {
    const env = { ...process.env, NO_COLOR: "1", OPENAI_API_KEY: "", OPENAI_BASE_URL: "", REVERIE_DATA: "" }
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"]
    })
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString()
      if (killAt !== undefined && err.includes(killAt)) child.kill("SIGKILL")
    })
    child.on("error", failed)
    child.on("close", (code) => done({ code, out, err }))
  })

const start = (data: string, killAt?: string) => reverie(["start", "--exit", "--json", "--data", data], killAt)

interface Report {
  readonly ok: boolean
  readonly accepted: number
  readonly duplicates: number
  readonly assistants: ReadonlyArray<{ readonly [key: string]: unknown }>
  readonly total: object
}

const reportOf = ({ code, err, out }: Ended): Report => {
  assert.strictEqual(code, 0, err.slice(-1_000))
  assert.strictEqual(out.trim().split("\n").length, 1, "one JSON object on stdout")
  return JSON.parse(out) as Report
}

/** What every playing leaves behind: no times, and nothing that is named after one. */
const leftIn = async (data: string, { assistants, total }: Report) => {
  await using peek = await FleetReader.open(data)
  return {
    total,
    assistants: assistants.map(({ id, state, ticks, waiting }) => ({ id, state, ticks, waiting })),
    facts: (await peek.memory.facts("archivist")).map(({ id, links, sources, state, text }) => ({
      id,
      links: links.length,
      sources: sources.filter((source) => !source.startsWith("j/compact_")),
      state,
      text
    })),
    profiles: (await peek.memory.profiles("archivist")).map(({ attributes, id }) => ({
      id,
      attributes: attributes.length
    })),
    passages: (await peek.memory.passages("archivist")).map(({ id, text }) => ({ id, text })),
    compactions: (await peek.compactions.list("archivist")).map(({ range }) => [range.from, range.to]),
    journal: (await peek.memory.records("archivist", ["journal"])).length
  }
}

/** For a machine that has much else to do. */
const LONGEST_MILLIS = 240_000

describe("npm start", { timeout: LONGEST_MILLIS }, () => {
  let directory = ""
  let whole = ""
  let first: Report
  let left: Awaited<ReturnType<typeof leftIn>>

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "reverie-harbor-"))
    whole = join(directory, "whole")
    first = reportOf(await start(whole))
    left = await leftIn(whole, first)
  }, LONGEST_MILLIS)

  afterAll(() => rm(directory, { recursive: true, force: true }))

  test("plays the day, and a second time all of it is a duplicate", async () => {
    assert.deepInclude(first, { ok: true, accepted: 59, duplicates: 1 })
    const second = reportOf(await start(whole))
    assert.deepInclude(second, { ok: true, accepted: 0, duplicates: 60 })
    assert.deepStrictEqual(await leftIn(whole, second), left)
  })

  test("killed when a night begins, and run again, it comes to the same end", async () => {
    const hurt = join(directory, "hurt")
    assert.strictEqual((await start(hurt, "falls asleep")).code, null, "it was killed")
    assert.deepStrictEqual(await leftIn(hurt, reportOf(await start(hurt))), left)
  })

  test("afterwards facts, profiles, dreams, compactions and memories can be looked at", async () => {
    const shown = async (...args: ReadonlyArray<string>): Promise<string> => {
      const { code, err, out } = await reverie([...args, "--data", whole])
      assert.strictEqual(code, 0, err)
      return out
    }
    assert.match(await shown("memory", "archivist"), /journal entries, \d+ facts, \d+ profiles, 1 passage, 3 dreams/)
    assert.include(await shown("memory", "archivist", "facts"), "Jo of the Bonita never lands fish on a Sunday")
    assert.include(await shown("memory", "archivist", "profiles"), "Kestrel always asks for the best berth.")
    assert.match(await shown("memory", "archivist", "dreams"), /reflecting +1 +15 +1 +1 /)
    assert.include(
      await shown("memory", "archivist", "recall", "Where is the key?"),
      "The key of the archive hangs behind the barometer."
    )
    assert.match(await shown("compactions", "archivist"), /compact_\S+ .* sleep .* active\n/)
  })
})
