// What the contract has for a command line: views as they are stored, changes under a key, and the same without a socket.

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as HttpApiClient from "effect/http-api/HttpApiClient"
import { later } from "@reverie/testkit/later"
import { DefinitionUnknown, defineAssistant, defineFleet, Fleet } from "reverie"
import { openServer } from "../../src/index.ts"
import type { AssistantsApi } from "../../src/api/assistants.ts"
import { mountInProcess } from "../../src/groups/in-process.ts"
import { aPath, askAt, assertFailure, bearer, type Loose, openRig, SECRETS, tokens } from "./rig.ts"

type Assistants = Effect.Success<
  ReturnType<typeof HttpApiClient.make<"reverie", (typeof AssistantsApi)["groups"]["assistants"]>>
>["assistants"]

const idsOf = ({ json }: { readonly json: Loose }): ReadonlyArray<string> => json.items.map(({ id }: Loose) => id)

describe("views as they are stored, by HTTP", () => {
  it("W1 come in the order of their ids, page by page, those with one beginning together", async () => {
    const { ask, post } = await openRig()
    for (const id of ["desk-2", "desk-10", "des", "Desk", "dest"])
      await post("/v1/assistants", { id, definition: "desk" })
    assert.deepStrictEqual(idsOf(await ask("/v1/views")), ["Desk", "clerk", "des", "desk", "desk-10", "desk-2", "dest"])
    assert.deepStrictEqual(idsOf(await ask("/v1/views?start=desk")), ["desk", "desk-10", "desk-2"])
    assert.deepStrictEqual(idsOf(await ask("/v1/views?start=desk-")), ["desk-10", "desk-2"])
    assert.deepStrictEqual(idsOf(await ask("/v1/views?start=nobody")), [])
    assert.deepStrictEqual(idsOf(await ask(`/v1/views?start=${encodeURIComponent("a/b")}`)), [])
    const walked: Array<string> = []
    let next = ""
    do {
      const page = await ask(`/v1/views?start=de&limit=2${next === "" ? "" : `&cursor=${next}`}`)
      walked.push(...idsOf(page))
      next = page.json.next ?? ""
    } while (next !== "")
    assert.deepStrictEqual(walked, ["des", "desk", "desk-10", "desk-2", "dest"])
  })

  it("are found by their definition, and counted by it", async () => {
    const { ask, post } = await openRig()
    for (const id of ["desk-2", "desk-10"]) await post("/v1/assistants", { id, definition: "desk" })
    const first = await ask("/v1/views?definition=desk&limit=2")
    assert.deepStrictEqual(idsOf(first), ["desk", "desk-10"])
    assert.deepStrictEqual(idsOf(await ask(`/v1/views?definition=desk&limit=2&cursor=${first.json.next}`)), ["desk-2"])
    assert.deepStrictEqual(idsOf(await ask("/v1/views?definition=clerk&start=desk")), [])
    assert.deepStrictEqual(idsOf(await ask("/v1/assistants?definition=clerk")), ["clerk"])
    const groups = (await ask("/v1/groups")).json
    assert.deepStrictEqual(
      groups.items.map(({ assistants, key }: Loose) => [key, assistants]),
      [
        ["desk", 3],
        ["clerk", 1]
      ]
    )
    assert.deepInclude((await ask("/v1/groups?by=state&definition=desk")).json, { by: "state", matched: 1 })
    assertFailure(await ask("/v1/groups?by=colour"), 400, "Malformed")
    const halted = (await post("/v1/orders", { order: "halt", definition: "clerk", dryRun: true })).json
    assert.deepStrictEqual(halted, { matched: 1, told: 0, ids: ["clerk"] })
  })

  it("are found, summed and told what to do by the labels of their definitions", async () => {
    const fleet = await Fleet.open({
      data: aPath(),
      model: "offline",
      fleet: defineFleet({
        assistants: [
          defineAssistant({ id: "desk", instructions: "You greet.", tags: ["front", "day"] }),
          defineAssistant({ id: "pier", instructions: "You wait.", tags: ["day"] }),
          defineAssistant({ id: "loft", instructions: "You look on." })
        ]
      })
    })
    const server = await openServer({ fleet, role: "all", tokens: [], onTrouble: () => {} })
    later(async () => {
      await server.close()
      await fleet.close()
    })
    const ask = (path: string) => askAt(server.port, path, {})
    assert.deepStrictEqual(idsOf(await ask("/v1/assistants?tag=day")), ["desk", "pier"])
    assert.deepStrictEqual(idsOf(await ask("/v1/views?tag=front")), ["desk"])
    assert.deepStrictEqual(idsOf(await ask("/v1/views?tag=night")), [])
    const groups = (await ask("/v1/groups?by=tag")).json
    assert.deepStrictEqual(
      groups.items.map(({ assistants, key }: Loose) => [key, assistants]),
      [
        ["day", 2],
        ["front", 1]
      ]
    )
    const body = JSON.stringify({ order: "halt", tag: "front", dryRun: true })
    const headers = { "content-type": "application/json" }
    const dry = (await askAt(server.port, "/v1/orders", { method: "POST", headers, body })).json
    assert.deepStrictEqual(dry.ids, ["desk"])
    const [desk] = (await ask("/v1/system")).json.definitions
    assert.deepStrictEqual(desk.tags, ["front", "day"])
  })

  it("say what the chart says of a state; totals are those of the store", async () => {
    const { ask, fleet, post } = await openRig()
    const idle = (await ask("/v1/views/desk")).json
    assert.strictEqual(idle.activity, "idle")
    assert.includeMembers(idle.tags, ["atRest", "acceptsMail"])
    await post("/v1/assistants/desk/orders", { order: "halt", reason: "a look" })
    await fleet.idle()
    const halted = (await ask("/v1/views/desk")).json
    assert.deepInclude(halted, { state: "halted", activity: "halted", haltReason: "a look", waiting: 0 })
    assert.deepStrictEqual(halted.tags, ["halted"])
    assert.deepInclude((await ask("/v1/views?limit=1")).json.totals, { accepted: 1, settled: 1, dead: 0 })
    assertFailure(await ask("/v1/views/nobody"), 404, "NotFound")
  })

  it("H1 tell a tenant nothing of another one, nor totals of the whole store", async () => {
    const { ask, fleet } = await openRig({ tokens })
    await fleet.forTenant("south").create("theirs", "desk")
    const south = { headers: bearer(SECRETS.south) }
    const seen = await ask("/v1/views", south)
    assert.deepStrictEqual(idsOf(seen), ["theirs"])
    assert.notProperty(seen.json, "totals")
    assertFailure(await ask("/v1/views/desk", south), 404, "NotFound")
    assertFailure(await ask("/v1/views"), 401, "Unauthorized")
  })
})

