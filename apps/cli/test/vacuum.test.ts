// Vacuum by the command line: a policy stands in a fleet, and without one nothing of a life is put away.

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { assert, test } from "vitest"
import { temporary } from "./command-line.ts"
import { said } from "./in-process.ts"

type Policy = NonNullable<Parameters<typeof defineAssistant>[0]["retention"]>

const definition = (retention: Policy) =>
  defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test.", retention })] })

/** A data directory with a life of 25 messages, and the file of its fleet. */
const lived = async (path: string, retention: Policy) => {
  const [data, file] = [join(path, "data"), join(path, "fleet.ts")]
  const fleet = await Fleet.open({ data, model: "offline", fleet: definition(retention) })
  for (let each = 0; each < 25; each++) await fleet.send("desk", `Ship ${each} came in.`)
  await fleet.idle()
  await fleet.close()
  const sdk = import.meta.resolve("reverie")
  writeFileSync(
    file,
    `import { defineAssistant, defineFleet } from ${JSON.stringify(sdk)}
export default defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test.", retention: ${JSON.stringify(retention)} })] })\n`
  )
  return { data, file }
}

test("V2 without a fleet file vacuum leaves every life as it is and says what to name; with it the policy holds", async () => {
  await using place = await temporary()
  const { data, file } = await lived(place.path, { archiveAfter: 20, deleteAfter: 10 })
  const vacuum = (...args: ReadonlyArray<string>) => said(["vacuum", ...args, "--data", data])
  const left = /^1 assistant was left as it is: how long it is kept stands in its fleet; name that with --fleet FILE$/m
  const due = await vacuum("--dry-run")
  assert.match(due.stdout, /^would compress 0 events and delete 0,/)
  assert.match(due.stderr, left)
  const done = await vacuum("--yes")
  assert.strictEqual(done.code, 0)
  assert.match(done.stdout, /^compressed 0 events and deleted 0;/)
  assert.match(done.stderr, left)
  assert.strictEqual(JSON.parse((await vacuum("--yes", "--json")).stdout).left, 1)
  const named = await vacuum("--yes", "--fleet", file)
  assert.match(named.stdout, /deleted [1-9]\d*;/)
  assert.strictEqual(named.stderr, "")
})
