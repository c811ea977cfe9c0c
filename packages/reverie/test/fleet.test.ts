import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { defineTool, EnvelopeInvalid, Fleet, FleetClosed, type Notice, type Part } from "../src/index.ts"
import { aDirectory, all, calling, failureOf, gate, openFleet } from "./rig.ts"

/** What so many calls of the scripted model take. */
const used = (calls: number) => ({
  calls,
  inputTokens: calls,
  cachedTokens: 0,
  outputTokens: calls,
  reasoningTokens: 0,
  costMicros: 0,
  unpricedCalls: calls
})

const typesOf = (parts: ReadonlyArray<Part>) => parts.map(({ type }) => type)

const tagOf = (error: Error): unknown => Reflect.get(error, "_tag")

describe("sending", () => {
  it("I1 resolves with a receipt when the message is durable; the same id is accepted once", async () => {
    const data = aDirectory()
    {
      await using fleet = await openFleet({ data })
      const receipt = await fleet.send("desk", "Hello?", { id: "m-1" })
      assert.deepStrictEqual([receipt.outcome, String(receipt.envelope)], ["accepted", "m-1"])
      assert.strictEqual((await fleet.monitor.totals()).accepted, 1)
      assert.strictEqual((await fleet.send("desk", "Hello?", { id: "m-1" })).outcome, "duplicate")
      assert.strictEqual((await fleet.send("clerk", "Hello?", { id: "m-1" })).outcome, "accepted")
    }
    await using again = await openFleet({ data })
    assert.strictEqual((await again.send("desk", "Hello?", { id: "m-1" })).outcome, "duplicate")
    await again.idle()
    assert.strictEqual((await again.monitor.totals()).settled, 2)
  })

  it("without an id every message is a new one, and the sender is a user", async () => {
    await using fleet = await openFleet()
    const receipts = [await fleet.send("desk", "Hello?"), await fleet.send("desk", "Hello?")]
    assert.notStrictEqual(receipts[0]?.envelope, receipts[1]?.envelope)
    assert.match(receipts[0]?.envelope ?? "", /^[0-9a-f]{32}$/)
    await fleet.idle()
    const said = (await fleet.history.entries("desk"))
      .flatMap(({ entry }) => entry.messages)
      .filter(({ role }) => role === "user")
    assert.deepStrictEqual(
      said.map(({ name }) => name),
      ["user", "user"]
    )
  })

  it("I2 what can not be sent is refused by a typed error, in one line, and nothing of it is kept", async () => {
    await using fleet = await openFleet()
    const tooLong = await failureOf(fleet.send("desk", "x".repeat(1_000_001)))
    assert.instanceOf(tooLong, EnvelopeInvalid)
    assert.strictEqual(tooLong.recovery, "tell-owner")
    assert.notInclude(tooLong.message, "\n")
    assert.isBelow(tooLong.message.length, 1_000)
    assert.instanceOf(await failureOf(fleet.send("no such name", "Hello?")), EnvelopeInvalid)
    assert.instanceOf(await failureOf(fleet.send("desk", "Hello?", { id: "" })), EnvelopeInvalid)
    assert.instanceOf(await failureOf(fleet.post("desk", { type: "sleep", forMs: -1 })), EnvelopeInvalid)
    const unknown = await failureOf(fleet.send("nobody", "Hello?"))
    assert.strictEqual(tagOf(unknown), "UnknownAssistant")
    assert.strictEqual(unknown.message, "there is no assistant default/nobody, or it has retired")
    assert.deepStrictEqual(await fleet.monitor.totals(), { accepted: 0, settled: 0, dead: 0, discarded: 0 })
  })
})

