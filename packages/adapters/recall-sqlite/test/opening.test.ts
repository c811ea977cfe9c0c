import { createHash } from "node:crypto"
import { chmodSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { type IndexChange, Recall, RecallUnavailable } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { docTerms, type Segments } from "../src/words/segments.ts"
import { writeRow } from "../src/entries/row.ts"
import { flush } from "../src/words/words.ts"
import { type SegmentHead, writeHead } from "../src/words/segment.ts"
import { APPLICATION_ID, FORMAT, tables } from "../src/tables.ts"
import { aDirectory } from "./directories.ts"
import { aMemory } from "./memories.ts"
import type { RecallSqliteOptions } from "../src/recall.ts"

const ada = { tenant: TenantId.make("harbor"), assistant: AssistantId.make("ada") }
const file = (directory: string): string => join(directory, "recall.db")

const put = (key: string, text: string): IndexChange => ({ type: "put", entry: aMemory(key, text) })

const opened = (directory: string, options: RecallSqliteOptions = {}) =>
  Effect.provide(recallSqliteLayer(directory, options), { local: true })

const apply = (no: number, ...changes: ReadonlyArray<IndexChange>) =>
  Recall.use((recall) =>
    Effect.flatMap(recall.position(ada), (from) =>
      recall.apply(ada, changes, { from, to: { no, digest: `entry ${no}` } })
    )
  )

const position = Recall.use((recall) => Effect.map(recall.position(ada), ({ no }) => no))

const found = (text: string, vector?: ReadonlyArray<number>) =>
  Effect.map(
    Recall.use((recall) =>
      recall.search(ada, {
        text,
        search: vector === undefined ? "fts" : "vector",
        ...(vector === undefined ? {} : { vector }),
        scope: "own",
        limit: 10,
        now: 0
      })
    ),
    (hits) => hits.map(({ entry }) => entry.id)
  )

const unavailable = <A, R>(effect: Effect.Effect<A, unknown, R>) =>
  Effect.map(Effect.result(effect), (outcome) => {
    assert.isTrue(Result.isFailure(outcome), "it worked")
    if (Result.isFailure(outcome)) assert.instanceOf(outcome.failure, RecallUnavailable)
  })

/** A directory with an index in it that was closed. */
const aUsedDirectory = Effect.gen(function* () {
  const directory = aDirectory()
  yield* apply(3, put("a", "the tide is high"), put("b", "a red lantern")).pipe(opened(directory))
  return directory
})

describe("opening", () => {
  it.effect("what was applied is there when it is opened again", () =>
    Effect.gen(function* () {
      const directory = yield* aUsedDirectory
      const after = yield* Effect.all([position, found("tide")]).pipe(opened(directory))
      assert.deepStrictEqual(after, [3, ["p/a"]])
    })
  )

  const obstacles: Readonly<Record<string, (path: string) => void>> = {
    "no database": (path) => writeFileSync(path, "a letter to the harbour master, four thousand words\n".repeat(200)),
    "a damaged database": (path) => {
      const handle = openSync(path, "r+")
      writeSync(handle, new Uint8Array(4_096).fill(7), 0, 4_096, 0)
    },
    "a database of another program": (path) => {
      writeFileSync(path, "")
      const database = new DatabaseSync(path)
      database.exec("CREATE TABLE letters (text TEXT)")
      database.close()
    }
  }

  for (const [name, obstruct] of Object.entries(obstacles)) {
    it.effect(`C1 ${name} is moved away and the index begins anew`, () =>
      Effect.gen(function* () {
        const directory = yield* aUsedDirectory
        obstruct(file(directory))
        const before = readFileSync(file(directory))
        const after = yield* Effect.gen(function* () {
          const at = yield* position
          yield* apply(1, put("c", "a new tide"))
          return [at, yield* found("tide")]
        }).pipe(opened(directory))
        assert.deepStrictEqual(after, [0, ["p/c"]])
        assert.isTrue(readFileSync(`${file(directory)}.moved-away`).equals(before))
      })
    )
  }

  it.effect("C1 an index of another format is made anew", () =>
    Effect.gen(function* () {
      const directory = yield* aUsedDirectory
      const database = new DatabaseSync(file(directory))
      database.exec("PRAGMA user_version = 99")
      database.close()
      assert.deepStrictEqual(yield* Effect.all([position, found("tide")]).pipe(opened(directory)), [0, []])
      assert.isFalse(existsSync(`${file(directory)}.moved-away`))
    })
  )

  it.effect("C1 C2 a file that turns out to be damaged fails one verb, then the index begins anew", () =>
    Effect.gen(function* () {
      const directory = yield* aUsedDirectory
      const handle = openSync(file(directory), "r+")
      const bytes = readFileSync(file(directory)).length
      // All pages but the first, which says what tables there are.
      for (let at = 4_096; at < bytes; at += 4_096) writeSync(handle, new Uint8Array(4_096).fill(7), 0, 4_096, at)
      yield* Effect.gen(function* () {
        yield* unavailable(apply(4, put("c", "a new tide")))
        assert.strictEqual(yield* position, 0)
        yield* apply(1, put("c", "a new tide"))
        assert.deepStrictEqual(yield* found("tide"), ["p/c"])
      }).pipe(opened(directory))
      assert.isTrue(existsSync(`${file(directory)}.moved-away`))
    })
  )

  it.effect("C2 a place that can not be used fails every verb until it can", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      writeFileSync(directory, "a file where a directory should be")
      const below = join(directory, "data")
      yield* unavailable(apply(1, put("a", "the tide"))).pipe(opened(below))
      const place = aDirectory()
      mkdirSync(file(place), { recursive: true })
      yield* unavailable(position).pipe(opened(place))
    })
  )

  it.effect("C3 changes of which one fails leave nothing behind", () =>
    Effect.gen(function* () {
      const directory = yield* aUsedDirectory
      const broken = {
        type: "put",
        entry: {
          ...aMemory("d", ""),
          get text(): string {
            throw new Error("unreadable")
          }
        }
      } as const
      yield* Effect.gen(function* () {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(apply(9, put("c", "another tide"), broken))))
        assert.deepStrictEqual([yield* position, yield* found("tide")], [3, ["p/a"]])
        yield* apply(9, put("c", "another tide"))
        assert.strictEqual(yield* position, 9)
      }).pipe(opened(directory))
    })
  )
})

