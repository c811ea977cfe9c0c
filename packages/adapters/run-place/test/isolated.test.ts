import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ToolCall } from "@reverie/protocol"
import { defineTool, execute, RunPlace, type ToolResult } from "@reverie/tools"
import { later } from "@reverie/testkit/later"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { assert, describe, test } from "vitest"
import { nodeRunPlace } from "../src/index.ts"
import { endOf, optionsFrom } from "../src/isolated.ts"
import { MAX_LINE_BYTES, readingLines, saidIn } from "../src/lines.ts"

/** Far longer than a process takes to start on a busy machine. */
const PATIENCE_MILLIS = 30_000

const moduleOf = (name: string): URL => new URL(`./modules/${name}.ts`, import.meta.url)

const running = (args: object, { memoryMb = 64, module = "tool", timeoutMs = PATIENCE_MILLIS } = {}) => {
  const tool = defineTool({
    name: "probe",
    description: "For tests.",
    input: { type: "object" },
    isolate: { memoryMb },
    timeoutMs,
    run: moduleOf(module)
  })
  const call = { id: "1.1.0", tool: "probe", arguments: args } as unknown as ToolCall
  const address = { tenant: "harbor", assistant: "ada" } as never
  const effect = execute({ ...tool, validate: Effect.succeed }, call, { address, key: "the-key", hops: 0 })
  return Effect.provideService(effect, RunPlace, nodeRunPlace)
}

const run = (args: object, options?: Parameters<typeof running>[1]): Promise<ToolResult> =>
  Effect.runPromise(running(args, options))

const aFile = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "reverie-isolated-"))
  later(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, "said")
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

