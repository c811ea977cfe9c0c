import { existsSync, mkdirSync, readdirSync } from "node:fs"
import { assert, describe, it, vi } from "vitest"
import { defineAssistant, defineFleet, defineTool } from "../../src/index.ts"
import {
  calls,
  scriptedModel,
  ScriptBroken,
  slow,
  testClock,
  testFleet,
  TimeRefused,
  unavailable
} from "../../src/testing/index.ts"
import { aDirectory, failureOf } from "../rig.ts"

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 5, 9)

const plain = (options = {}) => defineAssistant({ id: "desk", instructions: "You keep the desk.", ...options })

describe("the clock of a test fleet", () => {
  it("V1 stands still until it is moved, and tools learn its time", async () => {
    const when = defineTool({
      name: "when",
      description: "Tells the time.",
      run: (_, { now }) => new Date(now).toISOString()
    })
    await using fleet = await testFleet(plain({ tools: [when] }), {
      model: scriptedModel(({ last }) => (last === "When?" ? calls("when") : last))
    })
    assert.strictEqual(await fleet.answer("desk", "When?"), "2026-01-05T09:00:00.000Z")
    assert.strictEqual(fleet.clock.now(), START)
    await fleet.clock.advance("8h")
    assert.strictEqual(await fleet.answer("desk", "When?"), "2026-01-05T17:00:00.000Z")
    await fleet.clock.advanceTo("03:00")
    assert.strictEqual(fleet.clock.date.toISOString(), "2026-01-06T03:00:00.000Z")
    await fleet.clock.advanceTo("2026-02-01T12:00")
    assert.strictEqual(fleet.clock.date.toISOString(), "2026-02-01T12:00:00.000Z")
  })

  it("C1 goes through every night on the way, whatever the pace of the dreams", async () => {
    const sleep = { startHour: 2, durationHours: 4, dreamPauseMs: 60_000 }
    await using fleet = await testFleet(plain({ sleep }), { model: "offline" })
    await fleet.answer("desk", "My name is Ann and I sail the Aurora out of Bergen.")
    await fleet.clock.advance("3d")
    const nights = (await fleet.memory.dreams("desk")).toReversed()
    assert.deepStrictEqual(
      nights.map(({ began_at }) => new Date(began_at).toISOString().slice(0, 13)),
      ["2026-01-06T02", "2026-01-07T02", "2026-01-08T02"]
    )
    const [first] = nights
    assert.isAtLeast((first?.ended_at ?? 0) - (first?.began_at ?? 0), 4 * 60_000)
    assert.strictEqual((await fleet.views())[0]?.mode, "awake")
  })

  it("C1 an approval expires at its deadline, and not a second before", async () => {
    const wire = defineTool({ name: "wire", description: "Wires.", needsApproval: true, run: () => "wired" })
    const model = scriptedModel([calls("wire"), "It was not wired."])
    await using fleet = await testFleet(plain({ tools: [wire], settings: { approvalMs: 20 * 60_000 } }), { model })
    const answer = fleet.answer("desk", "Wire it.")
    await fleet.idle()
    assert.strictEqual((await fleet.approvals.list("desk")).length, 1)
    await fleet.clock.advance("1199s")
    assert.strictEqual((await fleet.approvals.list("desk")).length, 1)
    await fleet.clock.advance("1s")
    assert.deepStrictEqual(await fleet.approvals.list("desk"), [])
    assert.strictEqual(await answer, "It was not wired.")
  })

  it("S2 a tool that never ends is stopped at its deadline, one that sleeps by the clock ends in time", async () => {
    const clock = testClock("2026-03-01T22:00")
    const hang = defineTool({
      name: "hang",
      description: "Never ends.",
      timeoutMs: 40_000,
      run: () => new Promise(() => {})
    })
    const load = defineTool({
      name: "load",
      description: "Loads.",
      timeoutMs: 20 * 60_000,
      run: async (_, { signal }) => {
        await clock.sleep("10 min", { signal })
        return "loaded"
      }
    })
    const model = scriptedModel([calls("load"), "Loaded.", calls("hang"), "It hung."])
    await using fleet = await testFleet(plain({ tools: [hang, load] }), { model, clock, patienceMs: 30 })
    assert.strictEqual(await fleet.answer("desk", "Load."), "Loaded.")
    assert.strictEqual(clock.date.toISOString(), "2026-03-01T22:10:00.000Z")
    const answer = fleet.answer("desk", "Hang.")
    await clock.advance("40s")
    assert.strictEqual(await answer, "It hung.")
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.match(tick?.tools[0]?.result ?? "", /gave no answer within 40 s/)
  })

  it("S2 a tool that works in real time is waited for, however late it gets by the clock", async () => {
    const slowly = defineTool({
      name: "slowly",
      description: "Takes real time.",
      timeoutMs: 1_000,
      run: () => new Promise((resolve) => setTimeout(() => resolve("done"), 60))
    })
    const model = scriptedModel([calls("slowly"), "Done."])
    await using fleet = await testFleet(plain({ tools: [slowly] }), { model, patienceMs: 10_000 })
    await fleet.send("desk", "Go.")
    await fleet.clock.advance("8h")
    assert.strictEqual((await fleet.history.ticks("desk")).ticks[0]?.tools[0]?.result, "done")
  })

  it("C3 a slow model and one that is away take the time they take, and no more", async () => {
    const model = scriptedModel([slow("20s", "Good morning."), unavailable(), "Back."])
    await using fleet = await testFleet(plain(), { model })
    assert.strictEqual(await fleet.answer("desk", "Hi."), "Good morning.")
    assert.strictEqual(fleet.clock.now(), START + 20_000)
    assert.strictEqual(await fleet.answer("desk", "Hi."), "Back.")
    assert.isAbove(fleet.clock.now(), START + 20_000)
    assert.isBelow(fleet.clock.now(), START + HOUR)
  })

  it("C3 a timer that a person set off in the future fires at its time", async () => {
    const model = scriptedModel(["Up."])
    await using fleet = await testFleet(plain(), { model })
    await fleet.sleep("desk", { forMs: 2 * HOUR })
    await fleet.idle()
    assert.strictEqual((await fleet.views())[0]?.mode, "dreaming")
    await fleet.clock.advance("119 min")
    assert.strictEqual((await fleet.views())[0]?.mode, "dreaming")
    await fleet.clock.advance("1 min")
    assert.strictEqual((await fleet.views())[0]?.mode, "awake")
    await fleet.idle({ patienceMs: HOUR })
  })

  it("V1 wakes in the order of times and of the sleeps, and never goes back", async () => {
    const clock = testClock()
    const woken: Array<string> = []
    const sleep = async (name: string, span: string) => {
      await clock.sleep(span)
      woken.push(`${name} ${(clock.now() - START) / 60_000}`)
    }
    const sleeps = [sleep("late", "20 min"), sleep("first", "5 min"), sleep("second", "5 min"), sleep("never", "3h")]
    await Promise.all([clock.advanceTo(START + HOUR), clock.advanceTo(START + HOUR / 2)])
    assert.deepStrictEqual(woken, ["first 5", "second 5", "late 20"])
    assert.strictEqual(clock.now(), START + HOUR)
    await Promise.all([clock.advance("1h"), clock.advance("1h")])
    await Promise.all(sleeps)
    assert.strictEqual(clock.now(), START + 3 * HOUR)
    const controller = new AbortController()
    const stopped = failureOf(clock.sleep("1h", { signal: controller.signal }))
    controller.abort(new Error("stopped"))
    assert.strictEqual((await stopped).message, "stopped")
    assert.strictEqual((await failureOf(clock.sleep("1h", { signal: controller.signal }))).message, "stopped")
  })

  it("C2 it does not move by itself while a test moves it", async () => {
    const model = scriptedModel([slow("1h", "Good morning.")])
    await using fleet = await testFleet(plain(), { model })
    const answer = fleet.answer("desk", "Hi.")
    await fleet.clock.advance("10 min")
    assert.strictEqual(fleet.clock.now(), START + HOUR / 6)
    assert.strictEqual(await answer, "Good morning.")
    assert.strictEqual(fleet.clock.now(), START + HOUR)
  })

  it("T2 rest waits for what happens by itself within its patience, and for nothing beyond", async () => {
    const wire = defineTool({ name: "wire", description: "Wires.", needsApproval: true, run: () => "wired" })
    const model = scriptedModel([calls("wire"), "It was not wired."])
    await using fleet = await testFleet(plain({ tools: [wire], settings: { approvalMs: HOUR } }), { model })
    await fleet.send("desk", "Wire it.")
    await fleet.idle({ patienceMs: HOUR - 1 })
    assert.strictEqual((await fleet.approvals.list("desk")).length, 1)
    await fleet.idle({ patienceMs: HOUR })
    assert.deepStrictEqual(await fleet.approvals.list("desk"), [])
    assert.strictEqual(model.left, 0)
  })

  it("T2 what looks again and again, like the report of a task, needs no moving of the clock", async () => {
    const model = scriptedModel(["Nine ships."])
    await using fleet = await testFleet(plain({ subAgents: {} }), { model })
    const task = await fleet.subAgents.delegate("desk", "Count the ships.")
    assert.deepInclude(await task.report(), { end: "completed", summary: "Nine ships." })
    assert.strictEqual(fleet.clock.now(), START)
  })

  it("what is no time is refused in a sentence, and so is the past", async () => {
    const clock = testClock()
    const refusedBy = async (promise: Promise<unknown>) => {
      const failure = await failureOf(promise)
      assert.instanceOf(failure, TimeRefused)
      return failure.message
    }
    assert.include(await refusedBy(clock.advance("soon")), '"soon" is no duration')
    assert.include(await refusedBy(clock.advance(-1)), "is no duration")
    assert.include(await refusedBy(clock.advanceTo("tomorrow")), '"tomorrow" is no time')
    assert.include(await refusedBy(clock.advanceTo("2025-01-01")), "2025-01-01T00:00:00.000Z is past")
  })
})

