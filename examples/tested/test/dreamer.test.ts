import { expectFacts, expectRecall, expectRequest, scriptedModel, testFleet } from "reverie/testing"
import { assert, describe, it } from "vitest"
import { dreamer } from "../dreamer.ts"

const said = "My name is Ann and I sail the Aurora out of Bergen."

/** Of computing, for a wall clock counts what else the machine does. */
const MOST_SECONDS_A_NIGHT = 2

const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1_000_000
}

describe("dreamer", () => {
  it("knows after a night what a captain told it by day, and from whom", async () => {
    const model = scriptedModel(["Welcome, Ann.", "Out of Bergen."])
    await using fleet = await testFleet(dreamer, { model })
    await fleet.answer("dreamer", said, { from: "ann" })
    assert.deepStrictEqual(await fleet.memory.facts("dreamer"), [])
    const seconds = await secondsOf(() => fleet.clock.advanceTo("07:00"))
    assert.isBelow(seconds, MOST_SECONDS_A_NIGHT)
    const [fact] = await expectFacts(fleet, "dreamer", [{ text: /Bergen/, origin: { type: "person", name: "ann" } }])
    assert.isAbove(fact?.trust ?? 0, 0.8)
    await expectRecall(fleet, "dreamer", "Where does Ann sail from?", ["Bergen"])
    await fleet.answer("dreamer", "Where does Ann sail from?", { from: "bob" })
    expectRequest(model.requests.at(-1), { shows: ["Fog until noon."], purpose: "tick" })
  })

  it("sleeps every night of a week at its hour, and dreams at the pace it is set to", async () => {
    await using fleet = await testFleet(dreamer, { model: "offline" })
    await fleet.answer("dreamer", said, { from: "ann" })
    const seconds = await secondsOf(() => fleet.clock.advance("7 days"))
    assert.isBelow(seconds / 7, MOST_SECONDS_A_NIGHT)
    const nights = await fleet.memory.dreams("dreamer")
    assert.deepStrictEqual(
      nights.map(({ began_at }) => new Date(began_at).getUTCHours()),
      Array.from({ length: 7 }, () => 2)
    )
    const first = nights.at(-1)
    const steps = first?.lines.reduce((sum, line) => sum + line.steps, 0) ?? 0
    assert.isAtLeast((first?.ended_at ?? 0) - (first?.began_at ?? 0), (steps - 1) * 60_000)
  })
})
