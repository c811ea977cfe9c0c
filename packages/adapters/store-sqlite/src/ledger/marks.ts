// Marks: the word on a data directory that someone has moved out of it, or is about to, and that something is forgotten in it.
// Owns the files `moved.json` and `purging`. Refusing to work there, and purging at the next start, are in store.ts.
// M1  The file is there whole or not at all, and as durable as what was committed.
// M2  A mark that can not be read is one all the same: what it said may have been that the data lives elsewhere.

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { MoveMark } from "@reverie/ledger"
import { isJsonObject, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"

export interface Marks {
  readonly read: () => MoveMark | undefined
  readonly write: (mark: MoveMark | null) => void
  /** Whether bytes of what was forgotten may still lie in the files. As durable as what was committed when it returns. */
  readonly purging: (isUnderWay: boolean) => void
  readonly isPurging: () => boolean
}

const states = new Set<unknown>(["leaving", "arriving", "left"])

const isMark = (value: unknown): value is MoveMark =>
  isJsonObject(value) && states.has(value["state"]) && typeof value["place"] === "string"

const UNREADABLE: MoveMark = { state: "left", place: "a place that its file moved.json does not tell", at: 0 }

const isMissing = (error: unknown): boolean => error instanceof Error && Reflect.get(error, "code") === "ENOENT"

const flush = (path: string): void => {
  const handle = openSync(path, "r")
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

const put = (path: string, text: string): void => {
  const handle = openSync(path, "w", 0o600)
  try {
    writeSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** The mark of a directory. */
export const directoryMarks = (directory: string): Marks => {
  const file = join(directory, "moved.json")
  const purging = join(directory, "purging")
  return {
    isPurging: () => existsSync(purging),
    purging: (isUnderWay) => {
      if (isUnderWay) put(purging, "")
      else rmSync(purging, { force: true })
      flush(directory)
    },
    read: () => {
      try {
        const mark = Result.getOrElse(parseJson(readFileSync(file, "utf8")), () => undefined)
        return isMark(mark) ? mark : UNREADABLE
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    write: (mark) => {
      if (mark === null) rmSync(file, { force: true })
      else {
        put(`${file}.new`, `${JSON.stringify(mark)}\n`)
        renameSync(`${file}.new`, file)
      }
      flush(directory)
    }
  }
}

/** The mark of a store that ends with its scope. */
export const passingMarks = (): Marks => {
  let kept: MoveMark | undefined
  return {
    isPurging: () => false,
    purging: () => undefined,
    read: () => kept,
    write: (mark) => {
      kept = mark ?? undefined
    }
  }
}
