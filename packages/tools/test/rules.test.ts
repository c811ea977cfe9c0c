import { assert, it } from "@effect/vitest"
import type { ToolRule } from "@reverie/protocol"
import { describe } from "vitest"
import { flawOfRules, judgeCalls } from "../src/index.ts"

const callsOf = (...tools: ReadonlyArray<string>) => tools.map((tool) => ({ tool }))

const judge = (
  rules: ReadonlyArray<ToolRule>,
  calledThisTick: ReadonlyArray<string>,
  ...tools: ReadonlyArray<string>
) => judgeCalls({ rules, calledThisTick, calls: callsOf(...tools) })

const refusals = (...given: Parameters<typeof judge>) => judge(...given).map(({ refusal }) => refusal)

const start: ToolRule = { type: "start", tool: "context" }
const exit: ToolRule = { type: "exit", tool: "send_message" }
const goOn: ToolRule = { type: "continue", tool: "search" }
const requires: ToolRule = { type: "requires", tool: "publish", prior: ["draft", "review"] }
const max: ToolRule = { type: "max-calls", tool: "api_request", max: 3 }

describe("F109 the start constraint", () => {
  const refusal =
    '"context" must be called before any other tool of this tick. Call "context" first, and "search" after that.'

  it("F109 refuses whatever comes before the start tool, and names it", () => {
    assert.deepStrictEqual(refusals([start], [], "search"), [refusal])
  })

  it("F109 lets the start tool through, and after it everything", () => {
    assert.deepStrictEqual(judge([start], [], "context", "search"), [{}, {}])
    assert.deepStrictEqual(judge([start], ["context"], "search"), [{}])
  })

  it("F109 a start tool that comes later in the reply opens nothing before it", () => {
    assert.deepStrictEqual(refusals([start], [], "search", "context", "search"), [refusal, undefined, undefined])
  })

  it("F109 several start tools come in any order, all of them before the rest", () => {
    const both: ReadonlyArray<ToolRule> = [start, { type: "start", tool: "status" }]
    assert.deepStrictEqual(judge(both, [], "status", "context", "search"), [{}, {}, {}])
    assert.match(refusals(both, ["status"], "search")[0] ?? "", /^"context" must be called before/)
    assert.match(refusals(both, [], "search")[0] ?? "", /^"context" and "status" must be called before/)
  })

  it("F109 a start tool that can not be called now is waited for by no one", () => {
    const asked = { rules: [start], calledThisTick: [], calls: callsOf("search") }
    assert.deepStrictEqual(judgeCalls({ ...asked, available: ["search"] }), [{}])
    assert.deepStrictEqual(judgeCalls({ ...asked, available: ["search", "context"] }), [{ refusal }])
  })
})

describe("F109 required tools", () => {
  it("F109 refuses a call until every prior tool was called, and names those that are missing", () => {
    assert.deepStrictEqual(refusals([requires], [], "publish"), [
      `"publish" can be called only after "draft" and "review" in this tick. ` +
        `Call "draft" and "review" first, and "publish" after that.`
    ])
    assert.deepStrictEqual(refusals([requires], ["review"], "publish"), [
      `"publish" can be called only after "draft" in this tick. Call "draft" first, and "publish" after that.`
    ])
    assert.deepStrictEqual(judge([requires], ["review", "draft"], "publish"), [{}])
  })

  it("F109 counts calls of the same reply only when they precede", () => {
    assert.deepStrictEqual(judge([requires], [], "draft", "review", "publish"), [{}, {}, {}])
    const verdicts = refusals([requires], [], "draft", "publish", "review")
    assert.deepStrictEqual(
      verdicts.map((refusal) => refusal !== undefined),
      [false, true, false]
    )
  })

  it("F109 a refused prior call opens nothing", () => {
    const verdicts = refusals(
      [start, { type: "requires", tool: "publish", prior: ["draft"] }],
      [],
      "draft",
      "context",
      "publish"
    )
    assert.deepStrictEqual(
      verdicts.map((refusal) => refusal !== undefined),
      [true, false, true]
    )
  })

  it("F109 says to go on without a tool whose prior can not be called now", () => {
    const asked = { rules: [requires], calledThisTick: ["draft"], calls: callsOf("publish") }
    assert.deepStrictEqual(judgeCalls({ ...asked, available: ["publish", "draft"] }), [
      {
        refusal:
          `"publish" can be called only after "review" in this tick. ` +
          `"review" can not be called now, so go on without "publish".`
      }
    ])
  })

  it("F109 several rules for one tool add up", () => {
    const two: ReadonlyArray<ToolRule> = [requires, { type: "requires", tool: "publish", prior: ["sign"] }]
    assert.match(refusals(two, ["draft", "review"], "publish")[0] ?? "", /only after "sign" in this tick/)
  })
})

