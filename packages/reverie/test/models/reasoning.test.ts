// Reasoning in a life: kept in the ledger, given back to the one that made it, and shown to no one else.

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Message } from "@reverie/protocol"
import { later } from "@reverie/testkit/later"
import { atLength } from "@reverie/testkit/length"
import {
  type ModelRequest,
  refusalOf,
  type Script,
  type ScriptedReply,
  startModelServer
} from "@reverie/testkit/model-server"
import {
  defineAssistant,
  defineFleet,
  defineTool,
  exportFleet,
  Fleet,
  importFleet,
  type ModelChoice
} from "../../src/index.ts"
import { aiSdkModel, type LanguageModel } from "../../src/models/ai-sdk-model.ts"
import { aDirectory } from "../rig.ts"

const look = defineTool({
  name: "look",
  description: "Looks at the berths.",
  input: { type: "object", properties: { berth: { type: "integer" } } },
  run: () => "free"
})

const offers = [{ name: look.name, description: look.description, parameters: { type: "object" } }]

const fleet = defineFleet({
  assistants: [defineAssistant({ id: "desk", instructions: "You assign berths.", tools: [look] })]
})

/** A provider that seals what it thinks, and refuses what others sealed and calls without results. */
interface Provider {
  readonly choice: ModelChoice
  /** Why it refused requests. */
  readonly refused: Array<string>
  asked: number
  /** Sealed thoughts that it was given back. */
  returned: number
  /** True: it does not answer the question behind a call. */
  isAway: boolean
}

// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const sealsIn = (value: unknown): ReadonlyArray<string> =>
  [...JSON.stringify(value).matchAll(/seal-\w+/g)].map(([seal]) => seal)

const providerOf = (choice: (provider: Provider) => ModelChoice): Provider => {
  const provider = { refused: [], asked: 0, returned: 0, isAway: false } as unknown as Provider
  return Object.assign(provider, { choice: choice(provider) })
}

const served = async (name: string, wire: "chat" | "responses"): Promise<Provider> => {
  const reference: { provider?: Provider } = {}
  const seal = `seal-${name}`
  const script: Script = (request: ModelRequest): ScriptedReply => {
    const provider = reference.provider ?? assert.fail("not yet")
    provider.asked++
    const refusal = refusalOf(request, ({ encrypted_content }) => encrypted_content === seal)
    const foreign = sealsIn(request.body).find((each) => each !== seal)
    if (refusal !== undefined || foreign !== undefined) {
      provider.refused.push(refusal ?? `it was shown ${foreign}`)
      return { refuse: provider.refused.at(-1) ?? "" }
    }
    provider.returned += sealsIn(request.body).length
    const thought = { type: "reasoning", id: `rs_${provider.asked}`, summary: [], encrypted_content: seal }
    const isBehindCall = request.messages.at(-1)?.role === "tool"
    if (isBehindCall && provider.isAway) return { refuse: "overloaded", status: 503 }
    return isBehindCall
      ? { text: `Free, says ${name}.`, reasoning: [thought] }
      : { reasoning: [thought], calls: [{ tool: "look", arguments: { berth: provider.asked } }] }
  }
  const server = await startModelServer({ script })
  later(() => server.close())
  reference.provider = providerOf(() => ({ baseURL: server.url, model: name, wire, retries: 0 }))
  return reference.provider
}

/** A part as a stream brings it: of a thought the signature comes last. */
const inParts = (part: Loose): ReadonlyArray<Loose> => {
  if (part.type === "tool-call") return [part]
  const [id, half] = ["0", part.text.length >> 1]
  const delta = (text: string, more: object = {}) => ({ type: `${part.type}-delta`, id, delta: text, ...more })
  return [
    { type: `${part.type}-start`, id },
    delta(part.text.slice(0, half)),
    delta(part.text.slice(half)),
    ...(part.type === "reasoning" ? [delta("", { providerMetadata: part.providerMetadata })] : []),
    { type: `${part.type}-end`, id }
  ]
}

