// `memory`: the form of what is remembered, and the command beside a running fleet.

import { join } from "node:path"
import { openServer } from "@reverie/server"
import {
  defineAssistant,
  defineFleet,
  type EntityProfile,
  type Fact,
  Fleet,
  type Hit,
  memoryTools,
  type RecordRow
} from "reverie"
import { assert, describe, test } from "vitest"
import { dreamsText, factsText, profilesText, recalledText } from "../src/texts/memory-text.ts"
import { said } from "./in-process.ts"
import { assertFailure, begin, fixture, jsonOf, run, temporary } from "./command-line.ts"

const at = Date.UTC(2026, 4, 21, 6, 30)

const hit = {
  owner: "clerk",
  score: 3,
  entry: {
    id: "m/2/0",
    kind: "message",
    at,
    text: "The key\u001b[31m hangs\nbehind the barrel.",
    speaker: "Ann",
    entities: [],
    tags: [],
    trust: 0.9,
    importance: 5,
    readers: "owner"
  },
  why: { terms: ["key"], lexical: { rank: 1, score: 3 }, facts: ["f1"], boosts: ["recent"] }
} as unknown as Hit

const fact = {
  id: "f1",
  text: "The key hangs behind the barrel.",
  at,
  learnt_at: at,
  sources: ["m/2/0"],
  origin: { type: "person", name: "Ann" },
  trust: 0.9,
  importance: 7,
  entities: ["Ann"],
  links: [],
  state: "active",
  linked: false,
  profiled: false
} as const satisfies Fact

const profile = {
  id: "ann",
  name: "Ann",
  type: "person",
  aliases: [],
  observations: [
    {
      id: "o1",
      text: "She was late.",
      at,
      source: "f/f2",
      origin: { type: "self", name: "clerk" },
      trust: 0.6,
      digested: false
    }
  ],
  attributes: [{ id: "a1", text: "keeps the boathouse", at, trust: 0.9, evidence: ["f1"], superseded: [] }],
  gone: [],
  made: 1,
  relationship: { interactions: 1, first_at: at, last_at: at }
} as unknown as EntityProfile

describe("memory texts", () => {
  test("M1 M2 a hit stands on harmless lines, with why it was found, and poorer answers say so first", () => {
    assert.strictEqual(
      recalledText("desk", { hits: [hit], mode: "fts", degraded: "the index does not answer" }),
      `the index does not answer

1. m/2/0 (2026-05-21 06:30, Ann, message, trust 0.9, of clerk)
   The key hangs behind the barrel.
   words key; a fact drawn from it; recent

1 memory, searched by fts`
    )
    assert.include(recalledText("desk", { hits: [], mode: "hybrid" }), "desk remembers nothing of it")
    assert.include(
      recalledText("desk", { hits: [], mode: "fts" }, "hybrid"),
      "searched by fts, for hybrid needs an embedder"
    )
    assert.match(recalledText("desk", { hits: [], mode: "fts" }, "fts"), /searched by fts$/)
    const uncertain = recalledText("desk", { hits: [hit], mode: "fts", certainty: 0.1234 })
    assert.include(uncertain, "1 memory, searched by fts, certainty 0.12")
    const kept = { ...hit, metadata: { berth: 9, source: "the\u001b[31m\nbook" } }
    assert.include(
      recalledText("desk", { hits: [kept], mode: "fts" }),
      "\n   berth: 9, source: the book\n   words key; "
    )
  })

  test("facts that hold come first, the others with their reason", () => {
    const retired: Fact = { ...fact, id: "f0", state: "superseded", superseded_by: "f1", at: at + 1 }
    assert.strictEqual(
      factsText("desk", [retired, fact]),
      `f1 (active, 2026-05-21 06:30, importance 7, trust 0.9, from Ann, m/2/0)
   The key hangs behind the barrel.
f0 (superseded: f1, 2026-05-21 06:30, importance 7, trust 0.9, from Ann, m/2/0)
   The key hangs behind the barrel.

2 facts, of which 1 holds`
    )
    assert.strictEqual(factsText("desk", []), "desk knows no fact yet")
  })

  test("profiles with their evidence, dreams with their lines", () => {
    assert.strictEqual(
      profilesText("desk", [profile]),
      `Ann (person, met 1 time, last 2026-05-21 06:30)
   keeps the boathouse (1 piece of evidence)
   not digested yet: She was late. (2026-05-21 06:30)

1 profile`
    )
    assert.include(profilesText("desk", [{ ...profile, read: 213 }]), "made of 213 observations)")
    const lines = [
      { operation: "consolidate", steps: 2, read: 10, proposed: 4, accepted: 3, tokens: 900, elapsed_ms: 12 }
    ]
    const dream: RecordRow = {
      kind: "dream",
      key: "dream_7",
      value: { id: "dream_7", began_at: at, ended_at: at, lines }
    }
    assert.match(
      dreamsText("desk", [dream]),
      /^dream_7, 2026-05-21 06:30\noperation .*\nconsolidate +2 +10 +4 +3 +900 +12\n\n1 dream$/
    )
    assert.strictEqual(profilesText("desk", []), "desk has a profile of no one yet")
    assert.strictEqual(dreamsText("desk", []), "desk has not dreamt yet")
  })
})

