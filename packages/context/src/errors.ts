import * as Schema from "effect/Schema"

/** The system components and the pending turn, cut as far as they may be, do not fit. The limits or the prompt must change. */
export class ContextTooSmall extends Schema.TaggedError<ContextTooSmall>()("ContextTooSmall", {
  /** Tokens a prompt may have. */
  limit: Schema.Int,
  /** Tokens the smallest allowed prompt has. */
  needed: Schema.Int
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `the smallest allowed prompt has ${this.needed} tokens, the context window has room for ${this.limit}`
  }
}

/**
 * Components are plugged in behind static ones only.
 * @example if (error instanceof NoPlaceAfter) console.error(error.message)
 */
export class NoPlaceAfter extends Schema.TaggedError<NoPlaceAfter>()("NoPlaceAfter", { afterStatic: Schema.Number }) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `${this.afterStatic} is no id of a static component; components stand behind static ones only`
  }
}

/**
 * Every id behind a static component is in use. Delete or move one of the components there.
 * @example if (error instanceof PlacesTaken) console.error(error.message)
 */
export class PlacesTaken extends Schema.TaggedError<PlacesTaken>()("PlacesTaken", {
  afterStatic: Schema.Int,
  first: Schema.Int,
  last: Schema.Int
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `all ids from ${this.first} to ${this.last} behind ${this.afterStatic} are in use`
  }
}
