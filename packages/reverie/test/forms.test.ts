// Answers in a form: typed, checked on both sides of the mailbox, asked for again, refused where there can be none.

import { startModelServer } from "@reverie/testkit/model-server"
import { later } from "@reverie/testkit/later"
import type { Prompt } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { assert, describe, expectTypeOf, test } from "vitest"
import {
  AnswerFailed,
  type AnswerSchema,
  defineAssistant,
  defineFleet,
  defineTeam,
  defineTool,
  EnvelopeInvalid,
  type Event,
  Fleet,
  FleetDefinitionInvalid,
  forkTick,
  IdReused,
  type Part,
  type Parts,
  promptsOfTick
} from "../src/index.ts"
import { aDirectory, all, calling, failureOf, openFleet } from "./rig.ts"

const BERTH = {
  type: "object",
  properties: { berth: { type: "number" }, from: { type: "string" } },
  required: ["berth", "from"]
} as const

const FITTING = { text: '{"berth":7,"from":"noon"}' }
const PROSE = { text: "Berth 7, from noon." }

/** A Standard Schema with a rule that no JSON Schema says, which doubles the berth. */
const evenBerth = {
  "~standard": {
    version: 1,
    vendor: "by-hand",
    validate: (value: unknown) => {
      const { berth } = value as { readonly berth: number }
      return berth % 2 === 0
        ? { value: { twice: berth * 2 } }
        : { issues: [{ message: "must be even", path: ["berth"] }] }
    },
    types: undefined as unknown as { readonly input: { berth: number }; readonly output: { twice: number } },
    jsonSchema: { input: () => BERTH, output: () => BERTH }
  }
} as const satisfies AnswerSchema

const misshapen = async (promise: Promise<unknown>): Promise<AnswerFailed> => {
  const failure = await failureOf(promise)
  assert.instanceOf(failure, AnswerFailed)
  assert.strictEqual(failure.code, "AnswerMisshapen")
  return failure
}

