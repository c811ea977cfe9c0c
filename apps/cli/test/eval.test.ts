import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { startModelServer } from "@reverie/testkit/model-server"
import { Fleet } from "reverie"
import { assert, describe, test } from "vitest"
import { assertFailure } from "./command-line.ts"
import fleetFile from "./fixtures/fleet.ts"
import { said } from "./in-process.ts"

const fixture = (name: string): string => join(import.meta.dirname, "fixtures", name)
const evals = fixture("evals.ts")

describe("E1 eval", () => {
  test("ends with 0 when all pass and 1 when one does not, and says which case", async () => {
    const passing = await said(["eval", evals, "--only", "echo", "--min-score", "0.75"])
    assert.deepStrictEqual([passing.code, passing.stderr], [0, ""])
    assert.include(passing.stdout, "pass echo: 75 %, 2 of 2 cases reach 50 %")
    const failing = await said(["eval", evals])
    assert.strictEqual(failing.code, 1)
    assert.include(failing.stdout, "FAIL strict echo: 75 %, 1 of 2 cases reach 60 %")
    assert.include(failing.stdout, 'FAIL 50 %  berth 8\n       contains: 50 %, without "7"')
    assert.strictEqual((await said(["eval", evals, "--min-score", "0.76"])).code, 1)
  })

  test("--json prints one object with every case", async () => {
    const { code, stdout } = await said(["eval", evals, "--json"])
    const { evals: reports, ok } = JSON.parse(stdout)
    assert.deepStrictEqual([code, ok], [1, false])
    assert.deepStrictEqual(
      reports.map(({ name, passed, score }: Record<string, unknown>) => ({ name, passed, score })),
      [
        { name: "echo", passed: true, score: 0.75 },
        { name: "strict echo", passed: false, score: 0.75 }
      ]
    )
    assert.deepInclude(reports[1].cases[1], { name: "berth 8", score: 0.5, passed: false })
  })

  test("what is no eval is a wrong use, and no pass", async () => {
    assertFailure(await said(["eval", fixture("no-fleet.ts"), "--json"]), 2, "eval-invalid", "exports no eval")
    assertFailure(await said(["eval", fixture("nothing.ts"), "--json"]), 4, "no-such-file", "there is no eval file")
    assertFailure(await said(["eval", evals, "--only", "none", "--json"]), 2, "eval-invalid", "no eval whose name")
    assertFailure(await said(["eval", evals, "--min-score", "80", "--json"]), 2, "usage", "from 0 to 1")
  })
})

test("E4 an option of another kind of eval is refused, and not ignored", async () => {
  const refused = async (args: ReadonlyArray<string>, words: string) =>
    assertFailure(await said(["eval", ...args, "--json"]), 2, "usage", words)
  await refused(["dreams", "--only", "zzz"], "--only is of the evals of a file")
  await refused(["dreams", "--fleet", fixture("fleet.ts")], "--fleet is of saved cases")
  await refused([evals, "--model", "offline"], "--model is of dreams and of saved cases")
  await refused([evals, "--fleet", fixture("fleet.ts")], "--fleet is of saved cases")
})

describe("E3 saved cases", () => {
  test("are judged by the fleet, pass as they were lived without a model, and fail where they expect more", async () => {
    await using fleet = await Fleet.open({ fleet: fleetFile, data: ":memory:", model: "offline" })
    const id = fleet.defaultAssistant
    const reply = await fleet.answer(id, "Good morning.")
    const path = join(mkdtempSync(join(tmpdir(), "reverie-cases-")), "mornings.jsonl")
    const asThen = await fleet.replay.evalCase({ assistant: id, tick: 1 })
    writeFileSync(path, `${JSON.stringify(asThen)}\n`)
    const passing = await said(["eval", path, "--fleet", fixture("fleet.ts")])
    assert.deepStrictEqual([passing.code, passing.stderr], [0, ""])
    assert.include(passing.stdout, "pass mornings: 100 %, 1 of 1 cases reach 100 %")
    const wants = { expected: [reply.slice(0, 5), "a word that it never says"] }
    appendFileSync(path, `${JSON.stringify(await fleet.replay.evalCase({ assistant: id, tick: 1, ...wants }))}\n`)
    const failing = await said(["eval", path, "--fleet", fixture("fleet.ts"), "--model", "offline"])
    assert.strictEqual(failing.code, 1)
    assert.include(failing.stdout, 'contains: 50 %, without "a word that it never says"')
    assertFailure(await said(["eval", path, "--json"]), 2, "usage", "--fleet FILE is missing")
    const none = path.replace("mornings", "none")
    assertFailure(
      await said(["eval", none, "--fleet", fixture("fleet.ts"), "--json"]),
      4,
      "no-such-file",
      "there is no"
    )
    writeFileSync(path, "{}\n")
    assertFailure(
      await said(["eval", path, "--fleet", fixture("fleet.ts"), "--json"]),
      2,
      "eval-invalid",
      "line 1 is no case"
    )
    rmSync(dirname(path), { recursive: true })
  })
})

describe("E2 eval dreams", () => {
  test("the offline model passes", { timeout: 240_000 }, async () => {
    const { code, stderr, stdout } = await said(["eval", "dreams", "--min-score", "0.7"])
    assert.strictEqual(code, 0, stderr)
    assert.match(
      stdout,
      /^held out, pass: \d\d conversations, precision [01]\.\d{3} \(\d+ facts right, \d+ wrong\), recall [01]\./m
    )
    assert.match(stderr, /dreamt of (\d+) of \1 conversations/)
  })

  test("another model is asked by the dream alone, and what it makes up is wrong", { timeout: 240_000 }, async () => {
    const server = await startModelServer({ script: () => ({ text: "no JSON at all" }) })
    try {
      const { code, stdout } = await said([
        "eval",
        "dreams",
        "--model",
        `${server.url}#fake`,
        "--min-score",
        "0.1",
        "--json"
      ])
      assert.deepStrictEqual([code, JSON.parse(stdout).heldOut.right], [1, 0])
      assert.isAbove(server.requests.length, 0)
    } finally {
      await server.close()
    }
  })
})
