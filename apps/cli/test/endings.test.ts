// How commands end that something comes in the way of: signals, readers that leave, a second process, a kill, a model that
// is away, refuses or lies. Whatever it is, what was accepted is kept.

import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type HostileModeName, startModelServer } from "@reverie/testkit/model-server"
import { assert, describe, test } from "vitest"
import { assertFailure, begin, fixture, jsonOf, run, temporary } from "./command-line.ts"

const fleet = ["--fleet", fixture("fleet.ts")]

const letters = (count: number): string =>
  Array.from({ length: count }, (_, index) => JSON.stringify({ id: `${index}`, text: `Number ${index}` })).join("\n")

const eventsIn = async (directory: string, count: number): Promise<string> => {
  const file = join(directory, "events.jsonl")
  await writeFile(file, letters(count))
  return file
}

const serverOf = async (mode: HostileModeName) => {
  const server = await startModelServer({ mode })
  return {
    server,
    env: { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "sk-canary-4711" },
    [Symbol.asyncDispose]: () => server.close()
  }
}

describe.concurrent("signals", () => {
  test("S1 130 for SIGINT in the middle of work; the same command goes on", async () => {
    await using directory = await temporary()
    await using hanging = await serverOf("headers-hang")
    const args = ["run", ...fleet, "--events", await eventsIn(directory.path, 3), "--data", directory.path, "--exit"]
    const asked = hanging.server.nextRequest()
    const { child, ended } = begin([...args, "--json"], { env: hanging.env })
    await asked
    child.kill("SIGINT")
    assertFailure(await ended, 130, "interrupted", "Ctrl-C")
    const after = jsonOf(await run([...args, "--json"]))
    assert.deepStrictEqual([after["accepted"], after["duplicates"], after["ticks"]], [0, 3, 3])
  })

  test("S1 143 for SIGTERM, and a closed input ends nothing", async () => {
    await using directory = await temporary()
    const { child, ended, saying } = begin(["dev", ...fleet, "--data", directory.path, "--no-page"])
    await saying("Stays up")
    child.kill("SIGTERM")
    const { code, stderr } = await ended
    assert.strictEqual(code, 143)
    assert.include(stderr, "reverie: stopped by SIGTERM")
  })

  test("S2 a Ctrl-C ends the waiting for an answer, the next one the chat", async () => {
    await using directory = await temporary()
    await using hanging = await serverOf("headers-hang")
    const asked = hanging.server.nextRequest()
    const args = ["chat", "clerk", ...fleet, "--data", directory.path]
    const { child, ended, saying } = begin(args, { env: hanging.env, input: true })
    child.stdin?.write("hello\n")
    await asked
    child.kill("SIGINT")
    await saying("goes on without us")
    child.kill("SIGINT")
    assert.strictEqual((await ended).code, 130)
    child.stdin?.end()
  })

  test("O2 a reader that leaves ends the command quietly", async () => {
    await using directory = await temporary()
    const args = ["run", ...fleet, "--events", await eventsIn(directory.path, 400), "--data", directory.path, "--jsonl"]
    const { child, ended } = begin(args)
    await once(child.stdout ?? child, "data")
    child.stdout?.destroy()
    const { code, stderr } = await ended
    assert.strictEqual(code, 0)
    assert.notInclude(stderr, "EPIPE")
    assert.notInclude(stderr, "reverie:")
  })
})

describe.concurrent("the end", () => {
  const env = { NODE_OPTIONS: `--import=${fixture("called-exit.ts")}` }

  // A call of process.exit waits for threads that may wait for the caller: a process in a thousand stands still for good.
  test("a command leaves nothing open, and ends by itself", async () => {
    await using directory = await temporary()
    const at = ["--data", directory.path]
    const work = await run(["run", ...fleet, ...at, "--events", await eventsIn(directory.path, 3), "--exit"], { env })
    const look = await run(["agents", "ls", ...at], { env })
    const wrong = await run(["agents", "lst"], { env })
    const server = begin(["serve", ...fleet, ...at, "--port", "0", "--no-page"], { env })
    await server.saying("Ctrl-C ends it")
    const asked = await run(["agents", "ls", ...at], { env })
    server.child.kill("SIGTERM")
    const served = await server.ended
    assert.deepStrictEqual([work.code, look.code, wrong.code, asked.code, served.code], [0, 0, 2, 0, 143])
    for (const { stderr } of [work, look, wrong, asked, served]) assert.notInclude(stderr, "process.exit was called")
  })
})

