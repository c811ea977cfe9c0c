// Servers that misbehave: each ends as one plain failure, and nothing of them is left.

import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { call, hostile, isAlive, linesOf, opened, refused, until } from "./rig.ts"

const rejections: Array<unknown> = []
const onRejection = (reason: unknown): void => void rejections.push(reason)
beforeAll(() => process.on("unhandledRejection", onRejection))
afterAll(async () => {
  await sleep(50)
  process.off("unhandledRejection", onRejection)
  assert.deepStrictEqual(rejections, [])
})

describe("a server that misbehaves at the start", () => {
  const cases: ReadonlyArray<readonly [string, RegExp]> = [
    ["silent", /can not be used: it did not answer/],
    ["babble", /can not be used: it did not answer/],
    ["leaves", /can not be used: its process ended \(code 7\)/],
    ["flood-start", /can not be used: it sent over 2000 messages in 10 s that answer nothing/],
    ["hugelist", /can not be used: it sent a message of over 8 MiB/],
    ["many", /it offers 300 tools, more than maxTools \(256\)/],
    ["endless", /can not be used: .*page/i],
    ["deep", /can not be used: it sent something that is nested too deeply/],
    ["nolist", /can not be used: its answer can not be read/]
  ]
  it.each(cases)("T3 S4 L1 %s: it is refused in words, and its process is gone", async (mode, words) => {
    const { folder, options } = hostile(mode, { startMs: 4_000 })
    const error = await refused(options)
    assert.strictEqual(error._tag, "McpUnavailable")
    assert.match(error.message, words)
    const pids = linesOf(folder, "starts").map(Number)
    assert.isNotEmpty(pids)
    for (const pid of pids) await until(() => !isAlive(pid))
  })

  const flaws: ReadonlyArray<readonly [string, ReadonlyArray<string>, RegExp]> = [
    ["deeper", ["echo"], /"echo" can not be used: its definition is nested deeper than 128 levels/],
    ["nested", ["echo"], /"echo" can not be used: .*nested deeper than 32 levels/],
    ["wide", ["echo"], /"echo" can not be used: its definition has \d+ bytes, more than 65536/],
    ["twice", ["echo"], /"echo" can not be used: two tools have its name/],
    ["twins", ["get-sum", "get_sum"], /two allowed tools have the name rogue__get_sum here; name one of them with as/]
  ]
  it.each(flaws)("L2 T1 %s: the tool is refused by name", async (mode, allow, words) => {
    assert.match((await refused(hostile(mode, { allow }).options)).message, words)
  })

  it("L2 a broken tool that no one allowed does no harm", async () => {
    const source = await opened(hostile("nested", { allow: ["pid"] }).options)
    assert.match((await call(source, "rogue__pid")).content, /^\d+$/)
  })

  it("D1 one that dies of a question it does not know, or is silent to it, is spoken to as before", async () => {
    const old = hostile("old")
    const source = await opened(old.options)
    assert.strictEqual((await call(source, "rogue__echo", { text: "a" })).content, "echo: a")
    assert.lengthOf(linesOf(old.folder, "starts"), 2)
    const mute = hostile("mute-probe", { startMs: 8_000 })
    assert.strictEqual((await call(await opened(mute.options), "rogue__echo", { text: "b" })).content, "echo: b")
    assert.lengthOf(linesOf(mute.folder, "starts"), 1)
  })

  it("S2 a command that does not exist is reported as such", async () => {
    const { options } = hostile("plain", { transport: { command: "/nowhere/mcp" } })
    assert.match(
      (await refused(options)).message,
      /MCP server rogue: it can not be used: it could not be started: .*ENOENT/
    )
  })
})

describe("a server that misbehaves in a call", () => {
  const cases: ReadonlyArray<readonly [string, RegExp]> = [
    ["fails", /failed: the disk is full$/],
    ["refuses", /failed: MCP server rogue: it refused: not today \(code -32603\)$/],
    ["hangs", /did not answer within \d+ ms; whether the call took effect is unknown/],
    ["babbles", /did not answer within \d+ ms; whether the call took effect is unknown/],
    [
      "dies",
      /its process ended \(code 3\); it last said: panic: out of cheese; whether the call took effect is unknown/
    ],
    ["huge", /it sent a message of over 8 MiB; whether/],
    ["floods", /it sent over 2000 messages in 10 s that answer nothing; whether/],
    ["rambles", /it sent over 2000 messages in 10 s that answer nothing; whether/],
    ["wrong", /its answer can not be read: /]
  ]
  it.each(cases)("T3 C3 %s: one plain failure, and the next call is answered", async (tool, words) => {
    const { folder, options } = hostile("plain", {
      allow: [tool, "echo"],
      ...(tool === "hangs" || tool === "babbles" ? { timeoutMs: 3_000 } : {})
    })
    const source = await opened(options)
    const result = await call(source, `rogue__${tool}`)
    assert.isFalse(result.ok)
    assert.strictEqual(result.failure, "threw")
    assert.match(result.content, words)
    assert.isBelow(result.content.length, 1_000)
    // oxlint-disable-next-line no-control-regex -- it looks for control characters
    assert.notMatch(result.content, /[\u0000-\u0008\u001b]/)
    const next = await call(source, "rogue__echo", { text: "again" })
    assert.strictEqual(next.content, "echo: again")
    assert.deepStrictEqual(linesOf(folder, "calls"), [tool, "echo"])
  })

  it("C3 one that misses three answers in a row is started anew", async () => {
    const { folder, options } = hostile("plain", { allow: ["hangs", "pid"], timeoutMs: 2_000 })
    const source = await opened(options)
    for (let at = 0; at < 3; at++) assert.isFalse((await call(source, "rogue__hangs")).ok)
    const [first] = linesOf(folder, "starts")
    const { content } = await call(source, "rogue__pid")
    assert.match(content, /^\d+$/)
    assert.notStrictEqual(content, first)
    await until(() => !isAlive(Number(first)))
  })

  it("C2 one that does not come back is not asked at every call", async () => {
    const { folder, options } = hostile("once", { allow: ["dies", "echo"] })
    const source = await opened(options)
    assert.isFalse((await call(source, "rogue__dies")).ok)
    const failures: Array<string> = []
    for (let said = ""; !said.includes("is asked again in"); failures.push(said)) {
      const before = linesOf(folder, "starts").length
      said = (await call(source, "rogue__echo", { text: "back" })).content
      if (said.includes("is asked again in")) assert.lengthOf(linesOf(folder, "starts"), before)
      else assert.match(said, /can not be used: its process ended \(code 7\)/)
    }
    assert.isAtLeast(failures.length, 2)
    assert.match(failures.at(-1) ?? "", /it failed before and is asked again in \d+ s/)
    assert.deepStrictEqual(linesOf(folder, "calls"), ["dies"])
  })

  it("D3 it is given no model, no files and no person", async () => {
    const source = await opened(hostile("plain", { allow: ["begs"] }).options)
    const { content, ok } = await call(source, "rogue__begs")
    assert.isTrue(ok, content)
    const refusals = JSON.parse(content) as ReadonlyArray<{ readonly code: number }>
    assert.deepStrictEqual(
      refusals.map(({ code }) => code),
      [-32_601, -32_601, -32_601]
    )
  })
})