describe("an answer in a form", () => {
  test("has the type of its schema, without a cast", async () => {
    await using fleet = await openFleet({ says: [FITTING] })
    const berth = await fleet.answer("desk", "Which berth?", { output: BERTH })
    expectTypeOf(berth).toEqualTypeOf<{ readonly berth: number; readonly from: string }>()
    assert.deepStrictEqual(berth, { berth: 7, from: "noon" })

    const inPlace = await fleet.answer("desk", "And now?", {
      output: { type: "object", properties: { berth: { enum: [7, 8] } }, required: ["berth"] }
    })
    expectTypeOf(inPlace.berth).toEqualTypeOf<7 | 8>()

    const byEffect = await fleet.answer("desk", "Again?", {
      output: Schema.Struct({ berth: Schema.Number, from: Schema.String })
    })
    expectTypeOf(byEffect).toEqualTypeOf<{ readonly berth: number; readonly from: string }>()

    for await (const part of fleet.ask("desk", "Once more?", { output: BERTH })) {
      if (part.type !== "done") continue
      expectTypeOf(part.output.berth).toEqualTypeOf<number>()
      assert.strictEqual(part.output.from, "noon")
      assert.strictEqual(part.reply, FITTING.text)
    }

    const plain = await fleet.answer("desk", "In words?", { timeoutMs: 60_000 })
    expectTypeOf(plain).toEqualTypeOf<string>()
    expectTypeOf(fleet.ask("desk", "In words?")).toEqualTypeOf<Parts>()
    // @ts-expect-error a form is no text
    assert.instanceOf(await failureOf(fleet.answer("desk", "Which?", { output: "berth" })), EnvelopeInvalid)
  })

  test("passes the caller's own schema, with what that makes of it; what fails there is the same error", async () => {
    await using fleet = await openFleet({ says: [{ text: '{"berth":8,"from":"noon"}' }, FITTING] })
    const { twice } = await fleet.answer("desk", "Which berth?", { output: evenBerth })
    expectTypeOf(twice).toEqualTypeOf<number>()
    assert.strictEqual(twice, 16)
    const failure = await misshapen(fleet.answer("desk", "And now?", { output: evenBerth }))
    assert.strictEqual(failure.reply, FITTING.text)
    assert.strictEqual(
      failure.message,
      "desk gave no whole answer: its answer has another form than it must have: berth: must be even"
    )
    const dated = Schema.Struct({ at: Schema.Date })
    await using other = await openFleet({ says: [{ text: '{"at":"2026-11-24T09:00:00.000Z"}' }] })
    const { at } = await other.answer("desk", "When?", { output: dated })
    expectTypeOf(at).toEqualTypeOf<Date>()
    assert.strictEqual(at.getTime(), Date.UTC(2026, 10, 24, 9))
  })

  test("that does not fit is asked for again, and ends in a typed error after two tries more", async () => {
    const prompts: Array<Prompt> = []
    await using fleet = await openFleet({
      says: (prompt) => {
        prompts.push(prompt)
        return Effect.succeed(PROSE)
      }
    })
    const parts = await all(fleet.ask("desk", "Which berth?", { output: BERTH, id: "q" }) as AsyncIterable<Part>)
    assert.deepInclude(parts.at(-1), { type: "stopped", outcome: "misshapen", reply: PROSE.text })
    assert.lengthOf(prompts, 3)
    assert.include(prompts[1]?.messages.at(-2)?.content, "Your answer was not accepted: the answer: is not JSON")
    const failure = await misshapen(fleet.answer("desk", "Which berth?", { output: BERTH, id: "q" }))
    assert.strictEqual(failure.reply, PROSE.text)
    assert.match(failure.message, /^desk gave no whole answer: its answer has another form .*: the answer: is not JSON/)
    assert.lengthOf(prompts, 3, "asked again under its id, it is answered out of the ledger")
    const [tick] = (await fleet.history.ticks("desk", { limit: 1 })).ticks
    assert.strictEqual(tick?.outcome, "misshapen")
    assert.deepStrictEqual(
      tick?.calls.map(({ misfit }) => misfit?.slice(0, 24)),
      Array.from({ length: 3 }, () => "the answer: is not JSON ")
    )
  })

  test("asked again under its id it is the same; in another form the id stands for another message", async () => {
    await using fleet = await openFleet({ says: [FITTING, PROSE] })
    const once = await fleet.answer("desk", "Which berth?", { output: BERTH, id: "q" })
    assert.deepStrictEqual(await fleet.answer("desk", "Which berth?", { output: BERTH, id: "q" }), once)
    const other = { ...BERTH, required: ["berth"] } as const
    assert.instanceOf(await failureOf(fleet.answer("desk", "Which berth?", { output: other, id: "q" })), IdReused)
    assert.instanceOf(await failureOf(fleet.answer("desk", "Which berth?", { id: "q" })), IdReused)
    const sent = await openFleet({ says: [FITTING] })
    await sent.send("desk", "Which berth?", { output: BERTH, id: "q" })
    assert.deepStrictEqual(await sent.answer("desk", "Which berth?", { output: BERTH, id: "q" }), once)
    await sent.close()
  })

  test("of a definition is every answer of it, checked by the whole schema where it is given", async () => {
    const says = [FITTING, { text: '{"berth":8,"from":"noon"}' }, PROSE]
    await using fleet = await openFleet({ says, assistant: { output: evenBerth } })
    const parts = await all(fleet.ask("desk", "Which berth?"))
    const { usage, ...end } = parts.at(-1) as Extract<Part, { readonly type: "done" }>
    // Seven is odd: the assistant itself was asked again.
    assert.strictEqual(usage?.calls, 2)
    assert.deepStrictEqual(end, {
      type: "done",
      outcome: "answered",
      reply: '{"berth":8,"from":"noon"}',
      output: { berth: 8, from: "noon" }
    })
    assert.deepStrictEqual(fleet.definitions()[0]?.output, BERTH)
    const failure = await misshapen(fleet.answer("desk", "And now?"))
    assert.strictEqual(failure.reply, PROSE.text)
  })

  test("a final tool speaks for the assistant, and must keep to the form itself", async () => {
    const say = (name: string, text: string) =>
      defineTool({ name, description: "Says it.", final: true, run: () => text })
    const tools = [say("right", FITTING.text), say("wrong", PROSE.text)]
    await using fleet = await openFleet({ tools, says: [calling("right"), calling("wrong")] })
    assert.deepStrictEqual(await fleet.answer("desk", "Which berth?", { output: BERTH }), { berth: 7, from: "noon" })
    const failure = await misshapen(fleet.answer("desk", "Which berth?", { output: BERTH }))
    assert.strictEqual(failure.reply, PROSE.text)
  })

  test("reaches a server as response_format, together with tools, and is repaired there", async () => {
    const said = ["I guess it is berth 7.", '{"berth":"7","from":"noon"}', FITTING.text]
    const server = await startModelServer({
      script: ({ messages }) => ({
        text: said[messages.filter(({ role }) => role === "assistant").length] ?? "You are welcome."
      })
    })
    later(() => server.close())
    const tool = defineTool({ name: "look", description: "Looks.", run: () => "nothing" })
    await using fleet = await Fleet.open({
      data: ":memory:",
      model: { baseURL: server.url, model: "harbor-1", apiKey: "none" },
      fleet: defineFleet({
        assistants: [defineAssistant({ id: "desk", instructions: "You assign berths.", tools: [tool] })]
      })
    })
    assert.deepStrictEqual(await fleet.answer("desk", "Which berth?", { output: BERTH }), { berth: 7, from: "noon" })
    assert.lengthOf(server.requests, 3)
    for (const { body, tools } of server.requests) {
      const { response_format: format } = body as { readonly response_format?: unknown }
      const schema = { ...BERTH, additionalProperties: false }
      assert.deepStrictEqual(format, { type: "json_schema", json_schema: { name: "answer", strict: true, schema } })
      assert.include(tools, "look")
    }
    assert.strictEqual(await fleet.answer("desk", "Thank you."), "You are welcome.")
    assert.notProperty(server.requests.at(-1)?.body, "response_format")
  })

  test("the offline stand-in gives one too", async () => {
    const find = defineTool({
      name: "find_berth",
      description: "Finds a free berth for a ship of the given length in metres.",
      input: { type: "object", properties: { metres: { type: "number" } }, required: ["metres"] },
      run: () => "berth 7, from noon"
    })
    await using fleet = await Fleet.open({
      data: ":memory:",
      model: "offline",
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "A desk.", tools: [find] })] })
    })
    const berth = await fleet.answer("desk", "Which berth is free for 34 metres?", { output: BERTH })
    assert.deepStrictEqual(berth, { berth: 7, from: "noon" })
  })

  test("a replay and a fork go through its tick as it was", async () => {
    await using fleet = await openFleet({ says: [PROSE, FITTING], data: aDirectory() })
    await fleet.answer("desk", "Which berth?", { output: BERTH })
    const verdict = await fleet.replay.verify("desk")
    assert.isTrue(verdict.equal, JSON.stringify(verdict))
    const request = { assistant: "desk", tick: 1, model: "recorded" } as const
    const fork = await forkTick(fleet, fleet.definition, request)
    assert.deepStrictEqual(fork.differs, [])
    assert.deepInclude(fork.forked, { outcome: "answered", reply: FITTING.text, modelCalls: 2 })
    const prompts = await promptsOfTick(fleet, fleet.definition, request)
    assert.deepStrictEqual(
      prompts.map(({ exact }) => exact),
      [true, true]
    )
    assert.deepInclude(prompts[0]?.messages.at(-1), { part: { id: 8000, key: "answer_form" }, exact: true })
  })
})