describe.concurrent("one data directory", () => {
  test("5 for a second process that would write, while A1 others may look", async () => {
    await using directory = await temporary()
    const at = ["--data", directory.path]
    const first = begin(["dev", ...fleet, ...at, "--no-page"])
    await first.saying("Stays up")
    const pid = String(first.child.pid)
    assertFailure(await run(["run", ...fleet, ...at, "--exit", "--json"]), 5, "data-in-use", pid)
    const told = jsonOf(await run(["agents", "send", "clerk", "x", ...at, "--json"]))
    assert.strictEqual(
      told["receipt"],
      "accepted",
      `the server that owns the directory takes orders: ${JSON.stringify(told)}`
    )
    assert.strictEqual(
      (jsonOf(await run(["agents", "ls", ...at, "--json"]))["assistants"] as ReadonlyArray<unknown>).length,
      2
    )
    assert.include((await run(["doctor", ...at])).stdout, `process ${pid} works on it`)
    first.child.kill("SIGTERM")
    assert.strictEqual((await first.ended).code, 143)
  })

  test("killed in the middle and run again it comes to the same end", async () => {
    await using directory = await temporary()
    await using undisturbed = await temporary()
    const events = await eventsIn(directory.path, 400)
    const args = ["run", ...fleet, "--events", events, "--exit", "--json"]
    const { child, ended, saying } = begin([...args, "--data", directory.path])
    await saying("100 runs")
    child.kill("SIGKILL")
    assert.strictEqual((await ended).stdout, "")
    const after = jsonOf(await run([...args, "--data", directory.path]))
    const whole = jsonOf(await run([...args, "--data", undisturbed.path]))
    assert.strictEqual(Number(after["accepted"]) + Number(after["duplicates"]), 400)
    // Another process, another claim: the epoch tells of it.
    const lived = (report: Readonly<Record<string, unknown>>) =>
      (report["assistants"] as ReadonlyArray<object>).map((view) => ({ ...view, epoch: 0 }))
    assert.deepStrictEqual(lived(after), lived(whole))
    assert.deepStrictEqual(after["total"], whole["total"])
    assert.isAtMost(Number(after["ticks"]), 300)
  })
})

describe.concurrent("models", () => {
  test("6 when no one listens, with the server's name and within its time; the same command goes on", async () => {
    await using directory = await temporary()
    const args = ["run", ...fleet, "--events", await eventsIn(directory.path, 3), "--data", directory.path, "--exit"]
    const env = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" }
    const away = await run([...args, "--json", "--wait-model", "1"], { env })
    assertFailure(away, 6, "model-unavailable", "the model at 127.0.0.1:9 has not answered since")
    assert.deepStrictEqual([jsonOf(away)["accepted"], jsonOf(away)["ticks"]], [3, 0])
    const again = await run([...args, "--wait-model", "0"], { env })
    assert.strictEqual(again.code, 6)
    assert.match(again.stderr, /the model at 127\.0\.0\.1:9 .*ECONNREFUSED.* waits for 0 s at most/)
    const listed = await run(["agents", "ls", "--data", directory.path])
    assert.match(listed.stdout, /the model at 127\.0\.0\.1:9 .*1 assistant waits/)
    const back = await run([...args, "--json"])
    assert.strictEqual(back.code, 0, back.stderr)
    assert.deepStrictEqual([jsonOf(back)["duplicates"], jsonOf(back)["ticks"]], [3, 3])
  })

  test("3 when the key is refused, and it is shown to no one", async () => {
    await using directory = await temporary()
    await using refusing = await serverOf("unauthorized")
    const args = ["run", ...fleet, "--data", directory.path, "-p", "hello", "--json"]
    const said = await run(args, { env: refusing.env })
    assertFailure(said, 3, "model-denied", "clerk is halted")
    assert.notInclude(`${said.stdout}${said.stderr}`, "canary")
  })

  const lies: ReadonlyArray<readonly [HostileModeName, number, string]> = [
    ["html-with-200", 6, "model-unavailable"],
    ["content-null", 1, "answer-failed"],
    ["bad-request", 1, "answer-failed"],
    ["stream-cut-call", 6, "model-unavailable"]
  ]
  for (const [mode, exit, code] of lies) {
    test(`${exit} for a model server in the mode ${mode}`, async () => {
      await using directory = await temporary()
      await using lying = await serverOf(mode)
      const args = ["run", ...fleet, "--data", directory.path, "-p", "hello", "--json", "--wait-model", "1"]
      const says = code === "model-unavailable" ? new URL(lying.server.url).host : "clerk"
      assertFailure(await run(args, { env: lying.env }), exit, code, says)
    })
  }

  test("7 when time runs out", async () => {
    await using directory = await temporary()
    await using hanging = await serverOf("headers-hang")
    const args = ["run", ...fleet, "--data", directory.path, "-p", "hello", "--timeout", "0.5", "--json"]
    assertFailure(await run(args, { env: hanging.env }), 7, "timeout", "0.5 s")
  })
})