describe("reading beside a writer", () => {
  const model = { id: "north-1", dimensions: 2 }
  const putVector = (key: string, vector: ReadonlyArray<number>) =>
    Recall.use((recall) => recall.putVectors(model.id, [{ address: ada, id: `p/${key}`, vector }]))

  it.effect("M1 sees what the writer wrote since, words and vectors", () =>
    Effect.gen(function* () {
      const directory = yield* aUsedDirectory
      yield* Effect.gen(function* () {
        yield* Recall.use((recall) => recall.prepareVectors(model))
        yield* putVector("a", [1, 0])
        const look = Effect.all([found("tide"), found("", [0, 1])])
        assert.deepStrictEqual(yield* look.pipe(opened(directory, { readOnly: true })), [["p/a"], ["p/a"]])
      }).pipe(opened(directory))
    })
  )

  it.effect("M1 keeps no vector in memory that another connection has replaced", () =>
    Effect.gen(function* () {
      const directory = yield* aUsedDirectory
      const writing = <A, E>(effect: Effect.Effect<A, E, Recall>) => effect.pipe(opened(directory))
      yield* writing(
        Effect.gen(function* () {
          yield* Recall.use((recall) => recall.prepareVectors(model))
          yield* putVector("a", [1, 0])
          yield* putVector("b", [0, 1])
        })
      )
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* found("", [1, 0.1]), ["p/a", "p/b"])
        yield* writing(Effect.andThen(putVector("a", [0, 1]), putVector("b", [1, 0])))
        assert.deepStrictEqual(yield* found("", [1, 0.1]), ["p/b", "p/a"])
      }).pipe(opened(directory, { readOnly: true }))
    })
  )

  it.effect("C1 a reader writes nothing, and waits for an index that it can read", () =>
    Effect.gen(function* () {
      const directory = yield* aUsedDirectory
      yield* Effect.gen(function* () {
        yield* unavailable(apply(4, put("c", "another tide")))
        assert.deepStrictEqual(yield* found("tide"), ["p/a"])
      }).pipe(opened(directory, { readOnly: true }))

      const empty = aDirectory()
      yield* unavailable(position).pipe(opened(empty, { readOnly: true }))
      assert.isFalse(existsSync(empty))
      mkdirSync(empty)
      const database = new DatabaseSync(file(empty))
      database.exec(
        `CREATE TABLE entries (old TEXT); PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 99`
      )
      database.close()
      chmodSync(file(empty), 0o600)
      const before = readFileSync(file(empty))
      yield* Effect.gen(function* () {
        yield* unavailable(position)
        assert.isTrue(readFileSync(file(empty)).equals(before))
        yield* apply(1, put("a", "the tide")).pipe(opened(empty))
        assert.deepStrictEqual(yield* found("tide"), ["p/a"])
      }).pipe(opened(empty, { readOnly: true }))
    })
  )
})

