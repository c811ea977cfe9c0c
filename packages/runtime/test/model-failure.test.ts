import { assert, describe, it } from "@effect/vitest"
import { ModelDenied, type ModelError, ModelParked, ModelRefused, ModelUnavailable } from "@reverie/model"
import { anAddress, inTurn } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { aTool, calling, live } from "./rig.ts"

const provider = "scripted"
const down = new ModelUnavailable({ provider, message: "the line is dead", kind: "network" })
const parked = new ModelParked({ provider, message: "come back later", retryAfterMillis: 45_000 })
const denied = new ModelDenied({ provider, message: "wrong key", status: 401 })
const refused = new ModelRefused({ provider, message: "not such words", kind: "filtered" })

const SETTINGS = { parkMinMillis: 1_000, parkMaxMillis: 60_000 }

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
    assert.deepStrictEqual(times, [0, 1_000, 3_000, 7_000])
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
      tools: [aTool("look")],
      model: inTurn(down, down, calling("look"), down, { text: "At last." })
    })
    life.say("Look.")
    life.until(() => life.ends().length > 0)
    const pauses = life.entries().flatMap(({ at, status }) => (status === "awake.thinking.parked" ? [at] : []))
    const resumed = life.entries().flatMap(({ at, cause }) => (cause.kind === "timer" ? [at] : []))
    assert.deepStrictEqual(
      resumed.map((at, index) => at - (pauses[index] ?? 0)),
      [1_000, 2_000, 1_000]
    )
  })

  it("a provider that names a time is left alone until then", () => {
    const { life, times } = callTimes([parked])
    life.say("Hello?")
    life.pass(44_000)
    assert.strictEqual(life.status(), "awake.thinking.parked")
    life.until(() => life.ends().length > 0)
    assert.deepStrictEqual(times, [0, 45_000])
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

  it("a prompt that can not be made small enough is one that nobody can send: dead, with the numbers", () => {
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

  it("five errors in a row halt, whichever way they came; resume gives five more", () => {
    const { life, times } = callTimes([down, down, parked, down, down, down])
    life.say("Hello?", { id: "m-1" })
    life.until(() => life.status() === "halted")
    assert.strictEqual(times.length, 5)
    life.pass(600_000)
    assert.strictEqual(times.length, 5)
    life.post({ type: "resume" })
    life.until(() => life.ends().length > 0)
    assert.strictEqual(times.length, 7)
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered" })
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
