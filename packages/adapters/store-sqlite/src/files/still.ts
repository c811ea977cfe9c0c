// Still: databases on a file system that may not be written, where SQLite can make no index of a log.
// Owns whether such a file stands still, and opening it to be read. Leaves what is read to others.
// S1  A file with a log or a journal beside it does not stand still: what stands there would be left out.
// S2  Anyone who copies it asks again afterwards: another mount of the same disk may be written.

import { accessSync, constants, existsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"

/** Whether nothing in a directory may be written by anyone here, whatever its permissions are. */
export const isReadOnlyPlace = (directory: string): boolean => {
  try {
    accessSync(directory, constants.W_OK)
    return false
  } catch (error) {
    return error instanceof Error && Reflect.get(error, "code") === "EROFS"
  }
}

/** What tells one state of the file from another; undefined where it does not stand still. */
export const stillStateOf = (file: string): string | undefined => {
  const isMoving = ["-wal", "-journal"].some((ending) => existsSync(`${file}${ending}`))
  if (isMoving || !existsSync(file) || !isReadOnlyPlace(dirname(file))) return undefined
  const { ino, mtimeMs, size } = statSync(file)
  return `${ino} ${size} ${mtimeMs}`
}

/** A database to be read, also where it stands still. */
export const openToRead = (file: string, timeout = 0): DatabaseSync => {
  const options = { readOnly: true, timeout }
  if (stillStateOf(file) === undefined) return new DatabaseSync(file, options)
  const url = pathToFileURL(file)
  url.searchParams.set("immutable", "1")
  try {
    return new DatabaseSync(url, options)
  } catch {
    // Node before 22.15 takes no URL.
    return new DatabaseSync(file, options)
  }
}
