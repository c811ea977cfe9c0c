import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { type AssistantState, type Json, readState, stateText, wholeState } from "../src/index.ts"

const context = {
  settings: {},
  tick: 41,
  envelope: "desk 40",
  hops: 0,
  iteration: 1,
  restriction: {},
  contextType: "tick_event",
  calls: [{ tool: "note", category: "safe_chain", phase: "running" }],
  dangerousUsed: 0,
  errors: 0,
  parkMs: 0,
  sleepMs: 0,
  sleepUntil: 0,
  dreamNext: "",
  round: 0,
  wakeWanted: false,
  compactingFrom: "awake",
  signals: { tokenRatio: 0.82, mailWaiting: false },
  haltReason: null,
  budget: { tokens: null },
  account: null,
  subAgents: [],
  assignment: null,
  tries: 0,
  outage: null,
  modelFailures: 0,
  toolFailures: 0,
  repairs: 0
}
const child = { snapshot: { status: "active", input: { index: 0 } }, src: "tool", syncSnapshot: false }
const snapshot = {
  status: "active",
  value: { awake: { acting: "running" } },
  historyValue: {},
  context,
  children: { "tool.0": child }
}
const job = { id: "163/tool.0", name: "tool.0", src: "tool", input: { index: 0 }, lost: 1, tried: 1, triedBeside: 1 }
const timer = { name: "evening", dueAt: 5, event: { type: "timer" } }
const fields = {
  snapshot,
  jobs: [job],
  timers: [timer],
  receives: ["control", "reply"],
  status: "awake.acting.running",
  definition: "desk"
}
const state = { v: 1, ...fields }

/** Equal in every byte, so that each field stands in its place. */
const comesBack = (value: unknown): void => {
  const text = stateText(value as AssistantState)
  const before = JSON.stringify(value)
  assert.strictEqual(JSON.stringify(Result.getOrThrow(readState(text))), before)
  assert.strictEqual(JSON.stringify(wholeState(JSON.parse(text) as Json)), before)
}

/** What a field may say for the one it says: what most say, what is like it, and what has no business there. */
const instead = fc.oneof(
  fc.constantFrom<unknown>(0, -0, 1, false, true, null, "", "active", "tick_event", undefined, -1),
  fc.constantFrom<unknown>([], {}, [[]], [{}], [-1], [-1, []], [0, 0], [1, 2, 3], { a: undefined }, { v: 2, is: [] }),
  fc.jsonValue()
)

/** An object with some fields left out, some with another value, now and then one more, and now and then in another order. */
const something = (whole: object): fc.Arbitrary<object> =>
  fc
    .record({
      kept: fc.subarray(Object.entries(whole), { minLength: 0 }),
      changed: fc.subarray(Object.keys(whole), { maxLength: 3 }),
      values: fc.array(instead, { minLength: 3, maxLength: 3 }),
      more: fc.oneof(
        { weight: 4, arbitrary: fc.constant({}) },
        {
          weight: 1,
          arbitrary: fc.dictionary(fc.constantFrom("id", "v", "is", "__proto__", "tick", "0"), instead, { maxKeys: 2 })
        }
      ),
      isReversed: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) })
    })
    .map(({ changed, isReversed, kept, more, values }) => {
      const fields = kept.map(([name, value]) => {
        const at = changed.indexOf(name)
        return [name, at < 0 ? (value as unknown) : values[at]] as const
      })
      return Object.fromEntries([...(isReversed ? fields.toReversed() : fields), ...Object.entries(more)])
    })

const or = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 5, arbitrary }, { weight: 1, arbitrary: instead })

