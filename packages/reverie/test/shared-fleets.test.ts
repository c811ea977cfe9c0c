import { symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, test, vi } from "vitest"
import { defineAssistant, defineFleet, Fleet, FleetClosed } from "../src/index.ts"
import { sharedFleet } from "../src/opening/shared-fleets.ts"
import { aDirectory, failureOf } from "./rig.ts"

const definition = (prompt = "You are under test.") =>
  defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: prompt })] })

describe("a directory opened twice in one process", () => {
  test("S1 is refused with a sentence that says which process has it and what to do", async () => {
    const data = aDirectory()
    await using _ = await Fleet.open({ data, model: "offline", fleet: definition() })
    const refused = await failureOf(Fleet.open({ data, model: "offline", fleet: definition() }))
    assert.propertyVal(refused, "_tag", "StoreBusy")
    assert.propertyVal(refused, "pid", process.pid)
    assert.strictEqual(
      refused.message,
      `this process has already opened ${data}; keep one fleet, for example in a module or on globalThis, or open it with Fleet.shared`
    )
  })
})

describe("a shared fleet", () => {
  test("S1 S2 is one fleet, closes with its last holder alone, and opens again after that", async () => {
    const data = aDirectory()
    const options = { data, model: "offline", fleet: definition() } as const
    // The second caller comes while the first opening is under way, by another path to what does not exist yet.
    const link = `${data}-link`
    symlinkSync(dirname(data), link)
    const other = { ...options, data: join(link, "nothing", "..", "data") }
    const [one, two] = await Promise.all([Fleet.shared(options), Fleet.shared(other)])
    const heard: Array<string> = []
    two.on("envelope-settled", ({ envelope }) => heard.push(envelope))
    await one.send("desk", "Hello.", { id: "hello" })
    await two.idle()
    assert.deepStrictEqual(heard, ["hello"])
    await one.close()
    await one.close()
    assert.strictEqual((await two.send("desk", "Again.")).outcome, "accepted")
    await two.close()
    assert.instanceOf(await failureOf(two.send("desk", "Too late.")), FleetClosed)
    await using again = await Fleet.shared(options)
    assert.strictEqual((await again.send("desk", "Hello.", { id: "hello" })).outcome, "duplicate")
  })

  test("S1 one that is asked for while the last holder closes opens after that", async () => {
    const options = { data: aDirectory(), model: "offline", fleet: definition() } as const
    const first = await Fleet.shared(options)
    const closing = first.close()
    await using second = await Fleet.shared(options)
    await closing
    assert.strictEqual((await second.send("desk", "Hello.")).outcome, "accepted")
  })

  test("S3 another definition object replaces it; who held the old one learns of it, and closes nothing of the new", async () => {
    const data = aDirectory()
    const old = await Fleet.shared({ data, model: "offline", fleet: definition() })
    await using fresh = await Fleet.shared({
      data,
      model: "offline",
      fleet: definition("You are new.")
    })
    assert.strictEqual(await old.ended, undefined)
    assert.instanceOf(await failureOf(old.send("desk", "Hello.")), FleetClosed)
    await old.close()
    assert.strictEqual((await fresh.send("desk", "Hello.")).outcome, "accepted")
  })

  test("S1 an opening that fails is refused to all who asked, and stands in no one's way", async () => {
    const data = aDirectory()
    const options = { data, model: "offline", fleet: definition() } as const
    const other = await Fleet.open(options)
    const refused = await Promise.all([failureOf(Fleet.shared(options)), failureOf(Fleet.shared(options))])
    for (const error of refused) assert.propertyVal(error, "_tag", "StoreBusy")
    await other.close()
    await using fleet = await Fleet.shared(options)
    assert.strictEqual((await fleet.send("desk", "Hello.")).outcome, "accepted")
  })

  test("S4 a second copy of the module shares with the first", async () => {
    const options = { data: aDirectory(), model: "offline", fleet: definition() } as const
    vi.resetModules()
    const copy = await import("../src/opening/shared-fleets.ts")
    assert.notStrictEqual(copy.sharedFleet, sharedFleet)
    await using one = await Fleet.shared(options)
    const two = await copy.sharedFleet<Fleet>(options, () => Promise.reject(new Error("it is open already")))
    assert.strictEqual((await two.send("desk", "Hello.")).outcome, "accepted")
    await two.close()
    assert.strictEqual((await one.send("desk", "Again.")).outcome, "accepted")
  })
})
