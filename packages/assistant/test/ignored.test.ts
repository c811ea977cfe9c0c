import { assert, describe, it } from "@effect/vitest"
import { jobDone, jobFailed, restingStates } from "../src/index.ts"
import { descriptors, eventTypes, isHandled, leafStates } from "./chart.ts"
import { ignored, passingStates, whyIgnored } from "../src/chart/ignored.ts"

const pairs = leafStates.flatMap((state) => eventTypes.map((type) => ({ state, type })))

const listings = (state: string, type: string) =>
  ignored.filter((group) => group.events.includes(type) && group.states.some((each) => each === state))

describe("ignored", () => {
  it("the list knows every leaf state of the chart, and no other", () => {
    assert.sameMembers([...restingStates, ...passingStates], [...leafStates])
    for (const group of ignored) {
      assert.isNotEmpty(group.states)
      assert.isNotEmpty(group.events)
      assert.isNotEmpty(group.reason)
      assert.includeMembers([...leafStates], [...group.states])
      assert.includeMembers([...eventTypes], [...group.events])
    }
  })

  it("every descriptor of the chart is one of the event types, or the net for late failures", () => {
    assert.sameMembers(
      descriptors.filter((descriptor) => !eventTypes.includes(descriptor)),
      ["xstate.error.actor.*"]
    )
    assert.strictEqual(new Set(eventTypes).size, eventTypes.length)
  })

  it("G1: every pair of leaf state and event is handled by the chart or listed, once", () => {
    const open = pairs.filter(({ state, type }) => !isHandled(state, type) && listings(state, type).length === 0)
    assert.deepStrictEqual(open, [])
    const twice = pairs.filter(({ state, type }) => listings(state, type).length > 1)
    assert.deepStrictEqual(twice, [])
  })

  it("G2: no listed pair is handled by the chart", () => {
    const handled = pairs.filter(({ state, type }) => isHandled(state, type) && listings(state, type).length > 0)
    assert.deepStrictEqual(handled, [])
    const count = pairs.filter(({ state, type }) => isHandled(state, type)).length
    console.log(`pairs: ${pairs.length}, handled ${count}, ignored on purpose ${pairs.length - count}`)
    assert.isAbove(count, 0)
  })

  it("the reason is found by status and type, for tool jobs of any index", () => {
    assert.strictEqual(whyIgnored("awake.idle", "wake"), "it is awake")
    assert.strictEqual(whyIgnored("awake.idle", "message"), undefined)
    assert.isDefined(whyIgnored("awake.idle", jobDone("tool.0", null).type))
    assert.isDefined(whyIgnored("retired", jobFailed("tool.15", null).type))
    assert.isUndefined(whyIgnored("awake.acting.running", jobDone("tool.15", null).type))
    assert.isUndefined(whyIgnored("nowhere", "wake"))
  })
})
