// Errors: how the API says that something could not be done.
// Owns the closed list, one status each. Leaves which failure of the fleet becomes which of them to `../failure.ts`.
// E1  Every answer that is no success has this form: `_tag`, one line of `message`, and where it helps a `hint`.
// E2  Nothing of a stack, a path, a key or another tenant stands in one.

import * as Schema from "effect/Schema"

const facts = { message: Schema.String, hint: Schema.optionalKey(Schema.String) }

/** Where a request does not fit: `path` leads from `params`, `query`, `headers` or `payload` to the value. */
const Issue = Schema.Struct({ path: Schema.Array(Schema.String), message: Schema.String })

export class Malformed extends Schema.TaggedError<Malformed>()(
  "Malformed",
  { ...facts, issues: Schema.optionalKey(Schema.Array(Issue)) },
  { httpApiStatus: 400 }
) {}
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", facts, { httpApiStatus: 401 }) {}
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", facts, { httpApiStatus: 403 }) {}
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", facts, { httpApiStatus: 404 }) {}
export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", facts, {
  httpApiStatus: 405
}) {}
/** The state of things does not allow it: halted, retired, decided already, fenced. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", facts, { httpApiStatus: 409 }) {}
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", facts, { httpApiStatus: 413 }) {}
export class LimitReached extends Schema.TaggedError<LimitReached>()(
  "LimitReached",
  { ...facts, retryAfterSeconds: Schema.optionalKey(Schema.Int) },
  { httpApiStatus: 429 }
) {}
export class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", facts, { httpApiStatus: 500 }) {}
/** The store, the queue or the index does not answer; what was acknowledged is kept. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", facts, { httpApiStatus: 503 }) {}

/** What a handler may fail with. */
export const failures = [Malformed, Forbidden, NotFound, Conflict, LimitReached, Unexpected, Unavailable] as const
export type ApiFailure = InstanceType<(typeof failures)[number]>
export const isApiFailure = (value: unknown): value is ApiFailure => failures.some((each) => value instanceof each)
