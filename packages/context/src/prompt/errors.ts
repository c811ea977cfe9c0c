import * as Schema from "effect/Schema"

/**
 * A text has gaps for which no value was given.
 * @example if (error instanceof PlaceholdersMissing) console.error(error.message)
 */
export class PlaceholdersMissing extends Schema.TaggedError<PlaceholdersMissing>()("PlaceholdersMissing", {
  key: Schema.String,
  missing: Schema.Array(Schema.String)
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `${this.key} can not be filled: no value for ${this.missing.map((name) => `{${name}}`).join(", ")}`
  }
}

const thing = { kind: Schema.Literals(["template", "component"]), key: Schema.String }

/**
 * What was asked for can not be kept as it is. Nothing was changed.
 * @example if (error instanceof PromptInvalid) console.error(error.message)
 */
export class PromptInvalid extends Schema.TaggedError<PromptInvalid>()("PromptInvalid", {
  ...thing,
  reason: Schema.String
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `${this.kind} ${this.key}: ${this.reason}`
  }
}

/**
 * There is no template or component of this key, or no component of this id.
 * @example if (error instanceof PromptUnknown) console.error(error.message)
 */
export class PromptUnknown extends Schema.TaggedError<PromptUnknown>()("PromptUnknown", thing) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `there is no ${this.kind} ${this.key}`
  }
}

/**
 * The key is in use. What has it was not changed.
 * @example if (error instanceof KeyTaken) console.error(error.message)
 */
export class KeyTaken extends Schema.TaggedError<KeyTaken>()("KeyTaken", thing) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `there is a ${this.kind} ${this.key} already; choose another key, or overwrite it`
  }
}

/**
 * A built-in template is as it is. One of the same key takes its place until it is deleted.
 * @example if (error instanceof BuiltInLocked) console.error(error.message)
 */
export class BuiltInLocked extends Schema.TaggedError<BuiltInLocked>()("BuiltInLocked", { key: Schema.String }) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `template ${this.key} is built in and can not be changed; create one of the same key to take its place`
  }
}

/**
 * The text to import is no export that this version reads. Nothing was changed.
 * @example if (error instanceof ImportRefused) console.error(error.message)
 */
export class ImportRefused extends Schema.TaggedError<ImportRefused>()("ImportRefused", {
  kind: thing.kind,
  reason: Schema.String
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `this is no exported ${this.kind}: ${this.reason}`
  }
}

/**
 * Everything that was ever done to it is undone already.
 * @example if (error instanceof NothingToUndo) console.error(error.message)
 */
export class NothingToUndo extends Schema.TaggedError<NothingToUndo>()("NothingToUndo", thing) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `nothing of ${this.kind} ${this.key} is left to undo`
  }
}

/**
 * Another writer has changed it since it was read. Nothing was written: read it again, and decide again.
 * @example if (error instanceof PromptConflict) console.error(error.message)
 */
export class PromptConflict extends Schema.TaggedError<PromptConflict>()("PromptConflict", {
  kind: Schema.String,
  key: Schema.String,
  /** The version that the change was made on. */
  expected: Schema.Int,
  /** The newest version that there is, 0 when there is none. */
  current: Schema.Int
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `${this.kind} ${this.key} is at version ${this.current}, the change was made on version ${this.expected}`
  }
}

/**
 * The store can not be reached or written. Nothing of the change was kept.
 * @example if (error instanceof PromptStoreUnavailable) console.error(error.message)
 */
export class PromptStoreUnavailable extends Schema.TaggedError<PromptStoreUnavailable>()("PromptStoreUnavailable", {
  operation: Schema.String,
  message: Schema.String,
  /** It ends by itself: a lost connection, a server that restarts. Whether the call was kept is not known then. */
  isPassing: Schema.optionalKey(Schema.Boolean),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  get recovery(): "retry" | "stop" {
    return this.isPassing === true ? "retry" : "stop"
  }
}

/**
 * What is kept was written by a newer Reverie, or is damaged. A person must upgrade or restore.
 * @example if (error instanceof PromptUnreadable) console.error(error.message)
 */
export class PromptUnreadable extends Schema.TaggedError<PromptUnreadable>()("PromptUnreadable", {
  kind: Schema.String,
  key: Schema.String,
  reason: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return `${this.kind} ${this.key} can not be read: ${this.reason}`
  }
}
