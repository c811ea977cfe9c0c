// Tenants by the command line: one is named, and what is there of others is said.

import { join } from "node:path"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { assert, test } from "vitest"
import { temporary } from "./command-line.ts"
import { said } from "./in-process.ts"

test("W1 a tenant is looked at and ordered by its name; a list says which others are there, and a wrong name finds none", async () => {
  await using place = await temporary()
  const data = join(place.path, "data")
  const definition = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] })
  const fleet = await Fleet.open({ data, model: "offline", tenant: "south", fleet: definition })
  await fleet.answer("desk", "The Aurora is at berth 4.")
  await fleet.close()
  const told = (...args: ReadonlyArray<string>) => said([...args, "--data", data])

  assert.match((await told("agents", "ls")).stdout, /1 received, .* of all tenants; also here: south \(--tenant\)/)
  assert.deepStrictEqual(JSON.parse((await told("agents", "ls", "--json")).stdout).otherTenants, ["south"])
  const south = await told("agents", "ls", "--tenant", "south")
  assert.match(south.stdout, /^desk .* 1 /m)
  assert.notMatch(south.stdout, /tenants/)
  assert.match((await told("agents", "inspect", "desk", "--tenant", "south")).stdout, /user: The Aurora/)
  assert.strictEqual(JSON.parse((await told("vacuum", "--yes", "--json", "--tenant", "south")).stdout).assistants, 1)
  assert.strictEqual((await told("agents", "halt", "desk", "--tenant", "south")).code, 0)
  assert.strictEqual((await told("limits", "--calls-per-day", "3", "--tenant", "south")).code, 0)
  assert.match((await told("limits", "--tenant", "south")).stdout, /of 3 model calls in a day/)

  assert.match((await told("agents", "ls", "--tenant", "no id")).stderr, /there is no tenant "no id"/)
  for (const command of [
    ["agents", "ls"],
    ["vacuum", "--yes"]
  ]) {
    const wrong = await told(...command, "--tenant", "sout")
    assert.strictEqual(wrong.code, 2)
    assert.match(wrong.stderr, /there is no tenant "sout" in .*those there: south/)
  }
  const served = await said(["agents", "ls", "--tenant", "south", "--url", "http://127.0.0.1:9"])
  assert.match(served.stderr, /is asked for the tenant of its token/)
})
