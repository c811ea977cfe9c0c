import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import { describe } from "vitest"
import { judgeMessage, type Listening } from "../src/index.ts"
import { filterRules, type Heard, importanceByRule, verdicts } from "../src/mail/filter.ts"

const verdict = fc.constantFrom(...verdicts)
const channel = fc.constantFrom("dock", "gossip", "room:quay", "room:attic", "", "toString")
const from = fc.constantFrom("user:ada", "user:desk", "system", "assistant:planner", "assistant:desk", "desk")
const text = fc.oneof(fc.constantFrom("hello", "@desk", "ask @crew!", "ada@desk", "@desks"), fc.string())

const listening: fc.Arbitrary<Listening> = fc.record({
  enabled: fc.boolean(),
  names: fc.subarray(["crew", "Desk", ""]),
  direct: verdict,
  assistants: fc.constantFrom("trigger-on-mention" as const, "context" as const, "ignore" as const),
  permitted: fc.uniqueArray(from),
  channels: fc.dictionary(channel, verdict),
  room: verdict,
  otherwise: verdict
})
const heard: fc.Arbitrary<Heard> = fc.oneof(fc.record({ from, text }), fc.record({ from, text, channel }))
const self = { id: "desk", names: ["Harbor Desk"] }

const isAssistant = (it: Heard) => it.from.startsWith("assistant:")
const isOwn = (it: Heard) => it.from === "desk" || it.from === "assistant:desk"

describe("the message filter, however an assistant listens", () => {
  it("filter I1: exactly one rule decides, with its own importance", () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(listening, heard, (how, what) => {
        const judged = judgeMessage(how, what, self)
        seen.add(judged.rule)
        assert.include(filterRules, judged.rule)
        assert.include(verdicts, judged.verdict)
        assert.strictEqual(judged.importance, importanceByRule[judged.rule])
        assert.deepStrictEqual(judgeMessage(how, what, self), judged)
      }),
      { numRuns: 2_000 }
    )
    assert.deepStrictEqual([...seen].toSorted(), [...filterRules].toSorted(), "every rule was met")
  })

  it("filter I1: a rule decides only what no rule before it applies to", () => {
    const applies: Readonly<Record<string, (how: Listening, what: Heard) => boolean>> = {
      disabled: ({ enabled }) => !enabled,
      self: (_, what) => isOwn(what),
      direct: (_, what) => what.channel === undefined,
      assistant: (_, what) => isAssistant(what),
      permission: ({ permitted }, what) => permitted.includes(what.from),
      channel: ({ channels }, what) => Object.keys(channels).some((name) => name === what.channel),
      room: (_, what) => what.channel?.startsWith("room:") === true
    }
    fc.assert(
      fc.property(listening, heard, (how, what) => {
        const at = filterRules.indexOf(judgeMessage(how, what, self).rule)
        for (const rule of filterRules.slice(0, at)) assert.isNotTrue(applies[rule]?.(how, what), rule)
        assert.isNotFalse(applies[filterRules[at] ?? ""]?.(how, what))
      }),
      { numRuns: 1_000 }
    )
  })

  it("filter I2, rule 0: disabled beats everything", () => {
    fc.assert(
      fc.property(listening, heard, (how, what) => {
        const { rule, verdict: said } = judgeMessage({ ...how, enabled: false }, what, self)
        assert.deepStrictEqual([rule, said], ["disabled", "ignore"])
      })
    )
  })

  it("filter I3, rule 1: what it says itself is always ignored", () => {
    fc.assert(
      fc.property(listening, heard, fc.constantFrom("desk", "assistant:desk"), (how, what, own) => {
        assert.strictEqual(judgeMessage(how, { ...what, from: own }, self).verdict, "ignore")
      })
    )
  })

  it("rule 4: where assistants may not trigger, none of them does in a channel", () => {
    fc.assert(
      fc.property(
        listening,
        heard,
        channel,
        fc.constantFrom("context" as const, "ignore" as const),
        (how, what, where, assistants) => {
          const said = { ...what, from: "assistant:planner", channel: where }
          assert.notStrictEqual(judgeMessage({ ...how, assistants }, said, self).verdict, "trigger")
        }
      )
    )
  })

  it("rule 2: a mention is found by its name alone, wherever it stands among other words", () => {
    const word = fc.constantFrom("the", "ships,", "(of", "Ida)", "42", "—", "?")
    const words = fc.array(word, { maxLength: 6 })
    const always: Partial<Listening> = { enabled: true, assistants: "trigger-on-mention", names: [] }
    fc.assert(
      fc.property(
        listening,
        words,
        words,
        fc.constantFrom("@desk", "@DESK", "@Harbor Desk"),
        (how, head, tail, name) => {
          const how2 = { ...how, ...always }
          const said = (middle: string) => ({
            from: "user:ada",
            text: [...head, middle, ...tail].join(" "),
            channel: "dock"
          })
          assert.strictEqual(judgeMessage(how2, said(name), self).rule, "mention")
          assert.notStrictEqual(judgeMessage(how2, said(`${name}s`), self).rule, "mention")
        }
      )
    )
  })
})
