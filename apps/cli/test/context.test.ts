// `agents context`: the form of a report with everything in it, and the command on a real data directory.

import { compareReports, type ContextReport } from "reverie"
import { assert, describe, test } from "vitest"
import { contextText, differenceText } from "../src/texts/context-text.ts"
import { assertFailure, begin, fixture, jsonOf, run, temporary } from "./command-line.ts"

const report: ContextReport = {
  tick: 7,
  iteration: 2,
  at: Date.UTC(2026, 4, 21, 6, 30),
  ok: true,
  model: "gpt-\u001b[31mred",
  context: "reflection",
  parts: [
    { id: 0, key: "system_prompt", messages: 1, tokens: 100 },
    { id: 5000, key: "conversation_history", messages: 12, tokens: 500 },
    { id: 6000, key: "pending_event", messages: 1, tokens: 1 }
  ],
  toolTokens: 199,
  tokens: 800,
  limit: 900,
  share: 0.8,
  absent: [{ key: "goals", reason: "not-in-context" }],
  leftOut: [
    { reason: "over-limit", messages: 3, tokens: 70 },
    { reason: "result-without-call", messages: 1, tokens: 9 }
  ],
  cuts: [{ role: "tool", call: "7.1.0", characters: 4_000, of: 9_000 }],
  interrupted: ["6.1.0", "6.1.1"],
  pattern: {
    mode: "react_loop",
    max_iterations: 3,
    allowed_categories: null,
    source_layers: { mode: "context", max_iterations: "context" }
  }
}

const { pattern: _pattern, ...plainly } = report
const earlier: ContextReport = {
  ...plainly,
  tick: 3,
  iteration: 1,
  context: "tick_event",
  parts: [
    { id: 0, key: "system_prompt", messages: 1, tokens: 100 },
    { id: 4000, key: "goals", messages: 1, tokens: 40 },
    { id: 5000, key: "conversation_history", messages: 10, tokens: 450 }
  ],
  tokens: 789,
  absent: [],
  leftOut: [],
  cuts: []
}

describe("contextText", () => {
  test("F111 X1 every part with its share, what was left out and why, the pattern with its layers", () => {
    assert.strictEqual(
      contextText("desk", report),
      `desk: run 7, model call 2, reflection, gpt-red, 2026-05-21T06:30:00.000Z

id    component             tokens  messages  share   of the window
   0  system_prompt            100         1  10.0 %  ██
5000  conversation_history     500        12  50.0 %  ██████████
6000  pending_event              1         1   0.1 %  ▏
      offered tools            199            19.9 %  ████
      total                    800        14  80.0 %  ████████████████

800 of at most 900 tokens, 80.0 % of the window
not there: goals (not-in-context)
left out: 3 messages of 70 tokens (over-limit)
left out: 1 message of 9 tokens (result-without-call)
cut: 4000 of 9000 characters (tool 7.1.0)
told as interrupted: 6.1.0, 6.1.1

execution pattern
  mode: react_loop (context)
  max_iterations: 3 (context)
  allowed_categories: all`
    )
  })

  test("X1 what a report does not know leaves no heading", () => {
    const { context: _context, model: _model, ...bare } = { ...earlier, toolTokens: 0, interrupted: [], ok: false }
    const text = contextText("desk", bare)
    assert.include(text, "desk: run 3, model call 1, 2026-05-21T06:30:00.000Z, the model did not answer\n")
    assert.notMatch(text, /pattern|left out|not there|cut|interrupted|offered/)
    assert.match(text, /of the window$/)
  })
})

describe("differenceText", () => {
  test("components added, removed and changed, and what else differs", () => {
    assert.strictEqual(
      differenceText("desk", earlier, report, compareReports(earlier, report)),
      `desk: run 3, model call 1 → run 7, model call 2

         id    component             tokens before  after  change  messages
removed  4000  goals                            40      0     -40  1 → 0
changed  5000  conversation_history            450    500     +50  10 → 12
added    6000  pending_event                     0      1      +1  0 → 1

789 → 800 tokens (+11)
kind of context: tick_event → reflection
not there: goals: none → not-in-context
messages left out (over-limit): 0 → 3
messages left out (result-without-call): 0 → 1
contents cut: 0 → 1`
    )
  })

  test("two that are the same", () => {
    const same = differenceText("desk", report, report, compareReports(report, report))
    assert.include(same, "every component is the same\n\n800 → 800 tokens (0)")
    assert.notInclude(same, "kind of context")
  })
})

