import { assert, describe, it } from "@effect/vitest"
import { episodesToPrune, type Fact, retireFacts } from "../../src/index.ts"
import { aFact, DAY, NOON } from "./facts.ts"

const now = NOON + 100 * DAY
const old = { importance: 3, at: now - 8 * DAY, consolidated: true }

describe("prune", () => {
  it("F49 P1 episodes go that are consolidated, matter little and are old: the least important first, then the oldest", () => {
    const episodes = [
      { ...old, id: "at the limit" },
      { ...old, id: "older", at: old.at - 1 },
      { ...old, id: "least", importance: 1 },
      { ...old, id: "not consolidated", consolidated: false },
      { ...old, id: "important", importance: 4 },
      { ...old, id: "young", at: now - 7 * DAY },
      { ...old, id: "declined", kept: true }
    ]
    assert.deepStrictEqual(episodesToPrune(episodes, now), ["least", "older", "at the limit"])
    assert.deepStrictEqual(episodesToPrune(episodes, now, { maxImportance: 1, minAgeMillis: 0 }), ["least"])
  })

  it("F49 P2 facts retire that matter little, are linked with nothing and are old; they are kept, with the reason", () => {
    const trifle = aFact("trifle", { importance: 2, linked: true, learnt_at: now - 91 * DAY })
    const others: ReadonlyArray<Partial<Fact>> = [
      { importance: 3 },
      { learnt_at: now - 90 * DAY },
      { links: [{ to: "x", why: "x" }] },
      { linked: false },
      { state: "quarantined" },
      { state: "superseded" }
    ]
    const retired = retireFacts([trifle, ...others.map((other, n) => ({ ...trifle, id: `o${n}`, ...other }))], now)
    assert.deepStrictEqual(retired, [
      { ...trifle, state: "retired", reason: "of little importance, linked with nothing, and old" }
    ])
    assert.deepStrictEqual(retireFacts(retired, now), [])
  })
})
