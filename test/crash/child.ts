// One process of the crash lane: lives on a directory until it is done or killed.
// Owns the models of the lane `fallback` that are objects: code as programs write it, over fetch.

import type { FaultPoint } from "@reverie/runtime"
import type { ModelChoice, OneModel } from "reverie"
import { live } from "./life.ts"

// oxlint-disable-next-line typescript/no-explicit-any
type Loose = { readonly [key: string]: any }

/** A model that is no server's: where it asks, and what it is called. */
interface ObjectModel {
  readonly object: "ai-sdk" | "promise"
  readonly url: string
  readonly name: string
}

const asked = async ({ name, url }: ObjectModel, messages: ReadonlyArray<object>, tools: ReadonlyArray<Loose> = []) => {
  const offered = tools.map((tool) => ({ type: "function", function: { name: tool["name"] } }))
  const body = JSON.stringify({ model: name, messages, tools: offered })
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body })
  if (!response.ok) throw Object.assign(new Error(await response.text()), { statusCode: response.status })
  const { choices } = (await response.json()) as Loose
  const { content, reasoning_details: reasoning = [], tool_calls: calls = [] } = choices[0].message as Loose
  return { text: (content ?? "") as string, reasoning: reasoning as ReadonlyArray<Loose>, calls: calls as Array<Loose> }
}

const USAGE = { inputTokens: 12, outputTokens: 5 }

const promiseOf = (model: ObjectModel): OneModel => ({
  name: model.name,
  infer: async ({ messages, tools }) => {
    const told = messages.map(({ call, calls, content, reasoning, role }) => ({
      role,
      content,
      tool_call_id: call,
      tool_calls: calls?.map(({ id }) => ({ id })),
      reasoning_details: reasoning?.map(({ part }) => part)
    }))
    const { calls, reasoning, text } = await asked(model, told, tools)
    return {
      text,
      reasoning,
      calls: calls.map((each) => ({ tool: each["function"].name, arguments: each["function"].arguments })),
      usage: USAGE
    }
  }
})

const toldOf = ({ content, role }: Loose): object => {
  if (typeof content === "string") return { role, content }
  const of = (type: string): ReadonlyArray<Loose> => (content as Array<Loose>).filter((part) => part["type"] === type)
  return {
    role,
    content: of("text")
      .map(({ text }) => text)
      .join(""),
    tool_call_id: of("tool-result")[0]?.["toolCallId"],
    tool_calls: of("tool-call").map(({ toolCallId: id }) => ({ id })),
    reasoning_details: of("reasoning").map(({ providerOptions }) => providerOptions?.lane)
  }
}

const ENDED = { finishReason: { unified: "stop" }, usage: { inputTokens: { total: 12 }, outputTokens: { total: 5 } } }

const inPieces = ({ type, text, ...signed }: Loose): ReadonlyArray<Loose> => [
  { type: `${type}-start`, id: type },
  { type: `${type}-delta`, id: type, delta: text, ...signed },
  { type: `${type}-end`, id: type }
]

const aiSdkOf = (model: ObjectModel): OneModel => {
  const whole = async ({ prompt, tools }: Loose) => {
    const { calls, reasoning, text } = await asked(model, prompt.map(toldOf), tools)
    return [
      ...reasoning.map((lane) => ({ type: "reasoning", text: "So be it.", providerMetadata: { lane } })),
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map(({ function: { arguments: input, name: toolName }, id: toolCallId }) => {
        return { type: "tool-call", toolCallId, toolName, input }
      })
    ]
  }
  return {
    specificationVersion: "v3",
    provider: "lane.chat",
    modelId: model.name,
    doGenerate: async (options: Loose) => ({ content: await whole(options), ...ENDED }),
    doStream: async (options: Loose) => {
      const parts = (await whole(options)).flatMap((part) =>
        part.type === "tool-call" ? [part] : inPieces(part as unknown as Loose)
      )
      return { stream: ReadableStream.from([...parts, { type: "finish", ...ENDED }]) }
    }
  }
}

const modelOf = (given: OneModel | ObjectModel): OneModel => {
  if (typeof given === "string" || !("object" in given)) return given
  return given.object === "ai-sdk" ? aiSdkOf(given) : promiseOf(given)
}

const [data = "", events = "0", point = "", passing = "1", model] = process.argv.slice(2)

await live(
  {
    data,
    events: Number(events),
    ...(point === "" ? {} : { killAt: { point: point as FaultPoint, passing: Number(passing) } }),
    ...(model === undefined
      ? { stops: true }
      : {
          resumes: true,
          model: (JSON.parse(model) as ReadonlyArray<OneModel | ObjectModel>).map(modelOf) satisfies ModelChoice
        })
  },
  () => process.stdout.write("ready\n")
)
process.stdout.write("done\n")
