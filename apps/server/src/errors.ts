import * as Schema from "effect/Schema"

/** The address can not be listened on, or may not without a token. Anyone who starts the process must say another one. */
export class ListenRefused extends Schema.TaggedError<ListenRefused>()("ListenRefused", {
  host: Schema.String,
  port: Schema.Int,
  /** As the system names it, e.g. `EADDRINUSE`; `unguarded` when it is reached by others and nothing guards it. */
  code: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}
