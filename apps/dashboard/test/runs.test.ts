// Runs: how many run at once, what stopping does, and what is asked for of a draft.

import { expect, test } from "vitest"
import {
  asTemplate,
  type Beginning,
  changesOf,
  fromTemplate,
  payloadFor,
  payloadOf,
  untouched
} from "../src/pages/fork/draft.ts"
import { spentText } from "../src/parts/format.ts"
import { costOf } from "../src/pages/fork/compared.tsx"
import { differenceOf, type Fork } from "../src/pages/fork/digest.ts"
import { AT_ONCE, type Run, runAll, sumsOf } from "../src/pages/fork/runs.ts"

const digest = (reply: string, costMicros = 0, unpricedCalls = 0) => ({
  reply,
  outcome: "answered",
  calls: [],
  modelCalls: 1,
  failures: [],
  tokens: { input: 10, output: 2 },
  costMicros,
  unpricedCalls
})
const fork = (reply: string, costMicros?: number, unpricedCalls?: number): Fork => ({
  original: digest("Yes."),
  forked: digest(reply, costMicros, unpricedCalls),
  differs: reply === "Yes." ? [] : ["reply: Yes. → No."]
})

const payloads = (many: number) => Array.from({ length: many }, (_, at) => ({ tick: at + 1 }))

const run = async (
  many: number,
  each: (tick: number, stopped: AbortSignal) => Promise<Fork>,
  { signal }: AbortController = new AbortController()
) => {
  let runs: ReadonlyArray<Run> = []
  let most = 0
  const onChange = (now: ReadonlyArray<Run>) => {
    runs = now
    most = Math.max(most, now.filter(({ state }) => state === "running").length)
  }
  await runAll({ payloads: payloads(many), run: ({ tick }, stopped) => each(tick, stopped), stopped: signal, onChange })
  return { runs, most }
}

test("R1 R2 at most so many run at once, each once, and one that fails holds up none", async () => {
  const asked: Array<number> = []
  const { most, runs } = await run(20, async (tick) => {
    asked.push(tick)
    await Promise.resolve()
    if (tick === 7) throw new Error("the model was away")
    return fork(tick % 2 === 0 ? "Yes." : "No.", ...(tick === 4 ? [0, 1] : [3, 0]))
  })
  expect(asked.toSorted((a, b) => a - b)).toEqual(payloads(20).map(({ tick }) => tick))
  expect(most).toBe(AT_ONCE)
  expect(runs.map(({ state }) => state).filter((state) => state !== "done")).toEqual(["failed"])
  expect(runs[6]?.trouble?.message).toBe("the model was away")
  expect(sumsOf(runs)).toEqual({
    done: 19,
    same: 10,
    changed: 9,
    failed: 1,
    answers: 2,
    input: 190,
    output: 38,
    costMicros: 54,
    calls: 19,
    unpricedCalls: 1
  })
})

test("what costs nothing is $0, and only what has no price is unpriced, as on every page", () => {
  const said = (costMicros: number, unpricedCalls: number) => {
    const of = differenceOf(fork("Yes.", costMicros, unpricedCalls)).other
    return [costOf(of), spentText({ ...of, calls: of.modelCalls })]
  }
  expect(said(0, 0)).toEqual(["$0", "$0"])
  expect(said(0, 1)).toEqual(["unpriced", "unpriced"])
  expect(said(20_000, 0)).toEqual(["$0.0200", "$0.0200"])
})

test("R1 once it is stopped none begins, those in flight are ended, and what was there counts", async () => {
  let begun = 0
  const stop = new AbortController()
  const each = (_tick: number, stopped: AbortSignal) => {
    begun += 1
    if (begun <= 4) return Promise.resolve(fork("Yes."))
    // Both that run wait for the model when it is stopped.
    if (begun === 4 + AT_ONCE) setTimeout(() => stop.abort(), 0)
    return new Promise<Fork>((_, reject) => {
      stopped.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")))
    })
  }
  const { runs } = await run(20, each, stop)
  expect(begun).toBe(4 + AT_ONCE)
  expect(runs.filter(({ state }) => state === "done")).toHaveLength(4)
  expect(runs.filter(({ state, trouble }) => state === "stopped" && trouble === undefined)).toHaveLength(16)
})

const beginning: Beginning = { tick: 3, definition: "desk", instructions: "Be kind.", promptKey: "instructions.desk" }
const tools = [
  { call: "3.1.0", tool: "look", at: 0, ok: true, elapsedMs: 1, result: "Two ships." },
  { call: "3.1.1", tool: "look", at: 0, ok: true, elapsedMs: 1, result: "One ship." }
]

test("D1 D2 only what was changed is asked for, and of another run prompt and model alone", () => {
  const tick = { tools } as never
  expect(payloadOf(untouched, beginning, tick)).toEqual({ tick: 3 })
  expect(payloadOf({ ...untouched, prompt: "Be kind.", model: " " }, beginning, tick)).toEqual({ tick: 3 })
  expect(changesOf({ ...untouched, prompt: " " }, beginning, { tools })).toEqual({})
  const draft = {
    prompt: "Be brief.",
    model: " offline ",
    results: { "3.1.0": "Two ships.", "3.1.1": "No ship." },
    everyCall: ["look", "gone"],
    extra: [
      { tool: " ask ", answer: "Later." },
      { tool: "", answer: "of nothing" }
    ]
  }
  expect(payloadOf(draft, beginning, tick)).toEqual({
    tick: 3,
    prompt: "Be brief.",
    model: "offline",
    results: [{ call: "3.1.1", tool: "look", content: "No ship." }],
    stubs: { look: "Two ships.", ask: "Later." }
  })
  expect(payloadFor(draft, beginning, 9)).toEqual({ tick: 9, prompt: "Be brief.", model: "offline" })
})

test("a text is a template without gaps, and comes back as it was", () => {
  const text = 'Say {name} and {"json": {"a": 1}} }{ {{'
  expect(asTemplate("{a}")).toBe("{{a}}")
  expect(fromTemplate(asTemplate(text))).toBe(text)
})
