import { assert, describe, it } from "@effect/vitest"
import { atLength } from "@reverie/testkit/length"
import {
  defineAssistant,
  defineFleet,
  defineTool,
  EnvelopeInvalid,
  Fleet,
  memoryTools,
  selfTools
} from "../src/index.ts"
import { liveWithPeople, settleInDirectory } from "./forgetting-lives.ts"
import { aDirectory, calling, failureOf, filesWith, openFleet } from "./rig.ts"

/** Random lives of a run. */
const LIVES = Number(process.env["REVERIE_FORGET_LIVES"] ?? atLength(10, 24))

const isOnDisk = (folder: string, text: string): boolean => filesWith(folder, text).length > 0

const desk = defineAssistant({
  id: "desk",
  instructions: "You keep the harbour book.",
  tools: [...selfTools, ...memoryTools]
})

/** It calls no tool, and its history is short. */
const plain = defineAssistant({ id: "desk", instructions: "You keep the harbour book." })

/** Its history is compacted after some dozens of messages, and memories of what went are called to mind. */
const small = defineAssistant({
  id: "desk",
  instructions: "You keep the harbour book.",
  maxContextTokens: 3_000,
  reservedResponseTokens: 200,
  memory: { kinds: ["fact", "message"] }
})

const open = (data: string, assistant = desk): Promise<Fleet> =>
  Fleet.open({ data, fleet: defineFleet({ assistants: [assistant] }), model: "offline" })

const told = [
  ["ann", "My name is Ann and I live in Lisbon."],
  ["ben", "My brother Otto has a red lantern."],
  ["ann", "I like walnuts. My sister is Quillandra."],
  ["ann", 'Please add a journal entry: "the zephyrine birch is late"'],
  ["ben", "What is the sister of Ann called?"]
] as const

const live = async (fleet: Fleet): Promise<void> => {
  for (const [from, text] of told) await fleet.answer("desk", text, { from })
  await fleet.sleep("desk")
  await fleet.idle()
}

const factsOf = async (fleet: Fleet) => (await fleet.memory.facts("desk")).map(({ text }) => text)

