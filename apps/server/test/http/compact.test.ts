import { assert, describe, it } from "@effect/vitest"
import { assertFailure, bearer, type House, type Loose, openHouse, SECRETS, tokens } from "./rig.ts"

const north = bearer(SECRETS.north)
const ORDERS = "/v1/assistants/desk/orders"
const tide = "The tide was fair and the wind stood east. ".repeat(8)

/** A desk that was told so many things, and keeps the newest two messages as they are. */
const told = async (words: number): Promise<House> => {
  const house = await openHouse({
    tokens,
    assistant: { compaction: { compactPreserveWindow: 2, strategy: { type: "truncate" } } }
  })
  await house.post("/v1/assistants", { id: "desk" }, north)
  for (let at = 0; at < words; at++) await house.post("/v1/assistants/desk/messages", { text: `${at}. ${tide}` }, north)
  await house.fleet.of("north").rest()
  return house
}

const compactionsOf = async ({ ask, fleet }: House): Promise<Loose> => {
  await fleet.of("north").rest()
  return (await ask("/v1/assistants/desk/compactions", { headers: north })).json.items
}

describe("a compaction that is ordered by HTTP", () => {
  it("F53 compacts what may be compacted, once under one key, and is written down", async () => {
    const house = await told(6)
    const { ask, post } = house
    assert.include((await ask("/v1/assistants/desk", { headers: north })).json.accepts, "compact")
    const order = { order: "compact", id: "order-1" }
    assert.strictEqual((await post(ORDERS, order, north)).json.outcome, "accepted")
    assert.strictEqual((await post(ORDERS, order, north)).json.outcome, "duplicate")
    const [compaction, ...others] = await compactionsOf(house)
    assert.deepStrictEqual(others, [])
    assert.deepInclude(compaction, { reason: "order", undone: false, messages: 10 })
    assert.isBelow(compaction.afterTokens, compaction.beforeTokens)
    const [line] = (await ask("/v1/audit", { headers: north })).json.items
    assert.deepInclude(line, { action: "assistants.order", target: "compact desk", outcome: "done", who: "northerner" })
    assert.deepStrictEqual(house.trouble, [])
  })

  it("A1 is refused to who may only look, and to who has no such assistant; too short a history stays as it is", async () => {
    const house = await told(1)
    const { ask, post } = house
    const order = { order: "compact", id: "order-1" }
    assertFailure(await post(ORDERS, order, bearer("onlooker-secret-0123456789")), 403, "Forbidden")
    assertFailure(await post(ORDERS, order, bearer(SECRETS.south)), 404, "NotFound")
    assert.strictEqual((await post(ORDERS, order, north)).json.outcome, "accepted")
    assert.deepStrictEqual(await compactionsOf(house), [])
    const entries = (await ask("/v1/assistants/desk/entries?limit=100", { headers: north })).json.items
    assert.deepInclude(
      entries.flatMap(({ settled = [] }: Loose) => settled).find(({ id }: Loose) => id === "order-1"),
      { outcome: "ignored", reason: "the history is no longer than the window that is preserved" }
    )
  })
})
