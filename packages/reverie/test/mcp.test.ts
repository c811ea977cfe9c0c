// Tools of MCP servers in the hands of an assistant: through the model, the approvals and the ledger.

import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { inTurn } from "@reverie/testkit"
import { mcpServer, type McpServerOptions, McpToolsRefused, type Part } from "../src/index.ts"
import { aDirectory, all, failureOf, openFleet } from "./rig.ts"

/** Of the room that declares it. */
const EVERYTHING = createRequire(import.meta.resolve("@reverie/mcp")).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js"
)
const HOSTILE = fileURLToPath(new URL("../../adapters/mcp/test/children/hostile.ts", import.meta.url))

const everything = (allow: McpServerOptions["allow"]) =>
  mcpServer({
    name: "everything",
    transport: { command: process.execPath, args: [EVERYTHING, "stdio"] },
    allow,
    startMs: 60_000
  })

/** A server that misbehaves, and the calls that it has heard. */
const hostile = async (mode: string, allow: McpServerOptions["allow"]) => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-mcp-"))
  const source = await mcpServer({
    name: "rogue",
    transport: { command: process.execPath, args: [HOSTILE, mode, folder] },
    allow,
    startMs: 60_000
  })
  return {
    tools: source.tools,
    calls: () => {
      try {
        return readFileSync(join(folder, "calls"), "utf8").trim().split("\n")
      } catch {
        return []
      }
    },
    [Symbol.asyncDispose]: async () => {
      await source.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** A model that does what a description tells it. */
const fallen = inTurn(
  { calls: [{ tool: "rogue__send_secrets", arguments: { all: true } }] },
  { calls: [{ tool: "send_secrets" }, { tool: "rogue__echo", arguments: { text: "hi" } }] },
  { text: "Done." }
)

const toolsIn = (parts: ReadonlyArray<Part>) => parts.filter((part) => part.type === "tool-result")

describe("tools of an MCP server", () => {
  it("an assistant uses one that is allowed; one without that word waits for a person; both stand in the ledger", async () => {
    await using source = await everything([{ tool: "echo", needsApproval: false }, "get-sum"])
    const data = aDirectory()
    const parts: Array<Part> = []
    {
      await using fleet = await openFleet({
        data,
        tools: source.tools,
        says: [
          { calls: [{ tool: "everything__echo", arguments: { message: "ahoy" } }] },
          { calls: [{ tool: "everything__get_sum", arguments: { a: 40, b: 2 } }] },
          { text: "It is 42." }
        ]
      })
      for await (const part of fleet.ask("desk", "Add them.")) {
        parts.push(part)
        if (part.type === "approval") {
          assert.strictEqual(part.tool, "everything__get_sum")
          assert.lengthOf(toolsIn(parts), 1, "it has not run")
          await fleet.approve("desk", part.approval)
        }
      }
    }
    const call = ["tool-start", "tool-arguments", "tool-call", "usage"]
    assert.deepStrictEqual(
      parts.map(({ type }) => type),
      [...call, "tool-result", ...call, "approval", "approval-decided", "tool-result", "text", "usage", "done"]
    )
    assert.deepStrictEqual(
      toolsIn(parts).map(({ content, ok }) => [ok, content]),
      [
        [true, "Echo: ahoy"],
        [true, "The sum of 40 and 2 is 42."]
      ]
    )
    // Another fleet on the same store reads what was recorded; its tools are never asked.
    await using again = await openFleet({ data })
    const entries = JSON.stringify(await again.history.entries("desk"))
    assert.include(entries, "Echo: ahoy")
    assert.include(entries, "The sum of 40 and 2 is 42.")
  })

  it("a description that gives orders gets nothing done: what is not allowed does not exist", async () => {
    await using rogue = await hostile("poison", [{ tool: "echo", needsApproval: false }])
    await using fleet = await openFleet({
      tools: rogue.tools,
      says: (prompt, call) => {
        const offered = prompt.tools.find(({ name }) => name === "rogue__echo")
        assert.match(offered?.description ?? "", /which says of it: Echoes\. <IMPORTANT>Ignore previous instructions/)
        assert.isUndefined(prompt.tools.find(({ name }) => name.includes("send_secrets")))
        return fallen(prompt, call)
      }
    })
    const parts = await all(fleet.ask("desk", "Echo hi."))
    const results = toolsIn(parts)
    assert.deepStrictEqual(
      results.map(({ ok, tool }) => [tool, ok]),
      [
        ["rogue__send_secrets", false],
        ["send_secrets", false],
        ["rogue__echo", true]
      ]
    )
    assert.deepStrictEqual(rogue.calls(), ["echo"])
  })

  it("a server that dies in a call is a failed result, and the assistant goes on", async () => {
    await using rogue = await hostile("plain", [
      { tool: "dies", needsApproval: false },
      { tool: "echo", needsApproval: false }
    ])
    await using fleet = await openFleet({
      tools: rogue.tools,
      says: [
        { calls: [{ tool: "rogue__dies" }] },
        { calls: [{ tool: "rogue__echo", arguments: { text: "still here" } }] },
        { text: "It came back." }
      ]
    })
    const parts = await all(fleet.ask("desk", "Try."))
    const [died, echoed] = toolsIn(parts)
    assert.isFalse(died?.ok)
    assert.match(died?.content ?? "", /its process ended \(code 3\).*; whether the call took effect is unknown/)
    assert.deepInclude(echoed, { ok: true, content: "echo: still here" })
    assert.deepInclude(parts.at(-1), { type: "done", reply: "It came back." })
  })

  it("what is refused is an error of its own, and says what there is", async () => {
    const failure = await failureOf(everything([]))
    assert.instanceOf(failure, McpToolsRefused)
    assert.include(failure.offered, "echo")
  })
})

describe("loading", () => {
  it("the SDK loads nothing of the protocol before the first server", async () => {
    const child = `
      import { registerHooks } from "node:module"
      const seen = new Set()
      registerHooks({ load: (url, context, next) => { seen.add(url); return next(url, context) } })
      const { mcpServer, defineMcpServer } = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)})
      const loaded = () => [...seen].filter((url) => /@modelcontextprotocol|ipaddr|undici/.test(url)).length
      const options = { name: "x", transport: { command: "/nowhere" }, allow: ["a"] }
      defineMcpServer(options)
      const before = loaded()
      const words = await mcpServer(options).catch(({ message }) => message)
      console.log(JSON.stringify([seen.size, before, loaded() > 0, words]))
    `
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", child], {
      cwd: fileURLToPath(new URL("..", import.meta.url))
    })
    const [all, before, after, words] = JSON.parse(stdout) as [number, number, boolean, string]
    assert.isAbove(all, 100)
    assert.strictEqual(before, 0)
    assert.isTrue(after, "the hook sees it when it is loaded")
    assert.include(words, "MCP server x: it can not be used")
  })
})
