import { assert, describe, it, test } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { contextOf, type IndexChange, type MemoryEntry, memoryKinds, Recall } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { type Kept, readFound, readRow, writeRow } from "../src/entries/row.ts"
import { aDirectory } from "./directories.ts"

const ada = { tenant: TenantId.make("harbor"), assistant: AssistantId.make("ada") }

const text = fc.string({ unit: "binary", maxLength: 30 })
const kept: fc.Arbitrary<Kept> = fc.record({
  entry: fc.record(
    {
      id: fc.string({ minLength: 1, maxLength: 12 }),
      kind: fc.constantFrom(...memoryKinds),
      at: fc.integer({ min: -1_000, max: 4_000_000_000_000 }),
      text,
      speaker: text,
      context: text,
      thread: text,
      entities: fc.array(text, { maxLength: 3 }),
      tags: fc.array(text, { maxLength: 3 }),
      trust: fc.integer({ min: 0, max: 100 }).map((share) => share / 100),
      importance: fc.integer({ min: 1, max: 10 }),
      readers: fc.constantFrom<MemoryEntry["readers"]>("owner", "fleet", [], [AssistantId.make("bob")])
    },
    { requiredKeys: ["id", "kind", "at", "text", "entities", "tags", "trust", "importance", "readers"] }
  ) as fc.Arbitrary<MemoryEntry>,
  facts: fc.array(fc.record({ id: text, text }), { maxLength: 3 }),
  around: fc.constant([])
})

const words = "tide berth lantern anchor rope gull quay storm".split(" ")
const said = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 }).map((some) => some.join(" "))

const message = (no: number, says: string): MemoryEntry => ({
  id: `m/${no}/0`,
  kind: "message",
  at: no,
  text: says,
  entities: [],
  tags: [],
  trust: 1,
  importance: 1,
  readers: "owner"
})

/** What is found, with scores, after each list of changes was applied. */
const lived = (batches: ReadonlyArray<ReadonlyArray<IndexChange>>, directory = aDirectory()) =>
  Effect.gen(function* () {
    const recall = yield* Recall
    for (const changes of batches) {
      const from = yield* recall.position(ada)
      yield* recall.apply(ada, changes, { from, to: { no: from.no + 1, digest: `${from.no + 1}` } })
    }
    const hits = []
    for (const text of words) {
      hits.push(yield* recall.search(ada, { text, search: "fts", scope: "own", limit: 20, now: 0 }))
    }
    return hits
  }).pipe(Effect.provide(recallSqliteLayer(directory), { local: true }))

describe("a row of the index", () => {
  test("W1 what was put comes back equal", () => {
    fc.assert(
      fc.property(kept, ({ around, entry, facts }) => {
        const row = { key: 1, doc: 1, body: writeRow({ around, entry, facts }) }
        assert.deepStrictEqual(readRow(row), { around, entry, facts })
        const { context: _, ...bare } = entry
        assert.deepStrictEqual(readFound(row), { entry: bare, facts })
      })
    )
  })

  test("W2 an entry whose row names what was said around it is found as one that keeps it, also after facts came", () =>
    fc.assert(
      fc.asyncProperty(fc.array(said, { minLength: 3, maxLength: 8 }), fc.nat(7), said, async (texts, of, fact) => {
        const puts = (isNamed: boolean): ReadonlyArray<IndexChange> =>
          texts.map((each, no) => {
            const around = texts.flatMap((_, other) => (Math.abs(other - no) === 1 ? [other] : []))
            const context = contextOf(around.map((other) => texts[other] ?? ""))
            const entry = { ...message(no, each), context }
            return { type: "put", entry, ...(isNamed ? { around: around.map((other) => `m/${other}/0`) } : {}) }
          })
        const facts: ReadonlyArray<IndexChange> = [
          { type: "fact", of: `m/${of % texts.length}/0`, fact: "f/1", text: fact }
        ]
        const kept = await Effect.runPromise(lived([puts(false), facts]))
        assert.deepStrictEqual(await Effect.runPromise(lived([puts(true), facts])), kept)
        assert.deepStrictEqual(await Effect.runPromise(lived([[...puts(true), ...facts]])), kept)
        assert.isAbove(kept.flat().length, 0)
      }),
      { numRuns: 15 }
    ))

  it.effect("W2 what was said stands in the file once", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const texts = ["the zanzibar berth", "a red lantern"]
      const around = [message(0, texts[0] ?? ""), message(1, texts[1] ?? "")]
      yield* lived(
        [
          around.map((entry, no) => ({
            type: "put",
            entry: { ...entry, context: contextOf([texts[1 - no] ?? ""]) },
            around: [`m/${1 - no}/0`]
          }))
        ],
        directory
      )
      const bytes = readFileSync(join(directory, "recall.db"), "latin1")
      assert.strictEqual(bytes.split("zanzibar").length - 1, 1)
    })
  )
})
