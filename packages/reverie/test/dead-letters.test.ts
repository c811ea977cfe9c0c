import { assert, describe, it } from "@effect/vitest"
import { ModelRefused } from "@reverie/model"
import { againId } from "../src/fleet/dead-letters.ts"
import { IdInvalid, DeadLetterRefused, DeadLetterUnknown } from "../src/index.ts"
import { failureOf, openFleet } from "./rig.ts"

const refusal = new ModelRefused({ provider: "scripted", kind: "bad-request", message: "not such words" })

describe("dead letters", () => {
  it("tell what stood in them, and why they were dead-lettered", async () => {
    await using fleet = await openFleet({ says: [refusal] })
    await fleet.send("desk", "Bad words.", { id: "m-1", from: "ann" })
    await fleet.idle()
    await fleet.send("clerk", "More of them.", { id: "m-2" })
    await fleet.idle()
    const dead = await fleet.deadLetters.list()
    assert.deepStrictEqual(
      dead.map(({ address, envelope, from, text, type }) => [address.assistant, String(envelope), type, from, text]),
      [
        ["clerk", "m-2", "message", "user", "More of them."],
        ["desk", "m-1", "message", "ann", "Bad words."]
      ]
    )
    assert.match(dead[1]?.reason ?? "", /not such words/)
    assert.deepStrictEqual(
      (await fleet.deadLetters.list(1)).map(({ envelope }) => String(envelope)),
      ["m-2"]
    )
    assert.match((await fleet.history.lastError("desk"))?.message ?? "", /not such words/)
    assert.strictEqual(await fleet.history.lastError("nobody"), undefined)
  })

  it("are read one by one, whole, with the tick that ended with them", async () => {
    const long = "Bad words. ".repeat(400)
    await using fleet = await openFleet({ says: [{ text: "Good day." }, refusal] })
    await fleet.send("desk", "Hello.")
    await fleet.idle()
    await fleet.send("desk", long, { id: "m-1", from: "ann" })
    await fleet.idle()
    const [listed] = await fleet.deadLetters.list()
    assert.isBelow(listed?.text?.length ?? 0, long.length)
    const one = await fleet.deadLetters.inspect("desk", "m-1")
    assert.deepInclude(one, { from: "ann", type: "message", reason: listed?.reason ?? "none", tick: 2 })
    assert.deepInclude(one.event as object, { type: "message", text: long })
    assert.isAtMost(one.acceptedAt ?? Infinity, one.at)
    assert.instanceOf(await failureOf(fleet.deadLetters.inspect("desk", "m-2")), DeadLetterUnknown)
    assert.instanceOf(await failureOf(fleet.forTenant("zulu").deadLetters.inspect("desk", "m-1")), DeadLetterUnknown)
  })

  it("D3 one of an assistant that has retired says so, is not sent again, and is discarded", async () => {
    await using fleet = await openFleet({ says: [refusal] })
    await fleet.send("desk", "Please.", { id: "m-1" })
    await fleet.idle()
    assert.notProperty((await fleet.deadLetters.list())[0] ?? {}, "isRetired")
    await fleet.retire("desk")
    await fleet.idle()
    assert.isTrue((await fleet.deadLetters.list())[0]?.isRetired)
    assert.isTrue((await fleet.deadLetters.inspect("desk", "m-1")).isRetired)
    const refused = await failureOf(fleet.deadLetters.retry("desk", "m-1"))
    assert.instanceOf(refused, DeadLetterRefused)
    assert.strictEqual(refused.message, "desk has retired: its dead letters can be discarded, and are not sent again")
    assert.strictEqual(await fleet.deadLetters.discard("desk", "m-1"), "discarded")
  })

  it("D1 one is sent again once, and again when that was dead-lettered too", async () => {
    await using fleet = await openFleet({ says: [refusal, refusal, { text: "All right." }] })
    await fleet.send("desk", "Please.", { id: "m-1", from: "ann" })
    await fleet.idle()
    const again = await fleet.deadLetters.retry("desk", "m-1")
    assert.deepStrictEqual([again.outcome, String(again.envelope)], ["accepted", "again/m-1/1"])
    assert.strictEqual((await fleet.deadLetters.retry("desk", "m-1")).outcome, "duplicate")
    await fleet.idle()
    const third = await fleet.deadLetters.retry("desk", "again/m-1/1")
    assert.strictEqual(String(third.envelope), "again/m-1/2")
    await fleet.idle()
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepInclude(tick, { text: "Please.", from: "ann", reply: "All right.", envelope: "again/m-1/2" })
    const handled = await failureOf(fleet.deadLetters.retry("desk", "again/m-1/2"))
    assert.instanceOf(handled, DeadLetterUnknown)
    assert.instanceOf(await failureOf(fleet.deadLetters.retry("clerk", "m-1")), DeadLetterUnknown)
    assert.instanceOf(await failureOf(fleet.forTenant("zulu").deadLetters.retry("desk", "m-1")), DeadLetterUnknown)
  })

  it("D2 what was sent again is a dead letter no more; a second try that was dead-lettered is one in its turn", async () => {
    await using fleet = await openFleet({ says: [refusal, refusal, { text: "All right." }] })
    const dead = async () => (await fleet.deadLetters.list()).map(({ envelope }) => String(envelope))
    await fleet.send("desk", "Please.", { id: "m-1", from: "ann" })
    await fleet.idle()
    assert.deepStrictEqual(await dead(), ["m-1"])
    await fleet.deadLetters.retry("desk", "m-1")
    assert.deepStrictEqual(await dead(), [])
    await fleet.idle()
    assert.deepStrictEqual(await dead(), ["again/m-1/1"])
    assert.match(await fleet.monitor.metrics(), /\nreverie_dead_letters 1\n/)
    await fleet.deadLetters.retry("desk", "again/m-1/1")
    await fleet.idle()
    assert.deepStrictEqual(await dead(), [])
    assert.deepStrictEqual(await fleet.monitor.totals(), { accepted: 3, settled: 1, dead: 2, discarded: 2 })
    assert.match(await fleet.monitor.metrics(), /\nreverie_envelopes_dead_total 2\n[^]*\nreverie_dead_letters 0\n/)
  })

  it("D2 one that was sent again before a crash is sent no second time, and is discarded", async () => {
    await using fleet = await openFleet({ says: [refusal, { text: "All right." }] })
    await fleet.send("desk", "Please.", { id: "m-1", from: "ann" })
    await fleet.idle()
    // What a process leaves that dies after the sending.
    await fleet.send("desk", "Please.", { id: againId("m-1"), from: "ann" })
    await fleet.idle()
    assert.lengthOf(await fleet.deadLetters.list(), 1)
    assert.strictEqual((await fleet.deadLetters.retry("desk", "m-1")).outcome, "duplicate")
    await fleet.idle()
    assert.lengthOf(await fleet.deadLetters.list(), 0)
    assert.lengthOf((await fleet.history.ticks("desk")).ticks, 2)
  })

  it("I9 one that a person discards is reported no more; its dead-lettering stays in the history", async () => {
    await using fleet = await openFleet({ says: [refusal] })
    for (const id of ["desk", "clerk"]) await fleet.send(id, "Please.", { id: "m-1", from: "ann" })
    await fleet.idle()
    const before = await fleet.history.entries("desk", 1, 100)
    assert.instanceOf(await failureOf(fleet.forTenant("zulu").deadLetters.discard("desk", "m-1")), DeadLetterUnknown)
    assert.instanceOf(await failureOf(fleet.deadLetters.discard("desk", "m-2")), DeadLetterUnknown)
    assert.instanceOf(await failureOf(fleet.deadLetters.discard("no body", "m-1")), IdInvalid)
    assert.lengthOf(await fleet.deadLetters.list(), 2)
    assert.strictEqual(await fleet.deadLetters.discard("desk", "m-1"), "discarded")
    assert.strictEqual(await fleet.deadLetters.discard("desk", "m-1"), "already")
    assert.deepStrictEqual(
      (await fleet.deadLetters.list()).map(({ address }) => address.assistant as string),
      ["clerk"]
    )
    assert.instanceOf(await failureOf(fleet.deadLetters.retry("desk", "m-1")), DeadLetterUnknown)
    const after = await fleet.history.entries("desk", 1, 100)
    assert.deepStrictEqual(after, before)
    assert.isTrue(after.some(({ entry }) => entry.settled?.some(({ reason }) => reason?.includes("not such words"))))
  })

  it("D1 an id of any length can be sent again, and again", () => {
    const long = "x".repeat(256)
    const first = againId(long)
    assert.isAtMost(first.length, 256)
    assert.notStrictEqual(againId(`${long.slice(1)}y`), first)
    assert.strictEqual(againId(first), first.replace(/1$/, "2"))
    assert.strictEqual(againId("a/b\n/7"), "again/a/b\n/7/1")
  })
})

