import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { later } from "@reverie/testkit/later"
import {
  AnswerFailed,
  AnswerLate,
  ApprovalUnknown,
  defineAssistant,
  DefinitionMissing,
  defineFleet,
  defineTeam,
  defineTool,
  EnvelopeInvalid,
  Fleet,
  FleetDefinitionInvalid,
  IdReused,
  type SendOptions,
  type TeamPattern
} from "../src/index.ts"
import { aDirectory, all, calling, failureOf, gate, openFleet } from "./rig.ts"

const look = defineTool({ name: "look", description: "Looks.", run: () => "seen" })
const sign = defineTool({ name: "sign", description: "Signs.", needsApproval: true, run: () => "signed" })

const opened = async (options: Parameters<typeof openFleet>[0] = {}) => {
  const fleet = await openFleet(options)
  later(() => fleet.close())
  return fleet
}

const waiting = async (fleet: Fleet, id = "desk") => (await fleet.inspect(id))?.waiting

describe("what a user sends", () => {
  it.each([
    ["an empty text", ["", {}], "the text of the message is empty"],
    ["a text of blanks", [" \n\t", {}], "the text of the message is empty"],
    ["an option that there is not", ["Hi.", { idd: "k" }], 'there is no option "idd"; there are id, from, blocks'],
    ["a time that is none", ["Hi.", { timeoutMs: -1 }], "timeoutMs must be a whole number of at least 1, and is -1"],
    [
      "a kind of context that there is not",
      ["Hi.", { context: "plan" }],
      'desk has no context "plan"; there are tick_event'
    ]
  ] as const)(
    "judged J1 %s is refused in one sentence, and nothing is accepted",
    async (_, [text, options], sentence) => {
      const fleet = await opened()
      const failure = await failureOf(fleet.send("desk", text, options as SendOptions))
      assert.instanceOf(failure, EnvelopeInvalid)
      assert.strictEqual(failure.recovery, "tell-owner")
      assert.include(failure.message, sentence)
      assert.strictEqual(await waiting(fleet), 0)
      assert.isEmpty((await fleet.history.ticks("desk")).ticks)
    }
  )

  it("judged J1 a message that is one object is refused in one sentence", async () => {
    const fleet = await opened()
    const failure = await failureOf(fleet.answer("desk", { text: "Hi.", parts: [] } as unknown as string))
    assert.instanceOf(failure, EnvelopeInvalid)
    assert.strictEqual(
      failure.message,
      "the text of a message is a string, and this is object; parts stand beside the text"
    )
  })

  it("judged J1 a field that no event has is refused, and not left out", async () => {
    const fleet = await opened()
    const event = { type: "message" as const, text: "Hi.", chanel: "ops" }
    const failure = await failureOf(fleet.post("desk", event))
    assert.instanceOf(failure, EnvelopeInvalid)
    assert.strictEqual(failure.message, 'an event of the type message has no "chanel"')
  })

  it("judged J2 an id with another text is refused, with the same one a duplicate", async () => {
    const fleet = await opened()
    await fleet.answer("desk", "One.", { id: "k" })
    const failure = await failureOf(fleet.answer("desk", "Two.", { id: "k" }))
    assert.instanceOf(failure, IdReused)
    assert.deepInclude(failure, { id: "k", assistant: "desk", recovery: "tell-owner" })
    assert.strictEqual((await fleet.send("desk", "One.", { id: "k" })).outcome, "duplicate")
    assert.strictEqual(await fleet.answer("desk", "One.", { id: "k" }), "Good morning.")
    assert.strictEqual((await fleet.send("clerk", "Two.", { id: "k" })).outcome, "accepted")
    assert.instanceOf(await failureOf(fleet.send("desk", "One.", { id: "k", from: "ann" })), IdReused)
  })

  it("judged J3 what is sent together is accepted in the order of the calls, whatever judging each takes", async () => {
    const fleet = await opened()
    await Promise.all([
      fleet.send("desk", "First.", { id: "first" }),
      fleet.sleep("desk", { id: "second" }),
      fleet.send("desk", "Third.", { id: "third" })
    ])
    await fleet.idle()
    const taken = (await fleet.history.entries("desk", 1, 100)).flatMap(({ entry: { cause } }) =>
      cause.kind === "envelope" ? [cause.id] : []
    )
    assert.deepStrictEqual(taken, ["first", "second", "third"])
  })

  it("judged J1 an approval that names nothing is refused with those that wait; the same decision twice is one", async () => {
    const fleet = await opened({ tools: [sign], says: [calling("sign"), { text: "Signed." }] })
    const none = await failureOf(fleet.approve("desk", "nothing"))
    assert.instanceOf(none, ApprovalUnknown)
    assert.include(none.message, 'desk asks for no approval "nothing": nothing waits for approval')
    const answer = fleet.answer("desk", "Sign.")
    const { approval } = await new Promise<{ approval: string }>((resolve) => fleet.on("approval-asked", resolve))
    const wrong = await failureOf(fleet.deny("desk", "nothing"))
    assert.instanceOf(wrong, ApprovalUnknown)
    assert.deepStrictEqual([...wrong.open], [approval])
    assert.strictEqual((await fleet.approve("desk", approval, { id: "yes" })).outcome, "accepted")
    assert.strictEqual(await answer, "Signed.")
    assert.strictEqual((await fleet.approve("desk", approval, { id: "yes" })).outcome, "duplicate")
    assert.instanceOf(await failureOf(fleet.deny("desk", approval)), ApprovalUnknown)
  })

  it("judged J5 of two decisions about one approval the first is accepted, whenever the second comes, and the same once more is a duplicate", async () => {
    const asks = calling("sign")
    const fleet = await opened({
      tools: [sign],
      says: [asks, { text: "One." }, asks, { text: "Two." }, asks, { text: "Three." }]
    })
    const asked = async () => {
      await fleet.send("desk", "Sign.")
      await fleet.idle()
      return (await fleet.approvals.list("desk"))[0]?.approval ?? ""
    }
    const outcomes = (decisions: ReadonlyArray<Promise<{ readonly outcome: string }>>) =>
      Promise.all(
        decisions.map((each) =>
          each.then(
            ({ outcome }) => outcome,
            (error: Error) => `${error.name}: ${error.message}`
          )
        )
      )
    const race = await asked()
    const late = `ApprovalUnknown: desk: ${race} was decided already`
    const both = [fleet.approve("desk", race, { from: "ann" }), fleet.deny("desk", race, { from: "bob" })]
    assert.deepStrictEqual(await outcomes(both), ["accepted", late])
    await fleet.idle()
    assert.deepStrictEqual(await outcomes([fleet.deny("desk", race), fleet.approve("desk", race, { from: "ann" })]), [
      late,
      "duplicate"
    ])
    const held = await asked()
    await fleet.halt("desk", "wait")
    assert.strictEqual((await fleet.deny("desk", held, { note: "closed" })).outcome, "accepted")
    assert.strictEqual((await fleet.deny("desk", held, { note: "closed" })).outcome, "duplicate")
    const decided = `ApprovalUnknown: desk: ${held} was decided already`
    assert.deepStrictEqual(await outcomes([fleet.approve("desk", held), fleet.approve("desk", held, { id: "own" })]), [
      decided,
      decided
    ])
    await fleet.resume("desk")
    const own = await asked()
    await fleet.halt("desk", "wait")
    assert.strictEqual((await fleet.approve("desk", own, { id: "mine" })).outcome, "accepted")
    assert.include((await outcomes([fleet.deny("desk", own)]))[0], "was decided already")
    await fleet.resume("desk")
    await fleet.idle()
    assert.deepStrictEqual(
      (await fleet.history.ticks("desk")).ticks.map(({ tools }) => tools[0]?.ok),
      [true, false, true]
    )
  })
})

