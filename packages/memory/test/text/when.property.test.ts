import { assert, describe, test } from "@effect/vitest"
import { whenIn } from "../../src/text/refine.ts"
import * as fc from "fast-check"

/** A Thursday. */
const NOW = Date.UTC(2026, 2, 12, 15)

const daysOf = (question: string): ReadonlyArray<string> =>
  whenIn(question, NOW).map(({ since, until }) =>
    [since, until].map((at) => new Date(at).toISOString().slice(0, 10)).join(" ")
  )

const day = (date: string): ReadonlyArray<string> => [`${date} ${date}`]

describe("when", () => {
  test("W1 days, months and years as English writes them", () => {
    for (const written of ["on 8 May 2023", "on the 8th of May 2023", "on May 8, 2023", "May 8th 2023", "2023-05-08"]) {
      assert.deepStrictEqual(daysOf(`What did Ann say ${written}?`), day("2023-05-08"), written)
    }
    assert.deepStrictEqual(daysOf("Where was she in June 2023?"), ["2023-06-01 2023-06-30"])
    assert.deepStrictEqual(daysOf("Where was she in Feb. 2024?"), ["2024-02-01 2024-02-29"])
    assert.deepStrictEqual(daysOf("How often did it rain in 2025?"), ["2025-01-01 2025-12-31"])
  })

  test("W1 without a year it is the last such time", () => {
    assert.deepStrictEqual(daysOf("What broke last May?"), ["2025-05-01 2025-05-31"])
    assert.deepStrictEqual(daysOf("What broke in February?"), ["2026-02-01 2026-02-28"])
    assert.deepStrictEqual(daysOf("Who called on March 3?"), day("2026-03-03"))
    assert.deepStrictEqual(daysOf("Who called on 3 April?"), day("2025-04-03"))
  })

  test("W1 times as they lie behind the present", () => {
    assert.deepStrictEqual(daysOf("Who came yesterday?"), day("2026-03-11"))
    assert.deepStrictEqual(daysOf("Who came two days ago?"), day("2026-03-10"))
    assert.deepStrictEqual(daysOf("Who came last week?"), ["2026-03-02 2026-03-08"])
    assert.deepStrictEqual(daysOf("Who came a month ago?"), ["2026-02-01 2026-02-28"])
    assert.deepStrictEqual(daysOf("Who came this year?"), ["2026-01-01 2026-12-31"])
    assert.deepStrictEqual(daysOf("Yesterday or on 1 March?"), [...day("2026-03-01"), ...day("2026-03-11")])
  })

  test("W3 before, until, after and since a time lies what is on that side of it", () => {
    const beginning = new Date(-8_640_000_000_000_000).toISOString().slice(0, 10)
    for (const written of ["before June 2023", "before 2023-06-01", "before 1 June 2023"])
      assert.deepStrictEqual(daysOf(`What broke ${written}?`), [`${beginning} 2023-05-31`], written)
    assert.deepStrictEqual(daysOf("What broke until June 2023?"), [`${beginning} 2023-06-30`])
    assert.deepStrictEqual(daysOf("What broke after May 2025?"), ["2025-06-01 2026-03-12"])
    assert.deepStrictEqual(daysOf("What broke since last May?"), ["2025-05-01 2026-03-12"])
    assert.deepStrictEqual(daysOf("What broke since May?"), ["2025-05-01 2026-03-12"])
    assert.deepStrictEqual(daysOf("What broke before 3 March?"), [`${beginning} 2026-03-02`])
    assert.deepStrictEqual(daysOf("What broke after December 2030?"), ["2030-12-01 2030-12-31"])
  })

  test("W1 what is no date is none", () => {
    for (const question of ["May I come in?", "Who was in 12 rooms?", "the march of the band", "a decent day", ""]) {
      assert.deepStrictEqual(daysOf(question), [], question)
    }
  })

  test("W1 whatever is asked, a span begins before it ends", () => {
    const word = fc.constantFrom(
      "in",
      "on",
      "last",
      "May",
      "june",
      "2023",
      "31",
      "13",
      "ago",
      "a",
      "few",
      "days",
      "99 years ago",
      "0000-99-99"
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.integer({ min: 0, max: 4_102_444_800_000 }), (words, now) => {
        for (const { since, until } of whenIn(words.join(" "), now)) assert.isBelow(since, until)
      })
    )
  })
})