describe("what a person changes, by HTTP", () => {
  it("a block is deleted and an index made anew, by anyone who may change something", async () => {
    const { ask, fleet, post } = await openRig()
    const draft = { owner: "desk", label: "notes", type: "core", content: "One." } as const
    const { block: id } = await fleet.blocks.create(draft)
    const key = { "idempotency-key": "once" }
    assert.strictEqual((await ask(`/v1/blocks/${id}`, { method: "DELETE", headers: key })).status, 200)
    assert.deepStrictEqual((await ask("/v1/assistants/desk/memory")).json.blocks, [])
    const rebuilt = await post("/v1/assistants/desk/memory/rebuild", undefined)
    assert.hasAllKeys(rebuilt.json, ["entries", "memories"])
    assertFailure(await post("/v1/assistants/nobody/memory/rebuild", undefined), 404, "NotFound")
  })

  it("a question for memories names their kinds, and a replay ends where it should", async () => {
    const { ask, fleet } = await openRig()
    await fleet.send("desk", "The barge is late.")
    await fleet.idle()
    const kindsOf = async (kinds: string) =>
      (await ask(`/v1/assistants/desk/memory/recall?q=barge&kinds=${kinds}`)).json.items.map(({ kind }: Loose) => kind)
    assert.deepStrictEqual(await kindsOf("message"), ["message"])
    assert.deepStrictEqual(await kindsOf("profile,fact"), [])
    const certaintyOf = async (q: string) => (await ask(`/v1/assistants/desk/memory/recall?q=${q}`)).json.certainty
    assert.deepStrictEqual([await certaintyOf("barge"), await certaintyOf("vaccine")], [1, 0])
    assertFailure(await ask("/v1/assistants/desk/memory/recall?q=barge&kinds=dream"), 400, "Malformed")
    const found = async (asked: string) =>
      (await ask(`/v1/assistants/desk/memory/recall?q=barge&${asked}`)).json.items.length
    assert.deepStrictEqual(
      [await found("minTrust=0&since=0&until=9e15"), await found("until=1"), await found("minTrust=1&tags=a,b")],
      [1, 0, 0]
    )
    for (const [query, says] of [
      ["minTrust=9", "minTrust must be a number from 0 to 1, and is 9"],
      ["minTrusts=1", 'the query has no "minTrusts"; there are q, limit']
    ] as const) {
      const refused = await ask(`/v1/assistants/desk/memory/recall?q=barge&${query}`)
      assertFailure(refused, 400, "Malformed")
      assert.include(refused.json.message, says)
    }
    const { items, next } = (await ask("/v1/assistants/desk/replay?to=2")).json
    assert.deepStrictEqual([items.map(({ no }: Loose) => no), next], [[1, 2], null])
    assert.deepStrictEqual((await ask("/v1/assistants/desk/replay?from=3&to=2")).json, { items: [], next: null })
  })
})

describe("the contract in process", () => {
  it("I1 I2 answers as by HTTP; what the fleet rejects with keeps its name", async () => {
    const { ask, fleet } = await openRig()
    await fleet.send("desk", "Hello.")
    await fleet.idle()
    const mounted = mountInProcess({ source: { fleet }, place: "the store" })
    const api = (await mounted.clientOf("assistants")) as Assistants
    const views = await Effect.runPromise(api.views({ query: { limit: 10 } }))
    assert.deepStrictEqual(JSON.parse(JSON.stringify(views)), (await ask("/v1/views?limit=10")).json)
    const nobody = await Effect.runPromise(Effect.flip(api.view({ params: { id: "nobody" } })))
    assert.strictEqual(nobody._tag, "NotFound")
    const made = Effect.runPromise(api.create({ payload: { id: "third", definition: "nothing" } }))
    const rejected = await made.then(
      () => undefined,
      (error: unknown) => error
    )
    assert.instanceOf(rejected, DefinitionUnknown)
    await mounted.close()
  })
})
