import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { assert, test } from "vitest"
import { anEmptyDataStore, aSqliteDataStore, exported, imported, inhabited, timeless } from "./data-stores.ts"

/** The lines without the digest, and without the epochs, each of which is one higher in the next data store. */
const compared = (text: string, dataStores: number) => {
  const lines = text.trimEnd().split("\n")
  assert.isAbove(lines.length, 40)
  return lines.slice(0, -1).map((line) => {
    const { epoch } = JSON.parse(line) as { readonly epoch?: number }
    return epoch === undefined ? line : line.replace(`"epoch":${epoch},`, `"epoch":${epoch - dataStores},`)
  })
}

test("R2 X3 random lives are the same lines in every data store that they move through: SQLite, memory, SQLite", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
      await timeless(
        Effect.gen(function* () {
          const first = yield* aSqliteDataStore
          yield* inhabited(first, seed)
          const text = yield* exported(first)
          const second = yield* anEmptyDataStore
          const { moved } = yield* imported(second, text)
          assert.lengthOf(moved, 6)
          const again = yield* exported(second)
          assert.deepEqual(compared(again, 1), compared(text, 0))
          const third = yield* aSqliteDataStore
          yield* imported(third, again)
          const last = yield* exported(third)
          assert.deepEqual(compared(last, 2), compared(text, 0))
          const { present } = yield* imported(third, text)
          assert.lengthOf(present, 6)
          assert.equal(yield* exported(third), last)
        })
      )
    }),
    { numRuns: 12 }
  )
})