describe("bytes", () => {
  const bytes = (directory: string): string =>
    ["", "-wal"]
      .map((suffix) => `${file(directory)}${suffix}`)
      .filter(existsSync)
      .map((path) => readFileSync(path).toString("latin1"))
      .join("")

  const erase = Recall.use((recall) => recall.erase(ada))

  const aDirectoryThatWasFilled = Effect.gen(function* () {
    const directory = yield* aUsedDirectory
    const many = Array.from({ length: 300 }, (_, index) => put(String(index), `zanzibar number ${index}`))
    yield* apply(4, ...many).pipe(opened(directory))
    return directory
  })

  it.effect("S1 I5 nothing of an erased assistant can be read in the file or its log", () =>
    Effect.gen(function* () {
      const directory = yield* aDirectoryThatWasFilled
      assert.include(bytes(directory), "zanzibar")
      yield* Effect.gen(function* () {
        yield* erase
        assert.notInclude(bytes(directory), "zanzibar")
      }).pipe(opened(directory))
    })
  )

  it.effect("S1 what was removed before, one by one, can not be read either", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      yield* Effect.gen(function* () {
        // Of several pages each: these are free pages of the file when they are removed.
        yield* apply(1, ...["a", "b", "c"].map((key) => put(key, `zanzibar ${key} `.repeat(700))))
        yield* apply(2, ...["a", "b", "c"].map((key): IndexChange => ({ type: "remove", id: `p/${key}` })))
        yield* erase
        assert.notInclude(bytes(directory), "zanzibar")
      }).pipe(opened(directory))
    })
  )

  it.effect("S2 a process that died while it erased leaves nothing after the next opening", () =>
    Effect.gen(function* () {
      const directory = yield* aDirectoryThatWasFilled
      const [begun, emptied] = [aDirectory(), aDirectory()]
      const rows = Effect.sync(() => {
        const database = new DatabaseSync(file(directory), { readOnly: true })
        const row = database.prepare("SELECT count(*) AS entries FROM entries").get()
        database.close()
        return Number(row?.["entries"])
      })
      yield* Effect.gen(function* () {
        yield* position
        // Who reads keeps the log from being emptied: what is there then is what a process leaves that dies before it was.
        const reader = new DatabaseSync(file(directory), { readOnly: true })
        reader.exec("BEGIN")
        reader.prepare("SELECT count(*) FROM entries").get()
        const erasing = yield* Effect.forkChild(erase)
        while ((yield* rows) === 302) yield* Effect.yieldNow
        assert.isAbove(yield* rows, 0)
        cpSync(directory, begun, { recursive: true })
        while ((yield* rows) > 0) yield* Effect.yieldNow
        cpSync(directory, emptied, { recursive: true })
        reader.close()
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(erasing)
        assert.notInclude(bytes(directory), "zanzibar")
      }).pipe(opened(directory))
      for (const left of [begun, emptied]) {
        assert.include(bytes(left), "zanzibar")
        yield* Effect.gen(function* () {
          assert.strictEqual(yield* position, 0)
          assert.notInclude(bytes(left), "zanzibar")
        }).pipe(opened(left))
      }
    })
  )
})

// A file keeps weights and terms as they were when it was written. When this digest changes, so must FORMAT, and old files
// are made anew.
it("T1 the format has its number as long as tables, terms and weights are as they were", () => {
  const said = "Kim's cafés weren't open; the children went home by 3 o'clock. 东京"
  const entry = { ...aMemory("a", said), speaker: "Lee", context: `${said}\nand so it is`, tags: ["boats"] }
  const facts = [{ id: "f", text: "Lee owns a red lantern" }]
  const terms = docTerms(entry, facts)
  const row = writeRow({ entry, facts, around: ["m/1/0"] })
  const hash = createHash("sha256").update(tables).update(row).update(terms)
  const segments = {
    begun: () => ({ key: 1, write: (_: number, body: Uint8Array) => void hash.update(body) }),
    file: (_: number, __: object, head: SegmentHead) => hash.update(writeHead(head))
  } as unknown as Segments
  const docs = [7, 9].map((doc) => ({ doc, row: doc + 1, kind: 1, at: doc, trust: 0.5, terms }))
  flush(segments, 1, docs)
  const digest = hash.digest("hex").slice(0, 16)
  assert.deepStrictEqual({ FORMAT, digest }, { FORMAT: 9, digest: "58871ba3569582e6" })
})
