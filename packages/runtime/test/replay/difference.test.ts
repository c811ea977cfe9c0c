import { assert, describe, test } from "@effect/vitest"
import type { Entry } from "@reverie/protocol"
import { differenceAt, differingPaths, MAX_DIFFERENCES, Watch } from "../../src/replay/difference.ts"
import { contradiction, replayFrames } from "../../src/replay/replay.ts"
import { verifyReplay } from "../../src/replay/verdict.ts"
import { beginningOf, replayEntry, openReplayState } from "../../src/replay/state.ts"
import { contextOf, persist } from "@reverie/assistant"

const creation: Entry = {
  v: 1,
  no: 1,
  at: 1,
  epoch: 0,
  tick: 0,
  iteration: 0,
  cause: { kind: "creation" },
  event: { settings: { maxIterations: 7 } },
  status: "awake.idle",
  messages: []
}

const heard: Entry = {
  ...creation,
  no: 2,
  epoch: 1,
  tick: 1,
  iteration: 1,
  cause: { kind: "envelope", lane: "mail", seq: 1, id: "e-1" as never },
  event: { type: "message", envelope: "e-1", hops: 0, signals: { tokenRatio: 0, mailWaiting: false } },
  status: "awake.thinking.inferring"
}

const told = (...entries: ReadonlyArray<Entry>) =>
  async function* () {
    yield* entries
  }

describe("differingPaths", () => {
  test("D1 names the innermost places, members that are missing, and an order that differs", () => {
    assert.deepStrictEqual(differingPaths({ a: [1, { b: 2 }], c: 3 }, { a: [1, { b: 4 }], c: 3 }), [["a", 1, "b"]])
    assert.deepStrictEqual(differingPaths({ a: 1 }, { a: 1, b: 2 }), [["b"]])
    assert.deepStrictEqual(differingPaths({ a: 1, b: 2 }, { b: 2, a: 1 }), [[]])
    assert.deepStrictEqual(differingPaths({ a: [1] }, { a: { "0": 1 } }), [["a"]])
    assert.deepStrictEqual(differingPaths(1, 1), [])
  })

  test("D1 stops where there is no room for more", () => {
    const many = (of: number) => Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`m${index}`, of]))
    assert.strictEqual(differingPaths(many(1), many(2)).length, MAX_DIFFERENCES)
  })

  test("long values are cut, and who wrote last is reported", () => {
    const watch = new Watch([["a"], ["b"]])
    watch.see(1, { a: 1 })
    watch.see(2, { a: 2 })
    watch.see(3, { a: 2 })
    assert.strictEqual(watch.writtenBy(0), 2)
    assert.isUndefined(watch.writtenBy(1))
    const difference = differenceAt(["a"], { a: "x".repeat(900) }, {}, 2)
    assert.strictEqual(difference.replayed?.length, 200)
    assert.deepInclude(difference, { path: ["a"], writtenBy: 2 })
    assert.isUndefined(difference.stored)
  })
})

describe("a creation", () => {
  test("B1 B2 is reported by its entry, and by anyone who replays where the entry says nothing", () => {
    const { decoded, isRecorded } = beginningOf(creation, { maxIterations: 2 })
    assert.isTrue(isRecorded)
    assert.deepStrictEqual(contextOf(decoded).settings, { maxIterations: 7 })
    const older = beginningOf({ ...creation, event: null }, { maxIterations: 2 })
    assert.isFalse(older.isRecorded)
    assert.deepStrictEqual(contextOf(older.decoded).settings, { maxIterations: 2 })
  })

  test("P2 settings that changed later leave those of an older creation a guess, and say so", async () => {
    const older = { ...creation, event: null }
    const changed = { ...heard, event: { ...(heard.event as object), settings: { maxIterations: 3 } } } as Entry
    const kept = (entry: Entry) => {
      const { state } = replayEntry(openReplayState(creation), entry)
      return { snapshot: persist(state.decoded), jobs: state.jobs }
    }
    assert.strictEqual((await verifyReplay(told(creation, heard), kept(heard)))?.settings, "recorded")
    assert.deepInclude(await verifyReplay(told(older, heard), kept(heard)), { settings: "kept", equal: true })
    assert.deepInclude(await verifyReplay(told(older, changed), kept(changed)), { settings: "guessed", equal: true })
    assert.isUndefined(await verifyReplay(told(), kept(heard)))
  })
})

describe("an entry against its own event", () => {
  const contradictionOf = (entry: Entry) => {
    const before = openReplayState(creation)
    return contradiction(before, replayEntry(before, entry), entry)
  }

  test("E1 agrees, or is contradicted in one sentence", () => {
    assert.isUndefined(contradictionOf(heard))
    assert.include(contradictionOf({ ...heard, no: 3 }), "commit 2 is missing")
    assert.include(contradictionOf({ ...heard, status: "awake.idle" }), "the state after")
    assert.include(contradictionOf({ ...heard, tick: 4 }), "the tick")
    assert.include(contradictionOf({ ...heard, iteration: 4 }), "the iteration")
    assert.include(contradictionOf({ ...heard, cause: { kind: "job", id: "9/infer" } }), "is not open")
    const other = { ...(heard.event as object), envelope: "e-2" }
    assert.include(contradictionOf({ ...heard, event: other }), "the envelope")
    const emitted = [{ type: "surprise" }]
    assert.isUndefined(contradictionOf({ ...heard, emitted }))
  })

  test("P1 every commit has a frame, and a missing one is named", async () => {
    const frames = await Array.fromAsync(replayFrames(told(creation, { ...heard, no: 5 }), {}))
    assert.deepStrictEqual(
      frames.map(({ no, problem }) => [no, problem]),
      [
        [1, undefined],
        [5, "commit 2 is missing"]
      ]
    )
  })
})