describe("a form that there can not be", () => {
  test("is refused in one sentence, before anything is sent", async () => {
    await using fleet = await openFleet()
    const refusal = async (output: object): Promise<string> => {
      const failure = await failureOf(fleet.answer("desk", "Which?", { output: output as AnswerSchema }))
      assert.instanceOf(failure, EnvelopeInvalid)
      return failure.message
    }
    assert.strictEqual(
      await refusal({ type: "array" }),
      'its output must be an object schema (type "object"), not "array"'
    )
    assert.match(
      await refusal({ ...BERTH, description: "x".repeat(40_000) }),
      /^its output has 40\d+ characters as JSON Schema/
    )
    const mute = { "~standard": { version: 1, vendor: "zod", validate: () => ({ value: {} }) } }
    assert.match(await refusal(mute), /^its output \(zod\) can not show itself as JSON Schema: use zod 4\.2 or newer/)
    const post = async (output: unknown) =>
      (await failureOf(fleet.post("desk", { type: "message", text: "Which?", output } as Event))).message
    assert.strictEqual(
      await post({ type: "array" }),
      'its output must be an object schema (type "object"), not "array"'
    )
    assert.match(await post({ ...BERTH, description: "x".repeat(40_000) }), /at most 32768 characters of JSON/)
    assert.strictEqual((await fleet.views())[0]?.ticks, 0)
  })

  test("is refused of a team, and of a definition that names the assistant", async () => {
    const clerks = ["ann", "ben"].map((id) => defineAssistant({ id, instructions: "A clerk." }))
    const team = defineTeam({
      id: "office",
      pattern: "round-robin",
      members: clerks.map((assistant) => ({ assistant }))
    })
    await using fleet = await Fleet.open({
      data: ":memory:",
      model: "offline",
      fleet: defineFleet({ assistants: clerks, teams: [team] })
    })
    const failure = await failureOf(fleet.answer("group:office", "Which berth?", { output: BERTH }))
    assert.instanceOf(failure, EnvelopeInvalid)
    assert.match(failure.message, /^office is a team, which answers as its members do: ask it without output/)
    const wrong = () => defineAssistant({ id: "desk", instructions: "A desk.", output: { type: "array" } })
    assert.throws(
      wrong,
      FleetDefinitionInvalid,
      'assistant "desk": its output must be an object schema (type "object"), not "array"'
    )
  })
})
