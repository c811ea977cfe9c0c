import { assert, describe, it } from "@effect/vitest"
import {
  checkFixture,
  defineAssistant,
  defineFleet,
  exportFleet,
  Fleet,
  ForkRefused,
  FleetReader,
  type TickFixture
} from "reverie"

const fleet = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You run a desk." })] })

describe("doors", () => {
  it("O2 what a class behind a door makes is an instance of it, and nothing else is", async () => {
    assert.isFalse({} instanceof Fleet)
    await using open = await Fleet.open({ data: ":memory:", model: "offline", fleet })
    const asked: unknown = open
    assert.isTrue(asked instanceof Fleet)
    assert.isTrue((open.forTenant("north") as unknown) instanceof Fleet)
    assert.isFalse(asked instanceof FleetReader)
    assert.strictEqual(Object.getPrototypeOf(open), Fleet.prototype)
    assert.strictEqual(await open.answer("desk", "hello"), await open.answer("desk", "hello"))
  })

  it("O2 a function behind a door rejects with the very class that the package shows", async () => {
    const prefix = { commits: 1, hash: "" }
    const fixture = { prefix, address: { tenant: "default", assistant: "desk" } } as unknown as TickFixture
    const failure: unknown = await checkFixture(fleet, fixture).catch((error: unknown) => error)
    assert.instanceOf(failure, ForkRefused)
  })

  it("O2 the lines of an export come through it one by one", async () => {
    const lines = exportFleet({ from: { data: "no-such-directory" } })
    const failure: unknown = await lines.next().catch((error: unknown) => error)
    assert.instanceOf(failure, Error)
  })
})
