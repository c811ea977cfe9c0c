// Client: the `openai` client, loaded at the first call and kept.
// Owns its configuration. Leaves retries, timeouts, reading of bodies and logging to this package, not to the client.
// C1  It writes nothing to any log, and sends no key, organization or project of the environment.

import type * as Redacted from "effect/Redacted"
import * as RedactedValue from "effect/Redacted"
import type { OpenAI } from "openai"
import { carry, type Exchange } from "./exchange.ts"
import { LONGEST_TIMER_MILLIS } from "./options.ts"

const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }

export type Post = (body: string, exchange: Exchange) => Promise<unknown>

export const loadClient = async (baseURL: string, apiKey: Redacted.Redacted): Promise<Post> => {
  const { OpenAI: Client } = await import("openai")
  const client: OpenAI = new Client({
    baseURL,
    apiKey: RedactedValue.value(apiKey) || "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    // Beyond every limit of ours, so that the client's own clock never decides.
    timeout: LONGEST_TIMER_MILLIS,
    logLevel: "off",
    logger: silent,
    fetch: carry,
    defaultHeaders: { "X-Stainless-Timeout": null, "Content-Type": "application/json" }
  })
  // A body that is already text is sent as it is; `asResponse` leaves reading it to the exchange.
  return (body, exchange) =>
    client
      .post("/chat/completions", {
        body,
        headers: { "Content-Type": "application/json" },
        fetchOptions: { exchange } as object
      })
      .asResponse()
}
