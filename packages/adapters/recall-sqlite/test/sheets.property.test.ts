import { assert, describe, test } from "@effect/vitest"
import { DatabaseSync } from "node:sqlite"
import * as fc from "fast-check"
import { entryQuery, entryWriter } from "../src/entries/sheets.ts"
import { query } from "../src/connection.ts"
import { sealIndex, Unopened } from "../src/sealed-index.ts"
import { tables } from "../src/tables.ts"
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

const nameOf = (doc: number): string => `name ${String(doc).padStart(6, "0")}`
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
      const [owner = "", ...name] = place.split(" ")
      if (each.type === "remove") {
        writer.remove(key)
        model.delete(place)
      } else {
        writer.update(++doc, bodyOf(doc), key, Number(owner), name.join(" "))
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
      const lines = body.split("\n").filter((line) => line !== "")
      assert.isNotEmpty(lines, "a sheet without a line stays")
      for (const line of lines) assert.isTrue(kept.has(line), `a sheet keeps ${line}`)
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

  test("an entry whose sheet is gone is damage, and no empty text", () => {
    const { database, one, writer } = opened(true)
    const [key = 0] = writer.insert(
      1,
      [1, 2].map((doc) => ({ name: nameOf(doc), doc, body: bodyOf(doc) }))
    )
    assert.strictEqual(one.one(key)?.body, bodyOf(1))
    database.exec("DELETE FROM sheets")
    assert.throws(() => one.one(key), Unopened)
  })
})
