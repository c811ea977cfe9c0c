import { assert, describe, it, test } from "@effect/vitest"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { INDEX_START, type IndexChange, Recall } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { entryNames } from "../src/entries/entries.ts"
import { entryQuery, entryWriter } from "../src/entries/sheets.ts"
import { query } from "../src/connection.ts"
import { sealIndex, Unopened } from "../src/sealed-index.ts"
import { tables } from "../src/tables.ts"
import { aDirectory } from "./directories.ts"
import { aMemory } from "./memories.ts"
import { aSealing } from "./sealings.ts"

interface Read {
  readonly id: string
  readonly body: string
}

/** Entries of two owners, by owner and name: what a file is held against. */
type Model = Map<string, { readonly key: number; readonly body: string }>

const change = fc.oneof(
  fc.record({
    type: fc.constant("insert" as const),
    owner: fc.integer({ min: 1, max: 2 }),
    count: fc.oneof(fc.nat(3), fc.nat(70))
  }),
  fc.record({ type: fc.constantFrom("update" as const, "remove" as const), which: fc.nat() })
)

const opened = (isSealed: boolean) => {
  const database = new DatabaseSync(":memory:")
  database.exec(tables)
  database.exec(
    "INSERT INTO groups (tenant, kind, assistant) VALUES ('harbor', 'own', 'ada'), ('harbor', 'own', 'bob')"
  )
  if (isSealed) sealIndex(database, aSealing())
  return {
    database,
    writer: entryWriter(database),
    all: entryQuery<Read>(database, [], "WHERE entries.owner = ? ORDER BY entries.id"),
    one: entryQuery<Read>(database, [], "WHERE entries.key = ?"),
    sheets: () => query<{ readonly body: string }>(database, "SELECT owner, key, body FROM sheets").all()
  }
}

const nameOf = (doc: number): string => `name-${String(doc).padStart(6, "0")}`
const bodyOf = (doc: number): string => JSON.stringify([`said in ${doc}\nand more`, doc])

const lived = (isSealed: boolean, changes: ReadonlyArray<typeof change extends fc.Arbitrary<infer A> ? A : never>) => {
  const { all, database, sheets, writer } = opened(isSealed)
  const model: Model = new Map()
  let doc = 0
  for (const each of changes) {
    if (each.type === "insert") {
      const fresh = Array.from({ length: each.count }, () => ({ name: nameOf(++doc), doc, body: bodyOf(doc) }))
      const keys = writer.insert(each.owner, fresh)
      assert.lengthOf(keys, fresh.length)
      for (const [at, { body, name }] of fresh.entries()) model.set(`${each.owner} ${name}`, { key: keys[at]!, body })
    } else if (model.size > 0) {
      const [place, { key }] = [...model][each.which % model.size]!
      const [owner = "", name = ""] = place.split(" ")
      if (each.type === "remove") {
        writer.remove(key)
        model.delete(place)
      } else {
        writer.update(++doc, bodyOf(doc), key, Number(owner), name)
        model.set(place, { key, body: bodyOf(doc) })
      }
    }
    const kept = new Set([...model.values()].map(({ body }) => body))
    for (const owner of [1, 2]) {
      const wanted = [...model]
        .filter(([place]) => place.startsWith(`${owner} `))
        .map(([place, { body }]) => ({ id: place.slice(2), body }))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      assert.deepStrictEqual(
        all.all(owner).map(({ body, id }) => ({ id, body })),
        wanted
      )
    }
    for (const { body } of sheets()) {
      const lines = body.split("\n")
      assert.isNotEmpty(lines.join(""), "a sheet without an entry stays")
      for (const line of lines) assert.isTrue(kept.has(line.slice(line.indexOf(" ") + 1)), `a sheet keeps ${line}`)
    }
  }
  const both = database
    .prepare("SELECT count(*) AS count FROM entries WHERE body IS NOT NULL AND sheet IS NOT NULL")
    .get()
  assert.strictEqual(both?.["count"], 0, "an entry has its body twice")
  const count = sheets().length
  database.close()
  return count
}

