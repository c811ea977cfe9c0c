import { DatabaseSync } from "node:sqlite"
import { assert, describe, test } from "@effect/vitest"
import type { MemoryEntry } from "@reverie/memory"
import { tables } from "../src/tables.ts"
import { wordsOf } from "../src/words/words.ts"

const GROUP = 1
/** As many as an index that is made anew receives at once. */
const AT_ONCE = 64
const ENTRIES = 6_400

/** Some common words and some that hardly any other entry has. */
const told = (number: number): MemoryEntry => ({
  id: `m/${number}/0`,
  kind: "message",
  at: number,
  text: Array.from({ length: 30 }, (_, index) => `w${(number * 7 + index * index) % (20 + 50 * index)}`).join(" "),
  entities: [],
  tags: [],
  trust: 0.9,
  importance: 5,
  readers: "owner"
})

describe("the work that keeps an index small and quick", () => {
  test("H4 what is out of use is dropped as fast as it comes to be, also where much is reported at once", () => {
    const database = new DatabaseSync(":memory:")
    database.exec(tables)
    const words = wordsOf(database)
    const numberOf = (sql: string): number => Number(Object.values(database.prepare(sql).get() ?? {})[0])
    const waiting: Array<number> = []
    for (let first = 0; first < ENTRIES; first += AT_ONCE) {
      for (let number = first; number < first + AT_ONCE; number++) {
        words.put([GROUP], words.nextDoc(), number, { entry: told(number), around: [], facts: [] })
      }
      words.settle()
      waiting.push(numberOf("SELECT count(*) FROM unfinished"))
    }
    const segments = numberOf("SELECT count(*) FROM segments")
    assert.isAtMost(segments, 16)
    // One that is being made, and those that the last merges took out of use.
    assert.isAtMost(Math.max(...waiting), 16)
    database.close()
  })
})
