import { assert, describe, it } from "@effect/vitest"
import { dayInWords, withDates } from "../src/sleep/grammar.ts"

/** A Thursday. */
const at = Date.parse("2024-02-29T09:30:00Z")
const cases: ReadonlyArray<readonly [said: string, meant: string]> = [
  ["We met yesterday.", "We met on 28 February 2024."],
  ["It is today", "It is on 29 February 2024"],
  ["Come the day after tomorrow!", "Come on 2 March 2024!"],
  ["It rained the day before yesterday", "It rained on 27 February 2024"],
  ["She called last night", "She called on 28 February 2024 night"],
  ["She called this morning", "She called on 29 February 2024 morning"],
  ["I sold it 3 days ago", "I sold it on 26 February 2024"],
  ["I sold it two weeks ago", "I sold it around 15 February 2024"],
  ["I sold it a month ago", "I sold it in January 2024"],
  ["I sold it ten years ago", "I sold it in 2014"],
  ["We sail 2 days from now", "We sail on 2 March 2024"],
  ["Last Friday I swam", "on Friday 23 February 2024 I swam"],
  ["I swim next Thursday", "I swim on Thursday 7 March 2024"],
  ["I swim this Sat", "I swim on Saturday 2 March 2024"],
  ["We moved last week", "We moved in the week before 29 February 2024"],
  ["We move next week", "We move in the week after 29 February 2024"],
  ["We move this weekend", "We move on the weekend of 29 February 2024"],
  ["We move next month", "We move in March 2024"],
  ["We moved last month", "We moved in January 2024"],
  ["We moved last year", "We moved in 2023"],
  ["We moved last summer", "We moved in the summer of 2023"],
  ["We move next summer", "We move in the summer of 2024"],
  ["We met last March", "We met in March 2023"],
  ["We meet next March", "We meet in March 2024"],
  ["It is open since last week", "It is open since the week before 29 February 2024"],
  ["It is due by tomorrow", "It is due by 1 March 2024"]
]

describe("dates", () => {
  for (const [said, meant] of cases) it(`T1 T3 "${said}"`, () => assert.strictEqual(withDates(said, at), meant))

  it("T1 the turn of a year", () => {
    assert.strictEqual(withDates("last month", Date.parse("2024-01-03T00:00:00Z")), "in December 2023")
    assert.strictEqual(withDates("tomorrow", Date.parse("2023-12-31T23:59:00Z")), "on 1 January 2024")
    assert.strictEqual(dayInWords(Date.parse("2023-12-31T23:59:00Z")), "31 December 2023")
  })

  it("T2 what may mean several times stays", () => {
    for (const said of [
      "the other day",
      "on Friday",
      "in two weeks",
      "yesterday's bread",
      "a few days ago",
      "at last"
    ]) {
      assert.strictEqual(withDates(said, at), said)
    }
  })
})
