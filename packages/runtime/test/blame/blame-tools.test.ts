import { assert, describe, it } from "@effect/vitest"
import type { Prompt } from "@reverie/model"
import * as Effect from "effect/Effect"
import { aTool, calling } from "../rig.ts"
import { type Kill, lives } from "./lives.ts"

const NEIGHBOURS = ["ann", "bob", "cid", "dee", "eve"]

const isResult = ({ messages }: Prompt): boolean => messages.at(-1)?.role === "tool"

/** The desk's model calls `dig` and then says what came of it; the neighbours' models take their time. */
const slowModel =
  (millis: number, tool = "dig") =>
  (prompt: Prompt) =>
    prompt.messages.some(({ content }) => content === "Dig.")
      ? Effect.succeed(isResult(prompt) ? { text: "Enough." } : calling(tool))
      : Effect.delay(Effect.succeed({ text: "Aye." }), millis)

const deadly = (kill: Kill, over: Parameters<typeof aTool>[1] = {}) =>
  aTool("dig", { idempotent: true, effect: () => Effect.andThen(Effect.sleep(500), kill), ...over })

describe("a tool that ends its process", () => {
  it("B2 is tried alone after two losses and convicted by the third; its model learns of it, and its message goes on", () => {
    const { deaths, last } = lives(
      (kill) => ({ tools: [deadly(kill)], model: slowModel(0) }),
      (first) => first.slip("Dig.", { id: "m-1" })
    )
    assert.strictEqual(deaths, 3)
    assert.strictEqual(
      last.answerTo("1.1.0"),
      'The process ended 3 times while the tool "dig" ran, the last time with no other tool running. ' +
        "It is not run again; whether it took effect is unknown."
    )
    assert.deepInclude(last.ends()[0], { envelope: "m-1", outcome: "answered", reply: "Enough." })
    const step = last.entries().find(({ step: each }) => each?.kind === "tool")?.step
    assert.deepStrictEqual([step?.ok, step?.detail], [false, { failure: "crashed" }])
    assert.isTrue(last.logged.some((line) => line.includes("harbor/ada: The process ended 3 times")))
  })

  it("B1 B3 costs five neighbours who wait for slow models nothing but time", () => {
    const { deaths, last } = lives(
      (kill) => ({ assistants: ["ada", ...NEIGHBOURS], tools: [deadly(kill)], model: slowModel(20_000) }),
      (first) => {
        for (const to of NEIGHBOURS) first.slip("Hello?", { to, id: `m-${to}` })
        first.slip("Dig.", { id: "m-1" })
      }
    )
    assert.strictEqual(deaths, 3)
    for (const name of NEIGHBOURS) assert.deepInclude(last.ends(name)[0], { outcome: "answered", reply: "Aye." })
    assert.deepStrictEqual(last.deadLetters(), [])
  })

  it("B2 convicts none of the tools that ran beside it: each is tried alone, and the innocent ones give their results", () => {
    const runs: Array<string> = []
    const slow = (name: string) =>
      aTool(name, {
        idempotent: true,
        effect: () =>
          Effect.andThen(
            Effect.sync(() => runs.push(name)),
            Effect.delay(Effect.succeed(`${name} done`), 9_000)
          )
      })
    const { deaths, last } = lives(
      (kill) => ({
        assistants: ["ada", "bob"],
        tools: [slow("look"), deadly(kill), slow("wait")],
        model: (prompt) =>
          Effect.succeed(
            isResult(prompt)
              ? { text: "Enough." }
              : prompt.messages.some(({ content }) => content === "Look.")
                ? calling("look")
                : calling("look", "dig", "wait")
          )
      }),
      (first) => {
        first.slip("Dig.", { id: "m-1" })
        first.slip("Look.", { to: "bob", id: "m-2" })
      }
    )
    assert.isAtMost(deaths, 3)
    assert.strictEqual(last.answerTo("1.1.0"), "look done")
    assert.match(last.answerTo("1.1.1"), /^The process ended 3 times while the tool "dig" ran/)
    assert.strictEqual(last.answerTo("1.1.2"), "wait done")
    assert.strictEqual(last.answerTo("1.1.0", "bob"), "look done")
  })

  it("B2 B6 is found out among ten that do the same, each by one more loss, and neighbours are answered soon after", () => {
    const guilty = Array.from({ length: 10 }, (_, index) => `g-${index}`)
    const { deaths, last } = lives(
      (kill) => ({
        assistants: [...guilty, ...NEIGHBOURS],
        tools: [deadly(kill)],
        model: slowModel(20_000),
        worker: { concurrency: 64, leaseMs: 1_000 }
      }),
      (first) => {
        for (const to of NEIGHBOURS) first.slip("Hello?", { to, id: `m-${to}` })
        for (const to of guilty) first.slip("Dig.", { to, id: `m-${to}` })
      }
    )
    assert.isAtMost(deaths, 2 + guilty.length)
    for (const name of NEIGHBOURS) assert.deepInclude(last.ends(name)[0], { outcome: "answered", reply: "Aye." })
    for (const name of guilty) assert.deepInclude(last.ends(name)[0], { outcome: "answered", reply: "Enough." })
    assert.deepStrictEqual(last.deadLetters(), [])
    assert.isBelow(last.time.now - last.entries("ann")[0]!.at, 90_000)
  })

  it("B1 waits for its turn while others are tried, and is convicted by none of their losses", () => {
    const guilty = Array.from({ length: 14 }, (_, index) => `g-${index}`)
    const { deaths, last } = lives(
      (kill) => ({
        assistants: [...guilty, "ann"],
        tools: [
          deadly(kill),
          aTool("look", { idempotent: true, effect: () => Effect.delay(Effect.succeed("seen"), 2_000) })
        ],
        model: (prompt) =>
          Effect.succeed(
            isResult(prompt)
              ? { text: "Enough." }
              : calling(prompt.messages.some(({ content }) => content === "Dig.") ? "dig" : "look")
          ),
        worker: { concurrency: 64, leaseMs: 1_000 }
      }),
      (first) => {
        for (const to of guilty) first.slip("Dig.", { to, id: `m-${to}` })
        first.slip("Look.", { to: "ann", id: "m-1" })
      }
    )
    assert.isAtMost(deaths, 2 + guilty.length)
    assert.strictEqual(last.answerTo("1.1.0", "ann"), "seen")
  })

  it("T2 B2 that must not run twice is tried alone when the model calls it a third time, and then refused", () => {
    const { deaths, last } = lives(
      (kill) => ({
        tools: [deadly(kill, { idempotent: false })],
        model: (prompt) =>
          Effect.succeed(
            prompt.messages.filter(({ role }) => role === "tool").length < 4 ? calling("dig") : { text: "Enough." }
          )
      }),
      (first) => first.slip("Dig.", { id: "m-1" })
    )
    assert.strictEqual(deaths, 3)
    assert.match(last.answerTo("1.1.0"), /was started before a crash/)
    assert.match(last.answerTo("1.2.0"), /was started before a crash/)
    assert.match(
      last.answerTo("1.3.0"),
      /^The process ended 3 times while the tool "dig" ran, the last time with no other/
    )
    assert.match(last.answerTo("1.4.0"), /refused and did not run: Earlier in this task the process ended/)
    assert.deepInclude(last.ends()[0], { envelope: "m-1", outcome: "answered", reply: "Enough." })
  })

  it("B2 is convicted in the end although orders make commits between its losses", () => {
    const { deaths, last } = lives(
      (kill) => ({ tools: [deadly(kill)], model: slowModel(0) }),
      (first) => first.slip("Dig.", { id: "m-1" }),
      { between: (life) => void life.post({ type: "refresh" }) }
    )
    assert.strictEqual(deaths, 3)
    assert.match(last.answerTo("1.1.0"), /^The process ended 3 times/)
  })

  it("B2 is suspect to no one when its process is stopped in good order, however often", () => {
    let runs = 0
    const { last } = lives(
      (_, index) => ({
        tools: [
          aTool("dig", {
            idempotent: true,
            effect: () =>
              Effect.delay(
                Effect.sync(() => `run ${++runs}`),
                5_000
              )
          })
        ],
        model: slowModel(0),
        ...(index < 20 ? { worker: { worker: `worker-${index}` } } : {})
      }),
      (first) => first.slip("Dig.", { id: "m-1" }),
      { stopAfterMillis: (index) => (index < 20 ? 2_000 : undefined) }
    )
    assert.deepStrictEqual([last.answerTo("1.1.0"), runs], ["run 1", 1])
  })
})