/** As a provider of the AI SDK that signs, like that of Anthropic: it takes its own signatures and no other. */
const signing = (name: string): Provider => {
  const seal = `seal-${name}`
  const answer = (provider: Provider, prompt: ReadonlyArray<Loose>): ReadonlyArray<Loose> => {
    provider.asked++
    const open = new Set<string>()
    const parts = prompt.flatMap(({ content }) => (typeof content === "string" ? [] : content))
    for (const part of parts) {
      if (part.type === "reasoning" && part.providerOptions?.signer?.signature !== seal)
        provider.refused.push("a foreign signature")
      if (part.type === "tool-call") open.add(part.toolCallId)
      if (part.type === "tool-result" && !open.delete(part.toolCallId))
        provider.refused.push("a result without its call")
    }
    if (open.size > 0) provider.refused.push("a call without its result")
    provider.returned += parts.filter(({ type }) => type === "reasoning").length
    if (provider.refused.length > 0) throw Object.assign(new Error(provider.refused.at(-1)), { statusCode: 400 })
    const isBehindCall = prompt.at(-1)?.role === "tool"
    return [
      { type: "reasoning", text: "Let me see.", providerMetadata: { signer: { signature: seal } } },
      isBehindCall
        ? { type: "text", text: `Free, says ${name}.` }
        : { type: "tool-call", toolCallId: "c", toolName: "look", input: JSON.stringify({ berth: provider.asked }) }
    ]
  }
  const usage = { inputTokens: { total: 20 }, outputTokens: { total: 9, reasoning: 4 } }
  return providerOf((provider): LanguageModel => ({
    specificationVersion: "v3",
    provider: "signer.messages",
    modelId: name,
    doGenerate: async ({ prompt }: Loose) => {
      const content = answer(provider, prompt)
      return { content, finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] }
    },
    doStream: async ({ prompt }: Loose) => {
      const parts = answer(provider, prompt).flatMap(inParts)
      return { stream: ReadableStream.from([...parts, { type: "finish", finishReason: { unified: "stop" }, usage }]) }
    }
  }))
}

/** An object with an async `infer` that seals what it thinks: it is given back what it said, and nothing of another. */
const sealing = (name: string): Provider =>
  providerOf((provider) => ({
    name,
    infer: async ({ messages }) => {
      provider.asked++
      const seal = `seal-${name}`
      const seals = sealsIn(messages)
      const foreign = seals.find((each) => each !== seal)
      const open = new Set(messages.flatMap(({ calls = [] }) => calls.map(({ id }) => id)))
      for (const { call = "", role } of messages)
        if (role === "tool" && !open.delete(call)) provider.refused.push("a result without its call")
      if (foreign !== undefined) provider.refused.push(`it was shown ${foreign}`)
      if (open.size > 0) provider.refused.push("a call without its result")
      provider.returned += seals.length
      if (provider.refused.length > 0) throw Object.assign(new Error(provider.refused.at(-1)), { statusCode: 400 })
      const said =
        messages.at(-1)?.role === "tool"
          ? { text: `Free, says ${name}.` }
          : { calls: [{ tool: "look", arguments: { berth: provider.asked } }] }
      return { ...said, reasoning: [{ seal }], usage: { inputTokens: 20, outputTokens: 9 } }
    }
  }))

const messagesOf = async (open: Fleet): Promise<ReadonlyArray<Message>> => {
  const rows = []
  for (let from = 1; ; from += 500) {
    const page = await open.history.entries("desk", from, 500)
    rows.push(...page)
    if (page.length < 500) return rows.flatMap(({ entry }) => entry.messages)
  }
}

const opened = (data: string, model: ModelChoice) => Fleet.open({ data, fleet, model })

const PROVIDERS = 6
const TURNS = atLength(60, 200)
const TURNS_OF_ONE = 10

describe("a life that changes its provider", { timeout: 120_000 }, () => {
  it("every ten turns: none refuses a request, and nothing that was thought is lost", async () => {
    const providers = [
      await served("north", "responses"),
      signing("east"),
      await served("south", "chat"),
      await served("west", "responses"),
      signing("middle"),
      sealing("plain")
    ]
    assert.lengthOf(providers, PROVIDERS)
    const data = aDirectory()
    for (let turn = 0; turn < TURNS; turn += TURNS_OF_ONE) {
      const { choice } = providers[(turn / TURNS_OF_ONE) % PROVIDERS] ?? assert.fail("no provider")
      await using open = await opened(data, choice)
      for (let n = 0; n < TURNS_OF_ONE; n++)
        assert.match(await open.answer("desk", `Berth ${turn + n}?`), /^Free, says \w+\.$/)
    }
    for (const [index, { asked, refused, returned }] of providers.entries()) {
      const turns = TURNS_OF_ONE * Math.ceil((TURNS / TURNS_OF_ONE - index) / PROVIDERS)
      assert.deepStrictEqual(refused, [])
      assert.strictEqual(asked, 2 * turns)
      // Each call is followed by one that has its thought.
      assert.isAtLeast(returned, turns)
    }
    await using open = await opened(data, "offline")
    const said = (await messagesOf(open)).filter(({ role }) => role === "assistant")
    assert.lengthOf(said, 2 * TURNS)
    assert.isTrue(said.every(({ reasoning }) => reasoning?.length === 1))
    assert.isTrue((await open.replay.verify("desk")).equal)
  })

  it("in the middle of a tick, where the one that was asked falls away: the next sees calls, and nothing sealed", async () => {
    const [first, second] = [await served("north", "responses"), signing("east")]
    await using open = await opened(":memory:", [first.choice, second.choice].flat())
    assert.strictEqual(await open.answer("desk", "Berth 1?"), "Free, says north.")
    first.isAway = true
    assert.strictEqual(await open.answer("desk", "Berth 2?"), "Free, says east.")
    first.isAway = false
    assert.strictEqual(await open.answer("desk", "Berth 3?"), "Free, says north.")
    assert.deepStrictEqual([...first.refused, ...second.refused], [])
    const { ticks } = await open.history.ticks("desk")
    assert.deepStrictEqual(
      ticks.toReversed().map(({ calls }) => calls.map(({ model }) => model)),
      [
        ["north", "north"],
        ["north", "east"],
        ["north", "north"]
      ]
    )
  })

  it("goes with an export, and is given back where it was imported", async () => {
    const north = await served("north", "responses")
    const [from, into] = [aDirectory(), aDirectory()]
    {
      await using open = await opened(from, north.choice)
      await open.answer("desk", "Berth 1?")
    }
    await importFleet({ into: { data: into }, source: () => exportFleet({ from: { data: from } }) })
    const before = north.returned
    await using open = await opened(into, north.choice)
    assert.strictEqual(await open.answer("desk", "Berth 2?"), "Free, says north.")
    assert.deepStrictEqual(north.refused, [])
    // Two of the life before, and then those of the tick at hand.
    assert.strictEqual(north.returned - before, 2 + 3)
  })
})