describe("asking", () => {
  it("I1 of ask: parts come in order and end exactly once", async () => {
    const look = defineTool({ name: "look", description: "Looks.", run: () => "two ships" })
    await using fleet = await openFleet({
      tools: [look],
      says: [{ text: "Let me see. ", ...calling("look") }, { text: "Two ships." }]
    })
    assert.deepStrictEqual(await all(fleet.ask("desk", "What is there?")), [
      { type: "text", text: "Let me see. " },
      { type: "tool-start", call: "1.1.0", tool: "look" },
      { type: "tool-arguments", call: "1.1.0", text: "{}" },
      { type: "tool-call", call: "1.1.0", tool: "look", arguments: {} },
      { type: "usage", iteration: 1, model: "scripted", ...used(1) },
      { type: "tool-result", tool: "look", call: "1.1.0", ok: true, content: "two ships" },
      { type: "text", text: "Two ships." },
      { type: "usage", iteration: 2, model: "scripted", ...used(1) },
      { type: "done", outcome: "answered", reply: "Two ships.", usage: used(2) }
    ])
  })

  it("nothing is sent before someone reads", async () => {
    await using fleet = await openFleet()
    const parts = fleet.ask("desk", "Hello?")
    await fleet.idle()
    assert.strictEqual((await fleet.monitor.totals()).accepted, 0)
    assert.deepStrictEqual(typesOf(await all(parts)), ["text", "usage", "done"])
    assert.strictEqual((await fleet.monitor.totals()).accepted, 1)
  })

  it("two questions to one assistant each have their own parts", async () => {
    await using fleet = await openFleet({ says: [{ text: "one" }, { text: "two" }] })
    const [first, second] = await Promise.all([all(fleet.ask("desk", "First?")), all(fleet.ask("desk", "Second?"))])
    for (const parts of [first, second]) assert.deepStrictEqual(typesOf(parts), ["text", "usage", "done"])
    assert.deepStrictEqual(
      [first.at(-1), second.at(-1)].map((part) => (part?.type === "done" ? part.reply : "")).toSorted(),
      ["one", "two"]
    )
  })

  it("I3 of ask: anyone who stops reading learns no more, and the question goes on", async () => {
    const held = gate()
    const look = defineTool({ name: "look", description: "Looks.", run: () => held.passed.then(() => "seen") })
    await using fleet = await openFleet({
      tools: [look],
      says: [{ text: "Wait. ", ...calling("look") }, { text: "Done." }]
    })
    for await (const part of fleet.ask("desk", "Look.", { id: "q" })) {
      assert.deepStrictEqual(part, { type: "text", text: "Wait. " })
      break
    }
    held.open()
    await fleet.idle()
    assert.deepStrictEqual(await fleet.monitor.totals(), { accepted: 1, settled: 1, dead: 0, discarded: 0 })
    assert.deepStrictEqual(await all(fleet.ask("desk", "Look.", { id: "q" })), [
      { type: "done", outcome: "answered", reply: "Done.", usage: used(2) }
    ])
  })

  it("a person decides: the approval is a part, the decision goes through the fleet, the answer follows", async () => {
    const sink = defineTool({ name: "sink", description: "Sinks.", needsApproval: true, run: () => "sunk" })
    await using fleet = await openFleet({ tools: [sink], says: [calling("sink"), { text: "It is done." }] })
    const types: Array<string> = []
    for await (const part of fleet.ask("desk", "Sink it.")) {
      types.push(part.type)
      if (part.type === "approval") {
        assert.deepInclude(part, { tool: "sink", call: "1.1.0" })
        assert.strictEqual((await fleet.approve("desk", part.approval)).outcome, "accepted")
      }
    }
    const call = ["tool-start", "tool-arguments", "tool-call", "usage"]
    assert.deepStrictEqual(types, [...call, "approval", "approval-decided", "tool-result", "text", "usage", "done"])
  })

  it("answer gives the whole reply, or says why there is none", async () => {
    await using fleet = await openFleet({ assistant: { maxContextTokens: 10, reservedResponseTokens: 5 } })
    assert.match((await failureOf(fleet.answer("desk", "Hello?"))).message, /desk could not answer: .*context/i)
    await using other = await openFleet()
    assert.strictEqual(await other.answer("desk", "Hello?"), "Good morning.")
  })

  it("a run that a person stops ends the answer once, and says so; the next message is answered, and a replay agrees", async () => {
    const held = gate()
    const look = defineTool({ name: "look", description: "Looks.", run: () => held.passed })
    await using fleet = await openFleet({ tools: [look], says: [calling("look"), { text: "And this." }] })
    const during = all(fleet.ask("desk", "Look.", { id: "q-1" }))
    await new Promise<void>((resolve) => {
      const stop = fleet.on("model-replied", () => {
        stop()
        resolve()
      })
    })
    assert.strictEqual((await fleet.stop("desk", { reason: "never mind" })).outcome, "accepted")
    await fleet.stop("desk", { tick: 1 })
    const ends = (await during).filter(({ type }) => ["done", "stopped", "failed", "halted"].includes(type))
    assert.lengthOf(ends, 1)
    assert.deepInclude(ends[0], {
      type: "stopped",
      outcome: "stopped",
      error: { code: "TurnStopped", message: "a person stopped it", recovery: "tell-owner" }
    })
    assert.strictEqual(await fleet.answer("desk", "Anyone?", { id: "q-2" }), "And this.")
    assert.strictEqual((await fleet.inspect("desk"))?.state.status, "awake.idle")
    assert.isTrue((await fleet.replay.verify("desk")).equal)
  })

  it("anyone who is halted, before the question or during it, says so; after resume the answer is there", async () => {
    const held = gate()
    const look = defineTool({ name: "look", description: "Looks.", run: () => held.passed })
    await using fleet = await openFleet({
      tools: [look],
      says: [calling("look"), { text: "At last." }, { text: "And this." }]
    })
    const during = all(fleet.ask("desk", "Look.", { id: "q-1" }))
    await new Promise<void>((resolve) => {
      const stop = fleet.on("model-replied", () => {
        stop()
        resolve()
      })
    })
    await fleet.halt("desk", "a drill")
    assert.deepStrictEqual((await during).at(-1), {
      type: "halted",
      error: { code: "Halted", message: "a drill", recovery: "stop" }
    })
    assert.match((await failureOf(fleet.answer("desk", "Anyone?", { id: "q-2" }))).message, /desk is halted/)
    await fleet.resume("desk")
    await fleet.idle()
    const ends = [
      ...(await all(fleet.ask("desk", "Look.", { id: "q-1" }))),
      ...(await all(fleet.ask("desk", "Anyone?", { id: "q-2" })))
    ]
    assert.deepStrictEqual(
      ends.map((part) => (part.type === "done" ? part.reply : part.type)),
      ["At last.", "And this."]
    )
  })

  it("I4 of ask: when the fleet is closed, anyone who waits for an answer learns of it, and so does anyone who asks afterwards", async () => {
    const asked = gate()
    const look = defineTool({
      name: "look",
      description: "Looks.",
      run: () => {
        asked.open()
        return new Promise(() => {})
      }
    })
    const fleet = await openFleet({ tools: [look], says: [calling("look")] })
    const waiting = failureOf(fleet.answer("desk", "Look."))
    await asked.passed
    const resting = failureOf(fleet.idle())
    await fleet.close()
    for (const failure of [
      await waiting,
      await resting,
      await failureOf(fleet.send("desk", "Still there?")),
      await failureOf(all(fleet.ask("desk", "Still there?"))),
      await failureOf(fleet.inspect("desk")),
      await failureOf(fleet.idle())
    ]) {
      assert.instanceOf(failure, FleetClosed)
      assert.strictEqual(failure.message, "the fleet was closed")
    }
    assert.strictEqual(await fleet.ended, undefined)
    await fleet.close()
  })
})