describe("forgetting whom and when", () => {
  it("of a person in small letters goes what others said of it, in whatever night", async () => {
    await using fleet = await open(":memory:", plain)
    const night = async (...said: ReadonlyArray<readonly [from: string, text: string]>): Promise<void> => {
      for (const [from, text] of said) await fleet.answer("desk", text, { from })
      await fleet.sleep("desk")
      await fleet.idle()
    }
    await night(["bob", "I live in Bergen."], ["ann", "Bob works at the airport."])
    await night(["ann", "Bob's birthday is on 2 July."], ["ann", "I have a dog called Biscuit."])
    assert.lengthOf(await factsOf(fleet), 4)
    await fleet.forget({ person: "bob" })
    assert.deepStrictEqual(await factsOf(fleet), ["ann has a dog called Biscuit"])
  })

  it("of a person goes what it said, what was answered, done and learnt of it, and its name; others stay", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await live(fleet)
    assert.isAbove((await factsOf(fleet)).filter((fact) => /Lisbon|walnuts|Quillandra/.test(fact)).length, 2)
    for (const text of ["Lisbon", "walnuts", "Quillandra", "zephyrine"]) assert.isTrue(isOnDisk(data, text), text)
    const [before, usage] = [await fleet.inspect("desk"), await fleet.usage()]
    const tried = await fleet.forget({ person: "ANN" }, { dryRun: true })
    const said = told.flatMap(([from, text]) => (from === "ann" ? [`ann: ${text}`] : []))
    const samplesOf = (kind: string) => tried.found?.samples.filter((sample) => sample.kind === kind) ?? []
    assert.deepStrictEqual(
      samplesOf("message").map(({ text }) => text),
      said
    )
    assert.deepInclude(samplesOf("message")[0], { assistant: "desk", where: "m/2/0" })
    assert.strictEqual(tried.found?.counts["message"], said.length)
    assert.isNotEmpty(samplesOf("fact").filter(({ text }) => text.includes("Quillandra")))
    assert.isEmpty(samplesOf("fact").filter(({ text }) => text.includes("Otto")))
    assert.isTrue(isOnDisk(data, "Quillandra"))
    const { found, gone } = await fleet.forget({ person: "ANN" })
    assert.deepStrictEqual(gone, tried.gone)
    assert.isUndefined(found)
    for (const text of ["Lisbon", "walnuts", "Quillandra", "zephyrine"]) assert.isFalse(isOnDisk(data, text), text)
    const facts = await factsOf(fleet)
    assert.isNotEmpty(facts.filter((fact) => /Otto/.test(fact)))
    assert.isEmpty(facts.filter((fact) => /\bann\b/i.test(fact)))
    assert.strictEqual((await fleet.inspect("desk"))?.version, before?.version)
    assert.deepStrictEqual(await fleet.usage(), usage)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    const names = (await fleet.memory.profiles("desk")).map(({ name }) => name)
    assert.notInclude(names, "ann")
    assert.deepStrictEqual((await fleet.forget({ person: "ann" })).gone, {})
    assert.isNotEmpty((await fleet.memory.recall("desk", "Who has a red lantern?")).hits)
    assert.isEmpty(
      (await fleet.memory.recall("desk", "Who lives in Lisbon and likes walnuts?")).hits.filter(({ entry }) =>
        /Lisbon|walnuts/.test(entry.text)
      )
    )
    await fleet.answer("desk", "Good morning again.", { from: "ann" })
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
  })

  for (const isDeleted of [false, true]) {
    it(`K6 of a person goes what was written without a message${isDeleted ? ", after the mail was deleted" : ""}`, async () => {
      const data = aDirectory()
      const listener = defineAssistant({
        id: "desk",
        instructions: "You keep the harbour book.",
        ...(isDeleted ? { retention: { deleteAfter: 1 } } : {})
      })
      const fleet = await open(data, listener)
      await fleet.answer("desk", "My brother Otto has a red lantern.", { from: "ben" })
      const by = { from: "zara" }
      await fleet.memory.addAttribute("desk", "Otto", "Plays the walrus-attribute.", by)
      const own = await fleet.blocks.create(
        { owner: "desk", label: "own", type: "core", content: "walrus-block" },
        { by: "zara" }
      )
      const { block } = await fleet.blocks.create({ owner: "desk", label: "ours", type: "core", content: "Free." })
      await fleet.blocks.edit(block, { op: "append_text", text: " So it is." }, { by: "zara", message: "walrus-why" })
      await fleet.idle()
      if (!isDeleted) {
        await fleet.memory.addFact("desk", "The walrus-fact is closed.", by)
        await fleet.reminders.set("desk", "standup", { cron: "0 9 * * 1-5", timeZone: "UTC", note: "walrus-note" }, by)
        await fleet.halt("desk", "walrus-reason", by)
        await fleet.idle()
      }
      for (let each = 0; isDeleted && each < 3; each++) {
        await fleet.answer("desk", `Ship ${each} came in.`, { from: "ben" })
      }
      if (isDeleted) assert.isAbove((await fleet.vacuum()).deleted.entries, 5)
      assert.isTrue(isOnDisk(data, "walrus-attribute"))
      const tried = await fleet.forget({ person: "Zara" }, { dryRun: true })
      const { gone } = await fleet.forget({ person: "Zara" })
      assert.deepStrictEqual(gone, tried.gone)
      for (const kind of ["attribute", "block", "why", "fact", "note", "reason"]) {
        assert.isFalse(isOnDisk(data, `walrus-${kind}`), kind)
      }
      assert.isFalse(isOnDisk(data, "zara"))
      assert.isUndefined(await fleet.blocks.load(own.block))
      assert.strictEqual((await fleet.blocks.read(block)).content, "Free. So it is.")
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      if (!isDeleted) {
        assert.deepInclude((await fleet.reminders.list("desk"))[0], { id: "standup", note: "[forgotten]" })
        await fleet.resume("desk")
        await fleet.idle()
      }
      await fleet.answer("desk", "Good morning.", { from: "ben" })
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      assert.deepStrictEqual((await fleet.forget({ person: "zara" })).gone, {})
      await fleet.close()
    })
  }

  it("K6 of a person goes the note of a decision, however short, where the model of another one's tick read it", async () => {
    const data = aDirectory()
    const refund = defineTool({ name: "refund", description: "Pays.", needsApproval: true, run: () => "paid" })
    const says = [calling("refund"), { text: "No." }, calling("refund"), { text: "Yes." }]
    const fleet = await openFleet({ data, tools: [refund], says })
    for (const decide of [fleet.deny.bind(fleet), fleet.approve.bind(fleet)]) {
      await fleet.send("desk", "Pay me.", { from: "ben" })
      await fleet.idle()
      const [asked] = await fleet.approvals.list("desk")
      await decide("desk", asked?.approval ?? "", { from: "zara", note: "walrus" })
      await fleet.idle()
    }
    const told = async () =>
      (await fleet.history.entries("desk")).flatMap(({ entry: { messages } }) =>
        messages.flatMap(({ note }) => (note === undefined ? [] : [`${note.by}: ${note.text}`]))
      )
    assert.deepStrictEqual(await told(), ["zara: walrus", "zara: walrus"])
    await fleet.forget({ person: "Zara" })
    assert.deepStrictEqual(await told(), ["forgotten: [forgotten]", "forgotten: [forgotten]"])
    for (const text of ["walrus", "zara"]) assert.isFalse(isOnDisk(data, text), text)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
  })

  it("one message goes with its tick, and nothing else", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await live(fleet)
    const { hits } = await fleet.memory.recall("desk", "walnuts", { kinds: ["message"] })
    const id = hits.find(({ entry }) => entry.text.includes("walnuts"))?.entry.id ?? ""
    const { gone } = await fleet.forget({ assistant: "desk", messages: [id] })
    assert.isAbove(gone["entry"] ?? 0, 0)
    assert.isFalse(isOnDisk(data, "Quillandra"))
    assert.isTrue(isOnDisk(data, "Lisbon"))
    assert.isNotEmpty((await factsOf(fleet)).filter((fact) => /Lisbon/.test(fact)))
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
  })

  it("a span of time goes, both ends with it", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await fleet.answer("desk", "The lighthouse keeper is called Eustace.", { from: "ann" })
    const { ticks } = await fleet.history.ticks("desk")
    const at = ticks[0]?.beganAt ?? 0
    await new Promise((resolve) => setTimeout(resolve, 5))
    await fleet.answer("desk", "The harbour master is called Wilhelmina.", { from: "ann" })
    await fleet.forget({ since: at, until: at })
    assert.isFalse(isOnDisk(data, "Eustace"))
    assert.isTrue(isOnDisk(data, "Wilhelmina"))
    await fleet.forget({ since: at })
    assert.isFalse(isOnDisk(data, "Wilhelmina"))
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
  })

  it("a summary that covers what is forgotten goes whole", async () => {
    const data = aDirectory()
    const fleet = await open(data, plain)
    for (let each = 0; each < 16; each++) {
      const [from, home] = each < 9 ? ["ann", "Quillandra"] : ["ben", "Otterham"]
      await fleet.answer("desk", `The boat ${each} of ${home} came in at noon.`, { from })
    }
    await fleet.compactions.run("desk")
    await fleet.idle()
    const [before] = await fleet.compactions.list("desk")
    assert.include(before?.summary ?? "", "Quillandra")
    assert.include(before?.marker.content ?? "", "Quillandra")
    await fleet.forget({ person: "ann" })
    assert.isFalse(isOnDisk(data, "Quillandra"))
    assert.isTrue(isOnDisk(data, "Otterham"))
    const [after] = await fleet.compactions.list("desk")
    assert.deepStrictEqual([after?.id, after?.summary, after?.after], [before?.id, "[forgotten]", before?.after])
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.answer("desk", "And now?", { from: "ben" })
    await fleet.close()
  })

  it("a compaction in the tick of a message stays, where it is of what others said before", async () => {
    const data = aDirectory()
    const fleet = await open(data, small)
    let before: ReadonlyArray<{ readonly id: string }> = []
    let last = ""
    for (let each = 0; before.length === 0 && each < 200; each++) {
      last = `Hull ${each} was painted in ${"deep ".repeat(20)}red.`
      await fleet.answer("desk", last, { from: "ben" })
      before = await fleet.compactions.list("desk")
    }
    assert.lengthOf(before, 1)
    const { ticks } = await fleet.history.ticks("desk", { limit: 5 })
    const place = `m/${ticks.find(({ text }) => text?.startsWith(last.slice(0, 12)))?.commits.from}/0`
    await fleet.forget({ assistant: "desk", messages: [place] })
    assert.isFalse(isOnDisk(data, last.slice(0, 12)))
    assert.deepStrictEqual(await fleet.compactions.list("desk"), before)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
  })

  it("what others said stays where it was called to mind, or summed up, beside what is forgotten", async () => {
    const data = aDirectory()
    const fleet = await open(data, small)
    await fleet.answer("desk", "My brother Otto has a red lantern.", { from: "ben" })
    await fleet.answer("desk", "My sister is called Quillandra.", { from: "ann" })
    for (let each = 0; each < 60; each++) {
      await fleet.answer("desk", `Hull ${each} was painted in ${"deep ".repeat(20)}red.`, { from: "ben" })
    }
    await fleet.sleep("desk")
    await fleet.idle()
    await fleet.wake("desk")
    await fleet.answer("desk", "What has the brother Otto of Ben, a red lantern?", { from: "ann" })
    assert.isTrue(isOnDisk(data, '"shown"'), "nothing was called to mind")
    const keeps = async () => (await factsOf(fleet)).filter((fact) => /Otto/.test(fact)).length
    assert.isAbove(await keeps(), 0)
    assert.isNotEmpty(await fleet.compactions.list("desk"))
    await fleet.forget({ person: "ann" })
    assert.isFalse(isOnDisk(data, "Quillandra"))
    assert.isAbove(await keeps(), 0)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
  })

  it("refuses what can mean nothing", async () => {
    await using fleet = await openFleet()
    for (const what of [
      { person: " " },
      { messages: ["m/1/0"] },
      { messages: ["here"], assistant: "desk" },
      { since: 2, until: 1 },
      {},
      { assistant: "desk", person: undefined } as never
    ]) {
      assert.instanceOf(await failureOf(fleet.forget(what)), EnvelopeInvalid, JSON.stringify(what))
    }
    assert.notStrictEqual((await fleet.inspect("desk"))?.state.status, "retired", "all of it went")
  })

  it(
    "random lives: of who is forgotten no word is left, and every life replays",
    { timeout: 240_000 + LIVES * 400 },
    () => liveWithPeople(settleInDirectory, LIVES)
  )
})
