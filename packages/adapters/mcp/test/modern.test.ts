// The protocol of 2026-07-28, spoken by the official server library that refuses anything older.

import { spawn } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { McpServerOptions } from "../src/index.ts"
import { call, hostile, later, linesOf, MODERN, opened, until } from "./rig.ts"

const overHttp = async (): Promise<McpServerOptions["transport"]> => {
  const child = spawn(process.execPath, [MODERN, "http"], { stdio: ["ignore", "pipe", "inherit"] })
  later(() => void child.kill("SIGKILL"))
  const port = await new Promise<number>((resolve) =>
    child.stdout.once("data", (said: Buffer) => resolve(Number(said)))
  )
  return { url: `http://127.0.0.1:${port}/mcp`, allowPrivate: [`127.0.0.1:${port}`] }
}

const ways: ReadonlyArray<readonly [string, () => Promise<McpServerOptions["transport"]>]> = [
  ["stdio", async () => ({ command: process.execPath, args: [MODERN] })],
  ["Streamable HTTP", overHttp]
]

describe.each(ways)("a server of 2026-07-28 over %s", (_, reach) => {
  const options = async (allow: McpServerOptions["allow"]): Promise<McpServerOptions> => ({
    name: "modern",
    transport: await reach(),
    allow,
    startMs: 60_000
  })

  it("D1 it is spoken to in its own protocol, and calls are answered", async () => {
    const source = await opened(await options(["echo"]))
    assert.strictEqual((await call(source, "modern__echo", { text: "now" })).content, "now")
  })

  it("D3 it learns that no one can be asked here, and the call ends", async () => {
    const source = await opened(await options(["asks", "echo"]))
    const result = await call(source, "modern__asks")
    assert.isFalse(result.ok)
    assert.match(result.content, /it refused: .*client capabilities do not declare/)
    assert.strictEqual((await call(source, "modern__echo", { text: "on" })).content, "on")
  })

  it("T3 the key of the run and the trace it belongs to go along", async () => {
    const source = await opened(await options(["meta"]))
    const [tool] = source.tools
    assert.isDefined(tool)
    const run = { key: "desk/2.1.0", signal: new AbortController().signal } as Parameters<typeof tool.effect>[1]
    const traced = Effect.gen(function* () {
      const span = yield* Effect.currentSpan
      return { span, said: yield* tool.effect({}, run) }
    }).pipe(Effect.withSpan("tools.execute"))
    const { said, span } = await Effect.runPromise(traced)
    const meta = JSON.parse(String(said)) as Readonly<Record<string, unknown>>
    assert.strictEqual(meta["reverie/idempotencyKey"], "desk/2.1.0")
    assert.strictEqual(meta["traceparent"], `00-${span.traceId}-${span.spanId}-01`)
  })
})

describe("a server of 2026-07-28 that asks all the same", () => {
  it("D3 gets no answer to its question, and the call ends at once", async () => {
    const { folder, options } = hostile("newer", { allow: ["begs", "echo"] })
    const source = await opened(options)
    const result = await call(source, "rogue__begs")
    assert.isFalse(result.ok)
    assert.match(result.content, /it asks for something in return .*, and gets nothing here/)
    assert.strictEqual((await call(source, "rogue__echo", { text: "on" })).content, "echo: on")
    assert.deepStrictEqual(linesOf(folder, "calls"), ["begs", "echo"])
  })
})

describe("a change of the list in the protocol of 2026-07-28", () => {
  it("T2 D2 is heard, and the changed tool is refused", async () => {
    const transport = { command: process.execPath, args: [MODERN] }
    const source = await opened({ name: "modern", transport, allow: ["echo", "changes"], startMs: 60_000 })
    assert.isTrue((await call(source, "modern__changes")).ok)
    let said = ""
    // The notice travels beside the answer, and may come after it.
    const heard = async () => (said = (await call(source, "modern__echo", { text: "x" })).content) !== "x"
    while (!(await heard())) await until(() => true)
    assert.match(said, /changed the description of "echo" since it was allowed/)
  })
})
