// Every reading and every order of the tree, on a fleet whose texts act on terminals: through the store and through a server.

import { join } from "node:path"
import { openServer } from "@reverie/server"
import { defineAssistant, defineFleet, defineTool, Fleet, FleetReader } from "reverie"
import { afterAll, assert, beforeAll, describe, test, vi } from "vitest"
import { type Said, temporary, fixture } from "./command-line.ts"
import { corpus, definition, fill, type HostileFleet } from "./hostile-fleet.ts"
import { said } from "./in-process.ts"
import { argumentsOf, type Leaf, leaves } from "./leaves.ts"

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let directory: Awaited<ReturnType<typeof temporary>>
let data = ""
let facts: HostileFleet

beforeAll(async () => {
  directory = await temporary()
  data = join(directory.path, "data")
  facts = await fill(data)
})

afterAll(() => directory[Symbol.asyncDispose]())

// oxlint-disable-next-line no-control-regex -- they are what must not be there
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/

const assertHarmless = ({ stderr, stdout }: Said, name: string): void => {
  assert.notMatch(stdout, acting, name)
  assert.notMatch(stderr, acting, name)
}

const readings = leaves.filter(({ facts: { kind } }) => kind === "look" || kind === "list")
const orders = leaves.filter(({ facts: { kind } }) => kind === "order")

const argsOf = (leaf: Leaf, { approval, dead }: HostileFleet = facts): ReadonlyArray<string> => {
  const values: Readonly<Record<string, string>> =
    leaf.path[0] === "approvals"
      ? { approval }
      : ["queues retry", "queues discard"].includes(leaf.path.join(" "))
        ? { id: "carl", envelope: dead }
        : leaf.path.join(" ") === "agents approve" || leaf.path.join(" ") === "agents deny"
          ? { id: "clara" }
          : {}
  return [...leaf.path, ...argumentsOf(leaf, values), ...(isOfDefinition(leaf) ? ["--fleet", fleetFile] : [])]
}

/** What stands in a definition is known to the store by the file of the fleet alone. */
const isOfDefinition = (leaf: Leaf): boolean => leaf.path.join(" ") === "agents contexts"
const fleetFile = join(import.meta.dirname, "fixtures/hostile-fleet.ts")

/** Forks need the fleet, and are of one tick; a fold that is not there is none to be shown. */
const isOfStore = (leaf: Leaf): boolean => leaf.path.join(" ") !== "fork"

test("the fleet is as hostile as it is meant to be", async () => {
  assert.isAbove(corpus.length, 8)
  assert.isTrue(corpus.every((text) => acting.test(text)))
  assert.match(facts.approval, /^apr_/)
  await using peek = await FleetReader.open(data)
  const views = await peek.views()
  assert.deepStrictEqual(
    views.map(({ state }) => state),
    ["retired", "awake.awaitingApproval", "halted"]
  )
  assert.match(views[2]?.haltReason ?? "", acting)
})

