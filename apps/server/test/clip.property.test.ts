import * as fc from "fast-check"
import { assert, describe, test } from "vitest"
import { Malformed } from "../src/api/index.ts"
import { clip, clipAll } from "../src/views/message-view.ts"
import { newestFirst, pageOf } from "../src/views/paging.ts"

describe("clip", () => {
  test("K1 a text is its own beginning, no longer than it may be, and every character of it is whole", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.integer({ min: 2, max: 50 }), (text, maxChars) => {
        const short = clip(text, maxChars)
        assert.isAtMost(short.length, Math.max(maxChars, 0))
        if (text.length <= maxChars) assert.strictEqual(short, text)
        else {
          assert.isTrue(short.endsWith("…"))
          assert.isTrue(text.startsWith(short.slice(0, -1)))
          if (text.isWellFormed()) assert.isTrue(short.isWellFormed())
        }
      })
    )
  })

  test("K1 what is clipped is JSON with the same keys, and short texts are untouched", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.strictEqual(JSON.stringify(clipAll(value, 1_000_000)), JSON.stringify(value))
      })
    )
    assert.deepStrictEqual(clipAll({ a: undefined, b: ["x".repeat(9)] }, 3), { b: ["xx…"] })
  })
})

describe("paging", () => {
  const item = fc.record({ id: fc.string({ minLength: 1, maxLength: 8 }), at: fc.integer({ min: -5, max: 5 }) })
  const items = fc.uniqueArray(item, { selector: ({ at, id }) => `${at} ${id}`, maxLength: 40 })
  const same = (each: { readonly id: string; readonly at: number }) => each

  test("P1 walking from page to page shows everything that stays exactly once, in order, whatever comes and goes", () => {
    fc.assert(
      fc.property(items, items, fc.integer({ min: 1, max: 7 }), (kept, passing, limit) => {
        const keys = new Set(kept.map(({ at, id }) => `${at} ${id}`))
        const others = passing.filter(({ at, id }) => !keys.has(`${at} ${id}`))
        const seen: Array<(typeof kept)[number]> = []
        let cursor: string | undefined
        for (let turn = 0; ; turn++) {
          const now = newestFirst(turn % 2 === 0 ? kept : [...kept, ...others], same)
          const page = pageOf(now, same, { cursor, limit })
          seen.push(...page.items.filter(({ at, id }) => keys.has(`${at} ${id}`)))
          if (page.next === null) break
          cursor = page.next
        }
        assert.deepStrictEqual(seen, newestFirst(kept, same))
      })
    )
  })

  test("P1 what is no cursor is refused", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !/^-?\d/.test(text)),
        (cursor) => {
          assert.throws(() => pageOf([], same, { cursor, limit: 1 }), Malformed)
        }
      )
    )
  })
})
