import * as Schema from "effect/Schema"

/**
 * The model was asked for what its script does not have, or the script itself threw. The author of the test must extend the
 * script, or find out why the assistant asks once more.
 * @example if (error instanceof ScriptBroken) console.error(error.message)
 */
export class ScriptBroken extends Schema.TaggedError<ScriptBroken>()("ScriptBroken", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  readonly recovery = "stop" as const
}

/**
 * A time or a duration that a test clock can not go to. The author of the test must correct it.
 * @example if (error instanceof TimeRefused) console.error(error.message)
 */
export class TimeRefused extends Schema.TaggedError<TimeRefused>()("TimeRefused", { message: Schema.String }) {
  readonly recovery = "stop" as const
}

/**
 * A tool did not run to its end: its arguments do not fit, it was too slow, or its result is not JSON.
 * @example if (error instanceof ToolCallFailed) console.error(error.message)
 */
export class ToolCallFailed extends Schema.TaggedError<ToolCallFailed>()("ToolCallFailed", {
  tool: Schema.String,
  failure: Schema.String,
  /** What the model would have been shown. */
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/**
 * A fixture can not be made or gone through again. The message says what is missing.
 * @example if (error instanceof FixtureRefused) console.error(error.message)
 */
export class FixtureRefused extends Schema.TaggedError<FixtureRefused>()("FixtureRefused", { message: Schema.String }) {
  readonly recovery = "stop" as const
}

/**
 * An eval is described wrongly, or its task or a scorer threw. The author must correct it.
 * @example if (error instanceof EvalBroken) console.error(error.message)
 */
export class EvalBroken extends Schema.TaggedError<EvalBroken>()("EvalBroken", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  readonly recovery = "stop" as const
}
