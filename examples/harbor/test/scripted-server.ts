// ScriptedServer: a model server of a few lines, that answers as a test says.
// Owns the form of a chat completion. Leaves what is said to the test.

import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Told {
  readonly role: string
  readonly content: string
}

/** A text, or a call of a tool. */
export type Said = string | { readonly tool: string; readonly arguments: object }

const messageOf = (said: Said, id: string) =>
  typeof said === "string"
    ? { role: "assistant", content: said }
    : {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: said.tool, arguments: JSON.stringify(said.arguments) } }]
      }

export const scriptedServer = async (answer: (messages: ReadonlyArray<Told>) => Said) => {
  let asked = 0
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (part: string) => {
      body += part
    })
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { readonly messages: ReadonlyArray<Told> }
      const said = answer(messages)
      const id = `answer-${++asked}`
      response.setHeader("content-type", "application/json")
      response.end(
        JSON.stringify({
          id,
          object: "chat.completion",
          created: 0,
          model: "scripted",
          choices: [
            { index: 0, message: messageOf(said, id), finish_reason: typeof said === "string" ? "stop" : "tool_calls" }
          ],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
        })
      )
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    model: { baseURL: `http://127.0.0.1:${port}/v1`, model: "scripted", stream: false },
    asked: () => asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => {
          resolve()
        })
      })
  }
}
