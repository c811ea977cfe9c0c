import { assert, describe, it } from "@effect/vitest"
import { contextOf, restore } from "@reverie/assistant"
import {
  ModelDenied,
  type ModelError,
  ModelParked,
  ModelRefused,
  ModelUnavailable,
  ReplyUnusable
} from "@reverie/model"
import type { Json } from "@reverie/protocol"
import { anAddress, inTurn } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { aTool, calling, live } from "./rig.ts"

const provider = "scripted"
const down = new ModelUnavailable({ provider, message: "the line is dead", kind: "network" })
const parked = new ModelParked({ provider, message: "come back later", retryAfterMs: 45_000 })
const denied = new ModelDenied({ provider, message: "wrong key", status: 401 })
const refused = new ModelRefused({ provider, message: "not such words", kind: "filtered" })

const unusable = new ReplyUnusable({ provider, message: "nothing, twice" })

const outageIn = (event: Json): Json | undefined => {
  const { error } = event as { readonly error?: { readonly outage?: Json } }
  return error?.outage
}

/** Each gap is a pause of which up to half was given up. */
const assertPauses = (times: ReadonlyArray<number>, wholes: ReadonlyArray<number>): void => {
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  assert.strictEqual(gaps.length, wholes.length, String(gaps))
  for (const [index, whole] of wholes.entries()) {
    assert.isTrue((gaps[index] ?? 0) >= whole / 2 && (gaps[index] ?? 0) <= whole, String(gaps))
  }
}

const SETTINGS = { parkMinMs: 1_000, parkMaxMs: 60_000 }

/** When each model call was made, in milliseconds since the beginning. */
const callTimes = (lines: ReadonlyArray<ModelError>, maxErrors = 5) => {
  const times: Array<number> = []
  const life = live({
    settings: { ...SETTINGS, maxErrors },
    model: (_, call) =>
      Effect.suspend(() => {
        times.push(life.time.now - began)
        const line = lines[call - 1]
        return line === undefined ? Effect.succeed({ text: "At last." }) : Effect.fail(line)
      })
  })
  const began = life.time.now
  return { life, times }
}

