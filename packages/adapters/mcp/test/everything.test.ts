// The reference server, over both ways of reaching one.

import { assert, describe, it } from "@effect/vitest"
import type { McpServerOptions } from "../src/index.ts"
import { call, EVERYTHING, everythingOverHttp, opened, refused } from "./rig.ts"

const tools = [
  { tool: "echo", needsApproval: false, idempotent: true },
  "get-sum",
  "get-env",
  "get-tiny-image",
  "get-structured-content",
  "get-resource-links",
  "get-resource-reference",
  "trigger-long-running-operation"
] as const

const ways: ReadonlyArray<readonly [string, () => Promise<McpServerOptions["transport"]>]> = [
  ["stdio", async () => ({ command: process.execPath, args: [EVERYTHING, "stdio"] })],
  [
    "Streamable HTTP",
    async () => {
      const port = await everythingOverHttp()
      return { url: `http://localhost:${port}/mcp`, allowPrivate: [`localhost:${port}`] }
    }
  ]
]

describe.each(ways)("server-everything over %s", (_, reach) => {
  const options = async (): Promise<McpServerOptions> => ({
    name: "everything",
    transport: await reach(),
    allow: tools,
    timeoutMs: 30_000,
    startMs: 60_000
  })

  it("T1 T4 its allowed tools are tools, dangerous unless the user says otherwise, whatever it hints", async () => {
    const source = await opened(await options())
    assert.sameMembers(
      source.tools.map(({ name }) => name),
      tools.map((one) => `everything__${(typeof one === "string" ? one : one.tool).replaceAll("-", "_")}`)
    )
    for (const { category, description, idempotent, name, parameters } of source.tools) {
      const isEcho = name === "everything__echo"
      assert.deepStrictEqual([category, idempotent], isEcho ? ["safe_chain", true] : ["dangerous", false])
      assert.match(description, /^A tool of the MCP server everything, which says of it: /)
      assert.strictEqual(parameters["type"], "object")
    }
    assert.isAbove(source.offered.length, tools.length)
    assert.sameMembers(
      Object.keys(source.hashes),
      tools.map((one) => (typeof one === "string" ? one : one.tool))
    )
  })

  it("T3 W1 W3 calls give text: words, sums, pictures by name, structured values, links", async () => {
    const source = await opened(await options())
    const said = async (tool: string, args = {}) => {
      const result = await call(source, `everything__${tool}`, args)
      assert.isTrue(result.ok, result.content)
      return result.content
    }
    assert.strictEqual(await said("echo", { message: "hello" }), "Echo: hello")
    assert.strictEqual(await said("get_sum", { a: 2, b: 40 }), "The sum of 2 and 40 is 42.")
    const picture = await said("get_tiny_image")
    assert.match(picture, /\[image image\/png, \d{4} bytes, not shown\]/)
    assert.notMatch(picture, /[A-Za-z0-9+/]{100}/)
    const weather: unknown = JSON.parse(await said("get_structured_content", { location: "New York" }))
    assert.containsAllKeys(weather, ["temperature", "conditions", "humidity"])
    assert.match(await said("get_resource_links", { count: 2 }), /\[link Blob Resource 1: demo:\/\/resource/)
    assert.match(await said("get_resource_reference"), /\[resource demo:\/\/resource\/dynamic\/text\/1/)
    const wrong = await call(source, "everything__get_sum", { a: "two" })
    assert.strictEqual(wrong.failure, "arguments")
  })

  it("T3 a call that takes too long ends as a failure, and the next one is answered", async () => {
    const source = await opened({ ...(await options()), timeoutMs: 3_000 })
    const slow = await call(source, "everything__trigger_long_running_operation", { duration: 3_600, steps: 1 })
    assert.isFalse(slow.ok)
    assert.match(slow.content, /did not answer within \d+ ms; whether the call took effect is unknown/)
    assert.strictEqual((await call(source, "everything__echo", { message: "still here" })).content, "Echo: still here")
  })

  it("T1 nothing allowed is nothing usable, and the refusal names what there is", async () => {
    const nothing = await refused({ ...(await options()), allow: [] })
    assert.strictEqual(nothing._tag, "McpToolsRefused")
    assert.match(nothing.message, /allow names no tool, so there is none to use; it offers echo, .*get-sum/)
    const missing = await refused({ ...(await options()), allow: ["echo", "rm"] })
    assert.match(missing.message, /"rm" is not among its tools; it offers echo, /)
  })

  it("T2 N1 what is pinned opens with its own hash and with no other", async () => {
    const settings = { ...(await options()), allow: ["echo", "get-sum"] }
    const { hashes } = await opened(settings)
    assert.deepStrictEqual((await opened({ ...settings, pins: hashes })).hashes, hashes)
    const other = await refused({ ...settings, pins: { ...hashes, echo: "0".repeat(64) } })
    assert.match(other.message, /"echo" is not what was pinned: .*\(pinned 0{64}, now [0-9a-f]{64}\)/)
    assert.notMatch(other.message, /get-sum/)
    const unpinned = await refused({ ...settings, pins: { echo: hashes["echo"] ?? "" } })
    assert.match(unpinned.message, /"get-sum" has no pin; its hash is [0-9a-f]{64}/)
  })
})
