import * as Schema from "effect/Schema"

/** A stored snapshot can not be read by this statechart: it is damaged, or of another version without an upcast. */
export class SnapshotUnfit extends Schema.TaggedError<SnapshotUnfit>()("SnapshotUnfit", { message: Schema.String }) {
  readonly recovery = "stop" as const
}
