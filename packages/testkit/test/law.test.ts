import { assert, describe, it } from "@effect/vitest"
import {
  biteWith,
  checkWaivers,
  complaintOf,
  judge,
  type Law,
  LAW_START_MILLIS,
  runLaws,
  selectLaws
} from "@reverie/testkit"
import { bite, prove, toothacheOf } from "@reverie/testkit/prove"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as nodeAssert from "node:assert/strict"

/** A port as small as can be: it counts. */
class Counter extends Context.Service<Counter, { readonly next: Effect.Effect<number, "worn out"> }>()(
  "@reverie/testkit/test/Counter"
) {}

const counterFrom = (start: number) => () =>
  Layer.sync(Counter, () => {
    let count = start
    return { next: Effect.sync(() => ++count) }
  })

const law = (id: string, check: Law<Counter>["check"]): Law<Counter> => ({ id, says: `says ${id}`, check })

const begins = law(
  "C1",
  Counter.use((counter) => Effect.map(counter.next, (count) => nodeAssert.equal(count, 1)))
)
const grows = law(
  "C2",
  Effect.gen(function* () {
    const { next } = yield* Counter
    const [first, second] = [yield* next, yield* next]
    nodeAssert.ok(second > first)
  })
)
const laws = [begins, grows]

const stuck = () => Layer.succeed(Counter, { next: Effect.succeed(1) })
const late = counterFrom(7)

prove("a right counter", laws, counterFrom(0))
prove("a late counter", laws, late, { waivers: { C1: "it is late" } })
bite("the laws of counting bite", laws, { late, stuck })

describe("L1 a law is judged alone", () => {
  it.effect("on a fresh adapter each, at the same virtual time", () =>
    Effect.gen(function* () {
      const times: Array<number> = []
      const looks = (id: string) =>
        law(
          id,
          Effect.gen(function* () {
            times.push(yield* Clock.currentTimeMillis)
            yield* TestClock.adjust("1 hour")
            nodeAssert.equal(yield* Counter.use((counter) => counter.next), 1)
          })
        )
      const always = counterFrom(0)()
      const results = yield* runLaws([looks("a"), looks("b")], () => always)
      assert.deepStrictEqual(
        results.map(({ id, verdict }) => [id, verdict]),
        [
          ["a", "held"],
          ["b", "held"]
        ]
      )
      assert.deepStrictEqual(times, [LAW_START_MILLIS, LAW_START_MILLIS])
    })
  )
})

describe("L2 a selection that would prove nothing is refused", () => {
  it("empty, twice, unknown", () => {
    assert.throws(() => selectLaws([]), "no law was selected")
    assert.throws(() => selectLaws(laws, []), "no law was selected")
    assert.throws(() => selectLaws([...laws, begins]), "two laws are called C1")
    assert.throws(() => selectLaws(laws, ["C1", "C3"]), "no law is called C3; there are C1, C2")
    assert.throws(() => selectLaws(laws, ["C1", "C1"]), "selected twice")
    assert.deepStrictEqual(selectLaws(laws, ["C2"]), [grows])
  })
})

describe("L3 only a broken promise breaks a law", () => {
  const verdictOf = (check: Law<Counter>["check"], layer: () => Layer.Layer<Counter, unknown> = counterFrom(0)) =>
    Effect.map(judge(law("x", check), layer), ({ verdict }) => verdict)

  it.effect("a false assertion and a failure of the port do; a defect and a failed start are inconclusive", () =>
    Effect.gen(function* () {
      const falsehood = Effect.sync(() => nodeAssert.equal(1, 2))
      assert.strictEqual(yield* verdictOf(falsehood), "broken")
      assert.strictEqual(yield* verdictOf(Effect.fail("worn out")), "broken")
      assert.strictEqual(yield* verdictOf(Effect.die(new TypeError("bug"))), "inconclusive")
      assert.strictEqual(yield* verdictOf(Effect.interrupt), "inconclusive")
      assert.strictEqual(
        yield* verdictOf(falsehood, () => Layer.effect(Counter, Effect.fail("no server"))),
        "inconclusive"
      )
    })
  )
})

describe("P2 a waiver", () => {
  const result = (verdict: "held" | "broken" | "inconclusive") => ({ id: "C1", says: "", verdict, reason: "because" })

  it("names a selected law and carries a reason", () => {
    assert.throws(() => checkWaivers(["C1"], { C2: "why not" }), "C2")
    assert.throws(() => checkWaivers(["C1"], { C1: "  " }), "gives no reason")
    assert.doesNotThrow(() => checkWaivers(["C1"], { C1: "it is late" }))
  })
  it("excuses a broken law, and fails when the law holds or was not judged", () => {
    assert.strictEqual(complaintOf(result("broken"), "it is late"), undefined)
    assert.include(complaintOf(result("held"), "it is late"), "drop its waiver (it is late)")
    assert.include(complaintOf(result("inconclusive"), "it is late"), "inconclusive")
  })
  it("is the only excuse", () => {
    assert.strictEqual(complaintOf(result("held"), undefined), undefined)
    assert.strictEqual(complaintOf(result("broken"), undefined), "because")
  })
})

describe("P3 a bite that does not hurt", () => {
  it.effect("names the mutants that survive, the laws that kill nothing and what gave no verdict", () =>
    Effect.gen(function* () {
      const bug = () => Layer.succeed(Counter, { next: Effect.die(new TypeError("bug")) })
      const found = yield* biteWith(laws, { right: counterFrom(0), late, bug }, { isWhole: true })
      assert.deepStrictEqual(found.survivors, ["right", "bug"])
      assert.deepStrictEqual(found.toothless, ["C2"])
      assert.deepStrictEqual(found.killedBy, { right: [], late: ["C1"], bug: [] })
      assert.strictEqual(found.inconclusive.length, 2)
      const ache = toothacheOf(found) ?? ""
      for (const part of ["mutant survives every law: right", "law kills no mutant: C2", "bug at C1: TypeError: bug"]) {
        assert.include(ache, part)
      }
      assert.strictEqual(toothacheOf(yield* biteWith(laws, { late, stuck })), undefined)
    })
  )
  it.effect("judges no more than is needed to know the same", () =>
    Effect.gen(function* () {
      let judged = 0
      const counted = laws.map((law) => ({
        ...law,
        check: Effect.andThen(
          Effect.sync(() => void judged++),
          law.check
        )
      }))
      const mutants = { late, stuck, later: late, again: stuck, right: counterFrom(0) }
      const bitten = function* (isWhole: boolean) {
        judged = 0
        const { survivors, toothless } = yield* biteWith(counted, mutants, { isWhole })
        assert.deepStrictEqual([survivors, toothless], [["right"], []])
        return judged
      }
      const whole = yield* Effect.gen(() => bitten(true))
      assert.strictEqual(whole, laws.length * 5)
      assert.isBelow(yield* Effect.gen(() => bitten(false)), whole)
      const none = yield* biteWith(counted, { late })
      assert.deepStrictEqual(none.toothless, ["C2"])
    })
  )
  it("is refused without mutants", () => {
    assert.throws(() => bite("nothing", laws, {}), "no mutant")
    assert.throws(() => prove("nothing", [], counterFrom(0)), "no law was selected")
  })
})
