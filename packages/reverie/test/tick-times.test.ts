// What a tick tells for a trace: the first token, a result that came later than its run, who was created, what each step cost.

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Script } from "@reverie/testkit"
import { all, gate, openFleet } from "./rig.ts"
import { modelOf, opened, type Turn, turn } from "./stream-rig.ts"

const spoken: Turn = async ({ onText }) => {
  onText?.("It ")
  await turn()
  return { text: "It is." }
}

describe("times of a tick", () => {
  it("V1 the first token is measured where an answer came piece by piece, and absent where it did not", async () => {
    await using fleet = await opened(
      modelOf((shown, asked) => (asked === 1 ? spoken(shown, asked) : { text: "It is." }))
    )
    await all(fleet.ask("desk", "Piece by piece."))
    await all(fleet.ask("desk", "At once."))
    const [unheard, heard] = (await fleet.history.ticks("desk")).ticks.map(({ calls }) => calls[0])
    assert.ok(heard && unheard)
    assert.isAtLeast(heard.firstTokenMs ?? -1, 0)
    assert.isAtMost(heard.firstTokenMs ?? Infinity, heard.elapsedMs)
    assert.notProperty(unheard, "firstTokenMs")
  })

  it("S4 what an attempt has shown that is not the reply is no first token", async () => {
    await using fleet = await opened(
      modelOf(async ({ onText }, asked) => {
        if (asked > 1) return { text: "Seven is free." }
        onText?.("Six is")
        await turn()
        throw Object.assign(new Error("overloaded"), { statusCode: 503 })
      })
    )
    await all(fleet.ask("desk", "Which?"))
    const [call] = (await fleet.history.tick("desk", 1))?.calls.filter(({ ok }) => ok) ?? []
    assert.strictEqual(call?.text, "Seven is free.")
    assert.notProperty(call, "firstTokenMs")
  })

  it("V2 a sub-agent stands with the call that asked for it, and its report with the moment when it came", async () => {
    const work = gate()
    const says: Script = ({ messages }) => {
      const isChild = messages.some(({ content, role }) => role === "system" && content.includes("finish_task"))
      if (isChild)
        return Effect.as(
          Effect.promise(() => work.passed),
          { text: "Nine ships." }
        )
      return Effect.succeed(
        messages.some(({ role }) => role === "tool")
          ? { text: "Nine." }
          : { calls: [{ tool: "delegate_task", arguments: { task: "Count the ships" } }] }
      )
    }
    await using fleet = await openFleet({ says, assistant: { subAgents: {} } })
    await fleet.send("desk", "How many?")
    while ((await fleet.inspect("desk"))?.state.status !== "awake.awaitingReports") {
      await new Promise((resolve) => setImmediate(resolve))
    }
    work.open()
    await fleet.idle()
    const tick = await fleet.history.tick("desk", 1)
    const [run] = tick?.tools ?? []
    const child = tick?.steps.find(({ kind }) => kind === "child")?.child
    assert.ok(run && child)
    assert.strictEqual(child.call, run.call)
    assert.isAtLeast(run.resultAt ?? 0, run.at)
    assert.notProperty((await fleet.history.tick(child.id, 1))?.tools[0] ?? {}, "resultAt")
    const of = (await fleet.history.ticks(child.id)).ticks.at(-1)
    assert.isAtLeast(of?.beganAt ?? 0, tick?.beganAt ?? Infinity)
    assert.isAtMost(of?.endedAt ?? Infinity, run.resultAt ?? 0)
  })
})