describe("through the store", () => {
  for (const leaf of readings.filter(isOfStore)) {
    test(`P1 ${leaf.path.join(" ")} tells people nothing that acts on a terminal, and programs one object`, async () => {
      const args = [...argsOf(leaf), "--data", data]
      const told = await said(args)
      assert.strictEqual(told.code, 0, told.stderr)
      assert.notStrictEqual(told.stdout, "")
      assertHarmless(told, leaf.path.join(" "))
      assert.notInclude(told.stdout, "xstate.", "a name that the chart gives itself")
      const object = await said([...args, "--json"])
      assertHarmless(object, leaf.path.join(" "))
      assert.isTrue(JSON.parse(object.stdout).ok)
      if (leaf.facts.kind !== "list") return
      const lines = (await said([...args, "--jsonl"])).stdout.split("\n").filter((line) => line !== "")
      for (const line of lines) assert.isObject(JSON.parse(line))
    })
  }

  test("O3 with --dry-run no order changes anything, and each says what it would do", async () => {
    const state = async () => {
      await using peek = await FleetReader.open(data)
      return JSON.stringify([await peek.views(), await peek.monitor.totals()])
    }
    const before = await state()
    for (const leaf of orders) {
      // Without a bound it shows them.
      const bounds: Readonly<Record<string, ReadonlyArray<string>>> = {
        "agents budget": ["--tokens", "1000"],
        limits: ["--calls-per-day", "1000"]
      }
      const bound = bounds[leaf.path.join(" ")] ?? []
      const told = await said([...argsOf(leaf), ...bound, "--data", data, "--dry-run", "--json", "--yes"])
      assertHarmless(told, leaf.path.join(" "))
      if (leaf.path.join(" ") === "agents create") assert.strictEqual(told.code, 2, "nothing to make it of is here")
      else if (["memory retire", "memory correct"].includes(leaf.path.join(" ")))
        assert.strictEqual(told.code, 4, "no fact of that name is here")
      else if (leaf.path.join(" ") === "queues retry") assert.strictEqual(told.code, 5, "carl has retired")
      else {
        assert.strictEqual(told.code, 0, `${leaf.path.join(" ")}: ${told.stderr}`)
        assert.isTrue(JSON.parse(told.stdout).dryRun, leaf.path.join(" "))
      }
      assert.strictEqual(await state(), before, leaf.path.join(" "))
    }
  })

  test("C1 what can not be taken back is not done where no one can be asked", async () => {
    for (const args of [
      ["agents", "rm", "clerk"],
      ["memory", "forget", "clerk", "notes"],
      ["queues", "pause"],
      ["queues", "discard", "carl", facts.dead]
    ]) {
      const { code, stdout } = await said([...args, "--data", data, "--json"])
      assert.deepStrictEqual([code, JSON.parse(stdout).error.code], [9, "consent-needed"], args.join(" "))
    }
  })

  test("N1 an id may be a beginning that only one has; with several all are reported", async () => {
    const one = await said(["agents", "inspect", "cle", "--data", data, "--json"])
    assert.strictEqual(JSON.parse(one.stdout).assistant.id, "clerk")
    const many = await said(["agents", "inspect", "cl", "--data", data, "--json"])
    assert.strictEqual(many.code, 2)
    assert.include(JSON.parse(many.stdout).error.message, "clara, clerk")
  })

  test("L1 a list is reported in pages", async () => {
    const first = JSON.parse((await said(["agents", "ls", "--data", data, "--limit", "2", "--json"])).stdout)
    assert.lengthOf(first.assistants, 2)
    const args = ["agents", "ls", "--data", data, "--cursor", first.next, "--json"]
    const second = JSON.parse((await said(args)).stdout)
    assert.deepStrictEqual([second.assistants.length, second.next], [1, null])
    const of = async (definition: string) =>
      JSON.parse((await said(["agents", "ls", "--data", data, "--definition", definition, "--json"])).stdout).assistants
    assert.deepStrictEqual(
      (await of("clerk")).map(({ id }: { readonly id: string }) => id),
      ["clerk"]
    )
    assert.deepStrictEqual(await of("cler"), [])
  })

  test("those of a tag are listed where definitions are known, and elsewhere it is said that they are not", async () => {
    const tagged = async (tag: string, ...where: ReadonlyArray<string>) =>
      JSON.parse((await said(["agents", "ls", "--tag", tag, ...where, "--json"])).stdout)
    const idsOf = ({ assistants }: { readonly assistants: ReadonlyArray<{ readonly id: string }> }) =>
      assistants.map(({ id }) => id)
    const file = ["--data", data, "--fleet", fixture("fleet.ts")]
    assert.deepStrictEqual(idsOf(await tagged("night", ...file)), ["clara"])
    assert.deepStrictEqual(idsOf(await tagged("day", ...file)), [])
    const { error } = await tagged("night", "--data", data)
    assert.include(error.message, "tags stand in the definitions, which are not known here")
    assert.include(error.hint, "--fleet FILE")
  })

  test("memory edit, history and undo change a block and keep its versions", async () => {
    const at = ["--data", data, "--json"]
    const edited = JSON.parse((await said(["memory", "edit", "clerk", "notes", "New.", ...at])).stdout)
    assert.isAbove(edited.version, 1)
    const shown = JSON.parse((await said(["memory", "show", "clerk", "notes", ...at])).stdout)
    assert.strictEqual(shown.block.text, "New.")
    assert.strictEqual((await said(["memory", "edit", "clerk", "notes", "--undo", ...at])).code, 0)
    const back = JSON.parse((await said(["memory", "show", "clerk", "notes", ...at])).stdout)
    assert.notStrictEqual(back.block.text, "New.")
    const versions = JSON.parse((await said(["memory", "history", "clerk", "notes", ...at])).stdout).versions
    assert.isAbove(versions.length, 1)
  })
})

