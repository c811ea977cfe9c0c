// Limits of a tenant by the command line: at a server, and in a store.

import { openServer } from "@reverie/server"
import { join } from "node:path"
import { defineAssistant } from "reverie"
import { scriptedModel, testFleet } from "reverie/testing"
import { assert, describe, test } from "vitest"
import { temporary } from "./command-line.ts"
import { said } from "./in-process.ts"

const desk = defineAssistant({ id: "desk", instructions: "You keep the desk." })

describe("reverie limits", () => {
  test("at a server: shows them, tries without doing, sets them at once, and takes them back", async () => {
    const tenants = { default: { callsPerDay: 9 } }
    await using fleet = await testFleet(desk, { model: scriptedModel(() => "Hello."), tenants })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    const limits = (...args: ReadonlyArray<string>) => said(["limits", ...args, "--url", server.url])
    try {
      assert.strictEqual((await limits()).stdout, "0 of 9 model calls in a day (UTC)\n")
      const trial = await limits("--cost-per-day", "2.50", "--dry-run")
      assert.strictEqual(trial.stdout, 'would set {"costMicrosPerDay":2500000}\n')
      assert.deepStrictEqual((await fleet.monitor.limits()).set, {})
      const set = await limits("--cost-per-day", "2.50", "--calls-per-day", "2", "--calls-at-once", "3")
      assert.strictEqual(
        set.stdout,
        `0 of 2 model calls in a day (UTC) (set; the program says 9)
0.0000 of 2.5000 cost in a day (UTC) (set; the program says unlimited)
0 of 3 model calls at once (set; the program says unlimited)
`
      )
      await fleet.answer("desk", "Hello?")
      const { tenant } = JSON.parse((await limits("--json")).stdout)
      assert.deepInclude(tenant, { set: { callsPerDay: 2, costMicrosPerDay: 2_500_000, concurrentCalls: 3 } })
      assert.strictEqual(tenant.inDay.calls, 1)
      await limits("--cost-per-day", "none", "--calls-per-day", "none", "--calls-at-once", "none")
      assert.deepStrictEqual((await fleet.monitor.limits()).limits, { callsPerDay: 9 })
      const wrong = await limits("--calls-per-day", "many", "--json")
      assert.strictEqual(JSON.parse(wrong.stdout).error.code, "usage")
    } finally {
      await server.close()
    }
  })

  test("in a store: what is set there holds for the fleet that opens it next", async () => {
    await using directory = await temporary()
    const data = join(directory.path, "data")
    const opened = () => testFleet(desk, { model: scriptedModel(() => "Hello."), data })
    {
      await using fleet = await opened()
      await fleet.answer("desk", "Hello?")
    }
    assert.strictEqual((await said(["limits", "--data", data])).stdout, "nothing bounds what the tenant may use\n")
    const set = await said(["limits", "--tokens-per-day", "9000", "--data", data, "--json"])
    assert.strictEqual(set.code, 0, set.stderr)
    assert.match((await said(["limits", "--data", data])).stdout, /^0 of 9000 tokens in a day/)
    await using fleet = await opened()
    assert.deepStrictEqual((await fleet.monitor.limits()).limits, { tokensPerDay: 9_000 })
  })
})
