// Activity: a state is shown as what the chart says of it.

import { activities, activityOf as inChart, isTagged as isTaggedInChart, restingStates } from "@reverie/assistant"
import { expect, test } from "vitest"
import { activeStates, activityOf, isTagged } from "../src/parts/activity.ts"
import { toneOf, wordsOf } from "../src/parts/chip.tsx"

test("A1 every state has the activity and the tags that the chart gives it", () => {
  for (const state of restingStates) {
    expect([state, activityOf(state)]).toEqual([state, inChart(state)])
    for (const tag of ["inTick", "busy", "waiting", "atRest", "paused", "asleep"] as const) {
      expect([state, tag, isTagged(state, tag)]).toEqual([state, tag, isTaggedInChart(state, tag)])
    }
  }
  expect(activityOf("awake.thinking.guessing")).toBe("thinking")
  expect(activityOf("awake.flying")).toBeUndefined()
  expect(activityOf("")).toBeUndefined()
})

test("S1 every activity has a colour of its own", () => {
  const toneBy = new Map(restingStates.map((state) => [inChart(state), toneOf(state)]))
  expect([...toneBy.keys()].toSorted()).toEqual([...activities].toSorted())
  expect(new Set(toneBy.values()).size).toBe(activities.length)
  expect(toneOf("planned")).toBe("idle")
})

test("S1 a state is written in words", () => {
  expect(wordsOf("awake.awaitingApproval")).toEqual(["awaiting approval", undefined])
  expect(wordsOf("awake.thinking.inferring")).toEqual(["thinking", "inferring"])
  expect(wordsOf("dreaming.resting")).toEqual(["dreaming", "resting"])
  expect(wordsOf("halted")).toEqual(["halted", undefined])
})

test("a replay may stop at any state that has an activity of its own", () => {
  expect(activeStates).toContain("awake.awaitingReports")
  expect(activeStates).toContain("dreaming")
  expect(activeStates).not.toContain("awake")
  expect(activeStates).not.toContain("awake.thinking.parked")
})