/** A clerk that was told two things by Ann, and has slept on it. */
const dreamt = async (data: string) => {
  const clerk = defineAssistant({ id: "clerk", instructions: "You are a clerk." })
  const fleet = await Fleet.open({ fleet: defineFleet({ assistants: [clerk] }), data, model: "offline" })
  for (const text of ["I grow sunflowers in the yard.", "I have a puppy that is called Oliver."])
    await fleet.post("clerk", { type: "message", text, at }, { from: "Ann" })
  await fleet.idle()
  await fleet.sleep("clerk")
  await fleet.idle()
  return fleet
}

type Fields = { readonly [key: string]: unknown }

describe("memory", () => {
  test("forget erases for good what contains a text, or an assistant; a trial says what would go", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    const clerk = defineAssistant({ id: "clerk", instructions: "You are a clerk.", tools: memoryTools })
    const fleet = await Fleet.open({ fleet: defineFleet({ assistants: [clerk] }), data, model: "offline" })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    const at = (...args: ReadonlyArray<string>) => said([...args, "--url", server.url])
    const keeps = async (text: string) => {
      const lists = [
        ["agents", "logs", "clerk"],
        ["memory", "clerk", "facts"],
        ["agents", "ls"]
      ]
      const all = await Promise.all(lists.map((list) => at(...list, "--json")))
      return all.some(({ stdout }) => stdout.includes(text))
    }
    try {
      await fleet.answer("clerk", `/store_memory ${JSON.stringify({ text: "The code of the gate is kestrel-9713." })}`)
      await fleet.answer("clerk", "My dog is called Kestrel-9713.")
      await fleet.sleep("clerk")
      await fleet.idle()
      assert.isTrue(await keeps("estrel-9713"), "it was never kept")
      assert.include((await at("memory", "clerk", "facts")).stdout, "estrel-9713", "no fact has it")
      const trial = await at("forget", "clerk", "--text", "KESTREL-9713", "--dry-run")
      assert.match(trial.stdout, /^would erase of clerk: \d+ events, \d+ messages?/)
      assert.match(trial.stdout, /^what says it: .*\n *clerk message m\/\d+\/\d+: .*estrel-9713/m)
      assert.isTrue(await keeps("estrel-9713"), "a trial erased")
      assert.include((await at("forget", "--text", "kestrel-9713", "--json")).stdout, "consent-needed")
      const told = JSON.parse((await at("forget", "--text", "kestrel-9713", "--yes", "--json")).stdout) as Fields
      assert.deepInclude(told, { ok: true, dryRun: false, assistants: 1 })
      assert.isFalse(await keeps("estrel-9713"), "it is still told")
      assert.match((await at("forget", "--text", "kestrel-9713", "--yes")).stdout, /^nothing of it is kept/)
      const body = { assistant: "no-one-here", text: "kestrel-9713" }
      const headers = { "content-type": "application/json" }
      const none = await fetch(`${server.url}/v1/forget`, { method: "POST", headers, body: JSON.stringify(body) })
      assert.strictEqual(none.status, 404)
      await fleet.answer("clerk", "My cat is called Wendeline.", { from: "ann" })
      assert.match((await at("forget", "--person", "Ann", "--since", "1h", "--dry-run")).stdout, /^would erase of all/)
      const whoSaid =
        /\nwhat was said, and learnt of it: .*\n *clerk message m\/\d+\/0: ann: My cat is called Wendeline\./
      assert.match((await at("forget", "--person", "Ann", "--dry-run")).stdout, whoSaid)
      assert.match((await at("forget", "clerk", "--since", "1h", "--dry-run")).stdout, whoSaid)
      assert.match((await at("forget", "clerk", "--person", "ann", "--until", "1h", "--yes")).stdout, /^nothing of it/)
      const today = new Date().toISOString().slice(0, 10)
      const day = await at("forget", "clerk", "--since", today, "--until", today, "--dry-run")
      assert.match(
        day.stdout,
        new RegExp(`^would erase of clerk, said from ${today}T00:00:00.000Z to ${today}T23:59:59.999Z: `)
      )
      const long = await at("forget", "clerk", "--until", "2020-02", "--yes")
      assert.match(long.stdout, /^nothing of it is kept of clerk, said up to 2020-02-29T23:59:59\.999Z/)
      assert.isTrue(await keeps("Wendeline"))
      assert.match(
        (await at("forget", "clerk", "--person", "ann", "--yes")).stdout,
        /^erased of clerk: .*\b1 message\b/
      )
      assert.isFalse(await keeps("Wendeline"), "it is still told")
      await fleet.answer("clerk", "My cat is called Wendeline.")
      const id = (await fleet.memory.recall("clerk", "Wendeline")).hits[0]?.entry.id ?? ""
      assert.match((await at("forget", "clerk", "--message", id, "--yes")).stdout, /^erased of clerk/)
      assert.isFalse(await keeps("Wendeline"), "the second one is still kept")
      await fleet.answer("clerk", "My cat is called Wendeline.")
      assert.isTrue(await keeps("Wendeline"))
      await fleet.forTenant(fleet.tenant).forget({ text: "Wendeline" })
      assert.isFalse(await keeps("Wendeline"), "the server tells what the program forgot")
      await fleet.answer("clerk", "The wedding will be in Lisbon.")
      const listed = await at("forget", "--topic", "weddings Lisbon", "--dry-run")
      assert.match(listed.stdout, /^what says it: .*\d messages?/)
      assert.match(listed.stdout, /clerk message m\/\d+\/0: The wedding will be in Lisbon\.\n/)
      assert.isTrue(await keeps("Lisbon"))
      assert.match((await at("forget", "clerk", "--topic", "weddings Lisbon", "--yes")).stdout, /\nerased of clerk: /)
      assert.isFalse(await keeps("Lisbon"), "the topic is still kept")
      for (const wrong of [
        [],
        ["--topic", "what of it"],
        ["--topic", "wedding", "--text", "wedding"],
        ["clerk", "--everything"],
        ["--text", "abc"],
        ["--message", "m/1/0"],
        ["clerk", "--message", "first"],
        ["clerk", "--text", "kestrel", "--person", "ann"]
      ]) {
        assert.notStrictEqual((await at("forget", ...wrong, "--yes")).code, 0, wrong.join(" "))
      }
    } finally {
      await server.close()
      await fleet.close()
    }
    const gone = await said(["forget", "clerk", "--yes", "--data", data])
    assert.match(gone.stdout, /^erased of clerk: /, gone.stderr)
    assert.match((await said(["forget", "--everything", "--yes", "--data", data])).stdout, /^(?:erased|nothing)/)
  })

  test("a fact that is wrong is retired with the reason, and one that is not there is none", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    await using fleet = await dreamt(data)
    const wrong = (await fleet.memory.facts("clerk")).find(({ text }) => text.includes("Oliver"))
    const server = await openServer({ fleet, role: "all", tokens: [] })
    try {
      const correct = ["memory", "correct", "clerk", wrong?.id ?? "", "Ann has a cat, Oliver.", "--url", server.url]
      assert.match(
        (await said([...correct, "--dry-run"])).stdout,
        /^would write Ann has a cat.* \(in the place of fact_/
      )
      const right = JSON.parse((await said([...correct, "--wait", "--json"])).stdout)
      assert.deepInclude(right, { ok: true, receipt: "accepted", corrected: wrong?.id })
      const added = await said(["memory", "add", "clerk", "Bob is a pilot.", "--url", server.url, "--wait"])
      assert.strictEqual(added.stdout, "clerk knows, at rest, Bob is a pilot.\n", added.stderr)
      const known = (await said(["memory", "clerk", "facts", "--url", server.url])).stdout
      for (const text of ["Ann has a cat, Oliver.", "Bob is a pilot."]) assert.include(known, text)
      const cat = (await fleet.memory.facts("clerk")).find(({ text }) => text === "Ann has a cat, Oliver.")
      await said(["memory", "retire", "clerk", cat?.id ?? "", "--yes", "--wait", "--url", server.url])
      const retire = ["memory", "retire", "clerk", wrong?.id ?? "", "--reason", "It is a cat.", "--url", server.url]
      assert.include((await said([...retire, "--dry-run"])).stdout, `would retire ${wrong?.id}: Ann has a puppy`)
      const told = await said([...retire, "--yes", "--json"])
      assert.deepInclude(JSON.parse(told.stdout), { ok: true, receipt: "accepted", retired: wrong?.id })
      const { stdout } = await said(["memory", "clerk", "facts", "--url", server.url])
      assert.include(stdout, `${wrong?.id} (retired: It is a cat., `)
      const { id: dream = "" } = (await fleet.memory.dreams("clerk"))[0] ?? {}
      const report = await said(["dream", "clerk", "--report", "--url", server.url])
      assert.match(report.stdout, new RegExp(`^${dream}, .*: learnt \\d+ facts, .*\nlearnt\n +fact_`))
      assert.include(report.stdout, `[trust 0.9, retired: It is a cat.] (m/`)
      const dreams = JSON.parse((await said(["memory", "clerk", "dreams", "--json", "--url", server.url])).stdout)
      assert.match(dreams.dreams[0].account.headline, /^learnt /)
      const undo = ["dream", "clerk", "--undo", dream, "--reason", "A joke.", "--url", server.url]
      const { id: other = "" } = (await fleet.memory.facts("clerk")).find(({ state }) => state === "active") ?? {}
      const item = await said([...undo, "--item", other, "--yes", "--wait"])
      assert.include(item.stdout, `clerk takes back, at rest, ${dream} of clerk: fact/${other}`, item.stderr)
      const stateNow = async () => (await fleet.memory.facts("clerk")).find(({ id }) => id === other)
      assert.deepInclude(await stateNow(), { state: "retired", reason: "A joke." })
      const again = await said(["dream", "clerk", "--report", "--url", server.url])
      assert.include(again.stdout, `taken back: ${other}: `)
      const unknown = await said([...undo, "--item", "fact_none", "--yes"])
      assert.include(unknown.stderr, `${dream} has no item fact_none`)
      assert.match(
        (await said([...undo, "--dry-run"])).stdout,
        new RegExp(`^would take back ${dream} of clerk: learnt \\d+ facts`)
      )
      assert.strictEqual((await said([...undo, "--yes"])).code, 0)
      await fleet.idle()
      const twice = await said([...undo, "--yes"])
      assert.notStrictEqual(twice.code, 0)
      assert.include(twice.stderr, `${dream} was taken back already`)
      const accepted = await said(["dream", "clerk", "--accept", dream, "--yes", "--url", server.url])
      assert.include(accepted.stderr, `nothing of ${dream} waits for a person`)
      assert.match((await said(["dream", "clerk", "--report", "--url", server.url])).stdout, /: taken back: learnt /)
      // What a person added is not the dream's.
      const left = (await fleet.memory.facts("clerk")).filter(({ state }) => state !== "retired")
      assert.deepStrictEqual(
        left.map(({ text }) => text),
        ["Bob is a pilot."]
      )
      const none = await said(["memory", "retire", "clerk", "fact_none", "--yes", "--json", "--url", server.url])
      assert.include(none.stdout + none.stderr, "clerk knows no fact fact_none")
    } finally {
      await server.close()
    }
  })

  test("M1 recalls beside a running fleet, tells what is kept, makes the index anew, and says what is wrong", async () => {
    await using directory = await temporary()
    const at = ["--data", directory.path]
    const chat = begin(["chat", "clerk", "--fleet", fixture("fleet.ts"), ...at], { input: true })
    chat.child.stdin?.write("the spare key hangs behind the blue barrel\n/stamp paper=lease\n")
    await chat.saying("Stamped lease")

    const recall = ["memory", "cle", "recall", "where does the spare key hang?", ...at]
    const said = await run([...recall, "--limit", "1"])
    assert.strictEqual(said.code, 0, said.stderr)
    assert.match(
      said.stdout,
      /^1\. m\/2\/0 \(.*\n {3}the spare key hangs behind the blue barrel\n {3}words spare, key, hang/
    )

    const { assistant, hits, mode } = jsonOf(await run([...recall, "--json"]))
    assert.deepStrictEqual([assistant, mode], ["clerk", "fts"])
    assert.deepInclude((hits as ReadonlyArray<{ readonly entry: Fields }>)[0]?.entry ?? {}, { id: "m/2/0" })

    const facts = jsonOf(await run(["memory", "clerk", "facts", ...at, "--json"]))
    assert.deepStrictEqual(facts, { ok: true, assistant: "clerk", facts: [] })
    assert.match((await run(["memory", "clerk", ...at])).stdout, /^clerk keeps 0 journal entries, 0 facts, /)

    const anew = jsonOf(await run(["memory", "clerk", "rebuild", ...at, "--json"]))
    assert.isAtLeast(Number(anew["memories"]), 2)
    assert.match((await run(recall)).stdout, /blue barrel/)

    assertFailure(await run(["memory", "clerk", "recall", ...at, "--json"]), 2, "usage", "recall needs a question")
    assertFailure(await run(["memory", "clerk", "facts", "what?", ...at, "--json"]), 2, "usage", "takes no question")
    assertFailure(await run(["memory", "clerk", "poems", ...at, "--json"]), 2, "usage", "poems")
    assertFailure(await run(["memory", "nobody", "facts", ...at, "--json"]), 4, "unknown-assistant", "nobody")
    assertFailure(await run([...recall, "--limit", "0", "--json"]), 2, "usage", "at least 1")

    chat.child.stdin?.end("/quit\n")
    assert.strictEqual((await chat.ended).code, 0)
  })
})
