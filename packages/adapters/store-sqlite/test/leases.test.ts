import { assert } from "@effect/vitest"
import { describe, test } from "vitest"
import { Leases } from "../src/ledger/assistants.ts"

describe("leases", () => {
  test("I1 a lease lives until its time has come, and a taken back one gives way to the one before", () => {
    const leases = new Leases()
    const first = { worker: "worker-1", until: 100 }
    leases.grant(1, first, 0)
    assert.deepStrictEqual(leases.live(1, 99), first)
    assert.strictEqual(leases.live(1, 100), undefined)
    const takeBack = leases.grant(1, { worker: "worker-2", until: 300 }, 100)
    takeBack()
    assert.deepStrictEqual(leases.live(1, 50), first)
    leases.grant(2, first, 0)()
    assert.strictEqual(leases.count, 1)
  })

  test("leases that no one released do not pile up, and none that lives is lost", () => {
    const leases = new Leases()
    for (let key = 0; key < 20_000; key++) leases.grant(key, { worker: "worker-1", until: key + 10 }, key)
    assert.isBelow(leases.count, 2_000)
    for (let key = 19_990; key < 20_000; key++) assert.isDefined(leases.live(key, 19_999))
  })
})
