import { assert, describe, test } from "vitest"
import { outcomeOf } from "../integration/outcome.ts"

const report = (...tests: ReadonlyArray<readonly [group: string, status: string]>) => ({
  testResults: [
    { assertionResults: tests.map(([group, status]) => ({ title: "a", status, ancestorTitles: [group, "inner"] })) }
  ]
})

describe("a run of the integration tests", () => {
  test("O1 that found no server has failed, whatever else ran", () => {
    const { lines, ok } = outcomeOf(report(["queue [redis]", "skipped"], ["images", "passed"]))
    assert.isFalse(ok)
    assert.deepStrictEqual(lines, [
      "skipped: queue [redis], for want of that server",
      "no suite found a server to run against: nothing was proved"
    ])
    assert.isFalse(outcomeOf({ testResults: [] }).ok)
  })

  test("O2 says once what ran and what was skipped", () => {
    const { lines, ok } = outcomeOf(
      report(["queue [redis]", "passed"], ["queue [redis]", "failed"], ["recall [qdrant]", "skipped"])
    )
    assert.isTrue(ok)
    assert.deepStrictEqual(lines, ["ran: queue [redis]", "skipped: recall [qdrant], for want of that server"])
  })
})
