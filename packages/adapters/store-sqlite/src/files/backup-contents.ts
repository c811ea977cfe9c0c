// BackupContents: the list in a backup of what it holds (`backup.json`).
// Owns its form, reading it, and what a directory holds beside it. Leaves holding the files against it to backup.ts.
// C1  A directory is a backup by its list, and nothing but one when all else in it is listed too.

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BackupRefused } from "../errors.ts"

export const CONTENTS = "backup.json"

const Contents = Schema.Struct({
  format: Schema.Literal(1),
  /** Milliseconds since the epoch. */
  at: Schema.Finite,
  accepted: Schema.Int,
  committed: Schema.Int,
  /** Segments that lay apart from the store and are not in it: their place was not named. */
  segmentsLeft: Schema.optionalKey(Schema.Int),
  /** Keys of segments that were missing or damaged in their place, and are not in it. */
  segmentsLost: Schema.optionalKey(Schema.Array(Schema.String)),
  files: Schema.Array(Schema.Struct({ name: Schema.String, bytes: Schema.Int, sha256: Schema.String }))
})
/** What a backup holds. */
export type BackupContents = typeof Contents.Type

const decodeContents = Schema.decodeUnknownOption(Schema.fromJsonString(Contents))

export const refuse = (place: string, reason: string): never => {
  throw new BackupRefused({ place, reason })
}

/** The list of a backup; undefined where there is none that reads as one. */
export const contentsIn = (directory: string): BackupContents | undefined => {
  try {
    return Option.getOrUndefined(decodeContents(readFileSync(join(directory, CONTENTS), "utf8")))
  } catch {
    return undefined
  }
}

/** What SQLite leaves beside a database that someone looked into. */
const SIDECARS = ["-journal", "-shm", "-wal"]

/** The first thing in a backup that is no part of it; undefined when there is none. */
export const foreignIn = (directory: string, { files }: BackupContents): string | undefined => {
  const own = new Set([CONTENTS, ...files.flatMap(({ name }) => [name, ...SIDECARS.map((ending) => name + ending)])])
  return readdirSync(directory).find((name) => !own.has(name))
}
