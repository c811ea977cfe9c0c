import * as Schema from "effect/Schema"

/** A run in a process of its own came to nothing: what it did there, or why it could not begin. The model learns of it. */
export class IsolatedRunFailed extends Schema.TaggedError<IsolatedRunFailed>()("IsolatedRunFailed", {
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}
