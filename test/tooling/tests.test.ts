import { assert, describe, test } from "vitest"
import { type Report, totals } from "../../scripts/check/tests.ts"

const report = (...results: ReadonlyArray<readonly [title: string, status: string]>): Report => ({
  testResults: results.map(([title, status]) => ({ assertionResults: [{ title, status }] }))
})
const waiver = { project: "unit", title: "needs root", why: "planted" }

describe("counting tests", () => {
  test("T1 what was skipped is no proof, and a failure", () => {
    const { complaints, ran } = totals(report(["a", "passed"], ["b", "failed"], ["c", "skipped"], ["d", "todo"]), [])
    assert.strictEqual(ran, 2)
    assert.deepStrictEqual(complaints, ["skipped without a waiver: c", "skipped without a waiver: d"])
  })

  test("T1 a waiver excuses its test, which still does not count", () => {
    assert.deepStrictEqual(totals(report(["needs root", "skipped"]), [waiver]), { ran: 0, complaints: [] })
    assert.deepStrictEqual(totals(report(["needs root", "passed"]), [waiver]), { ran: 1, complaints: [] })
  })

  test("T1 T2 a waiver for several tests names how their titles begin", () => {
    const several = { ...waiver, title: "needs *" }
    assert.deepStrictEqual(
      totals(report(["needs root", "skipped"], ["needs rain", "skipped"]), [several]).complaints,
      []
    )
    assert.deepStrictEqual(totals(report(["wants root", "skipped"]), [several]).complaints, [
      "skipped without a waiver: wants root",
      "no test has the name of this waiver: needs *"
    ])
  })

  test("T1 a test of a group that needs a missing server is excused, and no other", () => {
    const of = (group: string) => ({
      testResults: [{ assertionResults: [{ title: "a", status: "skipped", ancestorTitles: [group, "inner"] }] }]
    })
    const complaints = (group: string) => totals(of(group), [], ["redis", "own postgres"]).complaints.length
    assert.deepStrictEqual(
      ["the queue [redis]", "[own postgres]", "the queue [postgres]", "redis", "[redis] the queue"].map(complaints),
      [0, 0, 1, 1, 1]
    )
  })

  test("T2 a waiver without its test is a failure", () => {
    const { complaints } = totals(report(["a", "passed"]), [waiver])
    assert.deepStrictEqual(complaints, ["no test has the name of this waiver: needs root"])
  })
})
