import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { openSqliteStore } from "@reverie/store-sqlite"
import { openPostgresStore } from "@reverie/store-postgres"
import { anAddress, furnish, type DataStore, inDataStore, live } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import { TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, describe, test, vi } from "vitest"
import { moveDataStore, reopenDataStore } from "../../src/index.ts"
import { exported } from "./data-stores.ts"

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

const root = mkdtempSync(join(tmpdir(), "reverie-moving-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const child = fileURLToPath(new URL("../children/moving.ts", import.meta.url))
const postgres = sharePostgres({ fsync: false })

const NAMES = ["ada", "bob", "cleo", "dora", "eve"]

interface Ended {
  readonly stdout: string
  readonly stderr: string
  readonly isKilled: boolean
}

/** Runs the child; with a word it is killed as soon as it has said it. */
const run = (args: ReadonlyArray<string>, word?: string, schema = ""): Promise<Ended> =>
  new Promise((resolve) => {
    const options = ["--disable-warning=ExperimentalWarning", child, ...args, ...(word === undefined ? [] : [word])]
    const running = spawn(process.execPath, options, {
      env: { ...process.env, SCHEMA: schema },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    running.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
      if (word !== undefined && stdout.includes(`${word}\n`)) running.kill("SIGKILL")
    })
    running.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    running.on("close", (_, signal) => resolve({ stdout, stderr, isKilled: signal === "SIGKILL" }))
  })

const answerOf = ({ stderr, stdout }: Ended) => {
  const last = stdout.trimEnd().split("\n").at(-1) ?? ""
  assert.match(last, /^\{/, stderr)
  return JSON.parse(last) as { readonly moved: ReadonlyArray<string>; readonly present: ReadonlyArray<string> }
}

const within = <A>(open: Effect.Effect<DataStore, unknown>, use: (dataStore: DataStore) => Effect.Effect<A, unknown>) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(open, use)))

const inDirectory = <A>(data: string, use: (dataStore: DataStore) => Effect.Effect<A, unknown>, readOnly = false) =>
  within(openSqliteStore(data, { readOnly }) as never, use)

const settled = (text: string): string =>
  text
    .split("\n")
    .slice(1, -2)
    .map((line) => line.replace(/^(\{"kind":"assistant".*?"epoch":)\d+/, "$1"))
    .join("\n")

/** A directory in which five live. */
const inhabited = async (name: string) => {
  const data = join(root, name)
  const text = await inDirectory(data, (dataStore) =>
    Effect.gen(function* () {
      yield* inDataStore(dataStore)(
        Effect.gen(function* () {
          for (const each of NAMES) yield* live(anAddress(each, "harbor"), anAddress("zoe", "harbor"))
          yield* furnish(TenantId.make("harbor"))
        })
      )
      return yield* exported(dataStore)
    })
  )
  return { data, text }
}

const lookAt = (data: string) => inDirectory(data, (dataStore) => exported(dataStore), true)

const everybody = ["tenant harbor", ...NAMES.map((name) => `harbor/${name}`)]

describe("I2 a process that is killed while it moves someone", () => {
  test("import: the same command again brings all of them, each once", async () => {
    const { text } = await inhabited("import-old")
    const file = join(root, "export.jsonl")
    writeFileSync(file, text)
    for (const word of ["judged 3", "written 1", "written 4", "written 6"]) {
      const data = join(root, `import ${word}`)
      const killed = await run(["import", file, data], word)
      assert.ok(killed.isKilled, killed.stderr)
      const isMarked = word.startsWith("written")
      const opening = inDirectory(data, () => Effect.succeed("open")).catch((error: Error) => error.message)
      if (isMarked) assert.include(await opening, "has not come to its end")
      const { moved, present } = answerOf(await run(["import", file, data]))
      assert.deepStrictEqual([...moved, ...present].toSorted(), everybody.toSorted())
      assert.isAtLeast(present.length, isMarked ? 1 : 0)
      assert.strictEqual(settled(await lookAt(data)), settled(text))
      assert.strictEqual(await inDirectory(data, () => Effect.succeed("open")), "open")
    }
  })
})

postgres.describe("moving between data stores", () => {
  const schemaOf = (name: string) => ({ deployment: { database: postgres.server().url, name } })
  const inSchema = <A>(name: string, use: (dataStore: DataStore) => Effect.Effect<A, unknown>, despiteMove = false) =>
    within(
      openPostgresStore(Redacted.make(postgres.server().url), { schema: name, connections: 2, despiteMove }) as never,
      use
    )

  test("H1 promote is killed and run again: everybody is in the database, each once, and the directory is left", async () => {
    for (const [index, word] of ["judged 2", "written 2", "written 6"].entries()) {
      const { data, text } = await inhabited(`promote-${index}`)
      const schema = `promoted_${index}`
      const { url } = postgres.server()
      const killed = await run(["move", data, url], word, schema)
      assert.ok(killed.isKilled, killed.stderr)
      const refusal = await inDirectory(data, () => Effect.succeed("open")).catch((error: Error) => error.message)
      assert.include(refusal, "has not come to its end")
      const { moved, present } = answerOf(await run(["move", data, url], undefined, schema))
      assert.deepStrictEqual([...moved, ...present].toSorted(), everybody.toSorted())
      const found = await inSchema(schema, (dataStore) =>
        Effect.gen(function* () {
          assert.isNotEmpty(yield* dataStore.mailbox.due(100), "no one begins")
          return yield* exported(dataStore)
        })
      )
      assert.strictEqual(settled(found), settled(text))
      const left = await inDirectory(data, () => Effect.succeed("open")).catch((error: Error) => error.message)
      assert.include(left, "have moved to")
    }
  })

  test("H1 H2 there and back: nothing is lost, ids are kept, and no one works in a data store that was left", async () => {
    const { data, text } = await inhabited("there")
    const back = join(root, "back")
    const fleet = schemaOf("there_and_back")
    assert.deepStrictEqual((await moveDataStore({ from: { data }, to: fleet })).moved, everybody)
    const again = await moveDataStore({ from: { data }, to: fleet }).catch((error: Error) => error.message)
    assert.include(String(again), "have moved to")
    const busy = await inSchema("there_and_back", () =>
      Effect.promise(() => moveDataStore({ from: fleet, to: { data: back } }).catch((error: Error) => error.message))
    )
    assert.match(String(busy), /other connections work on the database/)
    assert.deepStrictEqual((await moveDataStore({ from: fleet, to: { data: back } })).moved, everybody)
    assert.strictEqual(settled(await lookAt(back)), settled(text))
    const left = await inSchema("there_and_back", () => Effect.succeed("open")).catch((error: Error) => error.message)
    assert.include(left, "have moved to")
    assert.strictEqual(await inDirectory(back, () => Effect.succeed("open")), "open")
    assert.strictEqual((await reopenDataStore({ data }))?.state, "left")
    assert.strictEqual(await inDirectory(data, () => Effect.succeed("open")), "open")
  })

  test("H2 who finds no place is named, and the old data store stays as it was", async () => {
    const { data, text } = await inhabited("refused")
    await inSchema("taken", (dataStore) =>
      inDataStore(dataStore)(live(anAddress("dora", "harbor"), anAddress("zoe", "harbor")))
    )
    const refusal = await moveDataStore({ from: { data }, to: schemaOf("taken") }).catch(
      (error: Error) => error.message
    )
    assert.match(String(refusal), /harbor\/dora: another life is led here/)
    assert.strictEqual(settled(await lookAt(data)), settled(text))
    assert.strictEqual(await inDirectory(data, () => Effect.succeed("open")), "open")
    const inTaken = await inSchema("taken", (dataStore) => dataStore.ledger.list(undefined, 10))
    assert.lengthOf(inTaken, 1)
  })
})
