import { contractIfThere, startQdrantServer } from "@reverie/testkit/qdrant-server"
import { later } from "@reverie/testkit/later"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { assert, describe, it } from "vitest"
import { openServer } from "../../src/index.ts"
import { aPath, askAt, assertFailure, bearer, SECRETS, tokens } from "./rig.ts"

/** A server with an index at a double of Qdrant; its own tenant is the north. */
const opened = async () => {
  const qdrant = await startQdrantServer({ contract: contractIfThere() })
  const fleet = await Fleet.open({
    data: aPath(),
    tenant: "north",
    model: "offline",
    recall: { url: qdrant.url },
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You greet." })] })
  })
  const server = await openServer({ fleet, role: "all", tokens, onTrouble: () => {} })
  later(async () => {
    await server.close()
    await fleet.close()
    await qdrant.close()
    assert.deepStrictEqual(qdrant.faults, [])
  })
  const as = (secret: string) => (method: string, path: string, body?: object) =>
    askAt(server.port, path, {
      method,
      headers: { ...bearer(secret), ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  return { fleet, qdrant, own: as(SECRETS.north), guest: as(SECRETS.south) }
}

describe("the index over the network", () => {
  it("is shown and changed with a token of the deployment's own tenant, by what is listed, and audited", async () => {
    const { fleet, guest, own, qdrant } = await opened()
    await fleet.answer("desk", "The ferry leaves at nine.")
    assert.isAbove((await own("POST", "/v1/index/catch-up")).json.assistants, 0)
    const told = (await own("GET", "/v1/index")).json
    assert.deepStrictEqual([told.kind, told.state, told.lag.entries], ["qdrant", "green", 0])
    const made = (await own("POST", "/v1/index/snapshots")).json
    assert.deepStrictEqual((await own("GET", "/v1/index/snapshots")).json.items, [made])
    const location = `${qdrant.url}/collections/reverie-2/snapshots/${made.name}`
    for (const snapshot of [location, "no-such"]) {
      assertFailure(await own("POST", "/v1/index/restore", { snapshot }), 404, "NotFound")
    }
    const restored = (await own("POST", "/v1/index/restore", { snapshot: made.name })).json
    assert.deepStrictEqual([restored.snapshot, restored.erased], [made.name, 0])
    const { items } = (await own("GET", "/v1/audit")).json
    assert.deepInclude(items[0], { action: "memory.restoreIndex", target: made.name, outcome: "done" })
    for (const [method, path, body] of [
      ["GET", "/v1/index"],
      ["GET", "/v1/index/snapshots"],
      ["POST", "/v1/index/snapshots"],
      ["POST", "/v1/index/restore", { snapshot: made.name }],
      ["POST", "/v1/index/catch-up"]
    ] as const) {
      assertFailure(await guest(method, path, body), 403, "Forbidden")
    }
  })
})
