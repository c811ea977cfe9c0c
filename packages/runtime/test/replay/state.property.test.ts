import { assert, describe, it } from "@effect/vitest"
import { persist } from "@reverie/assistant"
import type { Entry, Json } from "@reverie/protocol"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { snapshotText } from "../../src/replay/frame.ts"
import { contradiction, replayFrames } from "../../src/replay/replay.ts"
import { verifyReplay } from "../../src/replay/verdict.ts"
import { type ReplayState, replayEntry, openReplayState, pauseReplay, resumeReplay } from "../../src/replay/state.ts"
import { aLife, type Walk, walk } from "../walk.ts"

const RUNS = { numRuns: 150 }

/** The entries of a walk with the creation before them, numbered from 1. */
const ledgerOf = ({ entries, settings }: Walk): ReadonlyArray<Entry> => [
  {
    v: 1,
    no: 1,
    at: 1_000,
    epoch: 0,
    tick: 0,
    iteration: 0,
    cause: { kind: "creation" },
    event: { settings } as unknown as Json,
    status: "awake.idle",
    messages: []
  },
  ...entries
]

const told = (entries: ReadonlyArray<Entry>) =>
  async function* (from: number = 1) {
    yield* entries.filter(({ no }) => no >= from)
  }

const replayAll = (from: ReplayState, entries: ReadonlyArray<Entry>): ReplayState =>
  entries.reduce((state, entry) => replayEntry(state, entry).state, from)

const creationOf = ([creation]: ReadonlyArray<Entry>): ReplayState => {
  if (creation === undefined) throw new Error("a ledger begins with a creation")
  return openReplayState(creation)
}

const textOf = (state: ReplayState): string => JSON.stringify(pauseReplay(state))

/** Another event in the place of one of them, as a fault of a disk or a hand would put there. */
const planted = (entries: ReadonlyArray<Entry>, at: number, from: number): ReadonlyArray<Entry> =>
  entries.map((entry, index) => (index === at ? { ...entry, event: entries[from]?.event ?? null } : entry))

describe("any life, told again from its entries", () => {
  it("R1 gives the snapshot, the jobs and the timers that it came to, and contradicts none of its entries", () => {
    let commits = 0
    fc.assert(
      fc.property(aLife, (life) => {
        const walked = walk(life)
        let state = creationOf(ledgerOf(walked))
        for (const entry of walked.entries) {
          const step = replayEntry(state, entry)
          assert.isUndefined(contradiction(state, step, entry))
          state = step.state
          commits++
        }
        assert.strictEqual(snapshotText(state.decoded), JSON.stringify(persist(walked.decoded)))
        assert.deepStrictEqual(state.jobs, walked.jobs)
        assert.deepStrictEqual(state.timers, walked.timers)
      }),
      RUNS
    )
    assert.isAbove(commits, 1_000)
  })

  it("R2 a beginning and the rest of it are the whole, also when it is put down as data in between", () => {
    fc.assert(
      fc.property(aLife, fc.nat(), (life, cut) => {
        const entries = ledgerOf(walk(life))
        const at = 1 + (cut % entries.length)
        const paused = structuredClone(pauseReplay(replayAll(creationOf(entries), entries.slice(1, at))))
        const resumed = Result.getOrThrow(resumeReplay(paused))
        assert.strictEqual(
          textOf(replayAll(resumed, entries.slice(at))),
          textOf(replayAll(creationOf(entries), entries.slice(1)))
        )
      }),
      RUNS
    )
  })

  it("P1 frames of two ranges are the frames of both together", async () => {
    await fc.assert(
      fc.asyncProperty(aLife, fc.nat(), async (life, cut) => {
        const entries = ledgerOf(walk(life))
        const at = cut % (entries.length + 1)
        const whole = await Array.fromAsync(replayFrames(told(entries), {}))
        const first = await Array.fromAsync(replayFrames(told(entries), { to: at }))
        const rest = await Array.fromAsync(replayFrames(told(entries), { from: at + 1 }))
        assert.deepStrictEqual([...first, ...rest], whole)
        assert.deepStrictEqual(
          whole.map(({ no }) => no),
          entries.map(({ no }) => no)
        )
      }),
      { numRuns: 50 }
    )
  })

  it("C1 frames from a checkpoint are those from the creation, and no entry before it is read; a damaged one is none", async () => {
    await fc.assert(
      fc.asyncProperty(aLife, fc.nat(), fc.nat(), async (life, cut, further) => {
        const entries = ledgerOf(walk(life))
        const at = 1 + (cut % entries.length)
        const from = at + 1 + (further % 5)
        const checkpoint = structuredClone(
          pauseReplay(replayAll(creationOf(entries), entries.slice(1, at)))
        ) as unknown as Json
        const whole = (await Array.fromAsync(replayFrames(told(entries), {}))).filter(({ no }) => no >= from)
        let first = Infinity
        const late = async function* (begin: number = 1) {
          for (const entry of entries.slice(begin - 1)) {
            first = Math.min(first, entry.no)
            yield entry
          }
        }
        assert.deepStrictEqual(await Array.fromAsync(replayFrames(late, { from }, { checkpoint })), whole)
        assert.isAbove(first, at)
        for (const damaged of [null, { no: at }, { ...(checkpoint as object), snapshot: { v: 0 } }]) {
          const found = await Array.fromAsync(replayFrames(told(entries), { from }, { checkpoint: damaged as Json }))
          assert.deepStrictEqual(found, whole)
        }
      }),
      { numRuns: 50 }
    )
  })

  it("P2 an event that was changed is found where it changes anything, and named where the entry says otherwise", async () => {
    let found = 0
    await fc.assert(
      fc.asyncProperty(aLife, fc.nat(), fc.nat(), async (life, index, other) => {
        const walked = walk(life)
        const entries = ledgerOf(walked)
        if (entries.length < 3) return
        const at = 1 + (index % (entries.length - 1))
        const wrong = planted(entries, at, 1 + (other % (entries.length - 1)))
        const kept = { snapshot: persist(walked.decoded), jobs: walked.jobs }
        const sound = await verifyReplay(told(entries), kept)
        assert.deepInclude(sound, { equal: true, commits: entries.length, mismatches: [], differences: [] })
        const verdict = await verifyReplay(told(wrong), kept)
        const before = replayAll(creationOf(entries), entries.slice(1, at))
        const [right, planter] = [entries[at], wrong[at]]
        if (verdict === undefined || right === undefined || planter === undefined) return assert.fail("it was told")
        const lastReplay = replayAll(creationOf(wrong), wrong.slice(1))
        if (snapshotText(lastReplay.decoded) !== JSON.stringify(kept.snapshot)) {
          assert.isFalse(verdict.equal)
          assert.isAbove(verdict.mismatches.length + verdict.differences.length, 0)
        }
        if (contradiction(before, replayEntry(before, planter), planter) !== undefined) {
          found++
          assert.strictEqual(verdict.mismatches[0]?.no, right.no)
        }
      }),
      RUNS
    )
    assert.isAbove(found, 20)
  })
})
