import { assert, describe, it } from "@effect/vitest"
import { Fleet } from "reverie"
import { afterEach, vi } from "vitest"
import { workersOf } from "../../src/groups/queues.ts"
import { bearer, openRig, SECRETS, tokens } from "./rig.ts"

afterEach(() => vi.restoreAllMocks())

/** Anyone who is asked: the server asks the fleet of the tenant that a request belongs to. */
const otherWorkersAre = (names: ReadonlyArray<string> | undefined): void => {
  const whole = Object.getOwnPropertyDescriptor(Fleet.prototype, "monitor")
  vi.spyOn(Fleet.prototype, "monitor", "get").mockImplementation(function (this: Fleet) {
    return { ...(whole?.get?.call(this) as Fleet["monitor"]), otherWorkers: async () => names }
  })
}

describe("queues: who works", () => {
  it("K2 an API process names the workers that the queue knows, and none of itself", async () => {
    const { ask } = await openRig({ role: "api" })
    const workers = async () => (await ask("/v1/queues")).json.workers
    assert.deepStrictEqual(await workers(), [], "no one works beside an embedded API")
    otherWorkersAre(["1@quay", "1@slip"])
    assert.deepStrictEqual(await workers(), [
      { name: "1@quay", role: "worker" },
      { name: "1@slip", role: "worker" }
    ])
    otherWorkersAre(undefined)
    assert.isUndefined(await workers(), "not known is not no one")
  })

  it("K2 a process that works alone says whom it holds, beside others it does not know", () => {
    const own = { name: "this process", role: "all" }
    assert.deepStrictEqual(workersOf("all", [], ["desk"]), [{ ...own, holds: ["desk"] }])
    assert.deepStrictEqual(workersOf("all", ["2@quay"], ["desk"]), [own, { name: "2@quay", role: "worker" }])
    assert.deepStrictEqual(workersOf("all", undefined, ["desk"]), [own])
    assert.deepStrictEqual(workersOf("api", [], []), [])
    assert.isUndefined(workersOf("api", undefined, []))
  })

  it("K1 the names of processes are reported only to the tenant that the process is opened for", async () => {
    const { ask } = await openRig({ tokens: [...tokens, { ...own, tenant: "default" }] })
    otherWorkersAre(["1@quay"])
    const told = async (secret: string) => (await ask("/v1/queues", { headers: bearer(secret) })).json
    assert.isUndefined((await told(SECRETS.north)).workers)
    assert.lengthOf((await told(own.secret)).workers, 2)
  })
})

const own = { name: "own", secret: "own-secret-0123456789-abc", readOnly: false }