describe("what a server says", () => {
  it("P1 W1 W3 every kind of content is text: blobs by name, escape sequences and hidden characters gone", async () => {
    const source = await opened(hostile("plain", { allow: ["kinds", "paints"] }).options)
    assert.strictEqual(
      (await call(source, "rogue__kinds")).content,
      [
        "words",
        "[image image/png, 3 bytes, not shown]",
        "[audio audio/wav, 2 bytes, not shown]",
        "[resource file:///a.txt, text/plain]\ninside",
        "[resource file:///b.bin, application/x, 1 bytes, not shown]",
        "[link c: file:///c (7 bytes, far)]",
        '{"n":1,"deep":{"b":[true]}}'
      ].join("\n")
    )
    assert.strictEqual((await call(source, "rogue__paints")).content, "redevil link")
  })

  it("P2 W2 a long result is cut at a character, and says so", async () => {
    const source = await opened(hostile("plain", { allow: ["long"], maxResultBytes: 4_096 }).options)
    const { content, ok } = await call(source, "rogue__long")
    assert.isTrue(ok)
    assert.isAtMost(Buffer.byteLength(content), 4_096)
    assert.match(content, /^(ä€😀)+(ä€?)?\n\[Cut here: only the first \d+ of 270000 bytes are shown\.\]$/u)
  })

  it("T3 the key of the run goes along", async () => {
    const source = await opened(hostile("plain", { allow: ["meta"] }).options)
    const { content } = await call(source, "rogue__meta", {}, "desk/1.1.0")
    assert.deepInclude(JSON.parse(content), { "reverie/idempotencyKey": "desk/1.1.0" })
  })
})

describe("the process of a server", () => {
  it("S1 its environment has what is harmless and what was named, and no secret of this process", async () => {
    process.env["CANARY_API_KEY"] = "canary-3f1c"
    process.env["OPENAI_API_KEY"] ??= "canary-openai"
    const { options } = hostile("plain", { allow: ["env"] })
    const transport = { ...options.transport, env: { FOR_YOU: "given" } } as McpTransport
    const source = await opened({ ...options, transport })
    const { content } = await call(source, "rogue__env")
    const environment = JSON.parse(content) as Readonly<Record<string, string>>
    assert.strictEqual(environment["FOR_YOU"], "given")
    assert.isString(environment["PATH"])
    assert.notInclude(content, "canary")
    const known = new Set(["PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "FOR_YOU"])
    assert.isEmpty(Object.keys(environment).filter((name) => !known.has(name)))
  })

  it("X1 a secret that it was given is not told on, neither in a result nor in its last words", async () => {
    const { options } = hostile("plain", { allow: ["env", "dies"] })
    const env = { SERVICE_TOKEN: "out of cheese", FOR_YOU: "given" }
    const source = await opened({ ...options, transport: { ...options.transport, env } as McpTransport })
    assert.include((await call(source, "rogue__env")).content, '"SERVICE_TOKEN":"[secret]","FOR_YOU":"given"')
    assert.match((await call(source, "rogue__dies")).content, /it last said: panic: \[secret\]; whether/)
  })

  it("S2 one that ignores being told to go is gone after close, with what it started", async () => {
    const { folder, options } = hostile("stubborn")
    const source = await opened(options)
    const pids = linesOf(folder, "starts").map(Number)
    assert.lengthOf(pids, 2)
    assert.isTrue(pids.every(isAlive))
    await source.close()
    for (const pid of pids) await until(() => !isAlive(pid))
    assert.deepStrictEqual(linesOf(folder, "signals"), ["SIGTERM"])
    const after = await call(source, "rogue__echo", { text: "x" })
    assert.match(after.content, /MCP server rogue: it was closed/)
  })
})

type McpTransport = Parameters<typeof opened>[0]["transport"]
