import { assert, describe, it } from "@effect/vitest"
import { journalOf, reflectionOf } from "@reverie/assistant"
import type { Json, RecordKind } from "@reverie/protocol"
import { inTurn, type Line } from "@reverie/testkit"
import { selfTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { aTool, calling, type Life, live } from "./rig.ts"

const doing = (...calls: ReadonlyArray<readonly [tool: string, args: Json]>): Line => ({
  calls: calls.map(([tool, args]) => ({ tool, arguments: args }))
})

/** What the store holds of one kind, by key. */
const kept = (life: Life, kind: RecordKind): ReadonlyMap<string, Json> =>
  new Map(
    Effect.runSync(life.store.ledger.records(life.address(), [kind])).map(({ key, value }) => [key, value] as const)
  )

const entry = (content: string, importance: number) => ["add_journal_entry", { content, importance }] as const

describe("an assistant that keeps records of itself", () => {
  it("F71 two goals of one reply get two ids, and both are there after a crash", () => {
    const first = live({
      tools: selfTools,
      model: inTurn(
        doing(["add_goal", { description: "Dredge the basin" }], ["add_goal", { description: "Paint the crane" }]),
        { text: "Noted." }
      )
    })
    first.say("Two things to reach.")
    first.rest()
    assert.deepStrictEqual([...kept(first, "goal").keys()], ["goal_1_0", "goal_1_1"])
    const second = live({
      disk: first.disk,
      startAt: first.time.now + 60_000,
      tools: selfTools,
      model: { text: "Yes." }
    })
    second.say("Do you remember?", { id: "later" })
    second.rest()
    const prompt = JSON.stringify(second.scripted.prompts[0]?.messages)
    assert.include(prompt, "Dredge the basin")
    assert.include(prompt, "Paint the crane")
  })

  it("F79 calls are counted with their results, the one that asks left out", () => {
    const life = live({
      tools: [...selfTools, aTool("look")],
      model: inTurn(calling("look"), calling("no_such_tool"), calling("get_system_status"), { text: "Done." })
    })
    life.say("How are you?")
    life.rest()
    const status = JSON.parse(life.toolTexts().at(-1) ?? "{}")
    assert.deepInclude(status.session_metrics, { total_tool_calls: 2, successful_calls: 1, failed_calls: 1 })
    assert.deepInclude(status.loop_state, { iteration: 3, tools_this_cycle: ["look", "no_such_tool"] })
  })

  it("F6 F10 when the journal weighs enough, a reflection is a tick of its own, with its questions, tools and insights", () => {
    const heavy = Array.from({ length: 15 }, (_, index) => entry(`The north gate jammed again, day ${index}.`, 10))
    const insight = JSON.stringify([
      { insight: "The north gate jams in wet weather.", evidence: ["entry_1_14", "entry_9_9"] }
    ])
    const life = live({ tools: selfTools, model: inTurn(doing(...heavy), { text: "Written." }, { text: insight }) })
    life.say("Write it all down.")
    life.rest()
    assert.strictEqual(life.ends().length, 2)
    const prompt = life.scripted.prompts[2]
    assert.deepStrictEqual(prompt?.allowed?.toSorted(), ["add_journal_entry", "noop", "review_journal"])
    assert.deepStrictEqual(prompt?.tools, life.scripted.prompts[0]?.tools)
    assert.deepStrictEqual(
      prompt?.messages.map(({ role }) => role),
      ["system", "user"]
    )
    assert.include(prompt?.messages[1]?.content, "Question 3:")
    assert.include(prompt?.messages[1]?.content, "[entry_1_14]")
    assert.notInclude(prompt?.messages[0]?.content, "You are under test.")
    const journal = journalOf(kept(life, "journal"), kept(life, "state"))
    const insights = [...journal.entries.values()].filter(({ source_type }) => source_type === "inference")
    assert.deepStrictEqual(
      insights.map(({ content, evidence }) => [content, evidence]),
      [["The north gate jams in wet weather.", ["entry_1_14"]]]
    )
    assert.deepInclude(reflectionOf(kept(life, "reflection")), {
      cumulative_importance: 0,
      entries_since_reflection: 0
    })
  })

  it("F10 prompt I2 what a reflection leaves out is offered with the same list, and a call of it is refused", () => {
    let looked = 0
    const look = aTool("look", { effect: () => Effect.sync(() => String(looked++)) })
    const heavy = Array.from({ length: 15 }, (_, index) => entry(`The south gate jammed again, day ${index}.`, 10))
    const model = inTurn(doing(...heavy), { text: "Written." }, calling("look"), { text: "[]" })
    const life = live({ tools: [...selfTools, look], model })
    life.say("Write it all down.")
    life.rest()
    const [first, , reflecting] = life.scripted.prompts
    assert.deepStrictEqual(reflecting?.tools, first?.tools)
    assert.isUndefined(first?.allowed)
    assert.notInclude(reflecting?.allowed ?? [], "look")
    assert.strictEqual(looked, 0)
    assert.match(
      life.answerTo("2.1.0"),
      /^Refused: The tool look can not be called now\. Call one of these, or answer: .*noop/
    )
  })

  it("F109 a tool rule refuses what comes too early or too often, and ends the tick where it says so", () => {
    const rules = [
      { type: "start", tool: "look" },
      { type: "max-calls", tool: "mark", max: 1 },
      { type: "exit", tool: "leave" }
    ] as const
    const life = live({
      tools: [aTool("look"), aTool("mark"), aTool("leave")],
      definition: { rules },
      model: inTurn(calling("mark"), calling("look", "mark", "mark"), calling("leave"), { text: "never said" })
    })
    life.say("Go.")
    life.rest()
    assert.match(life.answerTo("1.1.0"), /^Refused: .*look/)
    assert.strictEqual(life.answerTo("1.2.1"), "mark done")
    assert.match(life.answerTo("1.2.2"), /^Refused: .*mark/)
    assert.deepInclude(life.ends()[0], { outcome: "terminal", iterations: 3 })
    assert.include(JSON.stringify(life.scripted.prompts[0]?.messages), "# Tool Execution Rules")
  })

  it("a cached tool runs once a tick for equal arguments, and again in the next one", () => {
    let runs = 0
    const look = aTool("look", {
      cache: { scope: "tick" },
      effect: () =>
        Effect.sync(() => {
          runs++
          return "seen"
        })
    })
    const life = live({
      tools: [look],
      model: inTurn(calling("look"), calling("look"), { text: "One." }, calling("look"), { text: "Two." })
    })
    life.say("Look twice.")
    life.rest()
    assert.strictEqual(runs, 1)
    life.say("And again.")
    life.rest()
    assert.strictEqual(runs, 2)
    assert.deepStrictEqual(life.toolTexts(), ["seen", "seen", "seen"])
  })

  it("F16 F42 what is said in a room is overheard without a tick, and shown with the next one", () => {
    const life = live({ model: { text: "I heard." } })
    life.post({ type: "message", text: "The ferry is late.", channel: "room:quay" }, { from: "person:jo" })
    life.rest()
    assert.strictEqual(life.scripted.prompts.length, 0)
    assert.deepStrictEqual(
      life.settled().map(({ outcome }) => outcome),
      ["handled"]
    )
    life.post({ type: "message", text: "@ada did you hear?", channel: "room:quay" }, { from: "person:jo" })
    life.rest()
    assert.include(JSON.stringify(life.scripted.prompts[0]?.messages), "The ferry is late.")
  })

  it("F111 every model call leaves a report of what it was shown", () => {
    const life = live({ model: { text: "Hello." } })
    life.say("Hello?")
    life.rest()
    const report = life.entries().at(-1)?.step?.detail?.["context"] as Json as {
      readonly context: string
      readonly parts: ReadonlyArray<{ readonly key: string }>
    }
    assert.strictEqual(report.context, "tick_event")
    assert.deepStrictEqual(
      report.parts.map(({ key }) => key),
      ["system_prompt", "pending_event"]
    )
  })
})
