// `queues discard` and `queues retry`: what becomes of a dead letter; `top`: the fleet in sums.

import { join } from "node:path"
import { openServer } from "@reverie/server"
import { defineAssistant, defineFleet, defineTool, Fleet, FleetReader } from "reverie"
import { assert, describe, test } from "vitest"
import { temporary } from "./command-line.ts"
import { said } from "./in-process.ts"

const definition = defineFleet({ assistants: [defineAssistant({ id: "clerk", instructions: "You are a clerk." })] })

/** A directory with three dead letters of the clerk, the newest last. */
const deadLettered = async (data: string): Promise<void> => {
  await using fleet = await Fleet.open({ fleet: definition, data, model: "offline" })
  for (const id of ["m-1", "m-10", "m-2"]) {
    // A text that no one can see: it is accepted, and there is nothing to answer.
    await fleet.send("clerk", "\u200b", { id })
    await fleet.idle()
  }
}

const json = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await said([...args, "--json"])
  assert.notStrictEqual(stdout, "", stderr)
  return { code, ...JSON.parse(stdout) }
}

const deadIn = async (...where: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
  (await json("queues", "dead", ...where)).deadLetters.map(({ envelope }: { readonly envelope: string }) => envelope)

/** The same on the store and through a server. */
const course = async (...at: ReadonlyArray<string>): Promise<void> => {
  assert.deepStrictEqual(await deadIn(...at), ["m-2", "m-10", "m-1"])
  const trial = await json("queues", "discard", "clerk", "m-1", "--dry-run", ...at)
  assert.deepInclude(trial, { ok: true, dryRun: true, would: { type: "discard", envelope: "m-1" } })
  assert.include(trial.letter.reason, "empty")
  const unasked = await json("queues", "discard", "clerk", "m-1", ...at)
  assert.deepStrictEqual([unasked.code, unasked.error.code], [9, "consent-needed"])
  assert.deepStrictEqual(await deadIn(...at), ["m-2", "m-10", "m-1"])

  const done = await json("queues", "discard", "clerk", "m-1", "--yes", ...at)
  assert.deepInclude(done, { code: 0, ok: true, outcome: "discarded", assistant: "clerk", envelope: "m-1" })
  assert.deepStrictEqual(await deadIn(...at), ["m-2", "m-10"])
  // The same command again does not mean the other letter that begins so.
  const again = await json("queues", "discard", "clerk", "m-1", "--yes", ...at)
  assert.deepInclude(again, { code: 0, outcome: "already", envelope: "m-1" })
  const late = await json("queues", "discard", "clerk", "m-1", "--dry-run", ...at)
  assert.deepStrictEqual([late.code, late.error.code], [4, "not-found"])
  for (const order of ["discard", "retry"]) {
    for (const envelope of ["m-", "m-3"]) {
      const unknown = await json("queues", order, "clerk", envelope, "--yes", ...at)
      assert.deepStrictEqual([unknown.code, unknown.error.code], [4, "not-found"], `${order} ${envelope}`)
    }
  }
  assert.deepStrictEqual(await deadIn(...at), ["m-2", "m-10"])
  const nobody = await json("queues", "discard", "nobody", "m-2", "--yes", ...at)
  assert.deepStrictEqual([nobody.code, nobody.error.code], [4, "unknown-assistant"])

  for (const receipt of ["accepted", "duplicate"]) {
    const sent = await json("queues", "retry", "clerk", "m-2", "--no-wait", ...at)
    assert.deepInclude(sent, { code: 0, receipt, envelope: "again/m-2/1" })
    assert.notInclude(await deadIn(...at), "m-2")
  }
}

describe("dead letters", () => {
  test("Q2 Q3 in a store, one that is discarded or sent again is listed and counted no more", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    await deadLettered(data)
    await course("--data", data)
    const listed = await said(["queues", "ls", "--data", data])
    assert.match(listed.stdout, /\n4 received, 0 processed, 1 dead letter\n/)
    const { totals } = await json("queues", "ls", "--data", data)
    assert.deepStrictEqual(totals, { accepted: 4, settled: 0, dead: 3, discarded: 2 })
    assert.match((await said(["top", "--once", "--data", data])).stdout, /, 1 dead\n/)
    assert.match((await said(["agents", "ls", "--data", data])).stdout, /\n4 received, 0 processed, 1 dead letter\n/)
    await using peek = await FleetReader.open(data)
    const reasons = (await peek.history.entries("clerk", 1, 100)).flatMap(({ entry }) =>
      (entry.settled ?? []).map(({ id, reason }) => `${id}: ${reason}`)
    )
    assert.deepStrictEqual(
      reasons.map((text) => text.split(":")[0]),
      ["m-1", "m-10", "m-2"]
    )
  })

  test("Q2 Q3 R1 through a server it goes the same way", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    await deadLettered(data)
    await using fleet = await Fleet.open({ fleet: definition, data, model: "offline" })
    const server = await openServer({ fleet, role: "all", tokens: [] })
    try {
      await course("--url", server.url)
    } finally {
      await server.close()
    }
  })

  test("one of an assistant that has retired is refused in one line, tried or not", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    await deadLettered(data)
    {
      await using fleet = await Fleet.open({ fleet: definition, data, model: "offline" })
      await fleet.retire("clerk")
      await fleet.idle()
    }
    const { deadLetters } = await json("queues", "dead", "--data", data)
    assert.deepStrictEqual(
      new Set(deadLetters.map(({ isRetired }: { readonly isRetired?: true }) => isRetired)),
      new Set([true])
    )
    for (const more of [["--dry-run"], ["--no-wait"]]) {
      const { error } = await json("queues", "retry", "clerk", "m-10", ...more, "--data", data)
      assert.deepInclude(error, { code: "conflict", message: "clerk has retired: its dead letters are not sent again" })
    }
    const done = await json("queues", "discard", "clerk", "m-10", "--yes", "--data", data)
    assert.deepInclude(done, { outcome: "discarded" })
  })

  test("what is said to people names the letter and the reason", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    await deadLettered(data)
    const trial = await said(["queues", "discard", "cl", "m-2", "--dry-run", "--data", data])
    assert.match(trial.stdout, /^would discard the dead letter m-2 of clerk \(.*empty.*\)\n$/)
    const done = await said(["queues", "discard", "cl", "m-2", "--yes", "--data", data])
    assert.match(done.stdout, /^the dead letter m-2 of clerk \(.*empty.*\) is discarded\n$/)
  })
})

