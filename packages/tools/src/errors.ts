import * as Schema from "effect/Schema"

/**
 * A tool was defined wrongly: name, schema or limits. The developer must correct the definition.
 * @example if (error instanceof ToolDefinitionInvalid) console.error(error.message)
 */
export class ToolDefinitionInvalid extends Schema.TaggedError<ToolDefinitionInvalid>()("ToolDefinitionInvalid", {
  tool: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}
