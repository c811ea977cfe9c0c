import * as Schema from "effect/Schema"

/**
 * Another process works on this data directory, or this one has opened it already. Only one fleet may write it at a time.
 * @example if (error instanceof StoreBusy) console.error(error.message)
 */
export class StoreBusy extends Schema.TaggedError<StoreBusy>()("StoreBusy", {
  directory: Schema.String,
  /** Absent when the holder has not yet said who it is. */
  pid: Schema.optionalKey(Schema.Int),
  /** The holder is the process that asks. */
  isOwn: Schema.optionalKey(Schema.Boolean)
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    if (this.isOwn === true) {
      const instead = "keep one fleet, for example in a module or on globalThis, or open it with Fleet.shared"
      return `this process has already opened ${this.directory}; ${instead}`
    }
    const holder = this.pid === undefined ? "another Reverie process" : `another Reverie process (pid ${this.pid})`
    return `${holder} works on ${this.directory}; stop it, or use another --data directory`
  }
}

/**
 * The data directory was written by a newer Reverie: reading it with this one would lose what it does not know.
 * @example if (error instanceof StoreFormatNewer) console.error(error.message)
 */
export class StoreFormatNewer extends Schema.TaggedError<StoreFormatNewer>()("StoreFormatNewer", {
  directory: Schema.String,
  found: Schema.Int,
  supported: Schema.Int
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return (
      `${this.directory} has data of format ${this.found}, this Reverie reads up to format ${this.supported}; ` +
      "upgrade Reverie, or use another --data directory"
    )
  }
}

/**
 * The data directory is of an earlier format, which only an opening for writing may bring up to date.
 * @example if (error instanceof StoreFormatOlder) console.error(error.message)
 */
export class StoreFormatOlder extends Schema.TaggedError<StoreFormatOlder>()("StoreFormatOlder", {
  directory: Schema.String,
  found: Schema.Int,
  supported: Schema.Int
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return (
      `${this.directory} has data of format ${this.found}, this Reverie reads format ${this.supported}; ` +
      "run the fleet on it once, which brings it up to date"
    )
  }
}

/**
 * The data directory is of the time before the first release, whose formats nothing reads any more.
 * @example if (error instanceof StoreUnreleased) console.error(error.message)
 */
export class StoreUnreleased extends Schema.TaggedError<StoreUnreleased>()("StoreUnreleased", {
  directory: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return (
      `${this.directory} has data of a Reverie before the first release, which this one does not read; ` +
      "use another --data directory"
    )
  }
}

/**
 * The file is no Reverie database, or a broken one.
 * @example if (error instanceof StoreDamaged) console.error(error.message)
 */
export class StoreDamaged extends Schema.TaggedError<StoreDamaged>()("StoreDamaged", {
  file: Schema.String,
  reason: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return `${this.file} can not be read as a Reverie database (${this.reason}); restore it, or use another --data directory`
  }
}

/**
 * The data directory can not be used: no directory, no permission, no space.
 * @example if (error instanceof StoreUnopenable) console.error(error.message)
 */
export class StoreUnopenable extends Schema.TaggedError<StoreUnopenable>()("StoreUnopenable", {
  directory: Schema.String,
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return `${this.directory} can not be opened: ${this.reason}`
  }
}

/**
 * Others may enter the data directory, and it cannot be closed to them.
 * @example if (error instanceof StoreExposed) console.error(error.message)
 */
export class StoreExposed extends Schema.TaggedError<StoreExposed>()("StoreExposed", {
  directory: Schema.String,
  reason: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return (
      `others may read what is kept in ${this.directory}, and ${this.reason}; ` +
      "name a directory of its own, which Reverie makes for you, or close this one with chmod 700"
    )
  }
}

/**
 * The files of the open store were removed, moved, replaced or written by another program: nothing is kept any more.
 * @example if (error instanceof StoreLost) console.error(error.message)
 */
export class StoreLost extends Schema.TaggedError<StoreLost>()("StoreLost", { message: Schema.String }) {
  readonly recovery = "stop" as const
}

/**
 * The store holds less than it had acknowledged: its files were emptied, cut, replaced, or restored from an older copy.
 * @example if (error instanceof StoreShortened) console.error(error.message)
 */
export class StoreShortened extends Schema.TaggedError<StoreShortened>()("StoreShortened", {
  directory: Schema.String,
  reason: Schema.String,
  /** The file in the directory from which the next start takes back what lacks. Such a start is not refused. */
  log: Schema.optionalKey(Schema.String)
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    const cure =
      this.log === undefined
        ? "restore its files together (reverie restore), or accept the loss (--force; acceptLoss in a program)"
        : `its log is kept as ${this.log}, from which the next start of its fleet takes it back`
    return `${this.directory} has lost something: ${this.reason}; ${cure}`
  }
}

/**
 * The assistants of the directory have moved, or are about to. Working in it would make two of every assistant.
 * @example if (error instanceof StoreMoved) console.error(error.message)
 */
export class StoreMoved extends Schema.TaggedError<StoreMoved>()("StoreMoved", {
  directory: Schema.String,
  state: Schema.Literals(["leaving", "arriving", "left"]),
  /** Where to, or where from. */
  place: Schema.String,
  at: Schema.Finite
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    const { directory, place, state } = this
    if (state === "left") return `the assistants of ${directory} have moved to ${place}; work with them there`
    const way = state === "leaving" ? "out of" : "into"
    return `a move ${way} ${directory} (${place}) has not come to its end; run the same command again`
  }
}

/**
 * A backup cannot be made or put back as asked. Nothing was changed.
 * @example if (error instanceof BackupRefused) console.error(error.message)
 */
export class BackupRefused extends Schema.TaggedError<BackupRefused>()("BackupRefused", {
  /** The directory that is in the way, or the backup that is not whole. */
  place: Schema.String,
  reason: Schema.String
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `${this.place}: ${this.reason}`
  }
}

/**
 * The data directory is encrypted and does not open as asked, or a key is given over one that is not encrypted. Nothing was changed.
 * @example if (error instanceof StoreSealed) console.error(error.message)
 */
export class StoreSealed extends Schema.TaggedError<StoreSealed>()("StoreSealed", {
  directory: Schema.String,
  reason: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return `${this.directory} can not be opened: ${this.reason}`
  }
}

export type StoreError =
  | StoreBusy
  | StoreFormatNewer
  | StoreFormatOlder
  | StoreDamaged
  | StoreExposed
  | StoreMoved
  | StoreSealed
  | StoreShortened
  | StoreUnreleased
  | StoreUnopenable
