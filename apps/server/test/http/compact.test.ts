import { assert, describe, it } from "@effect/vitest"
import { assertFailure, bearer, type Rig, type Loose, openRig, SECRETS, tokens } from "./rig.ts"

const north = bearer(SECRETS.north)
const ORDERS = "/v1/assistants/desk/orders"
const tide = "The tide was fair and the wind stood east. ".repeat(8)

/** A desk that was told so many things, and keeps the newest two messages as they are. */
const told = async (words: number): Promise<Rig> => {
  const rig = await openRig({
    tokens,
    assistant: { compaction: { compactPreserveWindow: 2, strategy: { type: "truncate" } } }
  })
  await rig.post("/v1/assistants", { id: "desk" }, north)
  for (let at = 0; at < words; at++) await rig.post("/v1/assistants/desk/messages", { text: `${at}. ${tide}` }, north)
  await rig.fleet.forTenant("north").idle()
  return rig
}

const compactionsOf = async ({ ask, fleet }: Rig): Promise<Loose> => {
  await fleet.forTenant("north").idle()
  return (await ask("/v1/assistants/desk/compactions", { headers: north })).json.items
}

describe("a compaction that is ordered by HTTP", () => {
  it("F53 compacts what may be compacted, once under one key, and is written down", async () => {
    const rig = await told(6)
    const { ask, post } = rig
    assert.include((await ask("/v1/assistants/desk", { headers: north })).json.accepts, "compact")
    const order = { order: "compact", id: "order-1" }
    assert.strictEqual((await post(ORDERS, order, north)).json.outcome, "accepted")
    assert.strictEqual((await post(ORDERS, order, north)).json.outcome, "duplicate")
    const [compaction, ...others] = await compactionsOf(rig)
    assert.deepStrictEqual(others, [])
    assert.deepInclude(compaction, { reason: "order", undone: false, messages: 10 })
    assert.isBelow(compaction.afterTokens, compaction.beforeTokens)
    const [line] = (await ask("/v1/audit", { headers: north })).json.items
    assert.deepInclude(line, { action: "assistants.order", target: "compact desk", outcome: "done", who: "northerner" })
    assert.deepStrictEqual(rig.trouble, [])
  })

  it("A1 is refused to who may only look, and to who has no such assistant; too short a history stays as it is", async () => {
    const rig = await told(1)
    const { ask, post } = rig
    const order = { order: "compact", id: "order-1" }
    assertFailure(await post(ORDERS, order, bearer("onlooker-secret-0123456789")), 403, "Forbidden")
    assertFailure(await post(ORDERS, order, bearer(SECRETS.south)), 404, "NotFound")
    assert.strictEqual((await post(ORDERS, order, north)).json.outcome, "accepted")
    assert.deepStrictEqual(await compactionsOf(rig), [])
    const entries = (await ask("/v1/assistants/desk/entries?limit=100", { headers: north })).json.items
    assert.deepInclude(
      entries.flatMap(({ settled = [] }: Loose) => settled).find(({ id }: Loose) => id === "order-1"),
      { outcome: "ignored", reason: "the history is no longer than the window that is preserved" }
    )
  })
})
