// Options of recall: what there is none of is refused in one line, and never taken for another question.

import { assert, describe, test } from "vitest"
import { defineAssistant, RecallRefused, UnknownAssistant } from "../src/index.ts"
import { testFleet } from "../src/testing/index.ts"

const refused: ReadonlyArray<readonly [options: Readonly<Record<string, unknown>>, says: RegExp]> = [
  [{ limit: 0 }, /options\.limit must be a whole number of at least 1, and is 0$/],
  [{ limit: -5 }, /options\.limit must be .* is -5$/],
  [{ limit: 1.5 }, /options\.limit must be .* is 1\.5$/],
  [{ kinds: ["nonsens"] }, /options\.kinds must be a list of .*fact.*passage/],
  [{ mode: "semantic" }, /options\.mode must be auto, fts, vector or hybrid, and is "semantic"$/],
  [{ scope: "all" }, /options\.scope must be own, shared or fleet, and is "all"$/],
  [{ maxHits: 1 }, /options have no "maxHits".*limit/],
  [{ minTrust: 7 }, /options\.minTrust must be a number from 0 to 1, and is 7$/],
  [{ since: "yesterday" }, /options\.since must be a time in milliseconds/]
]

describe("recall", () => {
  test("P1 P2 refuses an option that there is none of, a value outside its range, and an assistant that is not there", async () => {
    const fleet = await testFleet(defineAssistant({ id: "desk", instructions: "You only listen." }), {
      model: "offline"
    })
    await fleet.answer("desk", "I have a puppy called Rex.", { from: "ann" })
    const failed = (id: string, options: object): Promise<unknown> =>
      fleet.memory.recall(id, "puppy", options).catch((error: unknown) => error)
    for (const [options, says] of refused) {
      const error = await failed("desk", options)
      assert.instanceOf(error, RecallRefused, JSON.stringify(options))
      assert.match((error as Error).message, says)
      assert.notInclude((error as Error).message, "\n")
    }
    for (const question of [undefined, 5, null]) {
      const error = await fleet.memory.recall("desk", question as never).catch((failure: unknown) => failure)
      assert.instanceOf(error, RecallRefused)
    }
    assert.instanceOf(await failed("desk", null as never), RecallRefused)
    assert.instanceOf(await failed("other", {}), UnknownAssistant)
    const all = {
      limit: 1,
      kinds: ["message"],
      since: 0,
      until: Date.now() * 2,
      minTrust: 0,
      mode: "fts",
      scope: "own"
    }
    const { hits } = (await failed("desk", all)) as Awaited<ReturnType<typeof fleet.memory.recall>>
    assert.strictEqual(hits.length, 1)
    await fleet.close()
  })
})