type Fields = { readonly [key: string]: unknown }

describe("agents context", () => {
  test("C1 shows any tick beside a running fleet, compares two, and names the ticks that exist", async () => {
    await using directory = await temporary()
    const at = ["--data", directory.path]
    const chat = begin(["chat", "clerk", "--fleet", fixture("fleet.ts"), ...at], { input: true })
    chat.child.stdin?.write("who are you?\n/stamp paper=lease\n")
    await chat.saying("Stamped lease")

    const newest = await run(["agents", "context", "cle", ...at])
    assert.strictEqual(newest.code, 0, newest.stderr)
    assert.match(newest.stdout, /^clerk: run 2, model call 2, tick_event, reverie-offline, /)
    assert.match(newest.stdout, /^ {3}0 {2}system_prompt +\d+ +1 +\d+\.\d % /m)

    const { assistant, context } = jsonOf(await run(["agents", "context", "clerk", "--tick", "1", ...at, "--json"]))
    assert.strictEqual(assistant, "clerk")
    assert.deepInclude(context as Fields, { tick: 1, iteration: 1, context: "tick_event" })

    const compared = ["agents", "context", "clerk", "--tick", "2", "--iteration", "1", "--diff", "1", ...at]
    const { before, context: after, difference } = jsonOf(await run([...compared, "--json"]))
    assert.deepInclude(before as Fields, { tick: 1, iteration: 1 })
    assert.deepInclude(after as Fields, { tick: 2, iteration: 1 })
    const { parts } = difference as { readonly parts: ReadonlyArray<Fields> }
    const history = parts.find(({ key }) => key === "conversation_history")
    assert.deepStrictEqual(history?.["messages"], [null, 2])
    assert.match((await run(compared)).stdout, /^added +5000 {2}conversation_history +0 +\d+ +\+\d+ {2}0 → 2$/m)

    const cached = jsonOf(await run(["agents", "cache", "clerk", ...at, "--json"]))
    const prompts = cached["prompts"] as ReadonlyArray<Fields>
    assert.deepStrictEqual(
      prompts.map(({ iteration, tick }) => [tick, iteration]),
      [
        [2, 2],
        [2, 1],
        [1, 1]
      ]
    )
    const shares = prompts.map(({ prefix }) => (prefix as Fields | undefined)?.["share"])
    assert.isAbove(Number(shares[0]), Number(shares[1]))
    assert.isUndefined(shares[2])
    assert.isFalse(prompts.some(({ prefix }) => (prefix as Fields | undefined)?.["broken"] !== undefined))
    const shown = await run(["agents", "cache", "clerk", ...at])
    assert.match(shown.stdout, /^3 prompts, \d+\.\d % of their tokens repeat the one before$/m)

    for (const [args, words] of [
      [["--tick", "9"], "clerk has no run 9, runs 1 to 2 exist"],
      [["--tick", "0"], "clerk has no run 0, runs 1 to 2 exist"],
      [["--diff", "3"], "clerk has no run 3, runs 1 to 2 exist"],
      [["--tick", "2", "--iteration", "3"], "run 2 of clerk has no model call 3, 1 to 2 exist"]
    ] as const) {
      assertFailure(await run(["agents", "context", "clerk", ...args, ...at, "--json"]), 4, "unknown-tick", words)
    }
    assertFailure(
      await run(["agents", "context", "clara", ...at, "--json"]),
      4,
      "unknown-tick",
      "clara has had no run yet"
    )
    assertFailure(await run(["agents", "context", "nobody", ...at, "--json"]), 4, "unknown-assistant", "nobody")
    assertFailure(await run(["agents", "context", "clerk", "--tick", "x", ...at, "--json"]), 2, "usage", "whole number")

    chat.child.stdin?.end("/quit\n")
    assert.strictEqual((await chat.ended).code, 0)
  })
})
