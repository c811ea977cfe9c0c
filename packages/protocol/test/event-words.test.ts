import { eventWords, timerWords } from "@reverie/protocol/spoken"
import { assert, test } from "vitest"

test("what the chart names by itself is said in words, and any other name as it is", () => {
  assert.deepStrictEqual(
    [
      "xstate.done.actor.infer",
      "xstate.error.actor.tool.0",
      "xstate.after.sleep.assistant.dreaming.resting",
      "message"
    ].map(eventWords),
    ["infer done", "tool.0 failed", "after sleep", "message"]
  )
  assert.deepStrictEqual(["xstate.after.approval.1", "tea"].map(timerWords), ["approval", "tea"])
})
