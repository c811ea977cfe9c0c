// What the commands do when nothing is in their way: reports, answers, orders, chats.

import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, test } from "vitest"
import { assertFailure, begin, fixture, jsonOf, run, temporary } from "./command-line.ts"

const fleet = ["--fleet", fixture("fleet.ts")]

/** A day of the clerk: plain words, a tool, an approval with its decision, something for the colleague. */
const day = [
  { id: "1", from: "ann", text: "Good morning" },
  { id: "2", text: "/stamp paper=lease" },
  { id: "3", to: "clara", text: "/stamp paper=will", note: "fields that no one knows are passed over" },
  { id: "4", text: "/sign contract=lease" },
  { id: "5", to: "clerk", event: { type: "approval", decision: "approved" } },
  { id: "1", from: "ann", text: "Good morning" },
  { id: "6", text: "Look", image: "a cat on a contract" }
]

const written = async (directory: string, lines: ReadonlyArray<object>): Promise<string> => {
  const file = join(directory, "events.jsonl")
  await writeFile(file, `\uFEFF${lines.map((line) => JSON.stringify(line)).join("\n\n")}\n`)
  return file
}

const countsOf = ({
  accepted,
  committed,
  deadLetters,
  duplicates,
  iterations,
  ticks,
  toolCalls
}: Readonly<Record<string, unknown>>) => ({
  accepted,
  duplicates,
  committed,
  deadLetters,
  ticks,
  iterations,
  toolCalls
})

describe.concurrent("run", () => {
  test("R1 reports what it did, and the second time that nothing is new", async () => {
    await using directory = await temporary()
    const events = await written(directory.path, day)
    const args = ["run", ...fleet, "--events", events, "--data", join(directory.path, "data"), "--exit"]
    const first = await run([...args, "--json"])
    assert.strictEqual(first.code, 0)
    const report = jsonOf(first)
    assert.deepStrictEqual(countsOf(report), {
      accepted: 6,
      duplicates: 1,
      committed: 6,
      deadLetters: 0,
      ticks: 5,
      iterations: 8,
      toolCalls: 3
    })
    assert.isNumber(report["elapsedMs"])
    assert.deepStrictEqual(report["total"], { accepted: 6, committed: 6, deadLetters: 0, ticks: 5 })
    const assistants = report["assistants"] as ReadonlyArray<Readonly<Record<string, unknown>>>
    assert.deepStrictEqual(
      assistants.map(({ id, state, ticks, waiting }) => [id, state, ticks, waiting]),
      [
        ["clara", "awake.idle", 1, 0],
        ["clerk", "awake.idle", 4, 0]
      ]
    )
    assert.include(first.stderr, "Stamped lease")

    const again = await run(args)
    assert.strictEqual(again.code, 0)
    assert.include(
      again.stdout,
      "All 7 events had been received before: nothing new happened.\n2 assistants, 5 runs in all"
    )
    assert.match(again.stdout, /clerk +awake\.idle +4 +0 /)
  })

  test("events come from standard input, and every notice as a line with --jsonl", async () => {
    await using directory = await temporary()
    const input = day.map((line) => JSON.stringify(line)).join("\n")
    const args = ["run", ...fleet, "--events", "-", "--data", directory.path, "--exit", "--jsonl"]
    const { code, stdout } = await run(args, { input })
    assert.strictEqual(code, 0)
    const types = stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly type: string }).type)
    assert.strictEqual(types.at(-1), "report")
    assert.strictEqual(types.filter((type) => type === "tick-ended").length, 5)
  })

  test("-p prints the reply alone; P1 P3 nothing that a tool said acts on the terminal", async () => {
    await using directory = await temporary()
    const args = ["run", ...fleet, "--data", directory.path, "-p", "/paint {}"]
    const { code, stderr, stdout } = await run(args)
    assert.strictEqual(code, 0)
    assert.strictEqual(stdout, "red  bell  line over gnp.exe zerowidth.\n")
    const json = await run([...args, "--json"])
    const said = `${stdout}${stderr}${json.stdout}${json.stderr}`
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    assert.notMatch(said, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]/)
    assert.include(String(jsonOf(json)["reply"]), "\u001b[31mred", "JSON is data and keeps what was said")
  })
})

describe.concurrent("agents", () => {
  test("orders are followed, and seen by ls and inspect", async () => {
    await using directory = await temporary()
    const at = ["--data", directory.path, "--json"]
    const order = async (...args: ReadonlyArray<string>) => {
      const said = await run(["agents", ...args, ...fleet, ...at])
      assert.strictEqual(said.code, 0, said.stderr)
      return jsonOf(said)["assistant"] as Readonly<Record<string, unknown>>
    }
    assert.strictEqual(
      (await order("send", "cle", "/sign contract=lease", "--id", "a"))["state"],
      "awake.awaitingApproval"
    )
    assert.strictEqual((await order("halt", "clerk", "lunch"))["haltReason"], "lunch")
    assert.strictEqual((await order("resume", "clerk"))["state"], "awake.awaitingApproval")
    const looked = await run(["agents", "inspect", "clerk", "--data", directory.path])
    assert.include(looked.stdout, `sign {"contract":"lease"}`)
    assert.strictEqual((await order("deny", "clerk"))["state"], "awake.idle")
    const inspected = jsonOf(await run(["agents", "inspect", "clerk", ...at]))
    assert.include(JSON.stringify(inspected["entries"]), "A person denied this call.")
    const listed = await run(["agents", "ls", "--data", directory.path])
    assert.match(listed.stdout, /clara +awake\.idle +0 +0 /)
    assert.match(listed.stdout, /clerk +awake\.idle +1 +0 /)
  })
})

