import * as Schema from "effect/Schema"

/**
 * The database can not be used: no server answers there, it refuses us, or we may not do there what we must.
 * @example if (error instanceof StoreUnreachable) console.error(error.message)
 */
export class StoreUnreachable extends Schema.TaggedError<StoreUnreachable>()("StoreUnreachable", {
  /** The URL without its password. */
  place: Schema.String,
  reason: Schema.String,
  /** It may pass by itself: a server that is starting, or has no free connection. */
  isPassing: Schema.Boolean,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  get recovery(): "retry" | "stop" {
    return this.isPassing ? "retry" : "stop"
  }
  override get message(): string {
    return `${this.place} can not be opened: ${this.reason}`
  }
}

/**
 * The tables were made by a newer Reverie: writing them with this one would lose what it does not know.
 * @example if (error instanceof DatabaseFormatNewer) console.error(error.message)
 */
export class DatabaseFormatNewer extends Schema.TaggedError<DatabaseFormatNewer>()("DatabaseFormatNewer", {
  place: Schema.String,
  schema: Schema.String,
  found: Schema.Int,
  supported: Schema.Int
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return (
      `${this.place} has data of format ${this.found} in schema ${this.schema}, this Reverie reads up to format ` +
      `${this.supported}; upgrade Reverie, or use another database or schema`
    )
  }
}

/**
 * The tables are of the time before the first release, whose formats nothing reads any more.
 * @example if (error instanceof DatabaseUnreleased) console.error(error.message)
 */
export class DatabaseUnreleased extends Schema.TaggedError<DatabaseUnreleased>()("DatabaseUnreleased", {
  place: Schema.String,
  schema: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return (
      `${this.place} has data of a Reverie before the first release in schema ${this.schema}, which this one does not ` +
      "read; use another database or schema"
    )
  }
}

/**
 * Tenants were to be kept apart, but nothing would keep this role from the rows of others.
 * @example if (error instanceof StoreUnguarded) console.error(error.message)
 */
export class StoreUnguarded extends Schema.TaggedError<StoreUnguarded>()("StoreUnguarded", {
  place: Schema.String,
  role: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return (
      `${this.place} can not be opened for some tenants only: row-level security does not hold the role ${this.role}; ` +
      "connect with a role that is neither superuser nor has BYPASSRLS"
    )
  }
}

/**
 * The assistants of the store have moved, or are about to. Working in it would make two of every assistant.
 * @example if (error instanceof StoreLeft) console.error(error.message)
 */
export class StoreLeft extends Schema.TaggedError<StoreLeft>()("StoreLeft", {
  /** The URL without its password. */
  place: Schema.String,
  state: Schema.Literals(["leaving", "arriving", "left"]),
  to: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    const { place, state, to } = this
    if (state === "left") return `the assistants of ${place} have moved to ${to}; work with them there`
    return `a move between ${place} and ${to} has not come to its end; run the same command again`
  }
}