describe("top", () => {
  test("T2 the sums are of all, and those that need a person stand first, wherever the list of ids has them", async () => {
    await using place = await temporary()
    const data = join(place.path, "data")
    const sign = defineTool({ name: "sign", description: "Signs.", needsApproval: true, run: () => "Signed." })
    const signer = defineAssistant({ id: "zora", instructions: "You sign.", tools: [sign] })
    const crew = defineAssistant({ id: "crew", instructions: "You wait." })
    {
      await using fleet = await Fleet.open({
        fleet: defineFleet({ assistants: [crew, signer] }),
        data,
        model: "offline"
      })
      await Promise.all(Array.from({ length: 520 }, (_, index) => fleet.create(`crew-${index}`, "crew")))
      await fleet.send("zora", "/sign {}")
      await fleet.halt("crew-519", "a test")
      await fleet.idle()
    }
    const seen = await json("top", "--once", "--limit", "3", "--data", data)
    assert.deepStrictEqual(
      seen.assistants.slice(0, 2).map(({ id }: { readonly id: string }) => id),
      ["crew-519", "zora"]
    )
    assert.strictEqual(seen.count, 522)
    assert.deepInclude(seen.states, { halted: 1, awaitingApproval: 1, idle: 520 })
    const { stdout } = await said(["top", "--once", "--limit", "3", "--data", data])
    assert.match(stdout, /^522 assistants, the first 3 shown, /)
    assert.match(stdout, /\n1 halted {2}1 awaiting approval {2}520 idle\n/)
    assert.match(stdout, /\nzora +awake\.awaitingApproval +0 +1 +1\n/)
  })
})
