import { assert, describe, it } from "@effect/vitest"
import { ModelRefused } from "@reverie/model"
import { atLength } from "@reverie/testkit/length"
import { EnvelopeInvalid, exportFleet, type Fleet, IdInvalid, UnknownAssistant } from "../src/index.ts"
import { liveWithCanaries, settleInDirectory } from "./forgetting-lives.ts"
import { aDirectory, failureOf, filesWith, openFleet } from "./rig.ts"

const exported = async (data: string): Promise<string> => {
  let text = ""
  for await (const line of exportFleet({ from: { data } })) text += `${line}\n`
  return text
}

const CANARY = "kestrel-9713"
/** Random lives of a run. */
const LIVES = Number(process.env["REVERIE_FORGET_LIVES"] ?? atLength(10, 24))
const refusal = new ModelRefused({ provider: "scripted", kind: "bad-request", message: `no words about ${CANARY}` })

/** Lets a desk hear, say and keep a text in every way there is, beside a clerk who knows nothing of it. */
const live = async (fleet: Fleet, canary: string): Promise<void> => {
  await fleet.send("desk", `The code is ${canary}.`, { id: "m-1", from: "ann" })
  await fleet.idle()
  await fleet.send("desk", "A letter that no one can answer.", { id: "m-2", from: "ann" })
  await fleet.idle()
  await fleet.send("desk", "A word about the weather.", { id: "m-3", from: "ben" })
  await fleet.send("clerk", "Which berth is free?", { id: "m-4", from: "ben" })
  await fleet.idle()
  const block = await fleet.blocks.create({
    owner: "desk",
    label: "notes",
    type: "core",
    content: `Ann says ${canary}.`
  })
  await fleet.blocks.edit(block.block, { op: "set_text", text: `She said ${canary} again.` })
  await fleet.blocks.edit(block.block, { op: "set_text", text: "Nothing of it any more." })
}

const says = [{ text: `I shall remember ${CANARY}.` }, refusal, { text: "It is fine." }, { text: "Berth 4." }]

describe("forgetting", () => {
  it("erases an assistant to the last byte, leaves its name and its sums, and the others as they were", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says })
    await live(fleet, CANARY)
    assert.isNotEmpty(filesWith(data, CANARY), "the canary was never written")
    const [usage, clerk] = [await fleet.usage(), await fleet.history.ticks("clerk")]
    const tried = await fleet.forget({ assistant: "desk" }, { dryRun: true })
    assert.isTrue(tried.dryRun)
    assert.isNotEmpty(filesWith(data, CANARY), "a dry run forgot")
    const { assistants, dryRun, gone } = await fleet.forget({ assistant: "desk" })
    assert.deepStrictEqual([assistants, dryRun, gone], [1, false, tried.gone])
    assert.containsAllKeys(gone, ["block", "block-version", "dead-letter", "entry", "envelope"])
    assert.deepStrictEqual(filesWith(data, CANARY), [])
    assert.deepStrictEqual(await fleet.usage(), usage)
    assert.deepStrictEqual(await fleet.history.ticks("clerk"), clerk)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    assert.strictEqual((await fleet.inspect("desk"))?.state.status, "retired")
    assert.instanceOf(await failureOf(fleet.send("desk", "Are you there?")), UnknownAssistant)
    assert.strictEqual(await fleet.create("desk"), "exists")
    await fleet.close()
    assert.deepStrictEqual(filesWith(data, CANARY), [])
    assert.notInclude(await exported(data), CANARY)
  })

  it("takes a text out of a life that goes on: it replays, counts as before, and no byte of it is left", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says })
    await live(fleet, CANARY)
    const before = await fleet.inspect("desk")
    const { assistants, gone } = await fleet.forget({ text: CANARY.toUpperCase() })
    assert.strictEqual(assistants, 1)
    assert.isAbove(gone["entry"] ?? 0, 0)
    assert.deepStrictEqual(filesWith(data, CANARY), [])
    assert.strictEqual((await fleet.inspect("desk"))?.version, before?.version)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    const { ticks } = await fleet.history.ticks("desk")
    assert.includeMembers(
      ticks.map(({ text }) => text),
      ["[forgotten]", "A word about the weather."]
    )
    assert.strictEqual((await fleet.send("desk", "Go on.", { id: "m-9" })).outcome, "accepted")
    await fleet.idle()
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    assert.deepStrictEqual((await fleet.forget({ text: CANARY })).gone, {})
    await fleet.close()
    assert.deepStrictEqual(filesWith(data, CANARY), [])
    assert.notInclude(await exported(data), CANARY)
  })

  it("erases a tenant, and nothing of another one", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says: [{ text: `Noted: ${CANARY}.` }, { text: `And ${CANARY}.` }] })
    const south = fleet.forTenant("south")
    await south.create("desk")
    await south.send("desk", `South hears ${CANARY}.`)
    await fleet.send("desk", "North hears nothing.")
    await fleet.idle()
    const north = await fleet.inspect("desk")
    await south.forget({ everything: true })
    assert.deepStrictEqual(await fleet.inspect("desk"), north)
    assert.strictEqual((await south.inspect("desk"))?.version, 1)
    await fleet.forget({ text: CANARY })
    assert.deepStrictEqual(filesWith(data, CANARY), [])
    await fleet.close()
  })

  it("refuses what could stand in anything, and who can not be", async () => {
    await using fleet = await openFleet()
    assert.instanceOf(await failureOf(fleet.forget({ text: " a " })), EnvelopeInvalid)
    assert.instanceOf(await failureOf(fleet.forget({ assistant: "../desk" })), IdInvalid)
    assert.match(String(await failureOf(fleet.forget({ assistant: "nobody" }))), /no such assistant/)
  })

  it("refuses several things at once, and what is not known, and nothing goes", async () => {
    const fleet = await openFleet({ says: [{ text: "Aye." }] })
    await fleet.answer("desk", "The Skylark came in.", { from: "ann" })
    const before = await fleet.inspect("desk")
    for (const what of [
      { everything: true, person: "nobody" },
      { everything: true, assistant: "desk" },
      { everything: false },
      { person: "Bob", text: "Skylark" },
      { text: "Skylark", topic: "boats" },
      { topic: "boats", since: 0 },
      { text: undefined, assistant: "desk" },
      { assistant: "desk", persons: "ann" },
      { text: 5 },
      { person: null },
      { since: Number.NaN },
      {},
      null,
      undefined
    ]) {
      const refused = await failureOf(fleet.forget(what as never))
      assert.instanceOf(refused, EnvelopeInvalid, JSON.stringify(what))
      assert.notInclude(refused.message, "\n")
    }
    assert.deepStrictEqual(await fleet.inspect("desk"), before)
    // @ts-expect-error one thing is forgotten at a time
    assert.instanceOf(await failureOf(fleet.forget({ everything: true, person: "nobody" })), EnvelopeInvalid)
    await fleet.close()
  })

  it("random lives with canaries: none is left, and every life replays", { timeout: 240_000 + LIVES * 400 }, () =>
    liveWithCanaries(settleInDirectory, LIVES)
  )
})
