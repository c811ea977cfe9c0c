// Models given as objects, over code as programs write it: trusting, with fetch, against a server that lies.

import { assert, describe, it } from "@effect/vitest"
import { isModelError, type Model, type Prompt } from "@reverie/model"
import {
  HOSTILE_TOOL,
  hostileModeNames,
  type HostileModeName,
  hostileModes,
  saying,
  startModelServer
} from "@reverie/testkit/model-server"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { aiSdkModel, type LanguageModel } from "../../src/models/ai-sdk-model.ts"
import { ownModel, type PromiseModel, type PromiseReply } from "../../src/models/promise-model.ts"

const WELL = "All is well."

const prompt: Prompt = {
  messages: [{ role: "user", content: "Is there a berth free?" }],
  tools: [
    {
      name: HOSTILE_TOOL,
      description: "Looks at the berths.",
      parameters: { type: "object", properties: { text: { type: "string" } } }
    }
  ],
  callPrefix: "7.1"
}

/** Small enough for a test, and long enough for a good answer on a busy machine. */
const limits = {
  timeoutMs: 1_500,
  idleMs: 200,
  maxReplyBytes: 1_000_000,
  retries: 0,
  backoffMs: 1,
  parkAfterMs: 100
}

// oxlint-disable-next-line typescript/no-explicit-any
type Loose = { readonly [key: string]: any }

const post = async (url: string, signal: AbortSignal, isStream: boolean): Promise<Response> => {
  const body = JSON.stringify({
    model: "m",
    messages: [],
    tools: [{ function: { name: HOSTILE_TOOL } }],
    stream: isStream
  })
  const response = await fetch(`${url}/chat/completions`, { method: "POST", signal, body })
  if (response.ok) return response
  const { headers, status } = response
  const text = await response.text()
  throw Object.assign(new Error(text), {
    statusCode: status,
    responseHeaders: Object.fromEntries(headers),
    responseBody: text
  })
}

const promiseOver = (url: string): PromiseModel => ({
  name: "over-fetch",
  infer: async (_, { signal }): Promise<PromiseReply> => {
    const { choices, model, usage } = (await (await post(url, signal, false)).json()) as Loose
    const { content, tool_calls: calls = [] } = choices[0].message
    return {
      text: content ?? "",
      calls: calls.map((call: Loose) => ({ tool: call.function.name, arguments: call.function.arguments })),
      usage: { inputTokens: usage?.prompt_tokens, outputTokens: usage?.completion_tokens },
      model
    }
  }
})

const partsOf = ({ content, tool_calls: calls = [] }: Loose): ReadonlyArray<object> => [
  ...(content === null || content === undefined ? [] : [{ type: "text", text: content }]),
  ...calls.map((call: Loose) => ({
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.function?.name,
    input: call.function?.arguments
  }))
]

const ended = (choice: Loose, usage: Loose | undefined) => ({
  finishReason: { unified: choice.finish_reason?.replace("_", "-"), raw: choice.finish_reason },
  usage: { inputTokens: { total: usage?.prompt_tokens }, outputTokens: { total: usage?.completion_tokens } }
})

async function* partsIn(response: Response): AsyncGenerator<object> {
  let rest = ""
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      if (!line.startsWith("data: ") || line.includes("[DONE]")) continue
      const { choices, usage } = JSON.parse(line.slice(6)) as Loose
      const [choice] = choices
      for (const part of partsOf(choice?.delta ?? {}) as ReadonlyArray<Loose>) {
        yield part.type === "text" ? { type: "text-delta", id: "0", delta: part.text } : part
      }
      if (choice?.finish_reason) yield { type: "finish", ...ended(choice, usage) }
    }
  }
}

const aiSdkOver = (url: string): LanguageModel => ({
  specificationVersion: "v3",
  provider: "over-fetch.chat",
  modelId: "m",
  doGenerate: async ({ abortSignal }: { readonly abortSignal: AbortSignal }) => {
    const { choices, usage } = (await (await post(url, abortSignal, false)).json()) as Loose
    return { content: partsOf(choices[0].message), ...ended(choices[0], usage) }
  },
  doStream: async ({ abortSignal }: { readonly abortSignal: AbortSignal }) => ({
    stream: ReadableStream.from(partsIn(await post(url, abortSignal, true)))
  })
})

const serverOf = (mode: HostileModeName) =>
  Effect.acquireRelease(
    Effect.promise(() => startModelServer({ mode })),
    (server) => Effect.promise(() => server.close())
  )

const judged = Effect.fnUntraced(function* (
  name: HostileModeName,
  make: (url: string) => Model["Service"],
  isStream: boolean
) {
  const server = yield* serverOf(name)
  const model = make(server.url)
  const options = isStream ? { onText: () => {} } : undefined
  // A deadline and what its ending takes; twice, for what is asked once more.
  const exit = yield* Effect.exit(model.infer(prompt, options)).pipe(Effect.timeout(4 * limits.timeoutMs))
  if (Exit.isFailure(exit)) {
    const error = Cause.findErrorOption(exit.cause)
    assert.isFalse(Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
    assert.isTrue(error._tag === "Some" && isModelError(error.value))
    const { leadsTo } = hostileModes[name]
    // Redirects are followed by fetch, before the model sees them.
    if (!name.startsWith("redirect") && "error" in leadsTo && leadsTo.error === "ModelDenied")
      assert.strictEqual(error._tag === "Some" && error.value._tag, "ModelDenied")
  } else {
    for (const [index, call] of exit.value.calls.entries()) assert.strictEqual(call.id, `7.1.${index}`)
  }
  server.become({ script: saying(WELL) })
  assert.strictEqual((yield* model.infer(prompt, options)).text, WELL)
})

const wires: Readonly<Record<string, readonly [make: (url: string) => Model["Service"], isStream: boolean]>> = {
  "a model with an async infer": [(url) => ownModel(promiseOver(url), limits), false],
  "a model of the AI SDK": [(url) => aiSdkModel(aiSdkOver(url), limits), false],
  "a stream of the AI SDK": [(url) => aiSdkModel(aiSdkOver(url), limits), true]
}

describe.each(Object.keys(wires))("P1 %s ends every call in a reply or one failure, and answers the next", (wire) => {
  const [make, isStream] = wires[wire] ?? assert.fail(wire)
  const names = hostileModeNames.filter((name) => hostileModes[name][isStream ? "stream" : "plain"] !== undefined)
  it("meets enough modes to mean something", () => assert.isAtLeast(names.length, 30))
  it.live.each(names)("%s", (name) => Effect.scoped(judged(name, make, isStream)))
})
