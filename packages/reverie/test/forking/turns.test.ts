// Ticks whose way is crooked: a model that failed, a halt in between, a task that was handed on, an approval, a later report.

import { assert, describe, test } from "@effect/vitest"
import { CallWithheld, type Model, ModelUnavailable, type Prompt } from "@reverie/model"
import type { EnvelopeId, Entry } from "@reverie/protocol"
import { scriptedModel, type Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { rebuiltEnvelope } from "../../src/forking/tick-source.ts"
import {
  type AssistantOptions,
  defineAssistant,
  defineFleet,
  defineTool,
  Fleet,
  forkTick,
  promptsOfTick
} from "../../src/index.ts"
import { gate } from "../rig.ts"

const LIMIT = 120_000

const clerkWith = (options: Partial<AssistantOptions> = {}) =>
  defineFleet({ assistants: [defineAssistant({ id: "clerk", instructions: "You are under test.", ...options })] })

const open = (fleet: ReturnType<typeof clerkWith>, script: Script) => {
  const { model, prompts } = scriptedModel(script)
  return Fleet.open({ fleet, data: ":memory:", model }).then((opened) => ({ opened, model, prompts }))
}

/** Unchanged it is equal, with a model that answers as it did then; its prompts are those that were sent. */
const assertSame = async (opened: Fleet, fleet: ReturnType<typeof clerkWith>, tick: number, sent: number) => {
  const fork = await forkTick(opened, fleet, { assistant: "clerk", tick, model: "recorded" })
  assert.deepStrictEqual(fork.differs, [])
  const prompts = await promptsOfTick(opened, fleet, { assistant: "clerk", tick })
  assert.strictEqual(prompts.length, sent)
  for (const prompt of prompts) {
    assert.isUndefined(prompt.diverged)
    assert.isTrue(prompt.exact)
  }
  return prompts
}

describe("a tick on a crooked way", () => {
  test("a model that failed and was asked again", { timeout: LIMIT }, async () => {
    const fleet = clerkWith({ settings: { retryMinMs: 5, retryMaxMs: 10 } })
    const failing = new ModelUnavailable({ provider: "test", kind: "network", message: "no line" })
    const { opened } = await open(fleet, (_, call) =>
      call === 1 ? Effect.fail(failing) : Effect.succeed({ text: "Yes." })
    )
    assert.strictEqual(await opened.answer("clerk", "Are you there?"), "Yes.")
    const prompts = await assertSame(opened, fleet, 1, 2)
    assert.deepStrictEqual(
      prompts.map(({ attempt, iteration }) => [iteration, attempt]),
      [
        [1, 0],
        [1, 1]
      ]
    )
    assert.isTrue((await opened.replay.verify("clerk")).equal)
    await opened.close()
  })

  test("a call that was never sent, because its server was known to be away", { timeout: LIMIT }, async () => {
    const fleet = clerkWith({ settings: { retryMinMs: 5, retryMaxMs: 10 } })
    const withheld = new CallWithheld({ provider: "test", message: "away", retryAfterMs: 5 })
    const { opened } = await open(fleet, (_, call) =>
      call <= 2 ? Effect.fail(withheld) : Effect.succeed({ text: "Yes." })
    )
    assert.strictEqual(await opened.answer("clerk", "Are you there?"), "Yes.")
    await assertSame(opened, fleet, 1, 1)
    assert.isTrue((await opened.replay.verify("clerk")).equal)
    await opened.close()
  })

  test("a halt while the model was thinking, and the resuming", { timeout: LIMIT }, async () => {
    const fleet = clerkWith()
    const asked = gate()
    const { opened } = await open(fleet, (_, call) => {
      if (call > 1) return Effect.succeed({ text: "Now I can." })
      asked.open()
      return Effect.never
    })
    await opened.send("clerk", "Can you?")
    await asked.passed
    await opened.halt("clerk", "a drill")
    while ((await opened.inspect("clerk"))?.state.status !== "halted") await new Promise((next) => setTimeout(next, 5))
    await opened.resume("clerk")
    await opened.idle()
    const prompts = await promptsOfTick(opened, fleet, { assistant: "clerk", tick: 1 })
    assert.deepStrictEqual(
      prompts.map(({ diverged, exact }) => ({ diverged, exact })),
      [{ diverged: undefined, exact: true }]
    )
    // The halt is no one's to give again: the fork goes straight on.
    const fork = await forkTick(opened, fleet, { assistant: "clerk", tick: 1, model: "recorded" })
    assert.strictEqual(fork.forked.reply, "Now I can.")
    assert.isTrue((await opened.replay.verify("clerk")).equal)
    await opened.close()
  })

  test("a task that was handed on, and its report", { timeout: LIMIT }, async () => {
    const fleet = clerkWith({ subAgents: { budget: { tokens: 9_000 } } })
    const isChild = ({ messages }: Prompt): boolean =>
      messages.some(({ content, role }) => role === "system" && content.includes("finish_task"))
    const { opened } = await open(fleet, (prompt) => {
      if (isChild(prompt)) return Effect.succeed({ text: "Nine ships." })
      return Effect.succeed(
        prompt.messages.at(-1)?.role === "tool"
          ? { text: `They say: ${prompt.messages.at(-1)?.content}` }
          : { calls: [{ tool: "delegate_task", arguments: { task: "Count the ships" } }] }
      )
    })
    assert.include(await opened.answer("clerk", "How many ships?"), "Nine ships.")
    await opened.idle()
    await assertSame(opened, fleet, 1, 2)
    for (const { id } of await opened.views()) assert.isTrue((await opened.replay.verify(id)).equal)
    await opened.close()
  })

  test("a call that a person agreed to, and one whose result came later", { timeout: LIMIT }, async () => {
    let runs = 0
    const survey = defineTool({
      name: "survey",
      description: "Asks a diver.",
      background: true,
      run: () => "asked"
    })
    const blast = defineTool({
      name: "blast",
      description: "Blows something up.",
      needsApproval: true,
      run: () => `boom ${++runs}`
    })
    const fleet = clerkWith({ tools: [survey, blast] })
    const { opened } = await open(fleet, (_, call) =>
      Effect.succeed(
        call === 1 ? { calls: [{ tool: "blast" }] } : call === 2 ? { calls: [{ tool: "survey" }] } : { text: "Done." }
      )
    )
    await opened.send("clerk", "Clear the wreck.")
    await opened.idle()
    const [approval] = (await opened.views())[0]?.approvals ?? []
    await opened.approve("clerk", approval?.approval ?? "")
    await opened.idle()
    await opened.post("clerk", { type: "report", tool: "survey", outcome: "reported", content: "All clear." })
    await opened.idle()
    await assertSame(opened, fleet, 1, 3)
    const fork = await forkTick(opened, fleet, { assistant: "clerk", tick: 1, model: "recorded" })
    assert.deepStrictEqual(
      fork.forked.calls.map(({ result }) => result),
      ["boom 1", "All clear."]
    )
    assert.strictEqual(runs, 1)
    await opened.close()
  })
})

describe("an envelope that is kept no more", () => {
  const to = { tenant: "default", assistant: "clerk" } as never
  const entry: Entry = {
    v: 1,
    no: 2,
    at: 5,
    epoch: 1,
    tick: 1,
    iteration: 1,
    cause: { kind: "creation" },
    event: null,
    status: "awake.idle",
    messages: [{ role: "user", content: "Hello", name: "kim", at: 5, tokens: 1, blocks: ["b"] }]
  }
  const rebuilt = (event: Entry["event"], messages = entry.messages) =>
    rebuiltEnvelope(to, "e" as EnvelopeId, { ...entry, event, messages })

  test("S2 is made again from what was written of it", () => {
    assert.deepInclude(rebuilt({ type: "message", hops: 3 }), { from: "kim", hops: 3 })
    assert.deepStrictEqual(rebuilt({ type: "message" })?.event, { type: "message", text: "Hello", blocks: ["b"] })
    const clock = [{ role: "user", content: "[timer tea] Drink.", name: "clock", at: 5, tokens: 1 }] as const
    assert.deepStrictEqual(rebuilt({ type: "timer", name: "tea" }, clock)?.event, {
      type: "timer",
      name: "tea",
      note: "Drink."
    })
    assert.deepStrictEqual(rebuilt({ type: "approval", decision: "approved", approval: "apr" }, [])?.event, {
      type: "approval",
      decision: "approved"
    })
    assert.deepInclude(rebuilt({ type: "halt", reason: "a drill" }, [])?.event, { reason: "a drill" })
    assert.isUndefined(rebuilt({ type: "sleep" }, []))
    assert.isUndefined(rebuilt(null, []))
  })
})

type Serves = NonNullable<Model["Service"]["serves"]>

/** A model of some name and kind, and what it was sent. */
const served = (serves: Partial<Serves>, script: Script) => {
  const { model, prompts } = scriptedModel(script)
  return { model: { ...model, serves: { provider: "test", model: "test", ...serves } }, prompts }
}

interface Case {
  readonly assistant?: Partial<AssistantOptions>
  readonly serves: Partial<Serves>
  readonly script?: Script
  readonly says: ReadonlyArray<string>
  readonly prepare?: (opened: Fleet) => Promise<unknown>
}

const content: Script = () => Effect.succeed({ text: "Yes." })

/** The prompts of the last tick as they were sent, as they are made again, and as a fork sends them to another model. */
const threeTimes = async ({ assistant = {}, prepare, says, script = content, serves }: Case) => {
  const fleet = clerkWith(assistant)
  const first = served(serves, script)
  await using opened = await Fleet.open({ fleet, data: ":memory:", model: first.model })
  await prepare?.(opened)
  for (const said of says.slice(0, -1)) await opened.answer("clerk", said)
  const before = first.prompts.length
  await opened.answer("clerk", says.at(-1) ?? "")
  const sent = first.prompts.slice(before)
  const request = { assistant: "clerk", tick: says.length }
  const again = await promptsOfTick(opened, fleet, request)
  assert.deepStrictEqual(
    again.map(({ exact, messages }) => [exact, messages.map(({ content, role }) => [role, content])]),
    sent.map(({ messages }) => [true, messages.map(({ content, role }) => [role, content])])
  )
  assert.deepStrictEqual((await forkTick(opened, fleet, { ...request, model: "recorded" })).differs, [])
  const same = served(serves, script)
  assert.deepStrictEqual((await forkTick(opened, fleet, { ...request, model: same.model })).differs, [])
  assert.strictEqual(JSON.stringify(same.prompts), JSON.stringify(sent))
  const other = served({ model: "other" }, script)
  await forkTick(opened, fleet, { ...request, model: other.model })
  return { sent, other: other.prompts }
}

describe("a tick with a model that is no ordinary one", () => {
  const look = defineTool({ name: "look", description: "Looks over the harbour.", run: () => "Two ships." })
  const looking: Script = ({ messages }) =>
    Effect.succeed(messages.at(-1)?.role === "tool" ? { text: "Two." } : { calls: [{ tool: "look" }] })

  test("F112 one that is asked for tool calls in JSON is sent the same again", { timeout: LIMIT }, async () => {
    const says = ["How many?", "And now?"]
    const { other, sent } = await threeTimes({
      assistant: { tools: [look] },
      serves: { tools: "json" },
      script: looking,
      says
    })
    assert.lengthOf(sent, 2)
    assert.isTrue(sent.every(({ describesTools }) => describesTools === true))
    assert.include(sent[0]?.messages[0]?.content, "Looks over the harbour.")
    // A fork with a model that knows tool calls is one with another prompt.
    assert.isUndefined(other[0]?.describesTools)
    assert.notInclude(other[0]?.messages[0]?.content, "Looks over the harbour.")
  })

  test("F104 one that has limits of its own is sent the same again", { timeout: LIMIT }, async () => {
    const prompt = { modelOverrides: { small: { maxTokens: 1_000, reservedResponseTokens: 200 } } }
    const long = `Which berth? ${"The tide is fair. ".repeat(400)}`
    const { other, sent } = await threeTimes({ assistant: { prompt }, serves: { model: "small" }, says: ["Hi.", long] })
    assert.match(sent[0]?.messages.at(-1)?.content ?? "", /\[cut: \d+ of/)
    assert.strictEqual(other[0]?.messages.at(-1)?.content, long)
  })

  test("F86 one that wants a user's words first is sent the same again", { timeout: LIMIT }, async () => {
    const greeting = { key: "greeting", name: "Greeting", content: "I am here.", role: "assistant", afterStatic: 1000 }
    const { other, sent } = await threeTimes({
      serves: { model: "gemini-3" },
      says: ["Hello?"],
      prepare: ({ prompts }) => prompts.createComponent(greeting)
    })
    const first = ([prompt]: ReadonlyArray<Prompt>) => prompt?.messages.find(({ role }) => role !== "system")?.role
    assert.deepStrictEqual([first(sent), first(other)], ["user", "assistant"])
  })
})
