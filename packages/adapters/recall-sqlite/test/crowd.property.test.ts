import { DatabaseSync } from "node:sqlite"
import { assert, describe, test } from "@effect/vitest"
import { IN_MEMORY, recallSqliteLayer } from "@reverie/recall-sqlite"
import { everybodyFindsHisOwn } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { packed } from "../src/matrices.ts"
import { postingsOf, postingText } from "../src/postings.ts"
import { postingsTable, tables } from "../src/tables.ts"

test("I1 whoever is in the crowd, everybody finds exactly what he may read", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (seed) =>
      Effect.runPromise(everybodyFindsHisOwn(seed).pipe(Effect.provide(recallSqliteLayer(IN_MEMORY), { local: true })))
    ),
    { numRuns: 25 }
  )
})

describe("what is kept is nearly what was given", () => {
  test("M2 the numbers of a vector are at most half a hundredth of the largest off", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 1, maxLength: 64 }),
        (vector) => {
          const most = Math.max(...vector.map(Math.abs))
          const kept = new Int8Array(packed(vector).buffer)
          for (const [index, value] of vector.entries()) {
            assert.isAtMost(Math.abs(((kept[index] ?? 0) / 127) * most - value), most / 200 + Number.EPSILON)
          }
        }
      )
    )
  })

  test("P1 P2 a group's terms are found by itself alone, each with nearly its weight", () => {
    const database = new DatabaseSync(IN_MEMORY)
    database.exec(`${tables}; ${postingsTable}`)
    const insert = database.prepare("INSERT INTO words (rowid, terms) VALUES (?, ?)")
    const postings = postingsOf(database)
    const term = fc.oneof(
      fc.stringMatching(/^[a-z0-9]{1,3}$/),
      fc.constantFrom("京", "东京", "été", "été1", "1", "11", "a1", "ω", "a\u0301")
    )
    let row = 0
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 4 }),
        fc.uniqueArray(fc.tuple(term, fc.double({ min: 0.05, max: 2.2, noNaN: true })), {
          maxLength: 8,
          selector: ([name]) => name
        }),
        (groups, terms) => {
          row++
          insert.run(row, postingText(new Map(terms), groups))
          const weightsIn = (group: number, name: string) =>
            postings(group, name).flatMap(([entry, weight]) => (entry === row ? [weight] : []))
          for (const [name, weight] of terms) {
            for (const group of groups) {
              const [found, ...more] = weightsIn(group, name)
              assert.isEmpty(more)
              assert.isBelow(Math.abs((found ?? 0) / weight - 1), 1 / 15)
            }
            for (const other of [121, 1_210, 0]) assert.isEmpty(weightsIn(other, name))
          }
          const names = new Set(terms.map(([name]) => name))
          for (const other of ["a", "1", "京", "e", "été"].filter((name) => !names.has(name))) {
            for (const group of groups) assert.isEmpty(weightsIn(group, other))
          }
        }
      )
    )
    database.close()
  })
})
