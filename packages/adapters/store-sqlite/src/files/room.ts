// Room: whether a disk has any for what an opening makes.
// Owns what is said of an opening that failed for want of it. Leaves all other failures to sql.ts.
// R1  SQLite says of a file that it could not make or write only that: on a disk without room the room is what is said.
// R2  A disk that says nothing of its room is not called full.

import { statfsSync } from "node:fs"
import { fullFailure, isOfFiles, type SqliteFailure, sqliteFailure } from "../sql.ts"

/** An opening makes a few files, and the index of the log has 32 KiB. */
const LEAST_BYTES = 65_536
const LEAST_FILES = 8

const hasRoom = (directory: string): boolean => {
  try {
    const { bavail, blocks, bsize, ffree, files } = statfsSync(directory)
    return (blocks === 0 || bavail * bsize >= LEAST_BYTES) && (files === 0 || ffree >= LEAST_FILES)
  } catch {
    return true
  }
}

/** The failure that an exception of an opening stands for; undefined when it is a bug. */
export const openingFailure = (directory: string, error: unknown): SqliteFailure | undefined =>
  error instanceof Error && isOfFiles(error) && !hasRoom(directory) ? fullFailure(error) : sqliteFailure(error)
