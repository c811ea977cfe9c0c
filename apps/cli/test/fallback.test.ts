import { assert, test } from "vitest"
import { fixture, run, temporary } from "./command-line.ts"

test("a model that stands in for another one is named, while it runs and in the ledger", async () => {
  await using directory = await temporary()
  const at = ["--fleet", fixture("fallback-fleet.ts"), "--data", directory.path]
  const why = "first did not answer (ModelUnavailable: overloaded)"
  const asked = await run(["run", ...at, "-p", "Which berth is free?"])
  assert.strictEqual(asked.code, 0, asked.stderr)
  assert.include(asked.stdout, "Berth seven is free.")
  const { stdout } = await run(["agents", "logs", "clerk", "--data", directory.path])
  assert.include(stdout, `infer done by second: ${why}`)
  const ready = await run(["run", ...at, "--events", "/dev/null", "--exit"])
  assert.include(ready.stderr, "first, a model of its own, else second, a model of its own")
})
