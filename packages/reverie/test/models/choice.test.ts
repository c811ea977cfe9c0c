import { assert, describe, it } from "@effect/vitest"
import { Model, type Prompt } from "@reverie/model"
import { later } from "@reverie/testkit/later"
import { saying, startModelServer } from "@reverie/testkit/model-server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import {
  defineAssistant,
  defineFleet,
  describeModel,
  Fleet,
  FleetDefinitionInvalid,
  type ModelChoice,
  type Notice,
  type PromiseModel
} from "../../src/index.ts"
import { flawOfModel, modelLayer, modelText } from "../../src/models/model-choice.ts"
import { modelsLayer } from "../../src/models/models.ts"

type Env = Readonly<Record<string, string>>

const prompt: Prompt = { messages: [{ role: "user", content: "Go." }], tools: [], callPrefix: "1.1" }

const asked = (choice: ModelChoice | undefined, env: Env = {}) =>
  Model.use((model) => model.infer(prompt)).pipe(
    Effect.provide(Layer.provide(modelLayer(choice), ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))
  )

const serverSaying = async (text: string) => {
  const server = await startModelServer({ script: saying(text) })
  later(() => server.close())
  return server
}

const refused = (choice: ModelChoice | undefined, env: Env = {}): Promise<string> =>
  Effect.runPromise(Effect.flip(asked(choice, env)).pipe(Effect.map(({ message }) => message)))

describe("a model that no one has chosen", () => {
  const warned = async (env: Env): Promise<string> => {
    const lines: Array<unknown> = []
    const logger = Logger.make(({ message }) => lines.push(message))
    const clerk = defineAssistant({ id: "clerk", instructions: "You assign berths." })
    const opened = Layer.provide(
      modelsLayer({ assistants: [clerk] }),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
    )
    await Effect.runPromise(
      Effect.provideService(Effect.scoped(Layer.build(opened)), Logger.CurrentLoggers, new Set([logger]))
    )
    return lines.join("; ")
  }

  it("a key that is set and asks no one is reported, with what to write and nothing of the key", async () => {
    const said = await warned({ ANTHROPIC_API_KEY: "sk-ant-secret" })
    assert.match(said, /^ANTHROPIC_API_KEY is set, and no model is chosen: .* write model: "anthropic\/[^"]+"$/)
    assert.strictEqual(await warned({}), "")
  })
})

describe("a server with options", () => {
  it("is sent what is asked for, over either wire, and nothing of a key in a header is in an answer", async () => {
    const server = await serverSaying("My key is sk-header-secret.")
    const options = {
      baseURL: server.url,
      model: "m",
      temperature: 0.5,
      reasoningEffort: "high",
      retries: 0,
      headers: { "X-Team": "harbour", Authorization: "Bearer sk-header-secret" },
      extraBody: { seed: 7 }
    } as const
    for (const wire of ["chat", "responses"] as const) {
      const { text } = await Effect.runPromise(asked({ ...options, wire }))
      assert.strictEqual(text, "My key is [redacted].")
    }
    const [chat, responses] = server.requests
    assert.deepInclude(chat?.body, { temperature: 0.5, reasoning_effort: "high", seed: 7 })
    assert.deepInclude(responses?.body, { temperature: 0.5, seed: 7, store: false })
    assert.deepStrictEqual(Reflect.get(Object(responses?.body), "reasoning"), { effort: "high" })
    for (const { headers } of server.requests) assert.strictEqual(headers["x-team"], "harbour")
    server.become({ sequence: [{ mode: "status-500" }, { script: saying("Yes.") }] })
    assert.match(await refused({ ...options }), /server had an error/)
  })

  it("provider-responses: the same provider by its Responses API", async () => {
    const server = await serverSaying("Yes.")
    const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "sk-x" }
    assert.strictEqual((await Effect.runPromise(asked("openai-responses/gpt-5", env))).text, "Yes.")
    assert.strictEqual(server.requests[0]?.path, "/v1/responses")
    assert.strictEqual(server.requests[0]?.headers.authorization, "Bearer sk-x")
    assert.match(await refused("open-responses/gpt-5"), /of the unknown provider "open-responses"; there are openai, /)
  })
})

