import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type Directory, mayWriteAt, pairRateOf, reach, timesOf, written } from "../../src/index.ts"
import { RUNS } from "../arbitraries.ts"
import { targetsFor } from "../../src/team/directory.ts"

const directory: Directory = [
  { id: "ada", names: ["Countess"], seats: [{ group: "council", role: "supervisor" }], isTeam: false },
  {
    id: "bo",
    names: ["Count", "ada"],
    seats: [
      { group: "council", role: "member" },
      { group: "watch", role: "observer" }
    ],
    isTeam: false
  },
  { id: "cy", names: ["count"], seats: [{ group: "watch", role: "member" }], isTeam: false },
  { id: "group:odd", names: [], seats: [], isTeam: false },
  { id: "council", names: ["The Council"], seats: [], isTeam: true },
  { id: "watch", names: [], seats: [], isTeam: true }
]

describe("reach", () => {
  it("D1 an id comes before a name, and both before the forms", () => {
    assert.deepStrictEqual(reach(directory, "ada"), { ids: ["ada"] })
    assert.deepStrictEqual(reach(directory, "countess"), { ids: ["ada"] })
    assert.deepStrictEqual(reach(directory, "group:odd"), { ids: ["group:odd"] })
    assert.deepStrictEqual(reach(directory, "group:council"), { ids: ["council"] })
    assert.deepStrictEqual(reach(directory, "group:the council"), { ids: ["council"] })
    assert.deepStrictEqual(reach(directory, "role:member"), { ids: ["bo", "cy"] })
    assert.deepStrictEqual(reach(directory, "role:watch/member"), { ids: ["cy"] })
  })

  it("D2 a shared name tells the candidates, an unknown target who there is", () => {
    const shared = reach(directory, "Count")
    assert.deepInclude(shared, { refused: "ambiguous", candidates: ["bo", "cy"] })
    const nobody = reach(directory, "zed", "ada")
    assert.deepInclude(nobody, { refused: "unknown", candidates: targetsFor(directory, "ada") })
    assert.deepStrictEqual(targetsFor(directory, "ada"), [
      "bo",
      "cy",
      "group:odd",
      "group:council",
      "group:watch",
      "role:member",
      "role:observer"
    ])
    for (const target of ["group:nobody", "role:boss", "role:council/observer", ""]) {
      assert.deepInclude(reach(directory, target), { refused: "unknown" })
    }
  })

  it("D3 no one is reached by their own role", () => {
    assert.deepStrictEqual(reach(directory, "role:member", "bo"), { ids: ["cy"] })
    assert.deepInclude(reach(directory, "role:supervisor", "ada"), { refused: "unknown" })
  })

  it("D2 whatever the target, an answer has someone in it or a reason", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((name) => `role:${name}`),
          fc.string().map((name) => `group:${name}`)
        ),
        (target) => {
          const reached = reach(directory, target, "cy")
          if ("ids" in reached) assert.isAbove(reached.ids.length, 0)
          else assert.isAbove(reached.candidates.length, 0)
        }
      ),
      RUNS
    )
  })
})

describe("the pair rate", () => {
  it("P1 P3 no window ever holds more than half of it from one side, and the time that is reported is one at which it goes", () => {
    let refused = 0
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 12 }),
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.nat(300), { minLength: 1, maxLength: 60 }),
        (perPair, windowMs, gaps) => {
          const rate = pairRateOf({ perPair, windowMs })
          let now = 1
          let times = timesOf(undefined)
          const sent: Array<number> = []
          for (const gap of gaps) {
            now += gap
            const at = mayWriteAt(rate, times, now)
            if (at <= now) {
              times = written(rate, times, now)
              sent.push(now)
            } else {
              refused++
              assert.strictEqual(mayWriteAt(rate, times, at - 1), at)
              assert.strictEqual(mayWriteAt(rate, times, at), at)
            }
          }
          for (const from of sent) {
            const within = sent.filter((time) => time >= from && time < from + windowMs)
            assert.isAtMost(within.length, Math.floor(perPair / 2))
          }
          assert.isAtMost(times.length, Math.floor(perPair / 2))
        }
      ),
      RUNS
    )
    assert.isAbove(refused, 100)
  })

  it("P1 a record that can not be read counts nothing, and an absurd rate lets one message through", () => {
    assert.deepStrictEqual(timesOf({ times: ["1", 2] }), [2])
    assert.deepStrictEqual(timesOf("x"), [])
    assert.deepStrictEqual(pairRateOf({ perPair: -3, windowMs: Number.NaN }), { perPair: 2, windowMs: 1 })
  })
})