const states = fc
  .record({
    top: something(fields),
    context: or(something(context)),
    snapshot: something(snapshot),
    children: or(fc.dictionary(fc.constantFrom("infer", "tool.0", "__proto__"), or(something(child)), { maxKeys: 2 })),
    jobs: or(fc.array(or(something(job)), { maxLength: 3 })),
    calls: or(fc.array(or(something(context.calls[0]!)), { maxLength: 3 })),
    isWhole: fc.boolean()
  })
  .map(({ calls, children, context: found, isWhole, jobs, snapshot: around, top: said }) => {
    const { v: _, ...top } = said as { readonly v?: unknown }
    if (!isWhole) return { v: 1, ...top, jobs }
    const inside =
      typeof found === "object" && found !== null && !Array.isArray(found) ? { ...context, ...found, calls } : found
    return { ...state, jobs, ...top, snapshot: { ...around, context: inside, children } }
  })

/** Of the context above, what says null in a quiet state. */
const nulls = new Set(["tick", "envelope", "iteration", "signals", "budget"])
const QUIET =
  '{"v":2,"is":[57,6,[10,21,{"awake":{"acting":"running"}},[655378,267780077,null,null,null,null]],["control","reply"],"awake.acting.running","desk"]}'

const settings = { seed: 4_712, numRuns: 3_000 }

describe("a state as a row keeps it", () => {
  it("P1 comes back equal, byte for byte, whatever of it is there and whatever else stands in its place", () => {
    let short = 0
    fc.assert(
      fc.property(states, (each) => {
        comesBack(each)
        if (stateText(each as unknown as AssistantState).startsWith('{"v":2')) short++
      }),
      settings
    )
    assert.isAbove(short, 500, "few were packed")
    comesBack(state)
    const newer = { ...state, v: 9 } as unknown as AssistantState
    assert.strictEqual(stateText(newer), JSON.stringify(newer), "of another version nothing is known")
  })

  it("P2 a row that was written by hand is read as it is, or refused in one sentence", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (is, row) => {
        for (const said of [is, row, [59, 4, ...row], [1, 0, [10, 21, ...row]]]) {
          const read = readState(JSON.stringify({ v: 2, is: said }))
          if (Result.isFailure(read)) assert.match(read.failure, /^\w.*\w$/)
          else assert.strictEqual(read.success.v, 1, JSON.stringify(said))
        }
      }),
      settings
    )
    for (const broken of [
      "{",
      "[]",
      '{"v":2}',
      '{"v":2,"is":{}}',
      '{"v":2,"is":[-1,7]}',
      '{"v":2,"is":[-1,{"status":"awake"}]}',
      '{"v":3,"is":[0,0]}'
    ]) {
      assert.isTrue(Result.isFailure(readState(broken)), broken)
    }
  })

  it("P3 a form is as it was: what was written before is read alike", () => {
    const kept =
      '{"v":2,"is":[63,0,[26,5,{"awake":{"acting":"running"}},[655510,267779945,41,"desk 40",1,[[131,0,"note","safe_chain","running"]],[1,2,0.82],{"tokens":null}],{"tool.0":[3,4,[2,1,{"index":0}],"tool"]}],[[127,0,"163/tool.0","tool.0","tool",{"index":0},1,1,1]],[[7,0,"evening",5,{"type":"timer"}]],["control","reply"],"awake.acting.running","desk"]}'
    assert.strictEqual(stateText(state as unknown as AssistantState), kept)
    assert.strictEqual(JSON.stringify(Result.getOrThrow(readState(kept))), JSON.stringify(state))
    // Each field that may be as usual is; the others say null.
    const bare = Object.fromEntries(
      Object.entries(context).map(([name, value]) => [name, nulls.has(name) ? null : name === "calls" ? [] : value])
    )
    const quiet = { ...snapshot, context: bare, children: {} }
    assert.strictEqual(
      stateText({ ...state, snapshot: quiet, jobs: [], timers: [] } as unknown as AssistantState),
      QUIET
    )
  })

  it("takes less than half of the letters", () => {
    assert.isBelow(stateText(state as unknown as AssistantState).length * 2, JSON.stringify(state).length)
  })
})