describe("what a user defines", () => {
  const desk = defineAssistant({ id: "desk", instructions: "You are under test." })
  const team = { id: "council", members: [{ assistant: desk }], pattern: "round-robin" } as const
  const tool = { name: "look", description: "Looks.", run: () => "seen" }
  const pattern = (more: object) => () => defineTeam({ ...team, pattern: more as TeamPattern })

  it.each<readonly [string, () => unknown, string]>([
    [
      "defineFleet",
      () => defineFleet({ assistents: [desk] } as never),
      'fleet: defineFleet has no "assistents"; there are assistants, teams, defaultAssistant, hooks, model, models, tenants, prices; did you mean "assistants"?'
    ],
    [
      "a price",
      () =>
        defineFleet({
          assistants: [desk],
          prices: { "*": { inputMicros: 1, outputMicros: 1, cacheMicros: 1 } as never }
        }),
      'fleet: the price of "*" has no "cacheMicros"; there are inputMicros, cachedInputMicros, outputMicros'
    ],
    [
      "a limit of a tenant",
      () => defineFleet({ assistants: [desk], tenants: { north: { callsPerMinut: 1 } as never } }),
      'fleet: the tenant "north" has the unknown limit "callsPerMinut"; there are callsPerMinute, callsPerDay'
    ],
    [
      "defineTeam",
      () => defineTeam({ ...team, answerMillis: 5 } as never),
      'team "council": defineTeam has no "answerMillis"; there are id, members, pattern, answerMs, maxAsks; did you mean "answerMs"?'
    ],
    [
      "a member",
      () => defineTeam({ ...team, members: [{ assistant: desk, rol: "member" } as never] }),
      'team "council": its members have no "rol"; there are assistant, role, domain, capabilities, model; did you mean "role"?'
    ],
    [
      "a pattern",
      pattern({ type: "voting", quorom: 1 }),
      'team "council": its pattern has no "quorom"; there are type, choices, quorum, deadlineMs, tieBreaker, decider; did you mean "quorum"?'
    ],
    [
      "a stage",
      pattern({ type: "pipeline", stages: [{ member: "desk", retry: 2 }] }),
      'team "council": its pattern.stages have no "retry"; there are member, instruction, onFailure, retries, timeoutMs'
    ],
    [
      "a trigger",
      pattern({ type: "sleep-time", watcher: "desk", triggers: [{ type: "messages", counts: 2 }] }),
      'team "council": its pattern.triggers have no "counts"; there are type, count; did you mean "count"?'
    ],
    [
      "defineTool",
      () => defineTool({ ...tool, timeout: 5 } as never),
      'tool "look": it has no "timeout"; there are name, description, input, needsApproval, final, background, timeoutMs, '
    ],
    [
      "the cache of a tool",
      () => defineTool({ ...tool, cache: { scope: "ttl", ttlMillis: 5, ttlMs: 5 } as never }),
      'tool "look": its cache has no "ttlMillis"; there are scope, ttlMs'
    ],
    [
      "the process of a tool",
      () => defineTool({ ...tool, isolate: { memoryMB: 64 }, run: new URL("file:///look.js") } as never),
      'tool "look": its isolate has no "memoryMB"; there are memoryMb; did you mean "memoryMb"?'
    ]
  ])("judged J4 a name that %s does not have is refused with the nearest that it has", (_, define, sentence) => {
    assert.throws(define, new RegExp(sentence.replaceAll(/[.*?"()]/g, "\\$&")))
  })

  it.each<readonly [string, object, string]>([
    [
      "an option",
      { dat: ":memory:" },
      'fleet: Fleet.open has no "dat"; there are fleet, role, tenant, worker, onError, onNotice, data, deployment, model, '
    ],
    ["its meaning", { dat: ":memory:" }, 'did you mean "data"?'],
    [
      "the worker",
      { worker: { leaseMillis: 5 } },
      'fleet: its worker has no "leaseMillis"; there are concurrency, leaseMs'
    ],
    [
      "the deployment",
      { deployment: { databse: "x" } },
      'fleet: its deployment has no "databse"; there are database, '
    ],
    [
      "tracing",
      { traceContent: { maxChar: 5 } },
      'fleet: its traceContent has no "maxChar"; there are maxChars; did you'
    ],
    ["a role", { role: "wroker" }, 'fleet: its role must be all, api or worker, and is "wroker"'],
    ["durability", { durability: "none" }, 'fleet: its durability must be full or normal, and is "none"']
  ])("judged J4 %s that Fleet.open does not have is refused, and nothing is opened", async (_, options, sentence) => {
    const fleet = defineFleet({ assistants: [desk] })
    const failure = await failureOf(Fleet.open({ fleet, data: ":memory:", model: "offline", ...options }))
    assert.instanceOf(failure, FleetDefinitionInvalid)
    assert.include(failure.message, sentence)
  })

  it("judged J4 what is undefined was left out, and a pattern of one's own has what it likes", async () => {
    const own = { name: "own", type: "voting", more: 1, begin: () => ({ asks: [] }), answered: () => ({ asks: [] }) }
    assert.strictEqual(defineTeam({ ...team, pattern: own as never }).team.pattern.name, "own")
    const fleet = defineFleet({ assistants: [desk], teams: undefined, other: undefined } as never)
    await (await Fleet.open({ fleet, data: ":memory:", model: "offline", nothing: undefined } as never)).close()
    assert.strictEqual(defineTool({ ...tool, more: undefined } as never).name, "look")
  })
})

describe("an answer", () => {
  it("ask I6 running out of steps is an end of its own, with what was said, and no success", async () => {
    const fleet = await opened({
      tools: [look],
      says: () => Effect.succeed({ text: "thinking... ", calls: [{ tool: "look" }] })
    })
    const last = (await all(fleet.ask("desk", "Go."))).at(-1)
    assert.deepInclude(last, { type: "stopped", outcome: "max-iterations", reply: "thinking... " })
    const failure = await failureOf(fleet.answer("desk", "Go."))
    assert.instanceOf(failure, AnswerFailed)
    assert.deepInclude(failure, { code: "StepsSpent", reply: "thinking... " })
  })

  it("ask I6 running out of budget is an end of its own", async () => {
    const assistant = { budget: { calls: 1 } }
    const fleet = await opened({ assistant, tools: [look], says: () => Effect.succeed(calling("look")) })
    const failure = await failureOf(fleet.answer("desk", "Go."))
    assert.instanceOf(failure, AnswerFailed)
    assert.strictEqual(failure.code, "BudgetSpent")
    assert.deepInclude((await all(fleet.ask("desk", "Go on."))).at(-1), { type: "stopped", outcome: "cut" })
  })

  it("ask I5 waits no longer than its signal or its time; the same id reads the answer", async () => {
    const door = gate()
    const fleet = await opened({
      says: () =>
        Effect.as(
          Effect.promise(() => door.passed),
          { text: "At last." }
        )
    })
    const late = await failureOf(fleet.answer("desk", "Hi.", { id: "k", timeoutMs: 20 }))
    assert.instanceOf(late, AnswerLate)
    assert.deepInclude(late, { id: "k", timeoutMs: 20, recovery: "retry" })
    const leaving = new AbortController()
    const left = failureOf(fleet.answer("desk", "Hi.", { id: "k", signal: leaving.signal }))
    leaving.abort(new Error("the client has gone"))
    assert.strictEqual((await left).message, "the client has gone")
    const gone = AbortSignal.abort(new Error("gone before"))
    assert.strictEqual((await failureOf(fleet.answer("desk", "Unsent.", { signal: gone }))).message, "gone before")
    door.open()
    assert.strictEqual(await fleet.answer("desk", "Hi.", { id: "k", timeoutMs: 60_000 }), "At last.")
    assert.lengthOf((await fleet.history.ticks("desk")).ticks, 1)
  })

  it("judged J1 an assistant whose definition is gone refuses with that reason, and keeps what waits", async () => {
    const data = aDirectory()
    const clerk = defineAssistant({ id: "clerk", instructions: "You are under test." })
    const desk = defineAssistant({ id: "desk", instructions: "You are under test." })
    const both = await Fleet.open({ data, model: "offline", fleet: defineFleet({ assistants: [clerk, desk] }) })
    await both.halt("desk", "for a while")
    await both.send("desk", "Kept.")
    await both.close()
    const one = await Fleet.open({ data, model: "offline", fleet: defineFleet({ assistants: [clerk] }) })
    for (const failure of [
      await failureOf(one.answer("desk", "Hi.")),
      await failureOf(all(one.ask("desk", "Hi."))),
      await failureOf(one.send("desk", "Hi."))
    ]) {
      assert.instanceOf(failure, DefinitionMissing)
      assert.include(failure.message, 'default/desk was created from the definition "desk", which this process')
    }
    assert.strictEqual(await waiting(one), 1)
    await one.close()
    const again = await Fleet.open({ data, model: "offline", fleet: defineFleet({ assistants: [clerk, desk] }) })
    later(() => again.close())
    await again.resume("desk")
    await again.idle()
    assert.strictEqual(await waiting(again), 0)
    const { ticks } = await again.history.ticks("desk")
    assert.isTrue(ticks.some((tick) => JSON.stringify(tick).includes("Kept.")))
  })
})

describe("the tokenizer", () => {
  it("js-tiktoken can be chosen, and counts what the default counts; another name is refused", async () => {
    const tokensOf = async (fleet: Fleet) => {
      later(() => fleet.close())
      await fleet.answer("desk", "How many tokens are in this, exactly?")
      const rows = await fleet.history.entries("desk")
      return rows.flatMap(({ entry }) => entry.messages.map(({ tokens }) => tokens))
    }
    const chosen = await tokensOf(await openFleet({ tokenizer: "js-tiktoken" }))
    assert.deepStrictEqual(chosen, await tokensOf(await openFleet()))
    assert.isAbove(chosen[0] ?? 0, 5)
    const failure = await failureOf(openFleet({ tokenizer: "tiktoken" as never }))
    assert.strictEqual(failure.message, 'fleet: its tokenizer must be gpt-tokenizer or js-tiktoken, and is "tiktoken"')
  })
})
