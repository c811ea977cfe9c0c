// Client: the client of Qdrant, loaded at the first request and kept.
// Owns its configuration and the border between its exceptions and typed errors. Leaves what is asked to others.
// C1  Nothing of the client is loaded before the first request, and nothing is asked of the server before it either.
// C2  A write that has begun is waited for, also by who is interrupted: it never overtakes the next one.

import type { RecallUnavailable } from "@reverie/memory"
import type { QdrantClient } from "@qdrant/js-client-rest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { WriteAnswer } from "./answers.ts"
import { statusOf, unavailable } from "./failure.ts"
import { DEFAULT_TIMEOUT_MILLIS, type QdrantOptions, serverParts } from "./options.ts"

/** Something asked of the client. What comes of it is judged by the shape it must have. */
type Request = (client: QdrantClient) => Promise<unknown>

export interface Qdrant {
  readonly read: <A>(
    operation: string,
    answer: Schema.Codec<A, unknown>,
    request: Request
  ) => Effect.Effect<A, RecallUnavailable>
  readonly write: (operation: string, request: Request) => Effect.Effect<void, RecallUnavailable>
}

/** Why a request failed, as far as it matters to what comes next. */
export const isMissing = ({ cause }: RecallUnavailable): boolean => statusOf(cause) === 404
export const isTaken = ({ cause }: RecallUnavailable): boolean => statusOf(cause) === 409

const load = async ({ apiKey, timeoutMillis = DEFAULT_TIMEOUT_MILLIS, url }: QdrantOptions): Promise<QdrantClient> => {
  const parts = serverParts(url)
  const { QdrantClient: Client } = await import("@qdrant/js-client-rest")
  return new Client({
    ...parts,
    timeout: timeoutMillis,
    // It would ask for the version in the constructor, and warn on the console.
    checkCompatibility: false,
    // As `apiKey` the client would warn on the console about a key without TLS.
    ...(apiKey !== undefined && { headers: { "api-key": apiKey } })
  })
}

export const connect = (options: QdrantOptions): Qdrant => {
  const server = { url: options.url, timeoutMillis: options.timeoutMillis ?? DEFAULT_TIMEOUT_MILLIS }
  let loading: Promise<QdrantClient> | undefined
  const read: Qdrant["read"] = (operation, answer, request) =>
    Effect.tryPromise({
      try: async () => {
        loading ??= load(options)
        return request(await loading)
      },
      catch: (thrown) => unavailable(operation, thrown, server)
    }).pipe(
      Effect.flatMap((said) =>
        Effect.mapError(Schema.decodeUnknownEffect(answer)(said), (error) => unavailable(operation, error, server))
      )
    )
  return {
    read,
    write: (operation, request) => Effect.uninterruptible(Effect.asVoid(read(operation, WriteAnswer, request)))
  }
}
