import { assert, it } from "@effect/vitest"
import { type ToolRule, toolRuleOrder } from "@reverie/protocol"
import * as fc from "fast-check"
import { describe } from "vitest"
import { flawOfRules, judgeCalls } from "../src/index.ts"

const tool = fc.constantFrom("a", "b", "c", "d")
const tools = fc.array(tool, { maxLength: 10 })

const rule: fc.Arbitrary<ToolRule> = fc.oneof(
  fc.record({ type: fc.constant("start" as const), tool }),
  fc.record({ type: fc.constant("exit" as const), tool }),
  fc.record({ type: fc.constant("continue" as const), tool }),
  fc.record({ type: fc.constant("requires" as const), tool, prior: fc.uniqueArray(tool, { maxLength: 2 }) }),
  fc.record({ type: fc.constant("max-calls" as const), tool, max: fc.nat({ max: 3 }) })
)
const rules = fc.array(rule, { maxLength: 6 })

/** Whether one rule alone holds over a whole tick. */
const holds = (rule: ToolRule, ran: ReadonlyArray<string>, starts: ReadonlyArray<string>): boolean => {
  const first = (name: string) => (ran.includes(name) ? ran.indexOf(name) : Infinity)
  switch (rule.type) {
    case "start":
      return ran.every((name, at) => starts.includes(name) || first(rule.tool) < at)
    case "requires":
      return ran.every((name, at) => name !== rule.tool || rule.prior.every((prior) => first(prior) < at))
    case "max-calls":
      return ran.filter((name) => name === rule.tool).length <= rule.max
    case "exit":
    case "continue":
      return true
  }
}

const startsOf = (given: ReadonlyArray<ToolRule>) => given.flatMap((it) => (it.type === "start" ? [it.tool] : []))

/** What runs of a whole tick, told to the judge in replies of the given lengths. */
const ranOf = (given: ReadonlyArray<ToolRule>, calls: ReadonlyArray<string>, replies: ReadonlyArray<number>) => {
  const ran: Array<string> = []
  let rest = calls
  for (const length of [...replies, calls.length]) {
    const reply = rest.slice(0, length).map((name) => ({ tool: name }))
    rest = rest.slice(length)
    const verdicts = judgeCalls({ rules: given, calledThisTick: [...ran], calls: reply })
    ran.push(...reply.flatMap(({ tool: name }, at) => (verdicts[at]?.refusal === undefined ? [name] : [])))
  }
  return ran
}

describe("F109 rules, whatever they are", () => {
  it("F109 rules I1: what is let through breaks no rule", () => {
    fc.assert(
      fc.property(rules, tools, fc.array(fc.nat({ max: 4 }), { maxLength: 4 }), (given, calls, replies) => {
        const ran = ranOf(given, calls, replies)
        for (const each of given) assert.isTrue(holds(each, ran, startsOf(given)), JSON.stringify({ each, ran }))
      })
    )
  })

  it("F109 rules I2: what is refused would have broken one", () => {
    fc.assert(
      fc.property(rules, tools, tools, (given, before, calls) => {
        const earlier = ranOf(given, before, [])
        const verdicts = judgeCalls({
          rules: given,
          calledThisTick: earlier,
          calls: calls.map((name) => ({ tool: name }))
        })
        const ran = [...earlier]
        for (const [at, name] of calls.entries()) {
          const breaks = given.some((each) => !holds(each, [...ran, name], startsOf(given)))
          assert.strictEqual(verdicts[at]?.refusal !== undefined, breaks)
          if (!breaks) ran.push(name)
        }
      })
    )
  })

  it("F109 A30: neither the order of the rules nor how calls fall into replies changes what runs", () => {
    const shuffled = rules.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray([...given], { minLength: given.length }))
    )
    fc.assert(
      fc.property(shuffled, tools, fc.array(fc.nat({ max: 4 }), { maxLength: 4 }), ([given, other], calls, replies) => {
        assert.deepStrictEqual(ranOf(given, calls, []), ranOf(other, calls, replies))
      })
    )
  })

  it("rule flaw I1: without a flaw every tool can be called, once those it waits for were", () => {
    fc.assert(
      fc.property(rules, (given) => {
        fc.pre(flawOfRules(given, ["a", "b", "c", "d"]) === undefined)
        const shut = new Set(given.flatMap((it) => (it.type === "max-calls" && it.max === 0 ? [it.tool] : [])))
        const once = ["a", "b", "c", "d"]
        // Four rounds in which every tool that may is called once: enough for any order among four.
        const ran: Array<string> = []
        for (const name of once.flatMap(() => once)) {
          if (ran.includes(name)) continue
          const [verdict] = judgeCalls({ rules: given, calledThisTick: ran, calls: [{ tool: name }] })
          if (verdict?.refusal === undefined) ran.push(name)
        }
        const told = given.flatMap((it) => (it.type === "requires" ? [it.tool, ...it.prior] : [it.tool]))
        for (const name of told) assert.isTrue(ran.includes(name) || shut.has(name), name)
      })
    )
  })

  it("covers every type of rule (toolRuleOrder)", () => {
    const seen = new Set(fc.sample(rule, { numRuns: 200, seed: 1 }).map(({ type }) => type))
    assert.deepStrictEqual([...seen].toSorted(), [...toolRuleOrder].toSorted())
  })
})
