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
