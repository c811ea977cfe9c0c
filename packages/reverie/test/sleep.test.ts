import { assert, describe, it } from "@effect/vitest"
import { type AssistantOptions, defineAssistant, defineFleet, Fleet } from "../src/index.ts"
import { aDirectory } from "./rig.ts"

const openWith = (data: string, options: Partial<AssistantOptions>): Promise<Fleet> =>
  Fleet.open({
    data,
    model: "offline",
    fleet: defineFleet({
      assistants: [defineAssistant({ id: "desk", instructions: "You keep the desk.", ...options })]
    })
  })

const bedtimes = async (fleet: Fleet): Promise<ReadonlyArray<string>> => {
  await fleet.idle()
  const timers = (await fleet.inspect("desk"))?.state.timers ?? []
  return timers.map(({ dueAt, name }) => `${name} at ${new Date(dueAt).getUTCHours()}`)
}

describe("sleep schedule", () => {
  it("anyone who names them means them, and the pace of dreams is a setting", () => {
    const { settings, sleep } = defineAssistant({
      id: "desk",
      instructions: "You keep the desk.",
      sleep: { startHour: 3 }
    })
    assert.deepStrictEqual(sleep, {
      enabled: true,
      sleepStartHour: 3,
      sleepDurationHours: 4,
      tickRateSleepSeconds: 60,
      timeZone: "UTC"
    })
    assert.deepStrictEqual(settings, { sleepTickMs: 60_000 })
    const awake = defineAssistant({ id: "desk", instructions: "You keep the desk.", sleep: { enabled: false } })
    assert.deepStrictEqual([awake.sleep?.enabled, awake.settings], [false, {}])
  })

  it("an assistant at rest hears of new hours when its fleet opens", async () => {
    const data = aDirectory()
    {
      await using fleet = await openWith(data, {})
      assert.deepStrictEqual(await bedtimes(fleet), [])
    }
    for (const hour of [3, 4]) {
      await using fleet = await openWith(data, { sleep: { startHour: hour } })
      assert.deepStrictEqual(await bedtimes(fleet), [`sleepTimer at ${hour}`])
    }
    await using fleet = await openWith(data, {})
    assert.deepStrictEqual(await bedtimes(fleet), [])
  })
})