describe("what is under way when the fleet closes", () => {
  it("H1 ends, or is refused as such: never with an error of the inside", async () => {
    const fleet = await openFleet({ data: aDirectory() })
    const sending = Array.from({ length: 50 }, (_, index) => fleet.send("desk", `message ${index}`))
    const outcomes = Promise.allSettled([...sending, fleet.views(), fleet.answer("desk", "Hello?")])
    await fleet.close()
    for (const outcome of await outcomes) {
      if (outcome.status === "rejected") assert.instanceOf(outcome.reason, FleetClosed)
    }
    assert.isTrue((await outcomes).some(({ status }) => status === "rejected"))
  })
})

describe("listening", () => {
  it("receives one type or all, until it stops; a listener that throws disturbs nothing", async () => {
    await using fleet = await openFleet()
    const ended: Array<string> = []
    const every: Array<Notice["type"]> = []
    fleet.on("*", () => {
      throw new Error("a broken screen")
    })
    const stop = fleet.on("tick-ended", ({ reply }) => ended.push(reply))
    fleet.on("*", ({ type }) => every.push(type))
    await fleet.answer("desk", "Hello?")
    stop()
    await fleet.answer("desk", "Hello again?")
    assert.deepStrictEqual(ended, ["Good morning."])
    assert.strictEqual(every.filter((type) => type === "tick-ended").length, 2)
    assert.include(every, "part")
  })
})

