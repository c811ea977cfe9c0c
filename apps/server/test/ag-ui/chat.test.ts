import { defineAssistant, defineFleet, defineTeam, defineTool, type Fleet } from "reverie"
import * as Schema from "effect/Schema"
import { assert, describe, test } from "vitest"
import { openFleet, type Request } from "../inside/rig.ts"
import { HOSTILE } from "../inside/seed.ts"
import { allIn, chatOf, eventsIn, headersOf, serve, textsIn, type Told } from "./chat-rig.ts"

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: Schema.Struct({ at: Schema.String }),
  run: ({ at }) => at
})
const sink = defineTool({ name: "sink", description: "Sinks.", needsApproval: true, run: () => "sunk" })
const looking = { text: "Let me see. ", calls: [{ tool: "look", arguments: { at: HOSTILE } }] }
const waiting = { text: "Let me see. ", calls: [{ tool: "wait" }] }

const aRig = async (request: Request) => {
  const fleet = await openFleet({ tenant: "north", tools: [look, sink], ...request })
  const server = await serve(fleet)
  return {
    fleet,
    server,
    chat: chatOf(server.url),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await fleet.close()
    }
  }
}

const gate = () => Promise.withResolvers<void>()
const typesOf = (events: ReadonlyArray<Told>) => events.map(({ type }) => type)
const endOf = (events: ReadonlyArray<Told>): Told => events.at(-1) ?? { type: "" }
/** What a second telling can not know: how the text came in pieces. */
const settledOf = (events: ReadonlyArray<Told>) => [
  ...textsIn(events),
  ...events
    .filter(({ type }) => type !== "TEXT_MESSAGE_CONTENT")
    // A call that is reported as it begins has the time of then.
    .map((event) => (event.type === "TOOL_CALL_START" ? { ...event, timestamp: typeof event["timestamp"] } : event))
]

/** How many listen to the notices of a fleet. */
const counted = (fleet: Fleet) => {
  let listeners = 0
  const own = fleet.forTenant("north", { exact: true })
  const on = own.on.bind(own) as (type: "*", listener: (notice: never) => void) => () => void
  Object.assign(own, {
    on: (type: "*", listener: (notice: never) => void) => {
      listeners++
      const stop = on(type, listener)
      return () => {
        listeners--
        stop()
      }
    }
  })
  Object.assign(fleet, { forTenant: () => own })
  return () => listeners
}

