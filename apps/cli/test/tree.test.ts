// The tree itself: what every command says of itself, has, and answers when it is used wrongly. Whatever is added is tested
// by being there.

import { spawnSync } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, test, vi } from "vitest"
import { placesOf } from "../src/commands/completion.ts"
import { assertFailure, temporary } from "./command-line.ts"
import { said } from "./in-process.ts"
import { argumentsOf, type Leaf, leaves, tree } from "./leaves.ts"

vi.setConfig({ testTimeout: 300_000 })

const nameOf = ({ path }: Leaf): string => path.join(" ")
const flagsOf = ({ command }: Leaf): ReadonlyArray<string> => command.options.map(({ long }) => long ?? "")
const ofKind = (...kinds: ReadonlyArray<string>): ReadonlyArray<Leaf> =>
  leaves.filter(({ facts }) => kinds.includes(facts.kind))

const named = [
  "init chat run dev start serve top usage limits doctor migrate completion version eval bench.memory compact dream replay fork forget",
  "agents.ls agents.inspect agents.create agents.rm agents.wake agents.sleep agents.stop agents.halt agents.pause agents.resume",
  "agents.send agents.logs agents.approve agents.deny agents.context agents.contexts agents.cache agents.tree agents.export agents.import agents.budget",
  "memory.show memory.search memory.edit memory.history memory.retire memory.correct memory.add memory.profile memory.forget memory.look",
  "index.status index.snapshots index.snapshot index.restore index.catch-up",
  "queues.ls queues.dead queues.retry queues.discard queues.pause queues.resume queues.drain",
  "approvals.ls approvals.show approvals.approve approvals.deny reminders.ls reminders.set reminders.cancel",
  "prompts.ls prompts.show prompts.history prompts.write prompts.rm prompts.undo prompts.clone prompts.export prompts.import",
  "config.get config.set config.list config.path mcp.serve mcp.tools compactions export import promote backup restore vacuum encrypt keys.rotate"
]

describe("every command of the tree", () => {
  test("is one that the design names, and none of them is missing", () => {
    const names = named.join(" ").split(" ")
    assert.deepStrictEqual(leaves.map(({ path }) => path.join(".")).toSorted(), names.toSorted())
  })

  test("L1 says what it does in one sentence, and has an example that is a use of it", () => {
    assert.isAbove(leaves.length, 50)
    for (const leaf of leaves) {
      const { example, says } = leaf.facts
      assert.match(says, /^[a-z].{10,99}[^.]$/, nameOf(leaf))
      const spoken = leaf.facts.isDefault === true ? leaf.path.slice(0, -1) : leaf.path
      assert.isTrue(example === spoken.join(" ") || example.startsWith(`${spoken.join(" ")} `), example)
      const flags = [...example.matchAll(/ (--[a-z-]+)/g)].map(([, flag = ""]) => flag)
      for (const flag of flags) assert.include(flagsOf(leaf), flag, example)
    }
  })

  test("L1 has the options of its kind", () => {
    const listing = ["--json", "--jsonl", "--limit", "--cursor", "--watch"]
    const changing = ["--json", "--dry-run", "--yes", "--id"]
    const reaching = ["--url", "--token-file", "--data"]
    const wanted: Readonly<Record<string, ReadonlyArray<string>>> = {
      list: [...listing, ...reaching],
      "plain-list": listing,
      look: ["--json", ...reaching],
      order: [...changing, ...reaching, "--fleet", "--wait", "--no-wait", "--timeout"],
      change: changing
    }
    for (const leaf of leaves)
      assert.includeMembers([...flagsOf(leaf)], [...(wanted[leaf.facts.kind] ?? [])], nameOf(leaf))
  })
})

describe("X1 X2 every command, used wrongly, answers one JSON failure on stdout", () => {
  test("2 for a flag that is none", async () => {
    for (const leaf of leaves) {
      const answer = await said([...leaf.path, ...argumentsOf(leaf), "--no-such-flag", "--json"])
      assertFailure(answer, 2, "usage", "no-such-flag")
    }
  })

  test("2 for a missing argument", async () => {
    const needy = leaves.filter(({ command }) => command.registeredArguments.some(({ required }) => required))
    assert.isAbove(needy.length, 20)
    for (const leaf of needy) {
      const { code, stdout } = await said([...leaf.path, "--json"])
      assert.strictEqual(code, 2, nameOf(leaf))
      assert.strictEqual(JSON.parse(stdout).error.code, "usage", nameOf(leaf))
    }
  })

  const reaching = ofKind("look", "list", "order")

  test("6 for a server that is not there, 2 for an address that is none", async () => {
    assert.isAbove(reaching.length, 30)
    for (const leaf of reaching) {
      const args = [...leaf.path, ...argumentsOf(leaf)]
      assertFailure(
        await said([...args, "--url", "http://127.0.0.1:9", "--json"]),
        6,
        "server-unreachable",
        "127.0.0.1"
      )
      assertFailure(await said([...args, "--url", "nonsense", "--json"]), 2, "usage", "--url")
    }
  })

  test("4 for data that is not there, and none is made", async () => {
    await using directory = await temporary()
    const data = join(directory.path, "none")
    for (const leaf of reaching) {
      const answer = await said([...leaf.path, ...argumentsOf(leaf), "--data", data, "--json"])
      assertFailure(answer, 4, "data-not-found", "no Reverie data")
    }
  })

  test("4 for a token file that is not there", async () => {
    const missing = ["--url", "http://127.0.0.1:9", "--token-file", "/nowhere/token", "--json"]
    for (const leaf of reaching.slice(0, 5)) {
      assertFailure(await said([...leaf.path, ...argumentsOf(leaf), ...missing]), 4, "no-such-file", "token file")
    }
  })
})

describe("completion", () => {
  test("K1 every script has every command and option, and shells can read it", async () => {
    await using directory = await temporary()
    const places = placesOf(tree)
    assert.isAbove(places.length, leaves.length)
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await said(["completion", shell])
      assert.strictEqual(code, 0)
      for (const leaf of leaves) {
        assert.include(stdout, nameOf(leaf), shell)
        for (const flag of flagsOf(leaf)) assert.include(stdout, flag, `${shell} ${nameOf(leaf)}`)
      }
      const file = join(directory.path, shell)
      await writeFile(file, stdout)
      const read = spawnSync(shell, ["-n", file], { encoding: "utf8" })
      // Where a shell is not installed, its script is not read; bash is everywhere.
      if (shell === "bash" || read.error === undefined) assert.strictEqual(read.status, 0, `${shell}: ${read.stderr}`)
    }
  })

  test("K1 bash is offered what may follow", async () => {
    await using directory = await temporary()
    const file = join(directory.path, "bash")
    await writeFile(file, (await said(["completion", "bash"])).stdout)
    const ask = (...words: ReadonlyArray<string>) =>
      spawnSync(
        "bash",
        [
          "-c",
          'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reverie; echo "${COMPREPLY[@]}"',
          file,
          "reverie",
          ...words
        ],
        { encoding: "utf8" }
      ).stdout.trim()
    assert.strictEqual(ask("appr"), "approvals")
    assert.strictEqual(ask("agents", "in"), "inspect")
    assert.strictEqual(ask("agents", "ls", "--wat"), "--watch")
    assert.strictEqual(ask("--json", "queues", "dr"), "drain")
  })
})
