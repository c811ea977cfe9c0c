// A model that is away, as programs learn of it, and its return.

import { assert, describe, it } from "@effect/vitest"
import { ModelDenied, ModelUnavailable } from "@reverie/model"
import * as Effect from "effect/Effect"
import type { PromiseModel } from "reverie"
import { type Rig, type Loose, openRig } from "./rig.ts"

const SERVER = "models.example:8443"
const down = new ModelUnavailable({ provider: SERVER, message: "ECONNREFUSED", kind: "network" })

const until = async ({ ask }: Rig, isSo: (list: Loose) => boolean): Promise<Loose> => {
  for (;;) {
    const { json } = await ask("/v1/assistants")
    if (isSo(json)) return json
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const modelCheck = async ({ ask }: Rig): Promise<Loose> =>
  (await ask("/v1/system")).json.checks.find(({ name }: Loose) => name === "model")

describe("a model that is away", () => {
  it("O1 is said with its server, the reason and the next try wherever someone asks, until anybody is answered", async () => {
    let isBack = false
    const rig = await openRig({
      says: () => (isBack ? Effect.succeed({ text: "Back." }) : Effect.fail(down)),
      // Far longer than this test: only an answer to another one ends the wait.
      assistant: { settings: { retryMinMs: 3_600_000, retryMaxMs: 3_600_000 } }
    })
    const { ask, fleet, post } = rig
    assert.deepInclude(await modelCheck(rig), { ok: true })
    const begun = Date.now()
    await post("/v1/assistants/desk/messages", { text: "Are you there?" })
    const list = await until(rig, ({ outages }) => outages.length > 0)
    const { nextTry, since } = list.outages[0]
    const reason = "ModelUnavailable: ECONNREFUSED"
    assert.deepStrictEqual(list.outages, [{ server: SERVER, since, reason, assistants: 1, nextTry }])
    assert.isAtLeast(since, begun)
    assert.isAtLeast(nextTry, begun + 1_800_000, "half an hour at least")
    const row = list.items.find(({ id }: Loose) => id === "desk")
    assert.deepInclude(row, { state: "awake.thinking.parked" })
    assert.deepStrictEqual(row.outage, { server: SERVER, since, reason, tries: 1, nextTry })
    assert.deepStrictEqual((await ask("/v1/assistants/desk")).json.outage, row.outage)
    const check = await modelCheck(rig)
    assert.deepInclude(check, { ok: false, hint: "nothing is lost: they go on by themselves when it answers" })
    assert.match(check.says, /models\.example:8443 has not answered since .*ECONNREFUSED\); 1 wait for it/)
    isBack = true
    await post("/v1/assistants/clerk/messages", { text: "And you?" })
    const after = await until(rig, ({ outages }) => outages.length === 0)
    for (const each of after.items) assert.notProperty(each, "outage")
    await fleet.idle()
    assert.strictEqual((await ask("/v1/assistants/desk")).json.state, "awake.idle")
    assert.deepInclude(await modelCheck(rig), { ok: true })
  })

  it("is not said of one that refuses the key, which halts with the reason", async () => {
    const refused = new ModelDenied({ provider: SERVER, message: "Incorrect API key", status: 401 })
    const rig = await openRig({ says: () => Effect.fail(refused) })
    await rig.post("/v1/assistants/desk/messages", { text: "Are you there?" })
    const list = await until(rig, ({ counts }) => counts.halted > 0)
    assert.isEmpty(list.outages)
    const row = list.items.find(({ id }: Loose) => id === "desk")
    assert.deepInclude(row, { state: "halted", haltReason: "ModelDenied: Incorrect API key" })
    assert.notProperty(row, "outage")
  })

  it("is named with the answer of the one that stood in for it", async () => {
    const first: PromiseModel = { name: "first", infer: () => Promise.reject(new Error("ECONNREFUSED")) }
    const second: PromiseModel = { name: "second", infer: async () => "Here." }
    const { ask, fleet, post } = await openRig({ model: [first, second] })
    await post("/v1/assistants/desk/messages", { text: "Are you there?" })
    await fleet.idle()
    const [tick] = (await ask("/v1/assistants/desk/ticks")).json.items
    assert.deepInclude(tick.models[0], {
      model: "second",
      server: "second",
      earlier: [{ model: "first", server: "first", reason: "ModelUnavailable: ECONNREFUSED" }]
    })
    assert.isEmpty((await ask("/v1/assistants")).json.outages)
  })

  it("O2 each server that is away is named, also of a list of models, and whose answer is waited for", async () => {
    const away = (name: string): PromiseModel => ({ name, infer: () => Promise.reject(new Error("ECONNREFUSED")) })
    const rig = await openRig({
      model: [away("north"), away("south")],
      assistant: { settings: { retryMinMs: 3_600_000, retryMaxMs: 3_600_000 } }
    })
    await rig.post("/v1/assistants/desk/messages", { text: "Are you there?" })
    const list = await until(rig, ({ outages }) => outages.length > 0)
    assert.sameDeepMembers(
      list.outages.map(({ assistants, server }: Loose) => [server, assistants]),
      [
        ["north", 1],
        ["south", 1]
      ]
    )
    assert.deepInclude(list.items.find(({ id }: Loose) => id === "desk").outage, { server: "north", others: ["south"] })
    const { says } = await modelCheck(rig)
    for (const server of ["north", "south"]) assert.include(says, `${server} has not answered since`)
  })
})