describe("opening and closing", () => {
  it("I3 closed in the middle of a tool, it goes on with the next opening, under the same key", async () => {
    const data = aDirectory()
    const keys: Array<string> = []
    const begun = gate()
    let signal: AbortSignal | undefined
    const dig = (lasts: boolean) =>
      defineTool({
        name: "dig",
        description: "Digs.",
        idempotent: true,
        run: (_, run) => {
          keys.push(run.key)
          signal = run.signal
          begun.open()
          return lasts ? new Promise(() => {}) : "dug"
        }
      })
    {
      await using fleet = await openFleet({ data, tools: [dig(true)], says: [calling("dig")] })
      await fleet.send("desk", "Dig.", { id: "q" })
      await begun.passed
    }
    assert.isTrue(signal?.aborted)
    await using again = await openFleet({ data, tools: [dig(false)], says: [{ text: "It is dug." }] })
    await again.idle()
    assert.deepStrictEqual(await all(again.ask("desk", "Dig.", { id: "q" })), [
      { type: "done", outcome: "answered", reply: "It is dug.", usage: used(2) }
    ])
    assert.deepStrictEqual(keys, ["default/desk/1.1.0", "default/desk/1.1.0"])
  })

  it("a directory is opened by one fleet at a time; the refusal names it, and closing sets it free", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data })
    const refused = await failureOf(openFleet({ data }))
    assert.strictEqual(tagOf(refused), "StoreBusy")
    assert.include(refused.message, data)
    await fleet.close()
    await using again = await openFleet({ data })
    assert.strictEqual(await again.answer("desk", "Hello?"), "Good morning.")
  })

  it("tenants share a store and see nothing of each other", async () => {
    const data = aDirectory()
    {
      await using fleet = await openFleet({ data, tenant: "one" })
      await fleet.answer("desk", "Hello?")
    }
    await using other = await openFleet({ data, tenant: "two" })
    assert.strictEqual((await other.inspect("desk"))?.version, 1)
    assert.strictEqual((await other.inspect("desk"))?.address.tenant, other.tenant)
  })

  it("an assistant whose definition has gone keeps its mail, and its owner learns of it", async () => {
    const data = aDirectory()
    {
      await using fleet = await openFleet({
        data,
        faults: { at: (point) => (point === "after-claim" ? Effect.never : Effect.void) }
      })
      await fleet.send("clerk", "Hello?")
    }
    const troubles: Array<string> = []
    const told = gate()
    const { defineAssistant, defineFleet } = await import("../src/index.ts")
    await using fleet = await Fleet.open({
      data,
      model: "offline",
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are alone." })] }),
      onError: ({ assistant }, failure) => {
        troubles.push(`${assistant}: ${failure.message}`)
        told.open()
      }
    })
    await told.passed
    assert.deepStrictEqual(troubles, [
      'clerk: default/clerk was created from the definition "clerk", which this process does not have'
    ])
    assert.strictEqual((await fleet.inspect("clerk"))?.waiting, 1)
  })

  it("ended resolves with the reason when the store fails, and anyone who waits learns the same", async () => {
    await using fleet = await openFleet({
      data: aDirectory(),
      maxBytes: 400_000,
      says: [{ text: "x".repeat(20_000) }],
      worker: { idleMs: 1 }
    })
    const waiting = failureOf(
      (async () => {
        // Short, so that it is a commit which finds no space: a message that can not be accepted fails alone.
        for (let index = 0; index < 1_000; index++) await fleet.answer("desk", String(index))
      })()
    )
    const ended = await fleet.ended
    assert.instanceOf(ended, FleetClosed)
    assert.include(ended.message, "no space is left")
    assert.include((await waiting).message, "no space is left")
    // What was written before can still be read.
    assert.isAbove((await fleet.monitor.totals()).settled, 0)
  })
})
