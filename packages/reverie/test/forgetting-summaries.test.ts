// Summaries in words that no one has said, and what an extraction wrote down before them: both go with what they are made of.

import { assert, describe, it } from "@effect/vitest"
import { ModelUnavailable } from "@reverie/model"
import type { Line } from "@reverie/testkit"
import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { setImmediate } from "node:timers/promises"
import type { Fleet, Forgettable } from "../src/index.ts"
import { aDirectory, filesWith, openFleet } from "./rig.ts"

const NOOP: Line = { calls: [{ tool: "noop", arguments: {} }] }
const EVE = "Her fur hangs below the rooftiles"
const NOTED = "A pelt is kept by Zobelina"
/** It is longer than what it stands for. */
const LONG = `${EVE}. ${"The herring is fine. ".repeat(60)}`

interface Saying {
  readonly summary?: string
  readonly notes?: boolean
  /** At the second summary of a history the model is away, and calls this. */
  readonly goesAway?: () => void
}

const away = new ModelUnavailable({ provider: "scripted", kind: "network", message: "connection refused" })

const open = (data: string, { goesAway, notes = false, summary = `${EVE}; bob sells herring.` }: Saying) => {
  let [noted, summed] = [0, 0]
  return openFleet({
    data,
    says: ({ messages, tools }) => {
      const text = messages.map(({ content }) => content).join("\n")
      if (tools.length === 0 && goesAway !== undefined && ++summed > 1) {
        goesAway()
        return Effect.fail(away)
      }
      if (tools.length === 0)
        return Effect.succeed({
          text: text.includes("attic") || text.includes(EVE) ? summary : "Bob sells herring."
        })
      if (!text.includes("is about to be compacted")) return Effect.succeed({ text: "Noted." })
      if (!notes || ++noted % 2 === 0) return Effect.succeed(NOOP)
      const content = text.includes("attic") ? NOTED : "Bob is a merchant of fish"
      return Effect.succeed({ text: content, calls: [{ tool: "add_journal_entry", arguments: { content } }] })
    },
    assistant: {
      memory: { recall: "off" },
      sleep: { enabled: false },
      compaction: {
        compactPreserveWindow: 4,
        preCompactExtractionEnabled: notes,
        ...defined({
          strategy:
            goesAway === undefined
              ? undefined
              : { type: "recursive-summarization" as const, chunkTokens: 64_000, chunkMessages: 4 }
        })
      }
    }
  })
}

const hear = async (fleet: Fleet, from: string, ...texts: ReadonlyArray<string>): Promise<void> => {
  for (const text of texts) await fleet.answer("desk", text, { from })
}

/** Resolves when its compaction waits for the model. */
const waitsFor = async (fleet: Fleet): Promise<void> => {
  while (!JSON.stringify(await fleet.inspect("desk")).includes('"compacting":"parked"')) await setImmediate()
}

const attic = "My sable number 1 is in the attic."
const herrings = (first: number): ReadonlyArray<string> =>
  Array.from({ length: 6 }, (_, index) => `Herring item ${first + index} is fine. ${"The tide was fair. ".repeat(12)}`)

const compact = async (fleet: Fleet): Promise<void> => {
  await fleet.compactions.run("desk")
  await fleet.idle()
}

const isOnDisk = (data: string, text: string): boolean => filesWith(data, text).length > 0

const ways: Readonly<Record<string, Forgettable>> = {
  person: { person: "eve" },
  message: { messages: ["m/2/0"], assistant: "desk" },
  topic: { topic: "sable attic" }
}

const assertGone = async (fleet: Fleet, data: string, what: Forgettable, ...texts: ReadonlyArray<string>) => {
  for (const text of texts) assert.isTrue(isOnDisk(data, text), text)
  await fleet.forget(what)
  for (const text of texts) assert.deepStrictEqual(filesWith(data, text), [], text)
  assert.isTrue(isOnDisk(data, "Herring item 3 is fine"))
  assert.deepInclude(await fleet.replay.verify("desk"), { equal: true, mismatches: [] })
  await fleet.answer("desk", "And now?", { from: "bob" })
  assert.deepInclude(await fleet.replay.verify("desk"), { equal: true, mismatches: [] })
  for (const text of texts) assert.deepStrictEqual(filesWith(data, text), [], text)
}

describe("forgetting what a summary says in other words", () => {
  for (const [way, what] of Object.entries(ways)) {
    it(`S2 of a ${way} its draft goes, where it was carried out`, async () => {
      const data = aDirectory()
      await using fleet = await open(data, {})
      await hear(fleet, "eve", attic)
      await hear(fleet, "bob", ...herrings(0))
      await compact(fleet)
      assert.lengthOf(await fleet.compactions.list("desk"), 1)
      await assertGone(fleet, data, what, EVE)
    })

    it(`S2 of a ${way} its draft goes, where it was not carried out`, async () => {
      const data = aDirectory()
      await using fleet = await open(data, { summary: LONG })
      await hear(fleet, "eve", attic)
      await hear(fleet, "bob", ...herrings(0))
      await compact(fleet)
      assert.isEmpty(await fleet.compactions.list("desk"))
      await assertGone(fleet, data, what, EVE)
    })

    it(`S1 of a ${way} it goes where a later compaction begins with it`, async () => {
      const data = aDirectory()
      await using fleet = await open(data, {})
      await hear(fleet, "eve", attic)
      await hear(fleet, "bob", ...herrings(0))
      await compact(fleet)
      await hear(fleet, "bob", ...herrings(6))
      await compact(fleet)
      assert.lengthOf(await fleet.compactions.list("desk"), 2)
      await assertGone(fleet, data, what, EVE)
    })

    it(`S2 of a ${way} goes what an extraction wrote down of it`, async () => {
      const data = aDirectory()
      await using fleet = await open(data, { notes: true })
      await hear(fleet, "eve", attic)
      await hear(fleet, "bob", ...herrings(0))
      await compact(fleet)
      await assertGone(fleet, data, what, EVE, NOTED)
    })
  }

  it("S2 what was made before it was said stays", async () => {
    const data = aDirectory()
    await using fleet = await open(data, { notes: true })
    await hear(fleet, "bob", ...herrings(0))
    await compact(fleet)
    await hear(fleet, "eve", attic)
    await fleet.forget({ person: "eve" })
    assert.isTrue(isOnDisk(data, "Bob is a merchant of fish"))
    assert.isTrue(isOnDisk(data, "Bob sells herring."))
    assert.strictEqual((await fleet.compactions.list("desk"))[0]?.summary, "Bob sells herring.")
    assert.isTrue((await fleet.replay.verify("desk")).equal)
  })

  it("S2 the draft of one that waits for its model goes", async () => {
    const data = aDirectory()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    await using fleet = await open(data, { goesAway: () => resolve(undefined) })
    await hear(fleet, "eve", attic)
    await hear(fleet, "bob", ...herrings(0))
    await fleet.compactions.run("desk")
    await promise
    await waitsFor(fleet)
    assert.isTrue(isOnDisk(data, EVE))
    await fleet.forget({ person: "eve" })
    assert.deepStrictEqual(filesWith(data, EVE), [])
    assert.isTrue((await fleet.replay.verify("desk")).equal)
  })
})
