import * as Schema from "effect/Schema"

/** No such server is named by the environment or found on this machine. */
export class ServerAbsent extends Schema.TaggedError<ServerAbsent>()("ServerAbsent", {
  server: Schema.String,
  reason: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return `no ${this.server} for tests: ${this.reason}`
  }
}

/** A server is there, but it did not start, did not answer, or may not be treated like this. */
export class ServerFailed extends Schema.TaggedError<ServerFailed>()("ServerFailed", {
  server: Schema.String,
  doing: Schema.String,
  reason: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return `${this.server} failed at ${this.doing}: ${this.reason}`
  }
}

export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
