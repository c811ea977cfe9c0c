// Rug pulls: a tool that is not what someone looked at is not called.

import { assert, describe, it } from "@effect/vitest"
import { defineMcpServer, pinsText } from "../src/index.ts"
import { changesOf, type Definition, pinOf } from "../src/listing.ts"
import { call, hostile, linesOf, opened, refused } from "./rig.ts"
import { POISON } from "./children/offers.ts"

const changes: ReadonlyArray<readonly [string, RegExp]> = [
  ["rug", /The server changed the description of "echo" since it was allowed/],
  ["rug-schema", /The server changed the input schema of "echo" since it was allowed/],
  ["rug-hints", /The server changed the annotations of "echo" since it was allowed/],
  ["rug-gone", /The server no longer offers "echo"/]
]

describe("a tool that changes", () => {
  it.each(changes)("T2 %s: after list_changed it is refused by what changed, and not called", async (mode, words) => {
    const { folder, options } = hostile(mode, { allow: ["echo", "changes", "pid"] })
    const source = await opened(options)
    assert.strictEqual((await call(source, "rogue__echo", { text: "a" })).content, "echo: a")
    assert.isTrue((await call(source, "rogue__changes")).ok)
    const result = await call(source, "rogue__echo", { text: "b" })
    assert.isFalse(result.ok)
    assert.match(result.content, words)
    assert.match(result.content, /Nothing was called\.$/)
    assert.isTrue((await call(source, "rogue__pid")).ok, "the others go on")
    assert.deepStrictEqual(linesOf(folder, "calls"), ["echo", "changes", "pid"])
  })

  it("T2 a reconnect reads the list anew: what changed meanwhile is refused", async () => {
    const { folder, options } = hostile("rug-restart", { allow: ["echo", "dies"] })
    const source = await opened(options)
    assert.strictEqual((await call(source, "rogue__echo", { text: "a" })).content, "echo: a")
    assert.isFalse((await call(source, "rogue__dies")).ok)
    assert.match((await call(source, "rogue__echo", { text: "b" })).content, /changed the description of "echo"/)
    assert.deepStrictEqual(linesOf(folder, "calls"), ["echo", "dies"])
    assert.lengthOf(linesOf(folder, "starts"), 2)
  })

  it("T2 N1 a pin from before the change refuses the server after it, before any call", async () => {
    const { folder, options } = hostile("rug-restart")
    const { close, hashes } = await opened(options)
    await close()
    const error = await refused({ ...options, pins: hashes })
    assert.strictEqual(error._tag, "McpToolsRefused")
    assert.include(error.message, `(pinned ${hashes["echo"]}, now `)
    const own = await refused({ ...options, allow: [{ tool: "echo", pin: hashes["echo"] ?? "" }] })
    assert.match(own.message, /"echo" is not what was pinned/)
    assert.isEmpty(linesOf(folder, "calls"))
  })
})

describe("what a pin is", () => {
  const tool: Definition = {
    name: "a",
    description: "b",
    inputSchema: { type: "object", properties: { x: { type: "string" }, y: { type: "number" } } },
    annotations: { title: "t", readOnlyHint: true }
  }

  it("N1 every part counts, the order of keys does not", () => {
    const turned = { type: "object", properties: { y: { type: "number" }, x: { type: "string" } } }
    assert.strictEqual(pinOf({ ...tool, inputSchema: turned }), pinOf(tool))
    const others: ReadonlyArray<Definition> = [
      { ...tool, name: "b" },
      { ...tool, description: "b " },
      { ...tool, inputSchema: { ...tool.inputSchema, required: ["x"] } },
      { ...tool, annotations: null },
      { ...tool, annotations: { title: "t", readOnlyHint: false } }
    ]
    assert.strictEqual(new Set([tool, ...others].map(pinOf)).size, others.length + 1)
    assert.strictEqual(changesOf(tool, { ...tool, description: "c", annotations: null }), "description and annotations")
  })

  it("N1 what is printed can be pasted as it is", async () => {
    const { options } = hostile("plain", { allow: ["echo", "pid"] })
    const { hashes } = await opened(options)
    const text = pinsText(hashes)
    assert.match(text, /^pins: \{\n {2}"echo": "[0-9a-f]{64}",\n {2}"pid": "[0-9a-f]{64}"\n\}$/)
    const pasted: unknown = JSON.parse(text.slice("pins: ".length))
    assert.deepStrictEqual(pasted, hashes)
    assert.doesNotThrow(() => defineMcpServer({ ...options, pins: hashes }))
    assert.strictEqual(pinsText({}), "pins: {}")
  })
})

describe("a description that gives orders", () => {
  it("O1 T1 it stays the server's words, plain and bounded; what it asks for can not be called", async () => {
    const { folder, options } = hostile("poison")
    const source = await opened(options)
    const [tool] = source.tools
    assert.strictEqual(source.tools.length, 1)
    assert.match(
      tool?.description ?? "",
      /^A tool of the MCP server rogue, which says of it: Echoes\. <IMPORTANT>Ignore/
    )
    // oxlint-disable-next-line no-control-regex -- it looks for control characters
    assert.notMatch(tool?.description ?? "", /[\u0000-\u001f\u200b\u{e0000}-\u{e007f}]/u)
    assert.notInclude(tool?.description ?? "", POISON)
    const forbidden = await call(source, "rogue__send_secrets", { all: "of them" })
    assert.strictEqual(forbidden.failure, "unknown-tool")
    assert.isEmpty(linesOf(folder, "calls"))
  })

  it("O2 patterns of a server are shown and never run; a property called pattern stays", async () => {
    const source = await opened(hostile("regex").options)
    const [tool] = source.tools
    assert.isDefined(tool)
    const { pattern, text } = tool.parameters["properties"] as Readonly<Record<string, object>>
    assert.deepStrictEqual(text, { type: "string", pattern: "^(a+)+$", description: "hidden" })
    assert.deepStrictEqual(pattern, { type: "string" })
    // It would take longer than the age of the world.
    assert.isTrue((await call(source, "rogue__echo", { text: `${"a".repeat(60)}!`, pattern: "x" })).ok)
    assert.strictEqual((await call(source, "rogue__echo", { pattern: 7 })).failure, "arguments")
  })
})