describe("A5 what an AI SDK object is given back", () => {
  /** The content of the assistant's message that it is sent after it has answered this. */
  const givenBack = async (content: ReadonlyArray<Loose>): Promise<ReadonlyArray<Loose>> => {
    const prompts: Array<ReadonlyArray<Loose>> = []
    const model = aiSdkModel({
      specificationVersion: "v2",
      provider: "any.chat",
      modelId: "any",
      doGenerate: async ({ prompt }: Loose) => {
        prompts.push(prompt)
        return { content, finishReason: "stop", usage: {}, warnings: [] }
      },
      doStream: () => Promise.reject(new Error("no one listens"))
    })
    const question = { role: "user" as const, content: "Berth 1?" }
    const prompt = { messages: [question], tools: offers, callPrefix: "1.1" }
    const { calls, reasoning = [], text } = await Effect.runPromise(model.infer(prompt))
    const results = calls.map(({ id }) => ({ role: "tool" as const, content: "free", call: id }))
    const messages = [question, { role: "assistant" as const, content: text, calls, reasoning }, ...results]
    await Effect.runPromise(model.infer({ ...prompt, messages }))
    return prompts.at(-1)?.find(({ role }) => role === "assistant")?.content ?? []
  }
  const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" }

  it("a signature stands beside the call, the text or the thought that it came with", async () => {
    const signature = (name: string) => ({ google: { thoughtSignature: name } })
    const parts = await givenBack([
      { type: "reasoning", text: "Hm.", providerMetadata: signature("one") },
      { type: "text", text: "I look.", providerMetadata: signature("two") },
      call,
      { ...call, providerMetadata: signature("three") }
    ])
    assert.deepStrictEqual(
      parts.map(({ providerOptions, type }) => [type, providerOptions?.google.thoughtSignature]),
      [
        ["reasoning", "one"],
        ["text", "two"],
        ["tool-call", undefined],
        ["tool-call", "three"]
      ]
    )
  })

  it("what only points to something that the provider keeps for a time is left out", async () => {
    const pointing = { openai: { itemId: "rs_1", reasoningEncryptedContent: null } }
    const whole = { openai: { itemId: "rs_2", reasoningEncryptedContent: "sealed" } }
    const parts = await givenBack([
      { type: "reasoning", text: "", providerMetadata: pointing },
      { type: "reasoning", text: "", providerMetadata: whole },
      { ...call, providerMetadata: { openai: { itemId: "fc_1" } } }
    ])
    assert.deepStrictEqual(
      parts.map(({ providerOptions, type }) => [type, providerOptions]),
      [
        ["reasoning", whole],
        ["tool-call", undefined]
      ]
    )
  })
})

describe("a model with an async infer", () => {
  it("is given back what it thought, and sees nothing that another one thought", async () => {
    const seen: Array<ReadonlyArray<unknown>> = []
    const thinking = (name: string) => ({
      name,
      infer: async ({ messages }: Loose) => {
        seen.push(messages.flatMap(({ reasoning = [] }: Loose) => reasoning.map(({ part }: Loose) => part)))
        return { text: `I am ${name}.`, reasoning: [{ by: name }] }
      }
    })
    const data = aDirectory()
    for (const name of ["one", "two", "one"]) {
      await using open = await opened(data, thinking(name))
      await open.answer("desk", "Who are you?")
    }
    assert.deepStrictEqual(seen, [[], [], [{ by: "one" }]])
  })
})
