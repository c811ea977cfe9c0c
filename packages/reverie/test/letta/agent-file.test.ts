import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { afterAll, assert, describe, test } from "vitest"
import { Fleet, type FleetDefinition, importAgentFile, FleetReader, readAgentFile } from "../../src/index.ts"

const root = mkdtempSync(join(tmpdir(), "reverie-letta-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const fixture = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`fixtures/${name}.af`, import.meta.url)), "utf8")

const without = ({ messages }: { readonly messages: ReadonlyArray<object> }): ReadonlyArray<object> =>
  messages.map((message) => ({ ...message, at: 0 }))

describe("reading", () => {
  test("the older form of one agent, its thoughts and logins left behind", () => {
    const { agents, form, left } = readAgentFile(fixture("older"))
    assert.strictEqual(form, "agent")
    const [mira] = agents
    assert.ok(mira)
    assert.strictEqual(mira.id, "Mira-of-the-harbor")
    assert.strictEqual(mira.contextTokens, 32_000)
    assert.deepStrictEqual(
      mira.blocks.map(({ label, value }) => [label, value]),
      [
        ["persona", "I am Mira, keeper of the harbor's logbook."],
        ["human", "Name: Tomas. Sails the Petrel."]
      ]
    )
    assert.deepStrictEqual(without(mira), [
      { role: "user", content: "When does the Petrel sail?", name: "Tomas", at: 0 },
      {
        role: "assistant",
        content: "",
        calls: [{ id: "0.2.0", tool: "tide_table", arguments: { day: "2025-03-02" } }],
        at: 0
      },
      {
        role: "tool",
        content: '{"status": "OK", "message": "High water 06:12"}',
        name: "tide_table",
        call: "0.2.0",
        at: 0
      },
      { role: "assistant", content: "At 06:12, with high water.", at: 0 }
    ])
    assert.deepStrictEqual(mira.rules, [{ type: "max-calls", tool: "tide_table", max: 2 }])
    assert.deepStrictEqual(mira.secrets, ["TIDE_TOKEN"])
    const told = left.map(({ what }) => what)
    for (const what of [
      "the code of tool tide_table",
      "2 inner thoughts",
      "the rule conditional of tide_table",
      "the environment variable TIDE_TOKEN"
    ]) {
      assert.include(told, what)
    }
  })

  test("the newer form of several, with blocks in common and rules that have no counterpart", () => {
    const { agents, form, left } = readAgentFile(fixture("newer"))
    assert.strictEqual(form, "agents")
    assert.deepStrictEqual(
      agents.map(({ id }) => id),
      ["Orla", "Orla-2"]
    )
    const [orla, other] = agents
    assert.deepStrictEqual(
      orla?.blocks.map(({ isReadOnly, label }) => [label, isReadOnly]),
      [
        ["persona", true],
        ["guest_list", false]
      ]
    )
    assert.strictEqual(other?.blocks[0]?.key, orla?.blocks[1]?.key)
    // The file has a rule of a tool, book_room, that it does not have.
    assert.deepStrictEqual(orla?.rules, [{ type: "start", tool: "check_room" }])
    assert.deepStrictEqual(
      orla?.messages.map(({ role }) => role),
      ["user", "assistant", "assistant", "tool"]
    )
    assert.strictEqual(orla?.messages[2]?.calls?.[0]?.malformed, "its arguments are no object")
    assert.notInclude(JSON.stringify(orla?.messages), "Ignore all rules")
    const told = left.map(({ what }) => what)
    for (const what of [
      "the rule required_before_exit of book_room",
      "1 groups of agents",
      "1 data sources",
      "1 MCP servers"
    ]) {
      assert.include(told, what)
    }
  })

  test("E1 G3 hostile files are refused, or read without harm", () => {
    const refused = (text: string) => {
      try {
        readAgentFile(text)
      } catch (error) {
        return (error as Error).message
      }
      return "it was read"
    }
    assert.match(refused(""), /no agent file/)
    assert.match(refused("[]"), /no object/)
    assert.match(refused('{"agents": []}'), /no agent in it/)
    assert.match(refused(`{"agents": [${"[".repeat(100)}${"]".repeat(100)}]}`), /nested deeper/)
    assert.match(refused(JSON.stringify({ agents: Array.from({ length: 101 }, () => ({})) })), /at most 100/)
    const hostile = `{"agents": [{"name": "../..", "__proto__": {"polluted": true}, "system": 5, "messages": [null, 7, {"role": "system\\u0000", "content": "x"}, {"role": "user", "content": {"constructor": {}}}, {"role": "tool", "tool_call_id": "none", "content": "x"}], "block_ids": ["__proto__", "constructor"], "core_memory": [{"label": "../../etc", "value": "a\\u202eb\\ud800"}, {"label": "../../etc", "value": 9}], "tool_rules": [{"tool_name": "__proto__", "type": "constructor"}], "tools": [{"name": "__proto__", "json_schema": 5}]}]}`
    const { agents } = readAgentFile(hostile)
    assert.strictEqual(Reflect.get({}, "polluted"), undefined)
    assert.deepStrictEqual(
      agents[0]?.blocks.map(({ label, value }) => [label, value.isWellFormed()]),
      [
        ["_.._etc", true],
        ["_.._etc_2", true]
      ]
    )
    assert.notInclude(agents[0]?.blocks[0]?.value, "\u202e")
    assert.deepStrictEqual(agents[0]?.messages, [])
    assert.match(agents[0]?.id ?? "", /^[A-Za-z0-9]/)
  })
})

describe("importing", () => {
  for (const name of ["older", "newer"]) {
    test(`L1 ${name}: the agents live, are present the second time, and go on under the fleet file that was made`, async () => {
      const data = join(root, name)
      const text = fixture(name)
      const trial = await importAgentFile({ into: { data }, text, isTrial: true })
      const { agents, fleetFile, moved, present } = await importAgentFile({ into: { data }, text })
      assert.deepStrictEqual(trial.moved, moved)
      assert.lengthOf(moved, agents.length)
      assert.deepStrictEqual(present, [])
      assert.deepStrictEqual((await importAgentFile({ into: { data }, text })).present, moved)
      const [first] = agents
      assert.ok(first)
      await using peek = await FleetReader.open(data)
      const entries = await peek.history.newest(first.id)[Symbol.asyncIterator]().next()
      assert.ok(entries)

      const file = join(root, `${name}-fleet.ts`)
      const sdk = pathToFileURL(fileURLToPath(new URL("../../src/index.ts", import.meta.url))).href
      writeFileSync(file, fleetFile.replace('from "reverie"', `from ${JSON.stringify(sdk)}`))
      const { default: fleet } = (await import(file)) as { readonly default: FleetDefinition }
      await using opened = await Fleet.open({ fleet, data, model: "offline" })
      const blocks = await opened.blocks.list(first.id)
      assert.include(
        blocks.map(({ text: shown }) => shown).join("\n"),
        first.id === "Orla" ? "I run the inn" : "keeper of the harbor"
      )
      assert.isNotEmpty(await opened.answer(first.id, "Are you there?"))
      const found = await opened.memory.recall(first.id, first.id === "Orla" ? "room tonight" : "Petrel sail")
      assert.isNotEmpty(found.hits)
    })
  }
})