describe("sheets", () => {
  test("H1 H2 every entry reads as it was reported last, and nothing else stands on a sheet", () => {
    let most = 0
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 20 }), (changes) => {
        most = Math.max(most, lived(true, changes))
        assert.strictEqual(lived(false, changes), 0, "an index in the clear has no sheets")
      }),
      { numRuns: 60 }
    )
    assert.isAbove(most, 2, "no run had a few sheets")
  })

  test("H1 entries that are reported together are sealed together, thirty-two on a sheet", () => {
    const { database, sheets, writer } = opened(true)
    writer.insert(
      1,
      Array.from({ length: 65 }, (_, index) => ({ name: nameOf(index), doc: index + 1, body: bodyOf(index) }))
    )
    assert.deepStrictEqual(
      sheets().map(({ body }) => body.split("\n").length),
      [32, 32]
    )
    const alone = database.prepare("SELECT count(*) AS count FROM entries WHERE body IS NOT NULL").get()
    assert.strictEqual(alone?.["count"], 1, "one alone needs no sheet")
  })

  test("H3 an entry whose sheet is gone, is another one, or is in another name is damage, and no other text", () => {
    for (const change of [
      "DELETE FROM sheets",
      "UPDATE entries SET sheet = 3 WHERE sheet = 1",
      "UPDATE entries SET id = 'name-000002' WHERE doc = 1"
    ]) {
      const { database, one, writer } = opened(true)
      const report = (...docs: ReadonlyArray<number>) =>
        writer.insert(
          1,
          docs.map((doc) => ({ name: nameOf(doc), doc, body: bodyOf(doc) }))
        )
      const [key = 0] = report(1, 5)
      report(3, 4)
      assert.strictEqual(one.one(key)?.body, bodyOf(1))
      database.exec(change)
      assert.throws(() => one.one(key), Unopened)
    }
  })

  test("N1 messages are named by their places; what else there is, by a name that says nothing", () => {
    const nameOf = entryNames(opened(true).database)
    for (const id of ["m/12/0", "m/4096/31"]) assert.strictEqual(nameOf(1, id), id)
    const telling = ["p/ada", "fact_9_0", "m/12", "m/12/0/ada", "m/ada/0", "m/12/0\n", "m/-1/0", " m/12/0", "M/12/0"]
    for (const id of telling) assert.match(nameOf(1, id), /^[\w-]{43}$/, JSON.stringify(id))
    assert.notStrictEqual(nameOf(1, "p/ada"), nameOf(2, "p/ada"))
  })

  const at = { tenant: TenantId.make("harbor"), assistant: AssistantId.make("ada") }
  const put = (name: string, text = name): IndexChange => ({ type: "put", entry: aMemory(name, text) })

  /** The rows that two reports leave, by their numbers. */
  const reported = (first: ReadonlyArray<IndexChange>, then: ReadonlyArray<IndexChange>, isSealed: boolean) =>
    Effect.gen(function* () {
      const directory = aDirectory()
      yield* Effect.provide(
        Effect.gen(function* () {
          const recall = yield* Recall
          const between = yield* recall.apply(at, first, { from: INDEX_START, to: { no: 1, digest: "one" } })
          yield* recall.apply(at, then, { from: between, to: { no: 2, digest: "two" } })
        }),
        recallSqliteLayer(directory, isSealed ? { sealing: aSealing() } : {}),
        { local: true }
      )
      const database = new DatabaseSync(join(directory, "recall.db"), { readOnly: true })
      const rows = database.prepare("SELECT id, doc, sheet FROM entries ORDER BY doc").all()
      database.close()
      return rows
    })

  it.effect("H1 what one report says is on one sheet", () =>
    Effect.gen(function* () {
      const rows = yield* reported([], [put("a"), put("b"), put("c")], true)
      assert.lengthOf(rows, 3)
      assert.isNumber(rows[0]?.["sheet"])
      assert.strictEqual(new Set(rows.map(({ sheet }) => sheet)).size, 1)
    })
  )

  it.effect("entries have numbers in the order in which they were reported, new ones and those reported anew", () =>
    Effect.gen(function* () {
      const first = [put("old 1"), put("old 2")]
      const then = [put("new 1"), put("old 1", "other"), put("new 2"), put("old 2", "other"), put("new 3")]
      const rows = yield* reported(first, then, false)
      const names = rows.map(({ id }) => JSON.parse(String(id)) as unknown)
      assert.deepStrictEqual(names, ["p/new 1", "p/old 1", "p/new 2", "p/old 2", "p/new 3"])
      const sealed = yield* reported(first, then, true)
      const onSheets = sealed.map(({ sheet }) => sheet !== null)
      assert.deepStrictEqual(onSheets, [true, false, true, false, true])
    })
  )
})
