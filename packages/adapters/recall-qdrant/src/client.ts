// Client: the client of Qdrant, loaded at the first request and kept.
// Owns its configuration and the border between its exceptions and typed errors. Leaves what is asked to others.
// C1  Nothing of the client is loaded before the first request, and nothing is asked of the server before it either.
// C2  A write that has begun is waited for, also by who is interrupted: it never overtakes the next one.

import { indexStates, RecallUnavailable } from "@reverie/memory"
import { loadWith, PackageMissing } from "@reverie/protocol"
import type { QdrantClient } from "@qdrant/js-client-rest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

// Options: where the Qdrant server is and what recall is called there.
// O1  The client learns the port whenever the address says one: by itself it takes 6333 for the default of the scheme.
// O2  A path in the address is kept: by itself the client loses it.

export interface QdrantOptions {
  /** Such as `http://127.0.0.1:6333`. */
  readonly url: string
  readonly apiKey?: string
  /** The alias under which the fleet's collection is found; "reverie" when not said. */
  readonly collection?: string
  /** How long a request may take; 10 seconds when not said. */
  readonly timeoutMs?: number
}

export const DEFAULT_COLLECTION = "reverie"
const DEFAULT_TIMEOUT_MILLIS = 10_000

interface ServerParts {
  readonly url: string
  readonly port?: number
  readonly prefix?: string
}

/** Throws when the text is no URL. */
export const serverParts = (text: string): ServerParts => {
  const { origin, pathname } = new URL(text)
  const port = /^[a-z]+:\/\/[^/?#]*:(\d+)(?=[/?#]|$)/i.exec(text)?.[1]
  const prefix = pathname.replace(/\/+$/, "")
  return { url: origin, ...(port !== undefined && { port: Number(port) }), ...(prefix !== "" && { prefix }) }
}

// Answers: what the server says, as far as it is read.
// A1  What does not have its shape is no answer: the request failed.
// A2  A write is done when the server says so; one that still waits has failed, and is done again.

const Point = Schema.Struct({
  id: Schema.Union([Schema.String, Schema.Finite]),
  payload: Schema.optionalKey(Schema.Unknown),
  vector: Schema.optionalKey(Schema.Unknown)
})

export const CollectionAnswer = Schema.Struct({
  config: Schema.Struct({ metadata: Schema.optionalKey(Schema.Unknown) })
})

/** What a collection tells of itself. */
export const StatusAnswer = Schema.Struct({
  status: Schema.Literals(indexStates),
  optimizer_status: Schema.Union([Schema.Literal("ok"), Schema.Struct({ error: Schema.String })]),
  warnings: Schema.optionalKey(Schema.Array(Schema.Struct({ message: Schema.String }))),
  points_count: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  config: CollectionAnswer.fields.config
})

export const SnapshotAnswer = Schema.Struct({
  name: Schema.String,
  size: Schema.Finite,
  creation_time: Schema.optionalKey(Schema.NullOr(Schema.String))
})

export const SnapshotsAnswer = Schema.Array(SnapshotAnswer)

export const PointsAnswer = Schema.Array(Point)

export const ScrollAnswer = Schema.Struct({
  points: PointsAnswer,
  next_page_offset: Schema.optionalKey(Schema.NullOr(Point.fields.id))
})

export const AliasesAnswer = Schema.Struct({
  aliases: Schema.Array(Schema.Struct({ alias_name: Schema.String, collection_name: Schema.String }))
})

export const CountAnswer = Schema.Struct({ count: Schema.Finite })

export const SearchAnswer = Schema.Array(
  Schema.Struct({ points: Schema.Array(Schema.Struct({ ...Point.fields, score: Schema.Finite })) })
)

const Done = Schema.Struct({ status: Schema.Literal("completed") })

const WriteAnswer = Schema.Union([Schema.Literal(true), Done, Schema.Array(Done)])

// Failure: what a request to Qdrant that came to nothing means, in one line for a person.
// I1  Whatever the client throws is `RecallUnavailable`: what an index holds can always be made again.
// I2  The line names the server and what was asked of it, never the key.
// I3  How long a busy server wants to be left alone is not told: the client keeps the first digit only.

const MAX_REASON_CHARACTERS = 300

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_REASON_CHARACTERS)

/** The HTTP status of a refusal; undefined when there was no such answer. */
const statusOf = (thrown: unknown): number | undefined => {
  if (!isObject(thrown)) return undefined
  const { name, status } = thrown
  if (name === "QdrantClientResourceExhaustedError" || String(thrown["message"]).startsWith("Invalid retryAfter"))
    return 429
  return typeof status === "number" ? status : undefined
}

/** What the server says, or the innermost reason why there was no answer. */
const reasonOf = (thrown: unknown): string => {
  if (!isObject(thrown)) return String(thrown)
  const status = isObject(thrown["data"]) ? thrown["data"]["status"] : undefined
  if (isObject(status) && typeof status["error"] === "string") return status["error"]
  if (isObject(thrown["cause"])) return reasonOf(thrown["cause"])
  const { code, message } = thrown
  if (typeof message === "string" && message !== "") return message
  return typeof code === "string" ? code : "no reason was given"
}

const sentence = (thrown: unknown, server: string, timeoutMs: number): string => {
  if (thrown instanceof PackageMissing) return thrown.message
  const status = statusOf(thrown)
  if (status === 429) return `${server} is busy and wants to be left alone for a while (429)`
  if (status === 401 || status === 403) {
    return `${server} does not let us in (${status}: ${oneLine(reasonOf(thrown))}); check the API key`
  }
  if (status !== undefined) return `${server} refused the request (${status}: ${oneLine(reasonOf(thrown))})`
  const name = isObject(thrown) ? thrown["name"] : undefined
  if (name === "QdrantClientTimeoutError") return `${server} did not answer within ${timeoutMs} ms`
  if (name === "TypeError") return `${server} can not be reached, or broke off (${oneLine(reasonOf(thrown))})`
  return `${server} did not answer as it should (${oneLine(reasonOf(thrown))})`
}

const unavailable = (
  operation: string,
  thrown: unknown,
  { timeoutMs, url }: { readonly url: string; readonly timeoutMs: number }
): RecallUnavailable =>
  new RecallUnavailable({
    operation,
    message: `${operation}: ${sentence(thrown, `Qdrant at ${url}`, timeoutMs)}`,
    cause: thrown
  })

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
/** A vector was named that the collection has not. */
export const isWithoutVector = ({ cause }: RecallUnavailable): boolean =>
  statusOf(cause) === 400 && /vector name/i.test(reasonOf(cause))

const load = async ({ apiKey, timeoutMs = DEFAULT_TIMEOUT_MILLIS, url }: QdrantOptions): Promise<QdrantClient> => {
  const parts = serverParts(url)
  const { QdrantClient: Client } = await loadWith(
    "an index in Qdrant",
    ["@qdrant/js-client-rest"],
    () => import("@qdrant/js-client-rest")
  )
  return new Client({
    ...parts,
    timeout: timeoutMs,
    // It would ask for the version in the constructor, and warn on the console.
    checkCompatibility: false,
    // As `apiKey` the client would warn on the console about a key without TLS.
    ...(apiKey !== undefined && { headers: { "api-key": apiKey } })
  })
}

export const connect = (options: QdrantOptions): Qdrant => {
  const server = { url: options.url, timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MILLIS }
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
