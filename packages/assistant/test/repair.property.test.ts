import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { contextOf } from "../src/index.ts"
import { PATIENT, RUNS } from "./arbitraries.ts"
import { ANSWER, asking, DONE, failure, message, MISSHAPEN, Rig } from "./rig.ts"
import { aLife, live, type Moment } from "./walk.ts"

const outcomesIn = ({ commands }: Pick<Moment, "commands">): ReadonlyArray<string> =>
  commands.flatMap((command) =>
    command._tag === "Action" && command.type === "endTick"
      ? [(command.params as { readonly outcome: string }).outcome]
      : []
  )

describe("answers that do not fit", PATIENT, () => {
  it("machine A6: an answer that does not fit is asked for again at most twice in a tick, and ends nothing but its tick", () => {
    let ended = 0
    fc.assert(
      fc.property(aLife, (life) => {
        const perTick = new Map<number, number>()
        for (const moment of live(life)) {
          const { output = {} } = moment.event as {
            readonly output?: { readonly misshapen?: true; readonly refused?: true }
          }
          const ends = outcomesIn(moment)
          const outcome = output.refused === true ? "refused" : output.misshapen === true ? "misshapen" : undefined
          if (moment.event.type !== "xstate.done.actor.infer" || outcome === undefined) {
            assert.notInclude(ends, "misshapen")
            assert.notInclude(ends, "refused")
            continue
          }
          const { tick } = contextOf(moment.before)
          if (ends.length > 0) {
            ended++
            // The budget may be spent where the answer would be asked for again.
            assert.include([outcome, "cut"], ends[0])
            continue
          }
          perTick.set(tick, (perTick.get(tick) ?? 0) + 1)
          assert.strictEqual(contextOf(moment.after).repairs, perTick.get(tick))
          assert.strictEqual(contextOf(moment.after).iteration, contextOf(moment.before).iteration + 1)
        }
        for (const count of perTick.values()) assert.isAtMost(count, 2)
      }),
      RUNS
    )
    assert.isAbove(ended, 20)
  })

  it("machine A6: whatever the answers of one tick are, its model calls are bounded and it ends once", () => {
    const anAnswer = fc.constantFrom("fits", "misshapen", "misshapen", "calls", "fails")
    const outcomes = new Set<string>()
    fc.assert(
      fc.property(fc.array(anAnswer, { maxLength: 12 }), fc.integer({ min: 1, max: 8 }), (answers, maxIterations) => {
        const ada = new Rig({ maxIterations, maxErrors: 2 }).hear(message("m"))
        const ends: Array<string> = []
        let replies = 0
        let misshapen = 0
        let last = ""
        const note = () => ends.push(...outcomesIn(ada))
        for (const answer of [...answers, ...Array.from({ length: 12 }, () => "fits")]) {
          if (ends.length > 0) break
          last = answer
          if (answer === "fails") {
            if (ada.fails("infer", failure("retry")).timers.size > 0) ada.due()
            note()
            continue
          }
          replies++
          if (answer === "misshapen") misshapen++
          ada.ends("infer", { fits: ANSWER, misshapen: MISSHAPEN, calls: asking("safe_chain") }[answer])
          note()
          if (answer === "calls") {
            ada.ends("tool.0", DONE)
            note()
          }
        }
        assert.lengthOf(ends, 1)
        assert.strictEqual(ada.status, "awake.idle")
        assert.isAtMost(replies, maxIterations)
        assert.isAtMost(misshapen, 3)
        const isLast = misshapen === 3 || replies === maxIterations
        assert.strictEqual(ends[0] === "misshapen", last === "misshapen" && isLast)
        outcomes.add(ends[0] ?? "")
      }),
      { ...RUNS, numRuns: 500 }
    )
    assert.sameMembers([...outcomes], ["answered", "misshapen", "max-iterations", "failed"])
  })
})
