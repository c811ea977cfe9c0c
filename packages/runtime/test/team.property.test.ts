import { assert, describe, it } from "@effect/vitest"
import { dynamic, type Pattern, pipeline, roundRobin, supervisor, type Team, voting } from "@reverie/assistant"
import type { MemoryDisk, Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { type Life, live, type LifeOptions } from "./rig.ts"

const RUNS = { numRuns: 40, seed: 4_711 }
const MEMBERS = ["ada", "bo", "cy"]
const LEASE_MILLIS = 30_000

const patterns: ReadonlyArray<Pattern> = [
  roundRobin(),
  dynamic({ selector: "random" }),
  supervisor({ maxRounds: 2, fallback: "member" }),
  pipeline({ stages: [{ member: "ada", onFailure: "retry" }, { member: "bo", onFailure: "skip" }, { member: "cy" }] }),
  voting({ quorum: 1, deadlineMs: 20_000 })
]

const teamOf = (pattern: Pattern): Team => ({
  id: "council",
  members: [
    { id: "ada", role: "supervisor" },
    { id: "bo", role: "member" },
    { id: "cy", role: "member" }
  ],
  pattern,
  answerMs: 40_000,
  maxAsks: 16
})

/** Hands out work when it knows how, votes when it is asked to, and is sometimes too slow. */
const speak =
  (slowEvery: number): Script =>
  (prompt, call) => {
    const asked = prompt.messages.findLast(({ role }) => role === "user")?.content ?? ""
    const text = asked.includes("Your team:") ? "@bo: this\n@cy: that" : asked.includes("VOTE:") ? "VOTE: yes" : "done"
    return Effect.as(Effect.sleep(call % slowEvery === 0 ? 60_000 : 500), { text })
  }

const aLife = fc.record({
  pattern: fc.constantFrom(...patterns),
  texts: fc.array(fc.constantFrom("@all well?", "What now?", "@bo you", "Close it?"), { minLength: 1, maxLength: 4 }),
  /** How many fault points each life passes before it is struck. */
  crashes: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }),
  slowEvery: fc.integer({ min: 2, max: 9 }),
  seed: fc.nat(1_000)
})

/** One life, until it is struck or at rest. Says again what was not acknowledged, as the one who sends does. */
const liveThrough = (options: LifeOptions, texts: ReadonlyArray<string>, strikeAfter: number): Life => {
  let left = strikeAfter
  let self: Life | undefined
  const life = live({
    ...options,
    // A worker begins to work before the life is in anybody's hands.
    onCreation: (created) => {
      self = created
    },
    faults: {
      at: () =>
        Effect.suspend(() => {
          if (--left === 0 && self !== undefined) self.dead = true
          return self?.dead === true ? Effect.never : Effect.void
        })
    }
  })
  for (const [index, text] of texts.entries()) life.trySay(text, { id: `q${index}`, to: "council" })
  if (!life.dead) life.pass(LEASE_MILLIS + 10_000)
  if (!life.dead) life.rest()
  return life
}

describe("any team, through any crashes", () => {
  it("T1 T2 every question is answered once, no ask is sent or heard twice, and nothing stays open", () => {
    let struck = 0
    fc.assert(
      fc.property(aLife, ({ crashes, pattern, seed, slowEvery, texts }) => {
        const base = { assistants: MEMBERS, teams: [teamOf(pattern)], model: speak(slowEvery), seed }
        let after: { readonly disk: MemoryDisk; readonly startAt: number } | undefined
        let last: Life | undefined
        for (const strikeAfter of [...crashes, Number.POSITIVE_INFINITY]) {
          last = liveThrough(
            { ...base, ...(after === undefined ? {} : { ...after, assistants: [], teams: base.teams }) },
            texts,
            strikeAfter
          )
          if (last.dead) struck++
          after = { disk: last.disk, startAt: last.time.now }
        }
        if (last === undefined) return
        const end = last
        // Deadlines of what no one answered in time.
        for (let round = 0; round < 12; round++) {
          end.pass(40_000)
          end.rest()
        }
        const entries = end.entries("council")
        const answered = entries.flatMap(({ emitted = [] }) => emitted.map((event) => String(event["envelope"])))
        assert.deepStrictEqual(answered.toSorted(), texts.map((_, index) => `q${index}`).toSorted())
        const sent = entries.flatMap(({ sends = [] }) => sends.map(({ id }) => String(id)))
        assert.strictEqual(new Set(sent).size, sent.length)
        for (const member of MEMBERS) {
          const heard = end.settled(member).map(({ id }) => id)
          assert.strictEqual(new Set(heard).size, heard.length)
        }
        const council = end.disk.resident(end.address("council"))
        assert.deepStrictEqual(council?.state.timers, [])
        const open = [...(council?.records.values() ?? [])].filter(({ key }) => key !== "general")
        assert.deepStrictEqual(open, [])
      }),
      RUNS
    )
    assert.isAbove(struck, RUNS.numRuns)
  })
})
