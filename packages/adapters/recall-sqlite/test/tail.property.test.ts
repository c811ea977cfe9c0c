import { DatabaseSync } from "node:sqlite"
import { assert, test } from "@effect/vitest"
import * as fc from "fast-check"
import { tables } from "../src/tables.ts"
import type { Doc } from "../src/words/segments.ts"
import { Tail } from "../src/words/tail.ts"

const GROUPS = [1, 2]
const MOST = 40
const STAY = 8

const docOf = (doc: number): Doc => ({
  doc,
  row: doc + 1,
  kind: doc % 3,
  at: doc / 2,
  trust: 0.5,
  terms: new Uint8Array(9 * (doc % 4)).fill(doc)
})

const change = fc.record({ grp: fc.constantFrom(...GROUPS), adds: fc.nat(20), removes: fc.array(fc.nat(60)) })
const transaction = fc.record({ changes: fc.array(change, { maxLength: 4 }), isUndone: fc.boolean() })

test("T1 T2 a tail has what was added and not removed, whichever transactions came to nothing; what is too much leaves it, the oldest first", () => {
  fc.assert(
    fc.property(fc.array(transaction, { minLength: 1, maxLength: 30 }), (transactions) => {
      const database = new DatabaseSync(":memory:")
      database.exec(tables)
      const tail = new Tail(database)
      let model = new Map(GROUPS.map((grp) => [grp, [] as ReadonlyArray<number>]))
      let number = 0
      for (const { changes, isUndone } of transactions) {
        const after = new Map(model)
        const grown = new Set<number>()
        for (const { adds, grp, removes } of changes) {
          for (let more = 0; more < adds; more++) {
            tail.add(grp, docOf(++number))
            after.set(grp, [...(after.get(grp) ?? []), number])
            grown.add(grp)
          }
          for (const place of removes) {
            const there = after.get(grp) ?? []
            const doc = there[place] ?? number + 1_000
            assert.strictEqual(tail.remove(grp, doc), there.includes(doc))
            after.set(
              grp,
              there.filter((each) => each !== doc)
            )
          }
        }
        if (isUndone) tail.forget()
        else {
          database.exec("BEGIN")
          tail.settle(MOST, (grp, docs) => {
            assert.deepStrictEqual(
              docs.map(({ doc }) => doc),
              after.get(grp)
            )
            after.set(grp, (after.get(grp) ?? []).slice(-STAY))
            return docs.slice(-STAY)
          })
          database.exec("COMMIT")
          model = after
          for (const grp of grown) assert.isBelow(model.get(grp)?.length ?? 0, MOST)
        }
        for (const grp of GROUPS) assert.deepStrictEqual(tail.of(grp), (model.get(grp) ?? []).map(docOf))
      }
      database.close()
    })
  )
})