/** Waits for what another process does; the test's own time limit ends it. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

describe("a run in a process of its own", () => {
  test("gives what its function gave, as the same run would here", async () => {
    assert.deepStrictEqual(await run({ what: "text" }), { ok: true, content: "two words", sends: [] })
    assert.deepStrictEqual(await run({ what: "parts" }), {
      ok: true,
      content: "a berth",
      given: [{ type: "image", data: "AQID", mediaType: "image/png" }],
      sends: []
    })
    assert.strictEqual((await run({ what: "nothing" })).content, "ok")
    const about = JSON.parse((await run({ what: "about" })).content) as Record<string, unknown>
    assert.deepStrictEqual(
      { ...about, now: typeof about["now"] },
      { assistant: "ada", tenant: "harbor", call: "1.1.0", key: "the-key", now: "number" }
    )
    const long = await run({ what: "long" })
    assert.match(long.content, /\[Cut here: only the first 15880 of 100000 characters are shown\.\]$/)
  })

  test("takes arguments that are no JSON, and says which can not be handed over", async () => {
    const args = { what: "kinds", date: new Date(0), map: new Map([["a", 1]]), big: 1n, nested: { deep: [1, 2] } }
    assert.strictEqual((await run(args)).content, '[true,1,"bigint",[1,2]]')
    assert.match((await run({ what: "text", call: () => 1 })).content, /arguments can not be handed to another process/)
  })

  test.each([
    ["throws", /^The tool "probe" failed: no berth is free$/],
    ["function", /failed: its result can not be shown: it is a function, which is not JSON/],
    ["leave", /failed: its process ended with exit code 0 before it had answered$/],
    ["segv", /failed: its process was ended by SIGSEGV before it had answered$/],
    ["heap", /failed: its process (broke off, most likely because 64 MB|was ended: it used more than the 64 MB)/],
    ["buffers", /failed: its process was ended: it used more than the 64 MB of memory that it may$/],
    ["stray", /failed: a promise that it left without a handler was rejected: stray$/],
    ["timer", /failed: it threw in a timer or a callback: stray$/],
    ["send-nowhere", /failed: send needs the id of an assistant as its first argument/],
    ["records", /failed: run\.records is not there in an isolated tool/],
    ["reach", /failed: run\.reach is not there in an isolated tool/]
  ])("I2 I3 what it does by %s fails its call with the reason, and this process goes on", async (what, reason) => {
    const result = await run({ what })
    assert.strictEqual(result.failure, "threw")
    assert.match(result.content, reason)
  })

  test("sends what it wants to say, with its result", async () => {
    const { content, sends } = await run({ what: "send" })
    assert.strictEqual(content, "sent")
    assert.deepStrictEqual(
      sends.map(({ event, id }) => [String(id), event]),
      [
        ["the-key#0", { type: "message", text: "one" }],
        ["the-key#1", { type: "message", text: "two", wantsAnswer: true }]
      ]
    )
  })

  test("I1 its deadline ends it though it never yields", async () => {
    assert.strictEqual((await run({ what: "spin" }, { timeoutMs: 2_000 })).failure, "timeout")
  })

  test("I1 its deadline ends it though it waits for a program, and the program with it", async () => {
    const file = aFile()
    const blocking = run({ what: "block", file }, { timeoutMs: 5_000 })
    await until(() => existsSync(file) && readFileSync(file, "utf8") !== "")
    assert.strictEqual((await blocking).failure, "timeout")
    await until(() => !isAlive(Number(readFileSync(file, "utf8"))))
  })

  test("a small bound is enough for a small function", async () => {
    assert.strictEqual((await run({ what: "text" }, { memoryMb: 16 })).content, "two words")
  })

  test("I1 nothing of it is left when it was stopped from outside, and its signal was aborted before", async () => {
    const [spun, tidied] = [aFile(), aFile()]
    const spinning = Effect.runFork(running({ what: "pid", file: spun }))
    const tidying = Effect.runFork(running({ what: "tidy", file: tidied }))
    await until(() => existsSync(spun) && readFileSync(spun, "utf8") !== "" && existsSync(tidied))
    await Effect.runPromise(Fiber.interrupt(spinning))
    await Effect.runPromise(Fiber.interrupt(tidying))
    await until(() => !isAlive(Number(readFileSync(spun, "utf8"))))
    await until(() => readFileSync(tidied, "utf8") === "tidied")
  })

  test("says what is wrong with its module", async () => {
    assert.match(
      (await run({}, { module: "no-function" })).content,
      /no-function\.ts has no function as its default export$/
    )
    assert.match((await run({}, { module: "broken" })).content, /failed: this module breaks when it is loaded$/)
    assert.match((await run({}, { module: "absent" })).content, /Cannot find module .*absent\.ts/)
    assert.match(nodeRunPlace.flawOf(moduleOf("absent").href) ?? "", /^there is no module \/.*absent\.ts$/)
    assert.strictEqual(nodeRunPlace.flawOf(moduleOf("tool").href), undefined)
  })
})

describe("what is said to and fro", () => {
  test("L1 lines come whole, however the stream is cut, and one that grows too long ends the talk", () => {
    const lines: Array<string> = []
    let floods = 0
    const read = readingLines(
      (line) => lines.push(line),
      () => floods++
    )
    for (const chunk of ["a", "b\nc\n\nd", "", "e\n"]) read(Buffer.from(chunk))
    assert.deepStrictEqual([lines, floods], [["ab", "c", "", "de"], 0])
    read(Buffer.alloc(MAX_LINE_BYTES + 1, 97))
    assert.strictEqual(floods, 1)
  })

  test("L1 what has no known form is none", () => {
    for (const line of [
      "",
      "null",
      "[]",
      "{",
      '{"type":"done"}',
      '{"type":"send","to":1,"text":"x"}',
      '{"type":"x"}'
    ]) {
      assert.strictEqual(saidIn(line), undefined)
    }
    assert.deepStrictEqual(saidIn('{"type":"done","text":"x","more":1}'), { type: "done", text: "x" })
  })

  test("I3 an end without an answer is a sentence", () => {
    const bound = { memoryMb: 64 }
    assert.match(endOf(bound, "memory\n", null, "SIGKILL"), /used more than the 64 MB/)
    assert.match(endOf(bound, "", 134, null), /64 MB of memory were not enough/)
    assert.match(endOf(bound, "time\n", null, "SIGKILL"), /at the deadline/)
    assert.match(endOf(bound, "", 7, null), /exit code 7/)
  })

  test("what loads modules here loads them there, and nothing else is handed on", () => {
    const own = [
      "--inspect=9229",
      "--import",
      "tsx",
      "--max-old-space-size=9000",
      "--conditions=development",
      "-e",
      "1"
    ]
    assert.deepStrictEqual(optionsFrom(own), ["--import", "tsx", "--conditions=development"])
  })
})
