import { assert, describe, it } from "@effect/vitest"
import { inTurn } from "@reverie/testkit"
import { defineTool } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { aTool, calling, live } from "./rig.ts"

describe("the loop of a tick", () => {
  it("I1 a message is answered: the arrival is one commit, the reply another, and only that one settles", () => {
    const life = live({ model: { text: "Good morning." } })
    assert.strictEqual(life.say("Hello?", { id: "m-1", from: "person:kim" }).outcome, "accepted")
    life.rest()
    assert.deepStrictEqual(
      life.entries().map(({ cause, no, status }) => [no, cause.kind, status]),
      [
        [1, "creation", "awake.idle"],
        [2, "envelope", "awake.thinking.inferring"],
        [3, "job", "awake.idle"]
      ]
    )
    assert.deepStrictEqual(life.settled(), [{ id: "m-1", outcome: "handled" }])
    assert.deepStrictEqual(life.ends(), [
      { envelope: "m-1", outcome: "answered", iterations: 1, reply: "Good morning." }
    ])
    const [said, answer] = life.messages()
    assert.deepInclude(said, { role: "user", content: "Hello?", name: "person:kim", tokens: 4 + 2 + 3 })
    assert.deepInclude(answer, { role: "assistant", content: "Good morning." })
    assert.deepStrictEqual(
      life.scripted.prompts[0]?.messages.map(({ content, role }) => [role, content]),
      [
        ["system", "You are under test."],
        ["user", "Hello?"]
      ]
    )
  })

  it("I1 a timer speaks as the clock, and a message after it sees what was said before", () => {
    const life = live({ model: inTurn({ text: "It is." }, { text: "Indeed." }) })
    life.post({ type: "timer", name: "tea", note: "Tea time." })
    life.say("Was that you?")
    life.rest()
    assert.deepStrictEqual(
      life.scripted.prompts[1]?.messages.map(({ content }) => content),
      ["You are under test.", "[timer tea] Tea time.", "It is.", "Was that you?"]
    )
    assert.deepStrictEqual(
      life.ends().map(({ reply }) => reply),
      ["It is.", "Indeed."]
    )
  })

  it("I2 one tool after the other: each result is committed before the model is asked again", () => {
    const life = live({
      tools: [aTool("look"), aTool("mark")],
      model: inTurn(calling("look"), calling("mark"), { text: "Both done." })
    })
    life.say("Look, then mark.")
    life.rest()
    assert.deepStrictEqual(
      life.entries().map(({ status, step }) => [status, step?.name]),
      [
        ["awake.idle", undefined],
        ["awake.thinking.inferring", undefined],
        ["awake.acting.running", "infer"],
        ["awake.thinking.inferring", "look"],
        ["awake.acting.running", "infer"],
        ["awake.thinking.inferring", "mark"],
        ["awake.idle", "infer"]
      ]
    )
    assert.deepStrictEqual(life.toolTexts(), ["look done", "mark done"])
    assert.deepInclude(life.ends()[0], { outcome: "answered", iterations: 3, reply: "Both done." })
    assert.deepStrictEqual(
      life.scripted.prompts.at(-1)?.messages.map(({ call, calls, role }) => [role, call ?? calls?.[0]?.id]),
      [
        ["system", undefined],
        ["user", undefined],
        ["assistant", "1.1.0"],
        ["tool", "1.1.0"],
        ["assistant", "1.2.0"],
        ["tool", "1.2.0"]
      ]
    )
  })

  it("I2 several calls of one reply run at the same time, and the next prompt waits for all of them", () => {
    let atOnce = 0
    let most = 0
    const slow = (name: string, millis: number) =>
      aTool(name, {
        effect: () =>
          Effect.gen(function* () {
            most = Math.max(most, ++atOnce)
            yield* Effect.sleep(millis)
            atOnce--
            return `${name} done`
          })
      })
    const life = live({
      tools: [slow("long", 9_000), slow("short", 2_000), slow("middle", 5_000)],
      model: inTurn(calling("long", "short", "middle"), { text: "All done." })
    })
    const began = life.time.now
    life.say("Do all three.")
    life.rest()
    assert.strictEqual(most, 3)
    assert.deepStrictEqual(life.toolTexts(), ["short done", "middle done", "long done"])
    assert.strictEqual(life.scripted.prompts.length, 2)
    assert.strictEqual(life.messages().at(-1)?.at, began + 9_000)
  })

  it("I2 a tool that does not exist is answered with the names of those that do", () => {
    const life = live({ tools: [aTool("look")], model: inTurn(calling("lokk"), { text: "Oh." }) })
    life.say("Look!")
    life.rest()
    assert.match(life.toolTexts()[0] ?? "", /There is no tool "lokk".*"look"/)
    assert.deepInclude(life.ends()[0], { outcome: "answered", reply: "Oh." })
  })

  it("I2 arguments that are no JSON, or do not fit, run nothing and are said to be wrong", () => {
    let ran = 0
    const berth = defineTool({
      name: "berth",
      description: "Gives a berth.",
      input: Schema.Struct({ metres: Schema.Finite }),
      run: () => ++ran
    })
    const life = live({
      tools: [berth],
      model: inTurn(
        {
          calls: [
            { tool: "berth", malformed: "cut in the middle" },
            { tool: "berth", arguments: { metres: "long" } }
          ]
        },
        { text: "I see." }
      )
    })
    life.say("A berth, please.")
    life.rest()
    assert.strictEqual(ran, 0)
    assert.match(life.answerTo("1.1.0"), /could not be read: cut in the middle/)
    assert.match(life.answerTo("1.1.1"), /do not fit[\s\S]*metres/)
    assert.deepInclude(life.ends()[0], { outcome: "answered", reply: "I see." })
  })

  it("I2 what a tool throws is reported to the model, and the tick goes on", () => {
    const broken = aTool("look", { effect: () => Effect.die(new Error("the lens is broken")) })
    const life = live({ tools: [broken], model: inTurn(calling("look"), { text: "Pity." }) })
    life.say("Look!")
    life.rest()
    assert.match(life.toolTexts()[0] ?? "", /the lens is broken/)
    assert.isFalse(life.entries().find(({ step }) => step?.name === "look")?.step?.ok)
    assert.deepInclude(life.ends()[0], { outcome: "answered", reply: "Pity." })
  })

  it("a terminal tool ends the loop: its result is the reply, and no model call follows", () => {
    const say = aTool("say", { category: "terminal", effect: () => Effect.succeed("Spoken aloud.") })
    const life = live({ tools: [say], model: inTurn({ text: "thinking", ...calling("say") }, { text: "never said" }) })
    life.say("Speak.")
    life.rest()
    assert.deepInclude(life.ends()[0], { outcome: "terminal", iterations: 1, reply: "Spoken aloud." })
    assert.strictEqual(life.scripted.prompts.length, 1)
  })

  it.each([
    ["before", 1_000],
    ["after", 8_000]
  ])("the reply of a terminal tool is its own result, also when a slower one ends %s it", (_, millis) => {
    const say = aTool("say", {
      category: "terminal",
      effect: () => Effect.delay(Effect.succeed("Spoken aloud."), 4_000)
    })
    const look = aTool("look", { effect: () => Effect.delay(Effect.succeed("just a note"), millis) })
    const life = live({ tools: [say, look], model: calling("say", "look") })
    life.say("Speak and look.")
    life.rest()
    assert.deepInclude(life.ends()[0], { outcome: "terminal", reply: "Spoken aloud." })
  })

  it("a terminal tool that failed neither ends the loop nor is the reply", () => {
    const say = aTool("say", { category: "terminal", effect: () => Effect.fail("hoarse") })
    const life = live({ tools: [say], model: inTurn(calling("say"), { text: "Then in writing." }) })
    life.say("Speak.")
    life.rest()
    assert.deepInclude(life.ends()[0], { outcome: "answered", iterations: 2, reply: "Then in writing." })
  })

  it("a tick makes at most maxIterations model calls; the next message begins anew", () => {
    const life = live({
      tools: [aTool("look")],
      settings: { maxIterations: 3 },
      model: (prompt, call) =>
        Effect.succeed(call <= 3 ? { text: `try ${call}`, ...calling("look") } : { text: "Fresh." })
    })
    life.say("Look for ever.")
    life.say("And now?")
    life.rest()
    assert.deepInclude(life.ends()[0], { outcome: "max-iterations", iterations: 3, reply: "try 3" })
    assert.deepInclude(life.ends()[1], { outcome: "answered", iterations: 1, reply: "Fresh." })
    assert.strictEqual(life.toolTexts().length, 3)
  })

  it("I2 a tool without a limit of its own is stopped after 30 s, its signal aborted, its late answer not heard", () => {
    let signal: AbortSignal | undefined
    const endless = aTool("wait", {
      effect: (_, run) => {
        signal = run.signal
        return Effect.never
      }
    })
    const quick = aTool("hurry", { timeoutMs: 2_000, effect: () => Effect.never })
    const life = live({ tools: [endless, quick], model: inTurn(calling("wait", "hurry"), { text: "Too slow." }) })
    const began = life.time.now
    life.say("Wait.")
    life.rest()
    const answers = life.messages().filter(({ role }) => role === "tool")
    assert.deepStrictEqual(
      answers.map(({ at, name }) => [name, at - began]),
      [
        ["hurry", 2_000],
        ["wait", 30_000]
      ]
    )
    assert.match(answers[1]?.content ?? "", /no answer within 30 s/)
    assert.isTrue(signal?.aborted)
    assert.deepInclude(life.ends()[0], { reply: "Too slow." })
  })

  it("more calls than MAX_CALLS are left out, and the record says how many", () => {
    const life = live({
      tools: [aTool("look")],
      model: inTurn(calling(...Array.from({ length: 20 }, () => "look")), { text: "Enough." })
    })
    life.say("Look at everything.")
    life.rest()
    assert.strictEqual(life.toolTexts().length, 16)
    assert.strictEqual(life.entries().find(({ step }) => step?.name === "infer")?.step?.detail?.["callsLeftOut"], 4)
  })

  it("each call has an id of its own, and a key that no other call of any assistant has", () => {
    const keys: Array<readonly [string, string]> = []
    const look = aTool("look", {
      effect: (_, { call, key }) => Effect.sync(() => keys.push([call, key])).pipe(Effect.as("seen"))
    })
    const life = live({ tools: [look], model: inTurn(calling("look", "look"), calling("look"), { text: "Seen." }) })
    life.say("Look.")
    life.rest()
    assert.deepStrictEqual(
      keys.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      [
        ["1.1.0", "harbor/ada/1.1.0"],
        ["1.1.1", "harbor/ada/1.1.1"],
        ["1.2.0", "harbor/ada/1.2.0"]
      ]
    )
  })
})
