import { assert, describe, it } from "vitest"
import { defineAssistant, defineTool } from "../../src/index.ts"
import {
  assistantTask,
  calls,
  callsTools,
  casesFrom,
  contains,
  defineEval,
  EvalBroken,
  evalsIn,
  evalText,
  fixtureOf,
  fixtureTask,
  judgedBy,
  runEval,
  scriptedModel,
  testFleet,
  unchanged,
  usesAtMost
} from "../../src/testing/index.ts"
import { failureOf } from "../rig.ts"

const find = defineTool({
  name: "find_berth",
  description: "Finds a berth.",
  input: { type: "object", properties: { ship: { type: "string" } } },
  run: () => "berth 7"
})
const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [find] })

const answering = () =>
  scriptedModel(({ last }) => (last.includes("Aurora") ? calls("find_berth", { ship: "Aurora" }) : `I found ${last}.`))

const task = assistantTask(desk, { model: answering })

const berths = defineEval("berths", {
  data: casesFrom(
    [
      '{"input": "A berth for the Aurora?", "expected": ["berth", "7"], "expectedTools": [{"name": "find_berth", "arguments": {"ship": "Aurora"}}]}',
      "",
      '{"input": "Anything?", "name": "other", "expected": ["Anything", "8"]}'
    ].join("\n")
  ),
  task,
  scorers: [contains(), callsTools({ isExact: true }), usesAtMost({ modelCalls: 2 })],
  threshold: 0.8
})

describe("an eval", () => {
  it("V2 scores each case by the mean of its scorers, and passes when all reach the threshold", async () => {
    const report = await runEval(berths)
    assert.deepStrictEqual(
      report.cases.map(({ name, output, passed, score }) => ({ name, output, passed, score })),
      [
        { name: "A berth for the Aurora?", output: "I found berth 7.", passed: true, score: 1 },
        { name: "other", output: "I found Anything?.", passed: false, score: 0.75 }
      ]
    )
    assert.deepInclude(report, { name: "berths", score: 0.875, passed: false, threshold: 0.8 })
    assert.deepStrictEqual(report.cases[1]?.scores[0], { scorer: "contains", score: 0.5, rationale: 'without "8"' })
    const text = evalText(report)
    assert.include(text, "FAIL berths: 88 %, 1 of 2 cases reach 80 %")
    assert.include(text, '       contains: 50 %, without "8"')
    assert.strictEqual((await runEval({ ...berths, threshold: 0.7 })).passed, true)
  })

  it("V1 its task and scorers have the form of vitest-evals", async () => {
    // The types of `vitest-evals/legacy`, as published.
    type TaskFn = (
      input: string
    ) => Promise<string | { result: string; toolCalls?: Array<{ name: string; arguments?: unknown }> }>
    interface BaseScorerOptions {
      input: string
      output: string
      toolCalls?: Array<{ name: string; arguments?: unknown }>
    }
    type Scored = {
      score: number | null
      metadata?: { rationale?: string; output?: unknown } & Record<string, unknown>
    }
    type ScoreFn<Options extends BaseScorerOptions> = (options: Options) => Promise<Scored> | Scored
    const theirs: TaskFn = task
    const scorers: ReadonlyArray<ScoreFn<BaseScorerOptions & { [key: string]: unknown }>> = [contains(), callsTools()]
    const done = await theirs("A berth for the Aurora?")
    assert.ok(typeof done === "object")
    const { result, toolCalls = [] } = done
    for (const scorer of scorers) {
      const { score } = await scorer({
        input: "",
        output: result,
        toolCalls,
        expected: "7",
        expectedTools: ["find_berth"]
      })
      assert.strictEqual(score, 1)
    }
  })

  it("V2 V3 what throws scores 0, and what has nothing to judge is refused", async () => {
    const throwing = defineEval("throwing", {
      data: [{ input: "x" }],
      task: async () => Promise.reject(new Error("no server")),
      scorers: [contains()],
      threshold: 0
    })
    const { cases, passed, score } = await runEval(throwing)
    assert.deepStrictEqual([passed, score, cases[0]?.error], [false, 0, "no server"])
    const silent = await runEval(
      defineEval("silent", { data: [{ input: "x" }], task: async () => "", scorers: [contains()], threshold: 0 })
    )
    assert.deepStrictEqual([silent.passed, silent.cases[0]?.error], [false, "no scorer had anything to say of it"])
    const wrong = [
      () => defineEval(" ", berths),
      () => defineEval("none", { ...berths, scorers: [] }),
      () => defineEval("high", { ...berths, threshold: 80 }),
      () => evalsIn({ default: 7 }),
      () => casesFrom('{"input": 7}')
    ]
    for (const make of wrong) assert.throws(make, EvalBroken)
    assert.include((await failureOf(runEval(defineEval("empty", { ...berths, data: [] })))).message, "it has no cases")
    assert.deepStrictEqual(evalsIn({ default: berths, all: [berths, throwing], other: 7 }), [berths, throwing])
  })

  it("judges recorded ticks again: what is unchanged costs nothing", async () => {
    await using fleet = await testFleet(desk, { model: answering() })
    await fleet.answer("desk", "A berth for the Aurora?")
    const data = [{ name: "tick 1", input: JSON.stringify(await fixtureOf(fleet, "desk", 1)) }]
    const scorers = [unchanged(), usesAtMost({ tokens: 0, modelCalls: 0 })]
    const same = await runEval(defineEval("same", { data, task: fixtureTask({ fleet: desk }), scorers }))
    assert.deepInclude(same, { passed: true, score: 1 })
    const brief = fixtureTask({ fleet: desk, instructions: "Be brief.", model: scriptedModel(["7."]) })
    const other = await runEval(defineEval("brief", { data, task: brief, scorers }))
    assert.deepInclude(other, { passed: false, score: 0 })
    assert.strictEqual(other.cases[0]?.output, "7.")
  })

  it("another model judges by criteria, and must keep to its form", async () => {
    const scored = { input: "A berth?", output: "Berth 7." }
    const model = scriptedModel(({ text }) =>
      text.includes("Be polite") ? '```json\n{"score": 0.5, "rationale": "curt"}\n```' : "fine"
    )
    assert.deepStrictEqual(await judgedBy({ model, criteria: "Be polite." })(scored), {
      score: 0.5,
      metadata: { rationale: "curt" }
    })
    const failure = await failureOf(Promise.resolve(judgedBy({ model, criteria: "Be brief." })(scored)))
    assert.include(failure.message, 'the judge gave no score: "fine"')
  })
})
