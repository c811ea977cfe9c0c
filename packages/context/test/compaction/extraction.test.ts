import { assert, describe, it } from "@effect/vitest"
import { taskOf, type ToolCall } from "@reverie/protocol"
import {
  afterFailedRound,
  afterRound,
  callsMade,
  type ExtractionResult,
  extractionMessages,
  extractionPrefix,
  extractionRounds,
  extractionText,
  judgeRound,
  NO_EXTRACTION,
  planExtraction
} from "../../src/index.ts"
import { user } from "../histories.ts"
import { NOW, placed } from "./compacted.ts"
import { DEFAULT_COMPACTION } from "../../src/compaction/config.ts"

const call = (tool: string, id = tool): ToolCall => ({ id, tool, arguments: {} })
const entry = call("add_journal_entry")
const observation = call("update_entity_observation")
const noop = call("noop")
const done = (each: ToolCall, content = '{"success":true}', ok = true): ExtractionResult => ({
  call: each,
  ok,
  content
})

const due = (length: number) => ({
  history: placed(Array.from({ length }, (_, index) => user(`word${index}`))),
  window: 2,
  enabled: true,
  ratio: 0.75,
  threshold: 0.7,
  maxContextTokens: 100_000
})

const reasonOf = (length: number, changes: object = {}, config = DEFAULT_COMPACTION): string => {
  const plan = planExtraction({ ...due(length), ...changes }, config)
  return plan.skipped ? plan.reason : "extract"
}

