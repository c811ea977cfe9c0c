// Reminders by HTTP, in front of a fleet that lives by a clock of the test: set, listed, changed, cancelled, and heard at their time.

import { assert, describe, it } from "@effect/vitest"
import { later } from "@reverie/testkit/later"
import { defineAssistant, selfTools } from "reverie"
import { scriptedModel, testFleet } from "reverie/testing"
import { openServer } from "../../src/index.ts"
import { askAt, assertFailure, bearer, type Loose, SECRETS, tokens } from "./rig.ts"

const HOUR = 3_600_000
const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [...selfTools] })

/** It begins on Monday 2026-01-05 at 09:00 UTC. */
const opened = async (asking: object = {}) => {
  const fleet = await testFleet(desk, { model: scriptedModel(() => "The tide is high."), tenant: "north" })
  const server = await openServer({ fleet, role: "all", tokens: [], ...asking })
  later(async () => {
    await server.close()
    await fleet.close()
  })
  const of = (reminder: string) => `/v1/assistants/desk/reminders${reminder === "" ? "" : `/${reminder}`}`
  const put = (reminder: string, rule: object, headers = {}) =>
    askAt(server.port, of(reminder), {
      method: "PUT",
      body: JSON.stringify(rule),
      headers: { "content-type": "application/json", ...headers }
    })
  const cancel = (reminder: string, headers = {}) => askAt(server.port, of(reminder), { method: "DELETE", headers })
  const list = async (): Promise<Loose> => {
    await fleet.idle()
    return (await askAt(server.port, of(""))).json.items
  }
  return { fleet, server, of, put, cancel, list }
}

describe("reminders by HTTP", () => {
  it("one is set, listed, changed and heard at its time, once", async () => {
    const { fleet, list, put } = await opened()
    const set = await put("tide", { note: "Look at the tide.", cron: "0 12 * * *", timeZone: "Europe/Berlin" })
    assert.deepStrictEqual([set.status, set.json.outcome], [200, "accepted"], set.text)
    const [first] = await list()
    assert.deepInclude(first, {
      id: "tide",
      note: "Look at the tide.",
      state: "active",
      cron: "0 12 * * *",
      timeZone: "Europe/Berlin",
      nextAt: Date.UTC(2026, 0, 5, 11),
      sent: 0
    })
    await put("tide", { note: "Look at the tide.", at: "2026-01-05T18:00", timeZone: "Europe/Berlin" })
    await put("rope", { note: "Coil the rope.", inMs: HOUR })
    const two = await list()
    assert.deepStrictEqual(
      two.map(({ id, nextAt }: Loose) => [id, nextAt]),
      [
        ["rope", Date.UTC(2026, 0, 5, 10)],
        ["tide", Date.UTC(2026, 0, 5, 17)]
      ]
    )
    assert.notProperty(two[1], "cron")
    await fleet.clock.advance(24 * HOUR)
    const after = await list()
    assert.deepStrictEqual(
      after.map(({ id, log, nextAt, sent, state }: Loose) => [id, state, nextAt, sent, log[0].outcome]).toSorted(),
      [
        ["rope", "done", null, 1, "ran"],
        ["tide", "done", null, 1, "ran"]
      ]
    )
    const said = (await fleet.history.entries("desk", 1, 100)).flatMap(({ entry }) => entry.messages)
    assert.lengthOf(
      said.filter(({ content }) => content.endsWith("Look at the tide.")),
      1
    )
  })

  it("one that is cancelled is never heard; the same key cancels once", async () => {
    const { cancel, fleet, list, put } = await opened()
    await put("tide", { note: "Look at the tide.", inMs: HOUR })
    await list()
    const key = { "idempotency-key": "cancel-1" }
    assert.strictEqual((await cancel("tide", key)).json.outcome, "accepted")
    await fleet.clock.advance(24 * HOUR)
    const [gone] = await list()
    assert.deepInclude(gone, { state: "cancelled", nextAt: null, sent: 0 })
    assert.isEmpty(fleet.modelCalls)
  })

  it("what is no rule, of another tenant or not allowed is refused with one sentence, and changes nothing", async () => {
    const { cancel, list, put } = await opened()
    for (const rule of [{ cron: "61 * * * *" }, { at: "soon" }, {}, { cron: "* * * * *", timeZone: "Mars" }]) {
      assertFailure(await put("tide", { note: "Tide.", ...rule }), 400, "Malformed")
    }
    assertFailure(await put("tide", { cron: "0 9 * * *" }), 400, "Malformed")
    assertFailure(await cancel("tide"), 404, "NotFound")
    assert.deepStrictEqual(await list(), [])
    const guarded = await opened({ tokens })
    const rule = { note: "Tide.", inMs: HOUR }
    assertFailure(await guarded.put("tide", rule, bearer("onlooker-secret-0123456789")), 403, "Forbidden")
    assertFailure(await guarded.put("tide", rule, bearer(SECRETS.south)), 404, "NotFound")
    assert.strictEqual((await guarded.put("tide", rule, bearer(SECRETS.north))).status, 200)
  })
})
