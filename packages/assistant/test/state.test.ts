import { assert, describe, it } from "@effect/vitest"
import { type AnyStateNode, createMachine } from "xstate"
import { activities, activityOf, creation, isTagged, mayWait, modeOf, modes, restingStates } from "../src/index.ts"
import { factsIn } from "../src/decide.ts"
import { nodes } from "./chart.ts"
import { assistantMachine } from "../src/machine.ts"
import { conditions } from "../src/state-tag.ts"
import { passingStates } from "../src/chart/ignored.ts"

const isLeaf = ({ type }: AnyStateNode): boolean => type === "atomic" || type === "final"

const lanes = ["acceptsReplies", "acceptsMail"] as const

/** Why a leaf state does not say what it is. */
const silenceOf = (node: AnyStateNode): ReadonlyArray<string> => {
  const { activity, tags } = factsIn(node)
  const said = conditions.filter((condition) => tags.has(condition))
  return [
    ...(said.length === 1 ? [] : [`${node.id} has ${said.length} of the tags ${conditions.join(", ")}`]),
    ...(activity === undefined ? [`${node.id} has no activity in its meta`] : []),
    ...(tags.has("acceptsMail") && !tags.has("acceptsReplies") ? [`${node.id} accepts mail and no replies`] : []),
    ...(tags.has("paused") && new Set(node.after.map(({ eventType }) => eventType)).size !== 1
      ? [`${node.id} is paused without one timer`]
      : [])
  ]
}

const leavesOf = (node: AnyStateNode): ReadonlyArray<AnyStateNode> =>
  isLeaf(node) ? [node] : Object.values(node.states).flatMap(leavesOf)

/** The chart with one more state in `awake`. */
const withState = (state: object) => {
  const { states } = assistantMachine.config as unknown as { readonly states: { readonly awake: { states: object } } }
  const awake = { ...states.awake, states: { ...states.awake.states, planted: state } }
  return createMachine({ ...(assistantMachine.config as object), states: { ...states, awake } } as never)
}

describe("what the chart says of its states", () => {
  it("machine I8: every leaf state has one condition and one activity", () => {
    assert.deepStrictEqual(leavesOf(assistantMachine.root).flatMap(silenceOf), [])
    const leaves = nodes.filter(isLeaf)
    assert.strictEqual(leaves.length, restingStates.length + passingStates.length)
    const all = leaves.flatMap((node) => [...factsIn(node).tags])
    assert.sameMembers([...new Set(all)], [...conditions, ...lanes, "inTick", "paused", "asleep", "maintaining"])
    assert.sameMembers([...new Set(leaves.map((node) => factsIn(node).activity))], [...activities])
  })

  it.each([
    ["without tags and meta", {}, ["0 of the tags", "no activity"]],
    ["without a condition", { tags: ["acceptsReplies"], meta: { activity: "idle" } }, ["0 of the tags"]],
    ["with two conditions", { tags: ["busy", "waiting"], meta: { activity: "idle" } }, ["2 of the tags"]],
    ["without an activity", { tags: ["busy"] }, ["no activity"]]
  ])("machine I8: a new state %s is found", (_, state, faults) => {
    const found = leavesOf(withState(state).root).flatMap(silenceOf)
    assert.strictEqual(found.length, faults.length)
    for (const [index, fault] of faults.entries()) assert.match(found[index] ?? "", new RegExp(`planted.*${fault}`))
  })

  it("Q1: tags and activity come from all states around", () => {
    assert.strictEqual(activityOf("awake.thinking.parked"), "thinking")
    assert.strictEqual(activityOf("awake.awaitingReports"), "acting")
    assert.isTrue(isTagged("dreaming.linking", "asleep"))
    assert.isTrue(isTagged("dreaming.linking", "busy"))
    assert.isFalse(isTagged("compacting.extracting", "asleep"))
    assert.isTrue(isTagged("compacting.extracting", "maintaining"))
    assert.isTrue(isTagged("awake.thinking.parked", "inTick"))
  })

  it("Q2: a state of another version is answered for by the nearest around it", () => {
    assert.strictEqual(activityOf("awake.thinking.guessing"), "thinking")
    assert.strictEqual(activityOf("dreaming.flying.high"), "dreaming")
    assert.isTrue(isTagged("dreaming.flying", "asleep"))
    for (const path of ["awake", "awake.flying", "nowhere", ""]) {
      assert.strictEqual(activityOf(path), "idle")
      assert.isFalse(isTagged(path, "busy"))
      assert.strictEqual(modeOf(path), "awake")
    }
  })

  it("the modes are the outermost states", () => {
    assert.deepStrictEqual([...modes], Object.keys(assistantMachine.states))
    for (const mode of modes) assert.strictEqual(modeOf(`${mode}.more`), mode)
  })

  it("a pause is a state that its own timer ends, and where a model is waited for", () => {
    const paused = restingStates.filter((state) => isTagged(state, "paused"))
    assert.sameMembers(paused, ["awake.thinking.parked", "dreaming.pausing", "compacting.parked"])
    for (const state of restingStates) assert.strictEqual(mayWait(state), paused.includes(state), state)
  })

  it("a state that was reached has the tags that its path is asked for", () => {
    const { machine } = creation({}).next
    assert.sameMembers([...machine.tags], [...factsIn(nodes.find(({ id }) => id === "assistant.awake.idle")!).tags])
  })
})