describe.concurrent("chat", () => {
  test("C1 C2 piped lines are asked one after the other, commands are heard, the end of the input ends it", async () => {
    await using directory = await temporary()
    const lines = ["/state", "/stamp paper=lease", "who are you?", "/to clara", "/help"]
    const args = ["chat", "clerk", ...fleet, "--data", directory.path]
    const { code, stderr, stdout } = await run(args, { input: `${lines.join("\n")}\n` })
    assert.strictEqual(code, 0, stderr)
    assert.include(stdout, "clerk      awake.idle")
    assert.include(stdout, "/approve [id]")
    assert.isBelow(stdout.indexOf("Stamped lease"), stdout.indexOf("not a language model"))
  })

  test("C2 C4 a command that is piped in waits for the answer before it, and a question is for whom it was asked", async () => {
    await using directory = await temporary()
    const lines = [
      "/stamp paper=lease",
      "/state",
      "/sign contract=hire",
      "/approve",
      "/cost",
      "/to clara",
      "/stamp paper=will"
    ]
    const at = ["--data", directory.path]
    const { code, stderr, stdout } = await run(["chat", "clerk", ...fleet, ...at], { input: `${lines.join("\n")}\n` })
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /Stamped lease[^]*clerk +awake\.idle +1 [^]*Signed hire[^]* calls[^]*Stamped will/)
    const heard = await Promise.all(["clerk", "clara"].map((id) => run(["agents", "inspect", id, ...at])))
    assert.deepStrictEqual(
      heard.map((said) => [...said.stdout.matchAll(/person: (.*)/g)].map(([, text]) => text)),
      [["/stamp paper=lease", "/sign contract=hire"], ["/stamp paper=will"]]
    )
  })

  test("C3 a mistyped command is an error and no message; a path, a call and what begins with two slashes are messages", async () => {
    await using directory = await temporary()
    const at = [...fleet, "--data", directory.path]
    const lines = ["/stat", "/hepl", "/to zoe", "/foo bar", "/stamp paper=lease", "//foo bar", "/etc/hosts is gone"]
    const { code, stderr, stdout } = await run(["chat", "clerk", ...at], { input: `${lines.join("\n")}\n` })
    assert.strictEqual(code, 0, stderr)
    assert.match(
      stderr,
      /there is no command "\/stat"; there are \/state, .*; did you mean "\/state"\?; \/\/stat says it as it is/
    )
    assert.match(stderr, /there is no command "\/hepl"; .*; did you mean "\/help"\?/)
    assert.include(stderr, "there is no assistant zoe\n/to ASSISTANT: there are clara, clerk\n")
    assert.match(stderr, /there is no command "\/foo"; /)
    assert.include(stdout, "Stamped lease")
    const inspected = jsonOf(await run(["agents", "inspect", "clerk", "--data", directory.path, "--json"]))
    const entries = inspected["entries"] as ReadonlyArray<{
      readonly messages: ReadonlyArray<{ role: string; content: string }>
    }>
    const heard = entries.flatMap(({ messages }) => messages.filter(({ role }) => role === "user"))
    assert.deepStrictEqual(
      heard.map(({ content }) => content),
      ["/stamp paper=lease", "/foo bar", "/etc/hosts is gone"]
    )
  })

  test("an approval is shown with its arguments and decided in the chat", async () => {
    await using directory = await temporary()
    const { child, ended, saying } = begin(["chat", "clerk", ...fleet, "--data", directory.path], { input: true })
    child.stdin?.write("/sign contract=lease\n")
    await saying(`sign {"contract":"lease"}`)
    child.stdin?.write("/approve\n")
    await saying("Signed lease")
    child.stdin?.write("/quit\n")
    assert.strictEqual((await ended).code, 0)
    child.stdin?.end()
  })

  test("the answers of the partner in the chat are printed once, also after /to", async () => {
    await using directory = await temporary()
    const at = [...fleet, "--data", directory.path, "--no-server"]
    const { child, ended, said, saying } = begin(["dev", ...at], { input: true })
    await saying("Stays up")
    child.stdin?.write("/to clara\n/stamp paper=will\n")
    await saying("Stamped will")
    child.stdin?.write("/stamp paper=lease\n")
    await saying("Stamped lease")
    assert.deepStrictEqual(
      said()
        .split("\n")
        .filter((line) => /^cl(ara|erk) /.test(line)),
      []
    )
    child.kill("SIGTERM")
    await ended
  })

  test("one that stays up says how many calls wait, and names none of them as a failure", async () => {
    await using directory = await temporary()
    const at = [...fleet, "--data", directory.path]
    await run(["agents", "send", "clerk", "/sign contract=lease", ...at])
    const { child, ended, said, saying } = begin(["dev", ...at, "--no-server"], { input: true })
    await saying("needs you: 1 approval")
    await saying("Stays up")
    assert.notInclude(said(), "waits for approval")
    child.kill("SIGTERM")
    await ended
  })

  test("-m asks one thing", async () => {
    await using directory = await temporary()
    const said = await run(["chat", "clara", ...fleet, "--data", directory.path, "-m", "/stamp paper=will", "--json"])
    const { agent, outcome, reply } = jsonOf(said)
    assert.deepStrictEqual(
      { agent, outcome, reply },
      { agent: "clara", outcome: "answered", reply: "Stamped will default/clara/1.1.0." }
    )
  })
})