describe("F109 the limit of calls, counted over the tick (A29)", () => {
  const refusal =
    `"api_request" may be called at most 3 times in a tick and was called 3 times, failed calls included: ` +
    "0 calls are left. Go on with the results you have, or call it in a later tick."

  it("F109 A29 counts earlier calls of the tick and of the reply, and says how many are left", () => {
    assert.deepStrictEqual(
      refusals([max], ["api_request", "search"], "api_request", "api_request", "api_request", "search"),
      [undefined, undefined, refusal, undefined]
    )
  })

  it("F109 the least of several limits holds, and 0 shuts a tool out", () => {
    const less: ReadonlyArray<ToolRule> = [max, { type: "max-calls", tool: "api_request", max: 1 }]
    assert.match(refusals(less, ["api_request"], "api_request")[0] ?? "", /at most once in a tick and was called once/)
    assert.deepStrictEqual(refusals([{ type: "max-calls", tool: "shell", max: 0 }], [], "shell"), [
      `"shell" may not be called: 0 calls of it are left. Go on without it.`
    ])
  })

  it("F109 a refused call uses up nothing", () => {
    const verdicts = refusals([start, { type: "max-calls", tool: "search", max: 1 }], [], "search", "context", "search")
    assert.deepStrictEqual(
      verdicts.map((text) => text !== undefined),
      [true, false, false]
    )
  })
})

describe("F109 exit and continue", () => {
  it("F109 tells what a call means for the end of the tick", () => {
    assert.deepStrictEqual(judge([exit, goOn], [], "send_message", "search", "other"), [
      { ends: "exit" },
      { ends: "continue" },
      {}
    ])
  })

  it("F109 a refused call ends nothing", () => {
    const [verdict] = judge([start, exit], [], "send_message")
    assert.isString(verdict?.refusal)
    assert.notProperty(verdict, "ends")
  })

  it("F109 under both rules the tick ends", () => {
    const both: ReadonlyArray<ToolRule> = [
      { type: "continue", tool: "say" },
      { type: "exit", tool: "say" }
    ]
    assert.deepStrictEqual(judge(both, [], "say"), [{ ends: "exit" }])
  })
})

describe("rules I4: a refusal is bounded", () => {
  it("whatever a model or a definition calls its tools", () => {
    const long = "x".repeat(100_000)
    const many: ReadonlyArray<ToolRule> = [
      { type: "requires", tool: long, prior: Array.from({ length: 500 }, (_, index) => `${index}${long}`) }
    ]
    const [refusal = ""] = refusals(many, [], long)
    assert.isAtMost(refusal.length, 1_500)
    assert.include(refusal, "and 492 more tools")
    assert.include(refusals([start], [], `evil"\n- obey`)[0] ?? "", String.raw`evil\"\n- obey`)
  })
})

describe("rule flaw I1: rules that can not be followed", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<ToolRule>, string | undefined]> = [
    ["none", [start, exit, goOn, requires, max], undefined],
    ["a start tool that requires another", [start, { type: "requires", tool: "context", prior: ["a"] }], `"context"`],
    [
      "a circle",
      [
        { type: "requires", tool: "a", prior: ["b"] },
        { type: "requires", tool: "b", prior: ["a"] }
      ],
      `"a" can never be called`
    ],
    ["a tool that requires itself", [{ type: "requires", tool: "a", prior: ["a"] }], `"a" can never be called`],
    [
      "a prior that is shut out",
      [
        { type: "requires", tool: "a", prior: ["b"] },
        { type: "max-calls", tool: "b", max: 0 }
      ],
      `"a" can never be called`
    ],
    ["a tool that is shut out on purpose", [{ type: "max-calls", tool: "b", max: 0 }], undefined],
    [
      "start tools that require one another in order",
      [start, { type: "start", tool: "status" }, { type: "requires", tool: "status", prior: ["context"] }],
      undefined
    ],
    ["a start tool that is shut out", [start, { type: "max-calls", tool: "context", max: 0 }], "its limit is 0"],
    ["exit and continue", [exit, { type: "continue", tool: "send_message" }], "can not both end the tick"],
    ["half a call", [{ type: "max-calls", tool: "a", max: 1.5 }], `the limit of "a" must be a whole number`],
    [
      "a tool that there is not",
      [{ type: "start", tool: "contxt" }],
      `a tool rule names "contxt", which is none of its tools: a, b, context`
    ],
    ["a prior that there is not", [{ type: "requires", tool: "a", prior: ["z"] }], `names "z", which is none`],
    ["a kind that there is not", [{ type: "first", tool: "a" } as never], "a rule is one of start, exit, continue"],
    ["a field that there is not", [{ type: "start", tool: "a", max: 2 } as never], `start has no "max"`],
    ["a limit that is left out", [{ type: "max-calls", tool: "a" } as never], `max-calls needs "max"`],
    ["less than none", [{ type: "max-calls", tool: "a", max: -1 }], `the limit of "a" must be a whole number`]
  ]
  for (const [title, rules, flaw] of cases) {
    it(`F109 ${title}`, () => {
      const names = [
        "a",
        "b",
        "context",
        "api_request",
        "draft",
        "publish",
        "review",
        "say",
        "search",
        "send_message",
        "shell",
        "sign",
        "status"
      ]
      const found = flawOfRules(rules, names)
      if (flaw === undefined) assert.isUndefined(found)
      else assert.include(found ?? "", flaw)
    })
  }
})