describe("extraction before a compaction", () => {
  it("F59 happens when it is switched on and there are five messages", () => {
    assert.strictEqual(reasonOf(5), "extract")
    assert.strictEqual(reasonOf(4), "too-short")
    assert.strictEqual(reasonOf(50, {}, { ...DEFAULT_COMPACTION, preCompactExtractionEnabled: false }), "disabled")
  })

  it("F59 A13 happens only where a compaction follows", () => {
    assert.strictEqual(reasonOf(50, { ratio: 0.69 }), "below-threshold")
    assert.strictEqual(reasonOf(50, { window: 50 }), "within-window")
    assert.strictEqual(reasonOf(50, { enabled: false }), "disabled")
    assert.strictEqual(reasonOf(50, { ratio: 0.1, force: true }), "extract")
  })

  it("F57 A15 has its configured rounds asleep and by order, at most three in an emergency", () => {
    const rounds = (preCompactMaxIterations: number) =>
      (["sleep", "order", "emergency"] as const).map((trigger) =>
        extractionRounds({ preCompactMaxIterations }, trigger)
      )
    assert.deepStrictEqual(rounds(5), [5, 5, 3])
    assert.deepStrictEqual(rounds(2), [2, 2, 2])
  })

  it("F47 F60 the pending event names the task; a prompt of its own takes the place of the wording", () => {
    assert.strictEqual(taskOf(extractionText(DEFAULT_COMPACTION)), "extract")
    assert.match(extractionText(DEFAULT_COMPACTION), /^Task: extract\n[^]*noop/)
    assert.strictEqual(extractionText({ preCompactPrompt: "Save numbers." }), "Task: extract\nSave numbers.")
  })

  it("F60 X2 allowed calls are run, noop and calls outside the list are not", () => {
    assert.deepStrictEqual(judgeRound([entry, observation], 1, 5), { run: [entry, observation] })
    assert.deepStrictEqual(judgeRound([entry, noop], 1, 5), { run: [entry], end: "noop" })
    const stray = call("send_message")
    assert.deepStrictEqual(judgeRound([entry, stray, observation], 1, 5), {
      run: [entry, observation],
      end: "other-tool"
    })
  })

  it("F61 ends with noop, without a call, with a tool outside the list, and at its cap", () => {
    assert.deepStrictEqual(judgeRound([noop], 1, 5), { run: [], end: "noop" })
    assert.deepStrictEqual(judgeRound([], 1, 5), { run: [], end: "no-tool-call" })
    assert.deepStrictEqual(judgeRound([call("review_journal")], 1, 5), { run: [], end: "other-tool" })
    assert.isUndefined(judgeRound([entry], 4, 5).end)
    assert.deepStrictEqual(judgeRound([entry], 5, 5), { run: [entry], end: "cap" })
    assert.strictEqual(judgeRound([noop], 5, 5).end, "noop")
  })

  it("F114 X5 all rounds together run ten calls, one a reply or several, and then it ends", () => {
    const eight = Array.from({ length: 8 }, () => entry)
    const first = judgeRound(eight, 1, 5, 0)
    assert.deepStrictEqual(first, { run: eight })
    const second = judgeRound(eight, 2, 5, 8)
    assert.deepStrictEqual(second, { run: eight.slice(0, 2), end: "cap" })
    assert.deepStrictEqual(judgeRound([...eight, ...eight], 1, 5), { run: [...eight, entry, entry], end: "cap" })
    assert.deepStrictEqual(judgeRound([entry], 3, 10, 10), { run: [], end: "cap" })
    const results = first.run.map((each) => done(each))
    assert.strictEqual(
      callsMade(afterRound(afterRound(NO_EXTRACTION, first, results), second, results.slice(0, 2))),
      10
    )
  })

  it("F62 A19 three facts and a noop are three facts in four rounds", () => {
    const rounds = [[entry], [entry], [entry], [noop]]
    const extraction = rounds.reduce((before, calls, at) => {
      const round = judgeRound(calls, at + 1, 5)
      return afterRound(
        before,
        round,
        round.run.map((each) => done(each))
      )
    }, NO_EXTRACTION)
    assert.deepStrictEqual(extraction, {
      success: true,
      facts_recorded: 3,
      observations_recorded: 0,
      iterations: 4,
      calls_made: 3,
      ended_by: "noop"
    })
  })

  it("F62 A19 only what was really recorded counts, observations apart", () => {
    const results = [
      done(entry),
      done(entry, '{"success":false,"error":"full"}'),
      done(entry, "Failed: threw", false),
      done(observation),
      done(entry, "not JSON, yet it worked")
    ]
    assert.deepInclude(afterRound(NO_EXTRACTION, { run: [] }, results), {
      facts_recorded: 2,
      observations_recorded: 1,
      iterations: 1,
      ended_by: null
    })
  })

  it("A18 a round that failed keeps what was recorded before it", () => {
    const before = afterRound(NO_EXTRACTION, { run: [entry] }, [done(entry)])
    assert.deepStrictEqual(afterFailedRound(before), {
      success: false,
      facts_recorded: 1,
      observations_recorded: 0,
      iterations: 2,
      calls_made: 1,
      ended_by: "failure"
    })
  })

  it("F64 X3 a round shows the next one its calls with their results, or nothing", () => {
    const part = { provider: "p", model: "m", part: "sealed", at: 0, tokens: 3 }
    const reply = { text: "", calls: [entry, observation], reasoning: [part] }
    assert.deepStrictEqual(extractionMessages([], NOW, reply), [])
    const results = [done(entry, "kept"), done(observation, "seen")]
    const messages = extractionMessages(results, NOW, reply)
    // What was thought has its place in the reply as it was.
    assert.deepStrictEqual(messages[0]?.reasoning, [part])
    for (const other of [
      { ...reply, text: "I look." },
      { ...reply, calls: [entry, observation, entry] }
    ]) {
      assert.isUndefined(extractionMessages(results, NOW, other)[0]?.reasoning)
    }
    assert.deepStrictEqual(
      messages.map(({ calls, call: answered, content, role }) => [role, content, answered ?? calls]),
      [
        ["assistant", "", [entry, observation]],
        ["tool", "kept", entry.id],
        ["tool", "seen", observation.id]
      ]
    )
    for (const { at } of messages) assert.strictEqual(at, NOW)
    assert.notMatch(`${extractionPrefix(12)}.0`, /^\d/, "no tick has such calls")
  })
})