describe("a test fleet", () => {
  it("T3 a script that is asked too much is thrown by whatever is waited for", async () => {
    const used = async (wait: (fleet: Awaited<ReturnType<typeof testFleet>>) => Promise<unknown>) => {
      const fleet = await testFleet(plain(), { model: scriptedModel([]) })
      assert.instanceOf(await failureOf(wait(fleet)), ScriptBroken)
      await fleet.close()
    }
    await used((fleet) => fleet.answer("desk", "Hi."))
    await used(async (fleet) => {
      await fleet.send("desk", "Hi.")
      await fleet.idle()
    })
    await used(async (fleet) => {
      await fleet.send("desk", "Hi.")
      await fleet.clock.advance("1s")
    })
    const fleet = await testFleet(plain())
    await fleet.send("desk", "Hi.")
    await new Promise<void>((resolve) =>
      fleet.on("state-changed", ({ status }) => status.startsWith("halted") && resolve())
    )
    assert.instanceOf(await failureOf(fleet.close()), ScriptBroken)
  })

  it("T4 a restart finds what was there, and closing leaves nothing behind", async () => {
    // Other tests make directories of their own beside this one.
    const temporary = aDirectory()
    mkdirSync(temporary)
    vi.stubEnv("TMPDIR", temporary)
    const wire = defineTool({ name: "wire", description: "Wires.", needsApproval: true, run: () => "wired" })
    const model = scriptedModel([calls("wire"), "Wired."])
    const first = await testFleet(plain({ tools: [wire] }), { model, data: "temporary" })
    await first.send("desk", "Wire it.")
    await first.idle()
    assert.lengthOf(readdirSync(temporary), 1)
    await first.clock.advance("1h")
    const second = await first.restart()
    assert.strictEqual(second.clock.now(), START + HOUR)
    const [asked] = await second.approvals.list("desk")
    await second.approve("desk", asked?.approval ?? "")
    await second.idle()
    assert.strictEqual((await second.history.ticks("desk")).ticks[0]?.reply, "Wired.")
    await second.close()
    assert.deepStrictEqual(readdirSync(temporary), [])
    assert.strictEqual(existsSync(".reverie/reverie.db"), false)
  })

  it("shows every call of the model, of any assistant", async () => {
    const assistants = ["desk", "clerk"].map((id) => defineAssistant({ id, instructions: `You are the ${id}.` }))
    await using fleet = await testFleet(defineFleet({ assistants }), {
      model: scriptedModel(({ text }) => (text.includes("the clerk") ? "C." : "D."))
    })
    assert.deepStrictEqual([await fleet.answer("clerk", "Hi."), await fleet.answer("desk", "Hi.")], ["C.", "D."])
    assert.deepStrictEqual(
      fleet.modelCalls.map(({ at, number, reply }) => [number, reply?.text, at]),
      [
        [1, "C.", START],
        [2, "D.", START]
      ]
    )
  })
})
