// HighMark: how far a store had come, kept outside the database.
// Owns the file `reverie.mark`. Leaves comparing it with the database to survival.ts.
// M1  It never says more than was durable, and at the moment of an acknowledgement it says all that is acknowledged: it is
//     written between the two. It is not flushed to the disk, so after a power cut it may say less, and then proves less.
// M2  It knows the file that it is: a copy of a directory carries a mark that binds nobody.
// M3  A mark that cannot be read is none.

import { closeSync, fstatSync, openSync, readFileSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"

export interface Position {
  /** The number of the last accepted envelope, of all assistants. */
  readonly accepted: number
  /** The number of the last entry of the ledger, of all assistants. */
  readonly committed: number
}

export interface Mark extends Position {
  /** The database file as the last checkpoint left it; null while one is under way. */
  readonly database: { readonly mtimeMs: number; readonly size: number } | null
}

export const MARK = "reverie.mark"
/** Long enough for any mark: each write covers the one before. */
const MARK_BYTES = 256

const whole = (value: unknown): number => (typeof value === "number" && Number.isSafeInteger(value) ? value : 0)

const markIn = (text: string): { readonly file: string; readonly mark: Mark } | undefined => {
  const value = Result.getOrElse(parseJson(text), () => undefined)
  if (!isJsonObject(value) || typeof value["file"] !== "string") return undefined
  const { accepted, committed, database, file } = value
  const seen = isJsonObject(database) ? { mtimeMs: Number(database["mtimeMs"]), size: whole(database["size"]) } : null
  return { file, mark: { accepted: whole(accepted), committed: whole(committed), database: seen } }
}

const identity = ({ dev, ino }: { readonly dev: number | bigint; readonly ino: number | bigint }): string =>
  `${dev}:${ino}`

/** The mark of a directory; undefined when there is none that was written for this very file. */
export const readMark = (directory: string): Mark | undefined => {
  const path = join(directory, MARK)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  const said = markIn(readFileSync(path, "utf8"))
  return said?.file === identity(found) ? said.mark : undefined
}

export class HighMark {
  readonly #handle: number
  readonly #file: string
  #last = ""

  constructor(directory: string) {
    this.#handle = openSync(join(directory, MARK), "a+", 0o600)
    closeSync(this.#handle)
    this.#handle = openSync(join(directory, MARK), "r+", 0o600)
    this.#file = identity(fstatSync(this.#handle))
  }

  write(mark: Mark): void {
    const text = JSON.stringify({ file: this.#file, ...mark })
    if (text === this.#last) return
    writeSync(this.#handle, text.padEnd(MARK_BYTES - 1).concat("\n"), 0)
    this.#last = text
  }

  close(): void {
    closeSync(this.#handle)
  }
}
