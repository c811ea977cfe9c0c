import * as Schema from "effect/Schema"

/**
 * A file that is no export, is cut off, was altered, or was written by a newer Reverie. Nothing of it was taken in.
 * @example if (error instanceof ExportUnreadable) console.error(error.message)
 */
export class ExportUnreadable extends Schema.TaggedError<ExportUnreadable>()("ExportUnreadable", {
  /** Counted from 1. */
  line: Schema.Int,
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}

/**
 * A move can not be made as asked: a name that is not there, a data store that another move has marked.
 * @example if (error instanceof MoveRefused) console.error(error.message)
 */
export class MoveRefused extends Schema.TaggedError<MoveRefused>()("MoveRefused", {
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}
