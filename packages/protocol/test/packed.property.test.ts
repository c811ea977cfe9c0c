import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { type Entry, entryText, readEntry } from "../src/index.ts"

const report = {
  context: "tick_event",
  parts: [
    { id: 0, key: "system_prompt", messages: 1, tokens: 109 },
    { id: 5_000, key: "conversation_history", messages: 125, tokens: 2_561 }
  ],
  toolTokens: 78,
  tokens: 2_811,
  limit: 3_000,
  share: 0.702_75,
  absent: [
    { key: "goals", reason: "empty" },
    { key: "plan_first", reason: "not-in-context" }
  ],
  leftOut: [{ reason: "over-limit", messages: 31, tokens: 637 }],
  cuts: [],
  marks: { tools: "170qxng13kewj5", system_prompt: "afp0tbrrv2rs" },
  interrupted: []
}

const pattern = {
  mode: "react_loop",
  max_iterations: 5,
  allowed_categories: null,
  terminal_ends_loop: true,
  dangerous_requires_confirm: true,
  multi_tool_enabled: true,
  sub_agents_enabled: false,
  source_layers: { mode: "context", max_iterations: "static", multi_tool_enabled: "allowed", event_class: "allowed" },
  context_signals: {
    token_pressure: "normal",
    recent_errors: 0,
    pre_compaction: false,
    event_class: "communication"
  }
}

const usage = { inputTokens: 12, outputTokens: 5, source: "provider" }

const spent = {
  model: "bench",
  calls: 1,
  inputTokens: 12,
  cachedTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
  costMicros: 0,
  unpricedCalls: 1
}

/** As it is after a call, with whatever is said to stand in it besides or in the place of it. */
const entryWith = (step: object, detail: object = {}): Entry =>
  ({
    v: 1,
    no: 3,
    at: 1_700_000_000_000,
    messages: [{ role: "assistant", content: "Berth 7.", at: 1, tokens: 3 }],
    step: {
      id: "2/infer",
      kind: "infer",
      name: "infer",
      ok: true,
      elapsedMs: 1,
      usage,
      spent: [spent],
      ...step,
      detail: { model: "bench", context: report, pattern, ...detail }
    }
  }) as unknown as Entry

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const comesBack = (entry: Entry): void => {
  const read = readEntry(entryText(entry))
  assert.deepStrictEqual(plain(Result.getOrThrow(read)), plain(entry))
}

/** A part of an object, with something strange in it now and then. */
const something = (whole: object) =>
  fc
    .record({
      kept: fc.subarray(Object.entries(whole)),
      strange: fc.dictionary(fc.constantFrom("id", "mode", "parts", "calls", "__proto__", "more"), fc.jsonValue(), {
        maxKeys: 2
      })
    })
    .map(({ kept, strange }) => ({ ...Object.fromEntries(kept), ...strange }))

const anything = fc.oneof(fc.jsonValue(), fc.constant(undefined))
const settings = { seed: 4_711, numRuns: 500 }

describe("an entry as a row keeps it", () => {
  it("K1 comes back equal, whatever of it is there and whatever else stands in its place", () => {
    fc.assert(
      fc.property(
        fc.oneof(something(report), anything),
        fc.oneof(something(pattern), anything),
        fc.oneof(something(usage), anything),
        fc.oneof(fc.array(fc.oneof(something(spent), fc.jsonValue()), { maxLength: 3 }), anything),
        (context, ofPattern, ofUsage, ofSpent) => {
          comesBack(entryWith({ usage: ofUsage, spent: ofSpent }, { context, pattern: ofPattern }))
        }
      ),
      settings
    )
    comesBack(entryWith({ detail: [1, 2] }))
    comesBack({ ...entryWith({}), step: undefined } as unknown as Entry)
  })

  it("K1 whatever stands in the parts of a report comes back equal", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 3 }), fc.jsonValue(), (list, value) => {
        comesBack(entryWith({}, { context: { ...report, parts: list, absent: value, leftOut: [list, value] } }))
        comesBack(entryWith({}, { pattern: { ...pattern, source_layers: value, context_signals: list } }))
      }),
      settings
    )
  })

  it("K2 a row that was written by hand is read as it is, or refused in one sentence", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (context, spentThen) => {
        const text = JSON.stringify({ v: 1, step: { spent: spentThen, detail: { context, pattern: [context] } } })
        assert.isTrue(Result.isSuccess(readEntry(text)))
      }),
      settings
    )
    assert.isTrue(Result.isFailure(readEntry("{")))
  })

  it("takes less than two thirds of the letters", () => {
    const entry = entryWith({})
    assert.isBelow(entryText(entry).length * 3, JSON.stringify(entry).length * 2)
    for (const name of ["inputTokens", "max_iterations", "toolTokens", "reasoningTokens", "token_pressure"]) {
      assert.notInclude(entryText(entry), name)
    }
  })
})
