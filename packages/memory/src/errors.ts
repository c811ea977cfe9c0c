import * as Schema from "effect/Schema"

/**
 * The index can not be reached. Nothing is lost: what it holds is made from the ledger, and is applied later.
 * @example if (error instanceof RecallUnavailable) console.error(error.message)
 */
export class RecallUnavailable extends Schema.TaggedError<RecallUnavailable>()("RecallUnavailable", {
  operation: Schema.String,
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  readonly recovery = "retry" as const
}

/** Vectors of a model that was not prepared, or of another length than its own. Nothing of them was kept. */
export class VectorsUnfit extends Schema.TaggedError<VectorsUnfit>()("VectorsUnfit", {
  model: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * The caller sees nothing of that name: it does not exist, or it belongs to another.
 * @example if (error instanceof BlockUnknown) console.error(error.message)
 */
export class BlockUnknown extends Schema.TaggedError<BlockUnknown>()("BlockUnknown", { block: Schema.String }) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `there is no block ${JSON.stringify(this.block)}`
  }
}

const blockRefusals = [
  "permission",
  "read-only",
  "append-only",
  "schema",
  "full",
  "label-taken",
  "setting",
  "nothing-to-undo",
  "no-version",
  "key-reused"
] as const

/**
 * A change of a block that may not be, or can not be. Nothing was changed.
 * @example if (error instanceof BlockRefused) console.error(error.message)
 */
export class BlockRefused extends Schema.TaggedError<BlockRefused>()("BlockRefused", {
  block: Schema.String,
  reason: Schema.Literals(blockRefusals),
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/** A change that a person has to agree to first. Nothing was changed. */
export class ConsentNeeded extends Schema.TaggedError<ConsentNeeded>()("ConsentNeeded", {
  block: Schema.String,
  from: Schema.Literals(["partner", "human"])
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    const whose = this.from === "partner" ? "its partner" : "a person"
    return `changing the block ${JSON.stringify(this.block)} needs the consent of ${whose}`
  }
}

/**
 * What is kept of a block is damaged. Other blocks are not touched by it.
 * @example if (error instanceof BlockUnreadable) console.error(error.message)
 */
export class BlockUnreadable extends Schema.TaggedError<BlockUnreadable>()("BlockUnreadable", {
  block: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * The store of blocks can not be reached, or can not write. Nothing was changed.
 * @example if (error instanceof BlockStoreUnavailable) console.error(error.message)
 */
export class BlockStoreUnavailable extends Schema.TaggedError<BlockStoreUnavailable>()("BlockStoreUnavailable", {
  operation: Schema.String,
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  readonly recovery = "retry" as const
}
