import * as Schema from "effect/Schema"

/**
 * The description of a server is wrong. The developer must correct it.
 * @example if (error instanceof McpServerInvalid) console.error(error.message)
 */
export class McpServerInvalid extends Schema.TaggedError<McpServerInvalid>()("McpServerInvalid", {
  server: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}

/**
 * What a server offers is not what was allowed: nothing was allowed, a tool is missing, broken, or not what was pinned.
 * @example if (error instanceof McpToolsRefused) console.error(error.message)
 */
export class McpToolsRefused extends Schema.TaggedError<McpToolsRefused>()("McpToolsRefused", {
  server: Schema.String,
  /** Names of the tools that the server offers, cleaned. */
  offered: Schema.Array(Schema.String),
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}

/**
 * The server can not be reached, or what it says can not be used. It may be asked again later.
 * @example if (error instanceof McpUnavailable) console.error(error.message)
 */
export class McpUnavailable extends Schema.TaggedError<McpUnavailable>()("McpUnavailable", {
  server: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "retry" as const
}

/** A call that did not succeed. Its message is what the model learns. */
export class McpCallFailed extends Schema.TaggedError<McpCallFailed>()("McpCallFailed", {
  server: Schema.String,
  tool: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/** A request that must not leave: the reason names the rule. */
export class EgressRefused extends Schema.TaggedError<EgressRefused>()("EgressRefused", {
  reason: Schema.Literals(["url", "scheme", "credentials", "host", "address", "unresolved", "redirects"]),
  message: Schema.String
}) {
  readonly recovery = "stop" as const
}
