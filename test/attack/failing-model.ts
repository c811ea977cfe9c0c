// FailingModel: a model server that goes away and comes back, always under the same address.
// Owns its ways of being unwell and the count of calls that reached it meanwhile. What it says when it is well is in spoken.ts.
// M1  A call that reaches it while it is unwell is counted once, whatever becomes of it.

import type { ServerResponse } from "node:http"
import { type ModelServer, startModelServer } from "@reverie/testkit/model-server"
import { spokenScript } from "./spoken.ts"

type Answer = (response: ServerResponse) => void

const HTML = "<!doctype html><html><body><h1>We will be back soon</h1></body></html>"

const json = (status: number, message: string): Answer => {
  const body = JSON.stringify({ error: { message, type: "server_error", code: null } })
  return (response) => void response.writeHead(status, { "content-type": "application/json" }).end(body)
}

const page =
  (status: number): Answer =>
  (response) =>
    void response.writeHead(status, { "content-type": "text/html" }).end(HTML)

/** Ways in which a model server is unwell while something still listens. */
export const illnesses = {
  overloaded: json(503, "The engine is overloaded"),
  limited: json(429, "Too many requests"),
  hanging: () => {},
  page: page(200),
  "gateway-page": page(404),
  /** No outage: a person has to act. */
  refusing: json(401, "Incorrect API key provided"),
  "breaks-off": (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write('data: {"choices":[{"index":0,"delta":{"content":"The tide"}}]}\n\n', () => response.destroy())
  }
} as const satisfies Record<string, Answer>

export type Illness = keyof typeof illnesses

export class FailingModel {
  readonly url: string
  /** Host and port, as people learn of the server. */
  readonly host: string
  #server: ModelServer | undefined
  #calls = 0

  private constructor(server: ModelServer) {
    this.#server = server
    this.url = server.url
    this.host = new URL(server.url).host
  }

  static async open(): Promise<FailingModel> {
    return new FailingModel(await startModelServer({ script: spokenScript, record: false }))
  }

  /** Calls that reached it while it was unwell. */
  get callsWhileUnwell(): number {
    return this.#calls
  }

  /** Nothing listens any more. */
  async goAway(): Promise<void> {
    await this.#server?.close()
    this.#server = undefined
  }

  /** Something listens, and is unwell; what waited for an answer before is cut off. */
  async fallIll(illness: Illness): Promise<void> {
    await this.goAway()
    const serve = (_: unknown, response: ServerResponse): void => {
      this.#calls++
      illnesses[illness](response)
    }
    this.#server = await startModelServer({ serve, port: this.#port, record: false })
  }

  /** All is well again. Resolves when the first call has come in. */
  async comeBack(): Promise<{ readonly firstCall: Promise<unknown> }> {
    await this.goAway()
    this.#server = await startModelServer({ script: spokenScript, port: this.#port, record: false })
    return { firstCall: this.#server.nextRequest() }
  }

  get #port(): number {
    return Number(new URL(this.url).port)
  }
}