describe.concurrent("an answer in a form", () => {
  const formOf = async (directory: string, code: object): Promise<string> => {
    const file = join(directory, "form.json")
    await writeFile(file, JSON.stringify({ type: "object", properties: { code }, required: ["code"] }))
    return file
  }

  test("--form prints its JSON alone, by run -p and chat -m, in process and at a server", async () => {
    await using directory = await temporary()
    const data = ["--data", join(directory.path, "data")]
    const form = ["--form", await formOf(directory.path, { type: "number" })]
    const asked = await run(["run", ...fleet, ...data, "-p", "My code is 17.", ...form])
    assert.deepInclude(asked, { code: 0, stdout: '{"code":17}\n' })
    const json = jsonOf(await run(["chat", "clerk", ...fleet, ...data, "-m", "My code is 18.", ...form, "--json"]))
    assert.deepInclude(json, { agent: "clerk", outcome: "answered", output: { code: 18 } })

    const server = begin(["serve", ...fleet, ...data, "--model", "offline", "--port", "0"])
    await server.saying("Ctrl-C ends it")
    const url = /http:\/\/\S+/.exec(server.said())?.[0] ?? ""
    const there = await run(["chat", "clerk", "--url", url, "-m", "My code is 19.", ...form])
    assert.deepInclude(there, { code: 0, stdout: '{"code":19}\n' })
    const refused = await run([
      "chat",
      "clerk",
      "--url",
      url,
      "-m",
      "x",
      "--json",
      "--form",
      await formOf(directory.path, [])
    ])
    assert.strictEqual(refused.code, 2, refused.stderr)
    server.child.kill("SIGINT")
    await server.ended
  })

  test("one that never fits fails with what does not, and prints nothing that could be taken for it", async () => {
    await using directory = await temporary()
    const form = ["--form", await formOf(directory.path, { type: "string", pattern: "^[a-f]{40}$" })]
    const args = ["run", ...fleet, "--data", join(directory.path, "data"), "-p", "My code is 17.", ...form]
    const { code, stderr, stdout } = await run(args)
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.include(
      stderr,
      "clerk was not done: its answer has another form than it must have: code: must match pattern"
    )
    assertFailure(await run([...args, "--json"]), 1, "answer-failed", "another form than it must have")
  })

  test("of a definition is printed likewise; a chat at a server goes on after one that never fits", async () => {
    await using directory = await temporary()
    const at = ["--fleet", fixture("formed-fleet.ts"), "--data", directory.path]
    const asked = await run(["run", ...at, "-p", "My code is 17."])
    assert.deepInclude(asked, { code: 0, stdout: '{"code":17}\n' })
    const server = begin(["serve", ...at, "--model", "offline", "--port", "0"])
    await server.saying("Ctrl-C ends it")
    const url = /http:\/\/\S+/.exec(server.said())?.[0] ?? ""
    const { code, stderr, stdout } = await run(["chat", "clara", "--url", url], {
      input: "My code is 17.\n/to clerk\nMy code is 18.\n"
    })
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "not done: its answer has another form than it must have: code: must match pattern")
    assert.include(stdout, '{"code":18}')
    server.child.kill("SIGINT")
    await server.ended
  })
})

describe.concurrent("version, help and colour", () => {
  test("P1 version and help", async () => {
    for (const args of [["--version"], ["version"]]) {
      const said = await run(args)
      assert.deepStrictEqual({ ...said, stderr: said.stderr }, { code: 0, stdout: "0.1.0\n", stderr: "" })
    }
    assert.strictEqual(jsonOf(await run(["version", "--json"]))["version"], "0.1.0")
    const help = await run(["--help"])
    assert.strictEqual(help.code, 0)
    for (const command of ["start", "run", "dev", "chat", "agents", "doctor"]) assert.include(help.stdout, command)
  })

  test("O3 colour only when asked for, and never against NO_COLOR", async () => {
    const escape = "\u001b["
    assert.notInclude((await run(["strat"])).stderr, escape)
    assert.include((await run(["strat"], { env: { FORCE_COLOR: "1" } })).stderr, escape)
    assert.notInclude((await run(["strat"], { env: { FORCE_COLOR: "1", NO_COLOR: "1" } })).stderr, escape)
  })
})