describe("use", () => {
  it("U1 adds up what model calls took since a moment", async () => {
    await using fleet = await openFleet({
      says: [{ text: "Yes.", usage: { inputTokens: 100, outputTokens: 10, source: "provider" } }],
      assistant: { prices: { inputMicros: 1_000_000, outputMicros: 1_000_000 } }
    })
    for (let n = 0; n < 3; n++) await fleet.answer("desk", `Hello ${n}.`)
    const used = { inputTokens: 300, cachedTokens: 0, outputTokens: 30, reasoningTokens: 0, unpricedCalls: 0 }
    assert.deepStrictEqual(await fleet.history.usage("desk", 0), {
      ...used,
      tokens: 330,
      costMicros: 330,
      calls: 3
    })
    const end = (await fleet.history.ticks("desk")).ticks[0]?.endedAt ?? 0
    const nothing = {
      ...used,
      inputTokens: 0,
      outputTokens: 0,
      tokens: 0,
      costMicros: 0,
      calls: 0
    }
    assert.deepStrictEqual(await fleet.history.usage("desk", end + 3_600_000), nothing)
    assert.deepStrictEqual(await fleet.history.usage("nobody", 0), nothing)
  })
})

describe("dreams", () => {
  it("are listed by their reports, the newest first", async () => {
    await using fleet = await openFleet({ assistant: { settings: { sleepMs: 3_600_000 } } })
    for (const night of [1, 2]) {
      await fleet.answer("desk", `Good evening ${night}.`)
      await fleet.sleep("desk")
      await fleet.idle()
      await fleet.wake("desk")
      await fleet.idle()
    }
    const dreams = await fleet.memory.dreams("desk")
    assert.deepStrictEqual(
      dreams.map(({ id }) => id),
      ["dream_4", "dream_2"]
    )
    assert.isTrue(dreams[0]?.lines.some(({ operation }) => operation === "pruning"))
    assert.deepStrictEqual(await fleet.memory.dreams("clerk"), [])
  })
})