describe("a model as a text", () => {
  it("provider/model: the provider's own key, address and name for it", async () => {
    const server = await serverSaying("Yes.")
    const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-ant-secret", OPENAI_API_KEY: "sk-other" }
    const { text } = await Effect.runPromise(asked("anthropic/claude-x/1", env))
    assert.strictEqual(text, "Yes.")
    assert.strictEqual(server.requests[0]?.model, "claude-x/1")
    assert.strictEqual(server.requests[0]?.headers.authorization, "Bearer sk-ant-secret")
  })

  it("an address that other programs know without a path has the provider's", async () => {
    const server = await serverSaying("Yes.")
    await Effect.runPromise(asked("anthropic/c", { ANTHROPIC_BASE_URL: new URL(server.url).origin }))
    assert.strictEqual(server.requests[0]?.path, "/v1/chat/completions")
  })

  it("N1 address#model: no key of anyone, but for the provider whose address it is", async () => {
    const server = await serverSaying("Yes.")
    const others = { OPENAI_API_KEY: "sk-other", ANTHROPIC_API_KEY: "sk-ant-other" }
    await Effect.runPromise(asked(`${server.url}#qwen3:8b`, others))
    await Effect.runPromise(asked(`${server.url}/#qwen3:8b`, { ...others, OPENAI_BASE_URL: server.url }))
    assert.deepStrictEqual(
      server.requests.map(({ headers, model }) => [model, headers.authorization]),
      [
        ["qwen3:8b", "Bearer none"],
        ["qwen3:8b", "Bearer sk-other"]
      ]
    )
  })

  it("N2 a key that is missing is named", async () => {
    assert.strictEqual(
      await refused("google/gemini-x"),
      `model "google/gemini-x" needs its key: set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY in the environment`
    )
    // A server of one's own may want none.
    const server = await serverSaying("Yes.")
    assert.strictEqual((await Effect.runPromise(asked("openai/m", { OPENAI_BASE_URL: server.url }))).text, "Yes.")
  })

  it("offline is the stand-in, whatever the environment names", async () => {
    const { model } = await Effect.runPromise(asked("offline", { OPENAI_API_KEY: "sk-x" }))
    assert.strictEqual(model, "reverie-offline")
  })
})

const infer = async () => "x"