describe("through a server", () => {
  test("P1 R1 every reading answers as the store does, in the same form", async () => {
    await using place = await temporary()
    const served = join(place.path, "data")
    const own = await fill(served)
    await using fleet = await Fleet.open({ fleet: definition, data: served, model: "offline" })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    try {
      let answered = 0
      for (const leaf of readings.filter(isOfStore)) {
        const name = leaf.path.join(" ")
        const args = [...argsOf(leaf, own), "--url", server.url]
        const told = await said(args)
        assertHarmless(told, name)
        assert.strictEqual(told.code, 0, `${name}: ${told.stderr}`)
        const object = await said([...args, "--json"])
        assertHarmless(object, name)
        const stored = JSON.parse((await said([...argsOf(leaf), "--data", data, "--json"])).stdout)
        assert.sameMembers(Object.keys(JSON.parse(object.stdout)), Object.keys(stored), name)
        answered++
      }
      assert.strictEqual(answered, readings.filter(isOfStore).length)
      const sent = await said([
        "agents",
        "send",
        "clara",
        "hello",
        "--url",
        server.url,
        "--json",
        "--id",
        "k-1",
        "--no-wait"
      ])
      assert.strictEqual(JSON.parse(sent.stdout).receipt, "accepted", sent.stderr)
      const again = await said([
        "agents",
        "send",
        "clara",
        "hello",
        "--url",
        server.url,
        "--json",
        "--id",
        "k-1",
        "--no-wait"
      ])
      assert.strictEqual(JSON.parse(again.stdout).receipt, "duplicate")
      const denied = await said(["approvals", "deny", own.approval, "--url", server.url, "--json"])
      assert.strictEqual(JSON.parse(denied.stdout).assistant.state, "awake.idle", denied.stdout)
      const asked = await said(["run", "-p", "Good morning", "--agent", "clara", "--url", server.url, "--json"])
      assert.isTrue(JSON.parse(asked.stdout).ok, asked.stderr)
    } finally {
      await server.close()
    }
  })

  test("T4 an answer that ran out of steps at a server is no success", async () => {
    const look = defineTool({ name: "look", description: "Looks.", run: () => "Two ships." })
    const hurried = defineFleet({
      assistants: [defineAssistant({ id: "clerk", instructions: "You are a clerk.", tools: [look], maxSteps: 1 })]
    })
    await using place = await temporary()
    await using fleet = await Fleet.open({ fleet: hurried, data: join(place.path, "data"), model: "offline" })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    try {
      const at = ["--agent", "clerk", "--url", server.url, "--json"]
      const asked = await said(["run", "-p", "/look {}", ...at])
      assert.deepStrictEqual([asked.code, JSON.parse(asked.stdout).error.code], [1, "answer-failed"], asked.stderr)
      assert.match(JSON.parse(asked.stdout).error.message, /clerk was not done: .*as many model calls/)
    } finally {
      await server.close()
    }
  })

  test("3 for a server that asks for a token, and the token is reported nowhere", async () => {
    await using place = await temporary()
    await using fleet = await Fleet.open({ fleet: definition, data: join(place.path, "data"), model: "offline" })
    const token = { name: "t", tenant: "default", secret: "canary-of-this-test-4711", readOnly: true }
    const server = await openServer({ fleet, role: "all", tokens: [token] })
    try {
      const refused = await said(["agents", "ls", "--url", server.url, "--json"])
      assert.deepStrictEqual([refused.code, JSON.parse(refused.stdout).error.code], [3, "token-needed"])
      process.env["REVERIE_TOKEN"] = token.secret
      const let_in = await said(["agents", "ls", "--url", server.url, "--json"])
      assert.strictEqual(let_in.code, 0, let_in.stderr)
      const readOnly = await said(["agents", "halt", "clerk", "--url", server.url, "--json"])
      assert.deepStrictEqual([readOnly.code, JSON.parse(readOnly.stdout).error.code], [3, "forbidden"])
      for (const { stderr, stdout } of [refused, let_in, readOnly]) assert.notInclude(`${stdout}${stderr}`, "canary")
    } finally {
      delete process.env["REVERIE_TOKEN"]
      await server.close()
    }
  })
})