describe("model failures", () => {
  it("a passing failure parks, the pause doubles, and the same tick goes on", () => {
    const { life, times } = callTimes([down, down, down])
    life.say("Hello?", { id: "m-1" })
    life.until(() => life.ends().length > 0)
    assertPauses(times, [1_000, 2_000, 4_000])
    assert.strictEqual(life.entries().at(-1)?.tick, 1)
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered", reply: "At last." })
    assert.deepStrictEqual(
      life.told("model-failed").map(({ reason }) => reason),
      Array.from({ length: 3 }, () => "ModelUnavailable: the line is dead")
    )
  })

  it("a success makes the next pause short again", () => {
    const life = live({
      settings: SETTINGS,
      tools: [aTool("look", { effect: () => Effect.as(Effect.sleep(1), "seen") })],
      model: inTurn(down, down, calling("look"), down, { text: "At last." })
    })
    life.say("Look.")
    life.until(() => life.ends().length > 0)
    const pauses = life.entries().flatMap(({ at, status }) => (status === "awake.thinking.parked" ? [at] : []))
    const resumed = life.entries().flatMap(({ at, cause }) => (cause.kind === "timer" ? [at] : []))
    for (const [index, whole] of [1_000, 2_000, 1_000].entries()) {
      const pause = (resumed[index] ?? 0) - (pauses[index] ?? 0)
      assert.isTrue(pause >= whole / 2 && pause <= whole, `${pause} of ${whole}`)
    }
  })

  it("a provider that names a time is left alone until then", () => {
    const { life, times } = callTimes([parked])
    life.say("Hello?")
    life.pass(44_000)
    assert.strictEqual(life.status(), "awake.thinking.parked")
    life.until(() => life.ends().length > 0)
    assert.isTrue((times[1] ?? 0) >= 45_000 && (times[1] ?? 0) <= 46_000, `${times[1]}`)
  })

  it("a refused prompt ends its tick in the dead letters with the reason, and the next message is handled", () => {
    const life = live({ model: inTurn(refused, { text: "Gladly." }) })
    life.say("Something unspeakable.", { id: "m-1" })
    life.say("Something else.", { id: "m-2" })
    life.rest()
    assert.deepInclude(life.settled()[0], { id: "m-1", outcome: "dead", reason: "ModelRefused: not such words" })
    assert.deepInclude(life.deadLetters()[0], { envelope: "m-1", reason: "ModelRefused: not such words" })
    assert.deepInclude(life.ends()[1], { envelope: "m-2", outcome: "answered", reply: "Gladly." })
  })

  it("a prompt that can not be made small enough is one that no one can send: dead, with the numbers", () => {
    const life = live({
      definition: { maxContextTokens: 30, reservedResponseTokens: 20, systemPrompt: "x".repeat(400) }
    })
    life.say("Hello?")
    life.rest()
    assert.strictEqual(life.scripted.prompts.length, 0)
    assert.strictEqual(life.settled()[0]?.outcome, "dead")
    assert.strictEqual(life.status(), "awake.idle")
  })

  it("a refusal of who we are halts at once; mail waits; resume goes on with the same tick", () => {
    const life = live({ model: inTurn(denied, { text: "Back again." }, { text: "And you?" }) })
    life.say("Hello?", { id: "m-1" })
    life.say("Anyone?", { id: "m-2" })
    life.pass(60_000)
    assert.strictEqual(life.status(), "halted")
    assert.strictEqual(life.settled().length, 0)
    assert.strictEqual(life.scripted.prompts.length, 1)
    life.post({ type: "resume" })
    life.rest()
    assert.deepStrictEqual(
      life.ends().map(({ envelope, reply }) => `${envelope}: ${reply}`),
      ["m-1: Back again.", "m-2: And you?"]
    )
    assert.deepStrictEqual(
      life.entries().flatMap(({ tick, tickEnd }) => (tickEnd === undefined ? [] : [tick])),
      [1, 2]
    )
  })

  it("machine A3: an outage of hours halts no one, counts nothing, and its tick is answered", () => {
    const HOURS = 3 * 60 * 60_000
    const life = live({
      settings: { maxErrors: 1 },
      model: () => (life.time.now - began < HOURS ? Effect.fail(down) : Effect.succeed({ text: "At last." }))
    })
    const began = life.time.now
    life.say("Hello?", { id: "m-1" })
    life.until(() => life.ends().length > 0)
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered", reply: "At last." })
    assert.isFalse(life.entries().some(({ status }) => status === "halted"))
    assert.isEmpty(life.deadLetters())
    const waits = life.entries().flatMap(({ event }) => outageIn(event) ?? [])
    assert.isAbove(waits.length, 30)
    // Someone tries every half minute at least, whatever the pauses have grown to.
    assert.isBelow(life.time.now - began - HOURS, 31_000)
    const { errors, outage, tries } = contextOf(Result.getOrThrow(restore(life.snapshot())))
    assert.deepStrictEqual([errors, tries, outage], [0, 0, null])
  })

  it("machine A3: a reply that is unusable again and again fails its tick at the fifth try, and halts no one", () => {
    const life = live({
      settings: SETTINGS,
      model: (_, call) => (call <= 5 ? Effect.fail(unusable) : Effect.succeed({ text: "Gladly." }))
    })
    life.say("Something odd.", { id: "m-1" })
    life.say("Something else.", { id: "m-2" })
    life.until(() => life.ends().length === 2)
    assert.deepInclude(life.settled()[0], { id: "m-1", outcome: "dead", reason: "ReplyUnusable: nothing, twice" })
    assert.deepInclude(life.ends()[1], { envelope: "m-2", outcome: "answered", reply: "Gladly." })
    assert.strictEqual(life.scripted.prompts.length, 6)
  })

  it("F40 F41: ticks that failed in a row narrow the next one, an outage does not", () => {
    const life = live({ settings: SETTINGS, model: inTurn(refused, refused, refused, down, { text: "Yes." }, refused) })
    for (let index = 1; index <= 6; index++) life.say("Hello?", { id: `m-${index}` })
    life.until(() => life.ends().length === 6)
    const narrowed = life.entries().flatMap(({ event }) => {
      const { restriction, type } = event as { readonly type: string; readonly restriction?: Json }
      return type === "message" ? [restriction ?? null] : []
    })
    assert.deepStrictEqual(narrowed.slice(0, 2), [null, null])
    assert.deepInclude(narrowed[2], { maxIterations: 2 })
    assert.deepInclude(narrowed[3], { mode: "single_action", confirmDangerous: true })
    assert.deepStrictEqual(narrowed.slice(4), [null, null], "a success begins to count anew")
  })

  it("five refused prompts in a row halt too, and all five are in the dead letters", () => {
    const life = live({ model: inTurn(refused) })
    for (let index = 1; index <= 6; index++) life.say("Unspeakable.", { id: `m-${index}` })
    life.pass(10_000)
    assert.strictEqual(life.status(), "halted")
    assert.deepStrictEqual(
      life.settled().map(({ id, outcome }) => `${id} ${outcome}`),
      [1, 2, 3, 4, 5].map((index) => `m-${index} dead`)
    )
    assert.strictEqual(life.disk.resident(anAddress())?.mail.mail.length, 6)
  })

  it("an adapter that breaks is a passing failure, never the end of the assistant", () => {
    const life = live({
      settings: SETTINGS,
      model: (_, call) => (call === 1 ? Effect.die(new Error("no such field")) : Effect.succeed({ text: "Mended." }))
    })
    life.say("Hello?")
    life.until(() => life.ends().length > 0)
    assert.match(life.told("model-failed")[0]?.reason ?? "", /adapter broke: Error: no such field/)
    assert.deepInclude(life.ends()[0], { reply: "Mended." })
    assert.deepStrictEqual(life.failures, [])
  })

  it("the assistant stays free for orders while it is parked", () => {
    const { life } = callTimes([parked])
    life.say("Hello?")
    life.pass(1_000)
    life.post({ type: "halt", reason: "enough" })
    life.pass(1_000)
    assert.strictEqual(life.status(), "halted")
    assert.deepStrictEqual(life.disk.resident(anAddress())?.state.timers, [])
  })
})
