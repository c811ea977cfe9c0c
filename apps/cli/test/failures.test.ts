// Every command, and each way in which it can not do what it was asked: the exit code, one JSON object, one line.

import { mkdir, readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, test } from "vitest"
import { assertFailure, fixture, jsonOf, run, temporary } from "./command-line.ts"

const fleet = ["--fleet", fixture("fleet.ts")]

interface Case {
  readonly name: string
  readonly args: (directory: string) => ReadonlyArray<string>
  readonly exit: number
  readonly code: string
  readonly words: string
}

const cases: ReadonlyArray<Case> = [
  { name: "an unknown command", args: () => ["strat"], exit: 2, code: "usage", words: "Did you mean start?" },
  {
    name: "a command that stands in a group",
    args: () => ["halt", "desk"],
    exit: 2,
    code: "usage",
    words: "Did you mean reverie agents halt?"
  },
  {
    name: "a command by its usual name",
    args: () => ["agents", "show", "desk"],
    exit: 2,
    code: "usage",
    words: "Did you mean reverie agents inspect?"
  },
  { name: "an unknown flag", args: () => ["start", "--exti"], exit: 2, code: "usage", words: "Did you mean --exit?" },
  { name: "a missing option", args: () => ["run"], exit: 2, code: "usage", words: "--fleet" },
  { name: "a missing argument", args: () => ["chat", ...fleet], exit: 2, code: "usage", words: "assistant" },
  {
    name: "a value of the wrong kind",
    args: () => ["run", ...fleet, "--timeout", "soon"],
    exit: 2,
    code: "usage",
    words: "seconds"
  },
  {
    name: "a choice that is none",
    args: () => ["dev", ...fleet, "--model", "gpt"],
    exit: 2,
    code: "usage",
    words: "env, offline"
  },
  {
    name: "options that exclude each other",
    args: () => ["run", ...fleet, "-p", "x", "--events", "y"],
    exit: 2,
    code: "usage",
    words: "exclude"
  },
  {
    name: "a form that is not there",
    args: (at) => ["run", ...fleet, "--data", join(at, "data"), "-p", "x", "--form", join(at, "none.json")],
    exit: 4,
    code: "no-such-file",
    words: "form"
  },
  {
    name: "a form that is none",
    args: (at) => ["run", ...fleet, "--data", join(at, "data"), "-p", "x", "--form", fixture("fleet.ts")],
    exit: 2,
    code: "usage",
    words: "is no JSON Schema"
  },
  {
    name: "a form of many events",
    args: (at) => ["run", ...fleet, "--data", join(at, "data"), "--events", "y", "--form", fixture("fleet.ts")],
    exit: 2,
    code: "usage",
    words: "--form"
  },
  {
    name: "a fleet file that is not there",
    args: (at) => ["run", "--fleet", join(at, "none.ts")],
    exit: 4,
    code: "no-such-file",
    words: "fleet file"
  },
  {
    name: "a file that exports no fleet",
    args: () => ["run", "--fleet", fixture("no-fleet.ts"), "--exit"],
    exit: 2,
    code: "fleet-invalid",
    words: "export"
  },
  {
    name: "a fleet that is defined wrongly",
    args: () => ["run", "--fleet", fixture("wrong-fleet.ts"), "--exit"],
    exit: 2,
    code: "fleet-invalid",
    words: "same id"
  },
  {
    name: "an events file that is not there",
    args: (at) => ["run", ...fleet, "--events", join(at, "none.jsonl"), "--exit"],
    exit: 4,
    code: "no-such-file",
    words: "events file"
  },
  {
    name: "a prompt for a stranger",
    args: () => ["run", ...fleet, "-p", "x", "--agent", "nobody"],
    exit: 4,
    code: "unknown-assistant",
    words: "nobody"
  },
  {
    name: "a chat with a stranger",
    args: () => ["chat", "nobody", ...fleet, "-m", "x"],
    exit: 4,
    code: "unknown-assistant",
    words: "nobody"
  },
  {
    name: "a list of what is not there",
    args: (at) => ["agents", "ls", "--data", join(at, "none")],
    exit: 4,
    code: "data-not-found",
    words: "no Reverie data"
  },
  {
    name: "a look into a file",
    args: () => ["agents", "inspect", "x", "--data", fixture("fleet.ts")],
    exit: 4,
    code: "data-not-found",
    words: "no Reverie data"
  },
  {
    name: "a data directory that is a file",
    args: () => ["run", ...fleet, "--exit", "--data", fixture("fleet.ts")],
    exit: 2,
    code: "data-unusable",
    words: "not a directory"
  },
  {
    name: "an approval that no one asked for",
    args: (at) => ["agents", "approve", "clerk", ...fleet, "--data", at],
    exit: 5,
    code: "wrong-state",
    words: "awake.idle"
  },
  {
    name: "an order to a stranger",
    args: (at) => ["agents", "send", "nobody", "x", ...fleet, "--data", at],
    exit: 4,
    code: "unknown-assistant",
    words: "nobody"
  },
  {
    name: "an id that two begin with",
    args: (at) => ["agents", "halt", "cl", ...fleet, "--data", at],
    exit: 2,
    code: "usage",
    words: "clara, clerk"
  },
  {
    name: "a call that needs a person",
    args: (at) => ["run", ...fleet, "--data", at, "-p", "/sign contract=lease"],
    exit: 9,
    code: "approval-needed",
    words: "sign"
  }
]

