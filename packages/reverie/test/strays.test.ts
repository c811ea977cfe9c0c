import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { defineTool, FleetDefinitionInvalid } from "../src/index.ts"
import { calling, failureOf, openFleet } from "./rig.ts"

const PROGRAM = join(import.meta.dirname, "children/straying.ts")

const running = (...args: ReadonlyArray<string>) => {
  const options = ["--disable-warning=ExperimentalWarning", PROGRAM, ...args]
  const { status, stderr, stdout } = spawnSync(process.execPath, options, { encoding: "utf8" })
  return { code: status, said: stdout.trim().split("\n"), logged: stderr }
}

const REJECTED = 'The tool "stray" failed: a promise that it left without a handler was rejected: stray'

describe("a fleet in a program of someone's own", () => {
  it("P1 what a tool leaves behind or ends fails that call, and the program goes on", () => {
    assert.deepStrictEqual(running("reject"), { code: 0, said: [REJECTED, "closed", "ended"], logged: "" })
    const { code, said } = running("exit")
    assert.deepStrictEqual([code, said.slice(1)], [0, ["closed", "ended"]])
    assert.match(
      said[0] ?? "",
      /"stray" failed: it called process\.exit\(0\), which would end the process for everyone/
    )
  })

  it("P2 what comes after the call is one line that names the tool and the assistant", () => {
    const { code, logged, said } = running("late")
    assert.deepStrictEqual([code, said], [0, ["ok", "closed", "ended"]])
    assert.match(
      logged,
      /^reverie: the call 1\.1\.0 of the tool "stray" of default\/desk had ended when a promise .*: stray\n$/
    )
  })

  it("P3 the program's own errors end it as ever, while the fleet is open and after", () => {
    for (const [own, message] of [
      ["rejects", "the program's own"],
      ["after", "after the fleet"]
    ] as const) {
      const { code, logged, said } = running("nothing", own)
      assert.deepStrictEqual([code, said[0]], [1, "ok"])
      assert.include(logged, `Error: ${message}`)
    }
  })

  it("P3 handlers of the program hear of its own errors, and of none of a tool", () => {
    assert.deepStrictEqual(running("reject", "listens").said, [REJECTED, "closed", "ended"])
  })

  it("P3 a program that ends in answer to what a tool has brought about does end", () => {
    assert.strictEqual(running("send", "leaves").code, 5)
  })
})

describe("isolated tools of a fleet", () => {
  it("I3 a module that is not there is found out before anything is opened", async () => {
    const tools = [
      defineTool({
        name: "absent",
        description: "Is not there.",
        isolate: true,
        run: new URL("./absent.ts", import.meta.url)
      })
    ]
    const failure = await failureOf(openFleet({ tools }))
    assert.instanceOf(failure, FleetDefinitionInvalid)
    assert.match(failure.message, /^tool "absent": there is no module \/.*\/absent\.ts$/)
  })

  it("P4 run elsewhere, and their results come back", async () => {
    const tools = [
      defineTool({
        name: "where",
        description: "Says where it runs.",
        isolate: { memoryMb: 64 },
        run: new URL("./children/where.ts", import.meta.url)
      })
    ]
    await using fleet = await openFleet({ tools, says: [calling("where"), { text: "Done." }] })
    await fleet.answer("desk", "Go.")
    const messages = (await fleet.history.entries("desk")).flatMap(({ entry }) => entry.messages)
    const told = messages.find(({ role }) => role === "tool")
    assert.match(told?.content ?? "", /^desk, in process \d+$/)
    assert.notInclude(told?.content, String(process.pid))
  })
})
