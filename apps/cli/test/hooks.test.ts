import { assert, test } from "vitest"
import { fixture, run, temporary } from "./command-line.ts"

test("what hooks did stands in the ledger's lines, and an approval says why a hook has a person asked", async () => {
  await using directory = await temporary()
  const at = ["--fleet", fixture("hooks-fleet.ts"), "--data", directory.path]
  const asked = await run(["run", ...at, "-p", "Pay with 1234 5678."])
  assert.notStrictEqual(asked.code, 0)
  assert.include(asked.stderr, "waits for approval of pay")
  const { stdout } = await run(["agents", "logs", "clerk", "--data", directory.path])
  assert.include(stdout, "[hook onMessage changed]")
  assert.include(stdout, "[hook beforeTool asked pay: It is much.]")
  const listed = await run(["approvals", "ls", "--data", directory.path, "--json"])
  const [approval] = (JSON.parse(listed.stdout) as { readonly approvals: ReadonlyArray<{ readonly approval: string }> })
    .approvals
  const shown = await run(["approvals", "show", approval?.approval ?? "", "--data", directory.path])
  assert.include(shown.stdout, "a hook has a person asked: It is much.")
})
