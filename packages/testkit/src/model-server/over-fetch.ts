// OverFetch: models as programs write them themselves: trusting, with fetch, and with no bound of their own.
// Owns one of each kind that is an object. What a server has said wrong, they pass on.

import { HOSTILE_TOOL } from "./hostile-mode.ts"

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

/** An object with an async `infer`. */
export const promiseOverFetch = (url: string) => ({
  name: "over-fetch",
  infer: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
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

/** A language model of the AI SDK. */
export const aiSdkOverFetch = (url: string) => ({
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
