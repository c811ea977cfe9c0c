// `mcp`: the program looks at the tools that it offers itself.

import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { assertFailure, begin, fixture, jsonOf, run, temporary } from "./command-line.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

const node = [process.execPath, "--disable-warning=ExperimentalWarning"]
const fleet = ["--fleet", fixture("fleet.ts"), "--model", "offline"]

/** The words after `mcp tools` that start this program as a server. */
const serving = (data: string, ...more: ReadonlyArray<string>): ReadonlyArray<string> => [
  "--",
  ...node,
  main,
  "mcp",
  "serve",
  ...fleet,
  "--data",
  data,
  ...more
]

interface Looked {
  readonly name: string
  readonly pin: string
}

const namesIn = (tools: unknown): ReadonlyArray<string> => (tools as ReadonlyArray<Looked>).map(({ name }) => name)

describe("mcp", () => {
  test("M1 lists the tools of a server with their pins; sending is offered only when it is allowed", async () => {
    await using directory = await temporary()
    const looking = await run(["mcp", "tools", "--json", ...serving(join(directory.path, "one"))])
    const { tools } = jsonOf(looking)
    assert.includeMembers([...namesIn(tools)], ["agents_list", "memory_search"])
    assert.notInclude(namesIn(tools), "agents_send")
    for (const { pin } of tools as ReadonlyArray<Looked>) assert.match(pin, /^[0-9a-f]{64}$/)
    const told = await run(["mcp", "tools", ...serving(join(directory.path, "two"), "--allow-writes")])
    assert.include(told.stdout, "agents_send")
    assert.include(told.stdout, "pins: {")
  })

  test("offers the fleet of a running server too", async () => {
    await using directory = await temporary()
    const at = ["--data", directory.path]
    const first = begin([
      "dev",
      "--fleet",
      fixture("fleet.ts"),
      "--model",
      "offline",
      ...at,
      "--no-page",
      "--port",
      "0"
    ])
    await first.saying("Stays up")
    const { tools } = jsonOf(await run(["mcp", "tools", "--json", ...serving(directory.path)]))
    assert.include(namesIn(tools), "agents_status")
    first.child.kill("SIGTERM")
    await first.ended
  })

  test("6 for a server that can not be reached, 2 for none", async () => {
    assertFailure(await run(["mcp", "tools", "--json", "--", "/nowhere/none"]), 6, "mcp-unavailable", "none")
    assertFailure(await run(["mcp", "tools", "--json"]), 2, "usage", "--server")
  })
})