describe("a chat", () => {
  test("T1 T2 a run tells text, calls with their results and states, and the same run again is the same", async () => {
    await using rig = await aRig({ says: [looking, { text: HOSTILE }] })
    const first = await allIn(await rig.chat.run("desk", "run-1", "What is there?"))
    assert.deepStrictEqual(textsIn(first), ["Let me see. ", HOSTILE])
    const called = first.find(({ type }) => type === "TOOL_CALL_ARGS")
    assert.deepStrictEqual(JSON.parse(String(called?.["delta"])), { at: HOSTILE })
    assert.deepInclude(
      first.find(({ type }) => type === "TOOL_CALL_RESULT"),
      { toolCallId: "1.1.0", role: "tool" }
    )
    assert.include(String(first.find(({ type }) => type === "TOOL_CALL_RESULT")?.["content"]), "alert(2)")
    assert.deepInclude(endOf(first), {
      type: "RUN_FINISHED",
      threadId: "thread",
      runId: "run-1",
      outcome: { type: "success" }
    })
    assert.isNotEmpty(endOf(first)["usage"] as ReadonlyArray<unknown>)
    assert.includeMembers(
      first.filter(({ type }) => type === "STEP_STARTED").map(({ stepName }) => stepName),
      ["thinking", "acting"]
    )
    assert.strictEqual((await rig.chat.run("desk", "run-1", "Something else.")).status, 400)
    const again = await allIn(await rig.chat.run("desk", "run-1", "What is there?"))
    assert.deepStrictEqual(settledOf(again), settledOf(first))
    const history = await rig.fleet.history.entries("desk")
    assert.lengthOf(
      history.flatMap(({ entry }) => entry.messages).filter(({ role }) => role === "user"),
      1
    )
    const told = await allIn(await rig.chat.answers("desk", "run-1"))
    const inThread = (events: ReadonlyArray<Told>) =>
      settledOf(events).map((event) => (typeof event === "string" ? event : { ...event, threadId: "" }))
    assert.deepStrictEqual(inThread(told), inThread(first))
  })

  test("R3 R4 text comes while it is written; anyone who leaves is listened for no more, and receives it all again", async () => {
    const held = gate()
    const slow = defineTool({ name: "wait", description: "Waits.", run: () => held.promise.then(() => "seen") })
    await using rig = await aRig({ tools: [slow], says: [waiting, { text: "Two ships." }] })
    const leaving = new AbortController()
    const seen: Array<Told> = []
    const response = await rig.chat.run("desk", "run-1", "Look.", leaving.signal)
    const reading = (async () => {
      for await (const event of eventsIn(response)) {
        seen.push(event)
        if (event.type === "TOOL_CALL_END") leaving.abort()
      }
    })()
    assert.instanceOf(await reading.catch((error: unknown) => error), Error)
    assert.deepStrictEqual(textsIn(seen), ["Let me see. "])
    const second = rig.chat.answers("desk", "run-1").then(allIn)
    held.resolve()
    assert.deepStrictEqual(textsIn(await second), ["Let me see. ", "Two ships."])
  })

  test("R3 U1 no one listens any more when a run has ended or its reader has left", async () => {
    const fleet = await openFleet({
      tenant: "north",
      tools: [sink],
      says: [{ calls: [{ tool: "sink" }] }, { text: "ok" }]
    })
    const listeners = counted(fleet)
    const server = await serve(fleet)
    const chat = chatOf(server.url)
    const before = listeners()
    await allIn(await chat.run("desk", "run-1", "Sink it."))
    await rested(() => listeners() === before)
    assert.strictEqual((await chat.answers("desk", "nothing")).status, 404)
    assert.strictEqual(listeners(), before)
    await fleet.halt("clerk", "for now")
    await fleet.idle()
    const leaving = new AbortController()
    await fleet.send("desk", "And this?", { id: "waits" })
    const response = await chat.answers("desk", "waits", leaving.signal)
    const events = eventsIn(response)
    assert.strictEqual((await events.next()).value?.type, "RUN_STARTED")
    assert.strictEqual(listeners(), before + 1)
    leaving.abort()
    await rested(() => listeners() === before)
    await server.close()
    await fleet.close()
  })

  test("an approval interrupts the run; after the decision the same run is streamed to its end", async () => {
    await using rig = await aRig({ says: [{ calls: [{ tool: "sink" }] }, { text: "It is done." }] })
    const first = await allIn(await rig.chat.run("desk", "run-1", "Sink it."))
    const outcome = endOf(first)["outcome"] as {
      readonly type: string
      readonly interrupts: ReadonlyArray<{
        readonly id: string
        readonly toolCallId: string
        readonly expiresAt: string
      }>
      readonly pendingToolCallIds: ReadonlyArray<string>
    }
    assert.deepInclude(outcome, { type: "interrupt", pendingToolCallIds: ["1.1.0"] })
    const [interrupt] = outcome.interrupts
    assert.isDefined(interrupt)
    assert.strictEqual(interrupt.toolCallId, "1.1.0")
    assert.isFalse(Number.isNaN(Date.parse(interrupt.expiresAt)))
    assert.notInclude(typesOf(first), "TOOL_CALL_RESULT")
    await rig.fleet.approve("desk", interrupt.id)
    const whole = await allIn(await rig.chat.answers("desk", "run-1"))
    assert.deepInclude(endOf(whole)["outcome"], { type: "success" })
    assert.deepStrictEqual(textsIn(whole), ["It is done."])
    assert.include(typesOf(whole), "TOOL_CALL_RESULT")
  })

  test("A1 what no one knows, or can not be said, is refused; a halted assistant and a failed tick end in an error", async () => {
    await using rig = await aRig({ assistant: { maxContextTokens: 10, reservedResponseTokens: 5 } })
    assert.strictEqual((await rig.chat.answers("desk", "nothing")).status, 404)
    assert.strictEqual((await rig.chat.answers("nobody", "nothing")).status, 404)
    assert.strictEqual((await rig.chat.run("nobody", "run-1", "Hello?")).status, 404)
    assert.strictEqual((await rig.chat.run("desk", "run-0", [{ type: "image" }])).status, 400)
    assert.strictEqual((await rig.chat.answers("desk", "run-0")).status, 404)
    const failed = await allIn(await rig.chat.run("desk", "run-1", [{ type: "text", text: "Hello?" }]))
    assert.deepInclude(endOf(failed), { type: "RUN_ERROR", code: "dead" })
    await rig.fleet.halt("clerk", "for now")
    await rig.fleet.idle()
    const halted = await allIn(await rig.chat.run("clerk", "run-2", "Hello?"))
    assert.deepInclude(endOf(halted), { type: "RUN_ERROR", code: "halted" })
  })

  test("T4 a run that ran out of steps or of budget is an error with its reason, after all it had said", async () => {
    const more = { text: "I look again.", calls: [{ tool: "look", arguments: { at: "sea" } }] }
    const ends = [
      { assistant: { maxSteps: 2 }, code: "max-iterations", message: /as many model calls as one tick may/ },
      { assistant: { budget: { calls: 1 } }, code: "cut", message: /budget was used up/ }
    ]
    for (const { assistant, code, message } of ends) {
      await using rig = await aRig({ assistant, says: [more, more, more] })
      const events = await allIn(await rig.chat.run("desk", "run-1", "What is there?"))
      const end = endOf(events)
      assert.deepInclude(end, { type: "RUN_ERROR", code })
      assert.match(String(end["message"]), message)
      assert.include(String(Reflect.get(end["result"] as object, "reply")), "I look again.")
      assert.strictEqual(textsIn(events)[0], "I look again.")
      assert.deepStrictEqual(endOf(await allIn(await rig.chat.answers("desk", "run-1"))), { ...end })
    }
  })

  test("T4 an answer that a hook refused is in no event of its run, and one that never passes is an error with the reason", async () => {
    const hooks = {
      afterModel: ({ text }: { readonly text: string }) => (/\d/.test(text) ? { refuse: "No numbers." } : undefined)
    }
    const says = ["Berth 7.", "Berth seven.", "Berth 7."].map((text) => ({ text }))
    await using rig = await aRig({ says, assistant: { hooks } })
    const events = await allIn(await rig.chat.run("desk", "run-1", "Which berth?"))
    assert.deepStrictEqual(textsIn(events), ["Berth seven."])
    assert.notInclude(JSON.stringify(events), "Berth 7")
    const failed = await allIn(await rig.chat.run("desk", "run-2", "And now?"))
    assert.deepInclude(endOf(failed), { type: "RUN_ERROR", code: "refused", result: { outcome: "refused", reply: "" } })
    assert.strictEqual(endOf(failed)["message"], "a hook let its answer not pass: No numbers.")
    assert.notInclude(JSON.stringify(failed), "Berth 7")
    assert.deepStrictEqual(endOf(await allIn(await rig.chat.answers("desk", "run-2"))), { ...endOf(failed) })
  })

  test("T4 an answer in a form stands in the end of its run as JSON; one that never fits is an error with what does not", async () => {
    const output = { type: "object", properties: { berth: { type: "number" } }, required: ["berth"] }
    const [fits, wrong] = ['{"berth":7}', '{"berth":"7"}']
    await using rig = await aRig({ says: [wrong, fits, wrong].map((text) => ({ text })) })
    const events = await allIn(await rig.chat.run("desk", "run-1", "Which berth?", undefined, { output }))
    assert.deepStrictEqual(textsIn(events), [wrong, fits])
    assert.deepStrictEqual(endOf(events)["result"], { outcome: "answered", reply: fits, output: { berth: 7 } })
    assert.deepStrictEqual(
      endOf(await allIn(await rig.chat.answers("desk", "run-1")))["result"],
      endOf(events)["result"]
    )
    const forwarded = { forwardedProps: { output } }
    const failed = endOf(await allIn(await rig.chat.run("desk", "run-2", "And now?", undefined, forwarded)))
    assert.deepInclude(failed, { type: "RUN_ERROR", code: "misshapen", result: { outcome: "misshapen", reply: wrong } })
    assert.strictEqual(failed["message"], "its answer has another form than it must have: berth: must be number")
    assert.strictEqual(
      (await rig.chat.run("desk", "run-3", "Which?", undefined, { output: { type: "array" } })).status,
      400
    )
  })

  test("R2 R1 where nothing is heard of it the run is reported out of the ledger, text by text", async () => {
    const fleet = await openFleet({ tenant: "north", tools: [look, sink], says: [looking, { text: "Two ships." }] })
    Object.assign(fleet, { on: () => () => {} })
    const server = await serve(fleet)
    const events = await allIn(await chatOf(server.url).run("desk", "run-1", "What is there?"))
    assert.deepStrictEqual(textsIn(events), ["Let me see. ", "Two ships."])
    assert.lengthOf(
      events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT"),
      2
    )
    await server.close()
    await fleet.close()
  })

  test("a run that waits behind others, and one that is reported long after, are reported from their own beginning", async () => {
    await using rig = await aRig({ says: [{ text: "one" }, { text: "two" }, { text: "three" }] })
    const runs = ["run-1", "run-2", "run-3"]
    const live = await Promise.all(runs.map(async (run) => allIn(await rig.chat.run("desk", run, run))))
    assert.deepStrictEqual(live.flatMap(textsIn).toSorted(), ["one", "three", "two"])
    const later = await Promise.all(runs.map(async (run) => allIn(await rig.chat.answers("desk", run))))
    assert.deepStrictEqual(later.map(textsIn), live.map(textsIn))
  })

  test("O2 a server that closes ends what it tells, in the middle; another one tells it again", async () => {
    const held = gate()
    const wait = defineTool({ name: "wait", description: "Waits.", run: () => held.promise.then(() => "seen") })
    const fleet = await openFleet({ tenant: "north", tools: [wait], says: [waiting, { text: "Two ships." }] })
    const first = await serve(fleet)
    const events = eventsIn(await chatOf(first.url).run("desk", "run-1", "Look."))
    const seen: Array<Told> = []
    while (seen.at(-1)?.type !== "TOOL_CALL_END") seen.push((await events.next()).value as Told)
    const closing = first.close()
    for await (const event of events) seen.push(event)
    assert.notInclude(typesOf(seen), "RUN_FINISHED")
    await closing
    held.resolve()
    const second = await serve(fleet)
    const told = await allIn(await chatOf(second.url).answers("desk", "run-1"))
    assert.deepStrictEqual(textsIn(told), ["Let me see. ", "Two ships."])
    await second.close()
    await fleet.close()
  })

  test("I4 of ask: a team's run ends with the answer of the team", async () => {
    const members = ["ada", "bo"].map((id) => defineAssistant({ id, instructions: "You are under test." }))
    const council = defineTeam({
      id: "council",
      members: members.map((assistant) => ({ assistant })),
      pattern: "round-robin"
    })
    const fleet = await openFleet({
      tenant: "north",
      says: [{ text: HOSTILE }],
      fleet: defineFleet({ assistants: members, teams: [council] })
    })
    const server = await serve(fleet)
    const chat = chatOf(server.url)
    const first = await allIn(await chat.run("council", "run-1", "One?"))
    assert.deepStrictEqual(textsIn(first), [HOSTILE])
    const again = await allIn(await chat.answers("council", "run-1"))
    assert.deepStrictEqual(textsIn(again), [HOSTILE])
    await server.close()
    await fleet.close()
  })

  test("D1 a run of another tenant is unknown, no matter who knows its name", async () => {
    await using rig = await aRig({ says: [{ text: HOSTILE }] })
    await rig.fleet.forTenant("south").create("desk")
    await allIn(await rig.chat.run("desk", "run-1", "Hello?"))
    const south = chatOf(rig.server.url, "south")
    assert.strictEqual((await south.answers("desk", "run-1")).status, 404)
    const own = await allIn(await south.run("desk", "run-1", "Hello?"))
    assert.notInclude(JSON.stringify(own), "north")
    assert.strictEqual((await fetch(`${rig.server.url}/v1/assistants/desk/answers/run-1`)).status, 401)
    assert.strictEqual(
      (await fetch(`${rig.server.url}/v1/agui/desk`, { method: "POST", headers: headersOf("west"), body: "{}" }))
        .status,
      401
    )
  })
})

/** Waits until something is so. */
const rested = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}