describe.concurrent("X1 X2 exit codes and failures", () => {
  for (const { args, code, exit, name, words } of cases) {
    test(`${exit} for ${name}`, async () => {
      await using directory = await temporary()
      assertFailure(await run([...args(directory.path), "--json"]), exit, code, words)
    })
  }

  test("2 for a wrong use without --json: one line on stderr, nothing on stdout", async () => {
    for (const args of [["run", "--fleat", "x"], [], ["agents"]]) {
      const { code, stderr, stdout } = await run(args)
      assert.strictEqual(code, 2)
      assert.strictEqual(stdout, "")
      assert.strictEqual(stderr.trimEnd().split("\n").length, 1)
      assert.match(stderr, /\(reverie( agents)? --help/)
    }
  })

  test("5 for data of a newer format, and nothing in it is changed", async () => {
    await using directory = await temporary()
    const file = join(directory.path, "reverie.db")
    const database = new DatabaseSync(file)
    database.exec("PRAGMA application_id = 0x52565231; PRAGMA user_version = 999; CREATE TABLE later (x)")
    database.close()
    for (const args of [
      ["run", ...fleet, "--exit"],
      ["agents", "ls"]
    ]) {
      assertFailure(await run([...args, "--data", directory.path, "--json"]), 5, "data-format-newer", "upgrade Reverie")
    }
    const after = new DatabaseSync(file, { readOnly: true })
    assert.deepStrictEqual({ ...after.prepare("PRAGMA user_version").get() }, { user_version: 999 })
    after.close()
  })

  test("5 for data of assistants that the fleet file does not have", async () => {
    await using directory = await temporary()
    const at = ["--data", directory.path, "--json"]
    const sent = await run(["agents", "send", "clerk", "hello", ...fleet, ...at, "--no-wait"], { env: closedPort })
    assert.strictEqual(sent.code, 0)
    const said = await run(["run", "--fleet", fixture("other-fleet.ts"), "--exit", ...at])
    assertFailure(said, 5, "assistant-unhosted", "clerk")
  })
})

/** No one listens there: what is sent stays undone. */
const closedPort = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1", OPENAI_API_KEY: "test" }

describe.concurrent("C1 an events file is found right before anything of it is accepted", () => {
  const lines = (...bad: ReadonlyArray<string | Buffer>) =>
    Buffer.concat(
      [`{"id":"1","text":"good"}`, ...bad].map((line) => Buffer.concat([Buffer.from(line), Buffer.from("\n")]))
    )
  const files: ReadonlyArray<readonly [string, Buffer, number, string, string]> = [
    ["no JSON", lines("", "{oops"), 2, "events-malformed", "line 3"],
    ["no UTF-8", lines(Buffer.from([0x22, 0xff, 0x22])), 2, "events-malformed", "line 2: it is not UTF-8"],
    ["no id", lines(`{"text":"x"}`, `{"text":"y"}`), 2, "events-malformed", `line 2: it has no "id", and 1 more`],
    ["an unknown event", lines(`{"id":"2","event":{"type":"dance"}}`), 2, "events-malformed", "line 2"],
    [
      "an unknown assistant",
      lines(`{"id":"2","to":"nobody","text":"x"}`),
      4,
      "unknown-assistant",
      `line 2: there is no assistant "nobody"`
    ]
  ]
  for (const [name, bytes, exit, code, words] of files) {
    test(`${exit} for ${name}`, async () => {
      await using directory = await temporary()
      const events = join(directory.path, "events.jsonl")
      const data = join(directory.path, "data")
      await writeFile(events, bytes)
      const said = await run(["run", ...fleet, "--events", events, "--data", data, "--exit", "--json"])
      assertFailure(said, exit, code, words)
      assert.deepStrictEqual(await readdir(directory.path), ["events.jsonl"], "no data directory was made")
    })
  }
})

describe.concurrent("doctor", () => {
  test("0 when all is well, and it changes nothing", async () => {
    await using directory = await temporary()
    const said = await run(["doctor", "--data", join(directory.path, "data"), "--json"])
    assert.strictEqual(said.code, 0)
    const checks = jsonOf(said)["checks"] as ReadonlyArray<{ readonly name: string; readonly ok: boolean }>
    assert.deepStrictEqual(
      checks.map(({ name }) => name),
      ["node", "data", "owner", "format", "settings", "page", "model"]
    )
    assert.isTrue(checks.every(({ ok }) => ok))
    assert.deepStrictEqual(await readdir(directory.path), [])
  })

  test("1 when the model can not be reached or the directory not be used, without showing the key", async () => {
    await using directory = await temporary()
    const data = join(directory.path, "file")
    await mkdir(directory.path, { recursive: true })
    await writeFile(data, "")
    const env = { ...closedPort, OPENAI_API_KEY: "sk-canary-4711" }
    const said = await run(["doctor", "--data", data, "--json"], { env })
    assertFailure(said, 1, "unhealthy", "model")
    assert.include(said.stdout, "OPENAI_API_KEY from the environment")
    assert.notInclude(`${said.stdout}${said.stderr}`, "canary")
  })

  test("1 when a provider's key is set and no model is chosen, with what to write", async () => {
    await using directory = await temporary()
    const env = { MISTRAL_API_KEY: "sk-canary-4711" }
    const said = await run(["doctor", "--data", join(directory.path, "data"), "--json"], { env })
    assertFailure(said, 1, "unhealthy", "model")
    const checks = jsonOf(said)["checks"] as ReadonlyArray<{ readonly name: string; readonly fix?: string }>
    const fix = checks.find(({ name }) => name === "model")?.fix ?? ""
    assert.match(fix, /^MISTRAL_API_KEY is set, and no model is chosen: .* write model: "mistral\//)
    assert.notInclude(`${said.stdout}${said.stderr}`, "canary")
  })

  test("1 for a server that does not answer, and for a token that can be guessed, without showing it", async () => {
    await using directory = await temporary()
    const args = ["doctor", "--data", join(directory.path, "data"), "--json"]
    const away = await run([...args, "--url", "http://127.0.0.1:9"])
    assertFailure(away, 1, "unhealthy", "server")
    const weak = await run(args, { env: { REVERIE_TOKEN: "canary" } })
    assertFailure(weak, 1, "unhealthy", "tokens")
    assert.notInclude(`${weak.stdout}${weak.stderr}`, "canary")
    const strong = await run(args, { env: { REVERIE_TOKEN: "0123456789abcdef0123456789abcdef" } })
    assert.strictEqual(strong.code, 0, strong.stderr)
  })
})