/** What can not be meant, and what is said of it. */
const flaws: ReadonlyArray<readonly [choice: unknown, says: RegExp]> = [
  ["gpt-5", /is "gpt-5", which names no provider; write "openai\/gpt-5-mini" \(provider\/model\), /],
  ["", /is "", which names no provider/],
  ["open-ai/gpt-5", /of the unknown provider "open-ai"; there are openai, anthropic, google, /],
  ["openai/", /names no model/],
  ["http://127.0.0.1:1/v1", /is "http:\/\/127\.0\.0\.1:1\/v1" and names no model: write it behind a #/],
  ["http://user:sk-secret@host/v1#m", /^has a key in its address; give it as apiKey beside baseURL$/],
  ["http://#m", /is no address of a server/],
  [[], /^is an empty list$/],
  [["offline", "nix"], /names no provider.* \(number 2 of the list\)$/],
  [["offline", ["offline"]], /^is a list in a list, and no model \(number 2 of the list\)$/],
  [null, /^is null, and no model$/],
  [7, /^is 7, and no model$/],
  [{}, /^has no baseURL; a server is written \{ baseURL, model \}/],
  [{ baseURL: "http://h/v1" }, /^has no model; /],
  [{ baseURL: "h", model: "m" }, /^has a baseURL that must be an address that begins with http/],
  [{ baseURL: "http://h/v1", model: " " }, /^has a model that must name a model$/],
  [{ baseURL: "http://h/v1", model: "m", key: "sk-1" }, /^has no "key"; there are baseURL, model, apiKey, /],
  [
    { baseURL: "http://h/v1", model: "m", timeoutMs: 0 },
    /^has a timeoutMs that must be a whole number from 1 to 540,000/
  ],
  ...(
    [
      [{ wire: "soap" }, /^has a wire that must be /],
      [{ wire: "responses", tools: "json" }, /^has tools "json", which the wire "responses" does not have$/],
      [{ temperature: 3 }, /^has a temperature that must be a number from 0 to 2/],
      [{ reasoningEffort: "very" }, /^has a reasoningEffort that must be /],
      [{ retries: -1 }, /^has a retries that must be a whole number from 0 to 10/],
      [{ headers: { "X-Team": "a\nb" } }, /^has a headers that must be an object of headers/],
      [{ headers: { "X-Team": "a", "": "b" } }, /^has a headers that must be an object of headers/],
      [{ extraBody: [] }, /^has a extraBody that must be an object of fields$/]
    ] as const
  ).map(([more, says]) => [{ baseURL: "http://h/v1", model: "m", ...more }, says] as const),
  [{ infer: "x" }, /^has an infer that is no function$/],
  ...(
    [
      [{}, /^has a model that is no object with doGenerate or infer$/],
      [{ model: { infer: "x" } }, /^has an infer that is no function$/],
      [{ model: { infer, circuit: {} } }, /^has options for a service of effect, which has its own$/],
      [{ model: { infer }, temperature: 3 }, /^has a temperature that must be a number from 0 to 2/],
      [{ model: { infer }, timeoutMs: 0 }, /^has a timeoutMs that must be a whole number/],
      [
        { model: { infer }, providerOptions: { openai: 7 } },
        /^has a providerOptions that must be an object of providers/
      ],
      [{ model: { infer }, extraBody: {} }, /^has no "extraBody"; there are model, temperature, /]
    ] as const
  ).map(([more, says]) => [{ model: {}, ...more }, says] as const),
  [
    { doGenerate: infer, doStream: infer, provider: "p", modelId: "m", specificationVersion: "v1" },
    /^speaks version "v1" of the AI SDK's interface; v2, v3, v4 are known$/
  ],
  [
    { doGenerate: infer, provider: "p", modelId: "m", specificationVersion: "v3" },
    /^must have provider, modelId, doGenerate and doStream/
  ]
]

describe("I3 a choice that can not be meant", () => {
  it.each(flaws.map(([choice, says]) => [JSON.stringify(choice), choice, says] as const))(
    "%s",
    async (_, choice, says) => {
      assert.match(flawOfModel(choice) ?? "", says)
      assert.notInclude(flawOfModel(choice) ?? "", "sk-")
      const fleet = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are the desk." })] })
      const failure: unknown = await Fleet.open({ data: ":memory:", fleet, model: choice as ModelChoice }).catch(
        (error) => error
      )
      assert.instanceOf(failure, FleetDefinitionInvalid)
      assert.match((failure as Error).message, /^fleet: its model /)
    }
  )
})

const own: PromiseModel = { name: "echo", infer: async ({ messages }) => `You said: ${messages.at(-1)?.content}` }

describe("a choice as a person reads it", () => {
  it("says what is asked, and nothing of a key", async () => {
    const server = { baseURL: "http://me:sk-secret@127.0.0.1:1/v1", model: "m", apiKey: "sk-secret" }
    assert.strictEqual(
      await describeModel(["openai/gpt-5-mini", server, own, { infer }, "offline"]),
      "openai/gpt-5-mini, else m at http://127.0.0.1:1/v1, else echo, a model of its own, else a model of its own, else the offline model"
    )
    const fleet = defineFleet({
      model: own,
      assistants: [
        defineAssistant({ id: "a", instructions: "x", model: server }),
        defineAssistant({ id: "b", instructions: "x", models: { dream: server } })
      ]
    })
    assert.strictEqual(await describeModel(undefined, fleet), "echo, a model of its own; m at http://127.0.0.1:1/v1")
    assert.strictEqual(await describeModel("offline", fleet), "the offline model")
    const sdk = { doGenerate: infer, doStream: infer, provider: "p.chat", modelId: "m", specificationVersion: "v3" }
    assert.strictEqual(modelText(sdk), "p.chat/m of the AI SDK")
    assert.strictEqual(modelText({ model: sdk, temperature: 0 }), "p.chat/m of the AI SDK")
  })
})

describe("a fleet", () => {
  const fleet = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are the desk." })] })

  it("is answered by a model with an async infer", async () => {
    await using open = await Fleet.open({ data: ":memory:", fleet, model: own })
    assert.strictEqual(await open.answer("desk", "Good morning."), "You said: Good morning.")
  })

  it("is answered by the next model of a list, and its history says by whom, and why not by the one before", async () => {
    const [away, refusing, well] = [await serverSaying(""), await serverSaying(""), await serverSaying("Berth seven.")]
    away.become({ mode: "status-500" })
    refusing.become({ mode: "unauthorized" })
    const at = ({ url }: { readonly url: string }, model: string) => ({
      baseURL: url,
      model,
      apiKey: "sk-secret-of-mine",
      timeoutMs: 20_000
    })
    const model = [at(away, "first"), at(refusing, "second"), at(well, "third")]
    const notices: Array<Notice> = []
    const onNotice = (notice: Notice) => void notices.push(notice)
    await using open = await Fleet.open({ data: ":memory:", fleet, model, onNotice })
    const parts: Array<string> = []
    for await (const part of open.ask("desk", "Which berth is free?")) parts.push(part.type)
    assert.notInclude(parts, "retry")
    assert.strictEqual(await open.answer("desk", "Really?"), "Berth seven.")
    const host = (server: { readonly url: string }) => new URL(server.url).host
    const [tick] = (await open.history.ticks("desk")).ticks
    const [call] = tick?.calls ?? []
    assert.deepInclude(call, { model: "third", server: host(well) })
    assert.deepStrictEqual(
      call?.earlier?.map((each) => each.model),
      ["first", "second"]
    )
    const replied = notices.find(({ type }) => type === "model-replied")
    assert.deepInclude(replied, { server: host(well) })
    assert.lengthOf((replied as { readonly earlier: ReadonlyArray<unknown> }).earlier, 2)
    const entry = (await open.history.entries("desk")).find(({ entry: { step } }) => step?.kind === "infer")?.entry
    const detail = entry?.step?.detail
    assert.strictEqual(detail?.["server"], host(well))
    assert.deepStrictEqual(detail?.["earlier"], [
      { model: "first", server: host(away), reason: "ModelUnavailable: The server had an error" },
      { model: "second", server: host(refusing), reason: "ModelDenied: Incorrect API key provided: Bearer [redacted]" }
    ])
    assert.strictEqual(away.requests.length > 0, true)
  })
})
