import * as Schema from "effect/Schema"

const where = { provider: Schema.String, message: Schema.String }

/** `others`: servers of a list of models that are away as well; each of them may end the wait. */
const among = { ...where, others: Schema.optionalKey(Schema.Array(Schema.String)) }

/**
 * No usable answer for a passing reason: network, 5xx, 429, cut stream, idle stream, timeout, empty choices. Own retries are
 * spent. `begun`: an answer had begun to come, so that a model may have worked.
 * @example if (error instanceof ModelUnavailable) console.error(error.message)
 */
export class ModelUnavailable extends Schema.TaggedError<ModelUnavailable>()("ModelUnavailable", {
  ...among,
  kind: Schema.Literals(["network", "timeout", "idle", "server-error", "cut", "not-json", "malformed", "too-large"]),
  status: Schema.optionalKey(Schema.Int),
  begun: Schema.optionalKey(Schema.Literal(true)),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  readonly recovery = "retry" as const
}

/** The provider named a time before which it will not answer, and it is too far to wait for in place. */
export class ModelParked extends Schema.TaggedError<ModelParked>()("ModelParked", {
  ...among,
  retryAfterMs: Schema.Int,
  status: Schema.optionalKey(Schema.Int)
}) {
  readonly recovery = "park" as const
}

/**
 * The server is known to be away, so nothing was sent: that is no failure of the call. After `retryAfterMs` one call may
 * try.
 */
export class CallWithheld extends Schema.TaggedError<CallWithheld>()("CallWithheld", {
  ...among,
  retryAfterMs: Schema.Int
}) {
  readonly recovery = "park" as const
}

/**
 * The provider refused who we are or what we use: key, model name, permission. A person must act.
 * @example if (error instanceof ModelDenied) console.error(error.message)
 */
export class ModelDenied extends Schema.TaggedError<ModelDenied>()("ModelDenied", { ...where, status: Schema.Int }) {
  readonly recovery = "stop" as const
}

/**
 * The provider refused this very prompt (400, too long, filtered): sending it again can not help.
 * @example if (error instanceof ModelRefused) console.error(error.message)
 */
export class ModelRefused extends Schema.TaggedError<ModelRefused>()("ModelRefused", {
  ...where,
  kind: Schema.Literals(["bad-request", "too-long", "filtered"]),
  status: Schema.optionalKey(Schema.Int)
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * The model answered, was told once what is wrong with the answer, and answered unusably again.
 * @example if (error instanceof ReplyUnusable) console.error(error.message)
 */
export class ReplyUnusable extends Schema.TaggedError<ReplyUnusable>()("ReplyUnusable", where) {
  readonly recovery = "retry" as const
}

/** A limit of the tenant leaves no room for this call now: nothing was sent. Nothing is wrong; it is only to be waited for. */
export class CallLimited extends Schema.TaggedError<CallLimited>()("CallLimited", {
  ...where,
  limit: Schema.String,
  retryAfterMs: Schema.Int
}) {
  readonly recovery = "park" as const
}

/** This call is larger than a limit of the tenant: nothing was sent, and no waiting helps. */
export class CallOverLimit extends Schema.TaggedError<CallOverLimit>()("CallOverLimit", {
  ...where,
  limit: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/** Vectors of another length than was agreed: the embedder is set to a wrong model, or to wrong dimensions. */
export class EmbeddingUnfit extends Schema.TaggedError<EmbeddingUnfit>()("EmbeddingUnfit", {
  ...where,
  expected: Schema.Int,
  received: Schema.Int
}) {
  readonly recovery = "tell-owner" as const
}

/** What can go wrong with any request to a server. */
export type RequestError = ModelUnavailable | ModelParked | CallWithheld | ModelDenied | ModelRefused

export type ModelError = RequestError | ReplyUnusable | CallLimited | CallOverLimit

const modelErrors: ReadonlySet<string> = new Set<ModelError["_tag"]>([
  "ModelUnavailable",
  "ModelParked",
  "CallWithheld",
  "ModelDenied",
  "ModelRefused",
  "ReplyUnusable",
  "CallLimited",
  "CallOverLimit"
])

export const isModelError = (error: { readonly _tag: string }): error is ModelError => modelErrors.has(error._tag)

export type EmbedderError = RequestError | EmbeddingUnfit

/**
 * True of a failure that speaks of the server, and not of what it was asked: any other request would fare no better, and
 * waiting is all that helps.
 */
export const isOutage = (error: ModelError): error is ModelUnavailable | ModelParked | CallWithheld =>
  error._tag === "ModelParked" ||
  error._tag === "CallWithheld" ||
  // An answer without end is one to this very prompt.
  (error._tag === "ModelUnavailable" && error.kind !== "too-large")

/** Nothing of the kind happens before an answer has begun. */
const begun: ReadonlySet<ModelUnavailable["kind"]> = new Set(["cut", "idle", "too-large"])

/**
 * What a failed call may have cost. unsent: it never left. unheard: no model has worked on it, as far as anybody can tell.
 * unknown: a model may have worked.
 */
export const failureCost = (error: ModelError): "unsent" | "unheard" | "unknown" => {
  switch (error._tag) {
    case "CallWithheld":
    case "CallLimited":
    case "CallOverLimit":
      return "unsent"
    case "ModelUnavailable":
      return error.begun === true || begun.has(error.kind) ? "unknown" : "unheard"
    case "ReplyUnusable":
      return "unknown"
    default:
      return "unheard"
  }
}
