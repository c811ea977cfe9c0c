import { assert, describe, it } from "@effect/vitest"
import { anAddress, inTurn } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { aTool, calling, live, type LifeOptions } from "./rig.ts"

/** An assistant that sends divers, who report when they come up again. */
const harbour = (options: LifeOptions = {}) =>
  live({
    tools: [
      aTool("dive", {
        category: "async_required",
        effect: () => Effect.succeed("they are under way")
      }),
      aTool("look")
    ],
    model: inTurn(calling("dive", "look"), { text: "All known now." }),
    settings: { reportMs: 60_000 },
    ...options
  })

describe("reports", () => {
  it("a call that answers later waits for its report, which is its one answer", () => {
    const life = harbour()
    life.say("What is down there?")
    life.rest()
    assert.strictEqual(life.status(), "awake.awaitingReports")
    assert.deepStrictEqual(life.toolTexts(), ["look done"])
    assert.deepStrictEqual(
      life
        .told("tool-finished")
        .map(({ call, content }) => [call, content])
        .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
      [
        ["1.1.0", ""],
        ["1.1.1", "look done"]
      ]
    )
    life.post({ type: "report", call: "1.1.0", outcome: "reported", content: "A wreck." })
    life.rest()
    assert.strictEqual(life.answerTo("1.1.0"), "A wreck.")
    assert.deepInclude(life.ends()[0], { outcome: "answered", iterations: 2, reply: "All known now." })
    assert.deepStrictEqual(
      life.scripted.prompts[1]?.messages.flatMap(({ call, content }) => (call === undefined ? [] : [[call, content]])),
      [
        ["1.1.1", "look done"],
        ["1.1.0", "A wreck."]
      ]
    )
  })

  it("a report of failure says so to the model", () => {
    const life = harbour()
    life.say("What is down there?")
    life.rest()
    life.post({ type: "report", tool: "dive", outcome: "failed", content: "no air" })
    life.rest()
    assert.strictEqual(life.answerTo("1.1.0"), "Failed: no air")
  })

  it("a report that arrives while the tool is still running waits until the call is known to wait for it", () => {
    const life = harbour({
      tools: [
        aTool("dive", {
          category: "async_required",
          effect: () => Effect.delay(Effect.succeed("they are under way"), 10_000)
        }),
        aTool("look")
      ]
    })
    life.say("What is down there?")
    life.pass(1_000)
    assert.strictEqual(life.status(), "awake.acting.running")
    life.post({ type: "report", call: "1.1.0", outcome: "reported", content: "A wreck." }, { id: "early" })
    life.pass(5_000)
    assert.strictEqual(life.settled().length, 0)
    life.rest()
    assert.strictEqual(life.answerTo("1.1.0"), "A wreck.")
    assert.deepInclude(life.settled()[0], { id: "early", outcome: "handled" })
    assert.deepInclude(life.ends()[0], { outcome: "answered", iterations: 2 })
  })

  it("a report that does not come in time: the model learns of it, and what comes later means nothing", () => {
    const life = harbour()
    const began = life.time.now
    life.say("What is down there?")
    life.rest()
    assert.deepInclude(life.disk.resident(anAddress())?.state.timers[0], { dueAt: began + 60_000 })
    life.until(() => life.status() === "awake.idle")
    assert.match(life.answerTo("1.1.0"), /report did not come in time/)
    assert.deepInclude(life.ends()[0], { outcome: "answered", reply: "All known now." })
    life.post({ type: "report", call: "1.1.0", outcome: "reported", content: "A wreck." }, { id: "late" })
    life.rest()
    assert.deepInclude(life.settled().at(-1), { id: "late", outcome: "ignored" })
    assert.notInclude(life.toolTexts().join(), "wreck")
  })

  it("a report for another call, or a second one for the same, answers nothing", () => {
    const life = harbour({ model: inTurn(calling("dive", "dive"), { text: "Both known." }) })
    life.say("What is down there?")
    life.rest()
    const report = (call: string, content: string, id: string) =>
      life.post({ type: "report", call, outcome: "reported", content }, { id })
    report("9.9.9", "of something else", "r-1")
    report("1.1.1", "the second", "r-2")
    report("1.1.1", "the second again", "r-3")
    life.rest()
    assert.strictEqual(life.status(), "awake.awaitingReports")
    report("1.1.0", "the first", "r-4")
    life.rest()
    assert.strictEqual(life.answerTo("1.1.0"), "the first")
    assert.strictEqual(life.answerTo("1.1.1"), "the second")
    assert.deepStrictEqual(
      life.settled().map(({ id, outcome }) => `${id} ${outcome}`),
      ["r-1 ignored", "r-2 handled", "r-3 ignored", "r-4 handled", "e-1 handled"]
    )
  })
})
