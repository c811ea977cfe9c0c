// Rights: who may read what a store writes.
// Owns the modes of the directory and of its files. Leaves opening them to store.ts.
// R1  The directory is 0700 and every file in it 0600, whoever made them and whatever the umask says.
// R2  A directory that is not ours alone is not taken from others: it is refused, and nothing is written into it.
// R3  A file that exists is never opened here: closing a descriptor of a database drops the locks of the whole process.

import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { StoreExposed } from "../errors.ts"

const OTHERS = 0o077

/** Names that Reverie gives to files of a data directory. */
const OURS = /^(reverie|recall)\.(db|mark)|^(owner|server|moved|audit)\.[a-z]+|^restored\.|^lost\+found$/

/** Windows keeps rights in lists that its directories inherit; there are no modes to set. */
const hasModes = process.platform !== "win32"

const exposed = (directory: string, mode: number, why: string): StoreExposed =>
  new StoreExposed({ directory, reason: `${why} (mode ${(mode & 0o7777).toString(8)})` })

/** Makes the directory where it is missing, and closes it to others. Throws StoreExposed where that cannot be. */
export const privateDirectory = (directory: string): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (!hasModes) return
  const { mode, uid } = statSync(directory)
  if ((mode & OTHERS) === 0) return
  if (uid !== process.getuid?.()) throw exposed(directory, mode, "it belongs to another user")
  const foreign = readdirSync(directory).find((name) => !OURS.test(name))
  if (foreign !== undefined) throw exposed(directory, mode, `it holds other files too: ${foreign}`)
  chmodSync(directory, 0o700)
  const now = statSync(directory).mode
  if ((now & OTHERS) !== 0) throw exposed(directory, now, "its file system keeps no rights")
}

/** Closes what earlier processes left open to others. */
export const closeFiles = (directory: string): void => {
  if (!hasModes) return
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isFile() && OURS.test(entry.name)) privateFile(directory, entry.name)
  }
}

/** Closes a file to others, made empty where it is missing and `isMade` says so. */
export const privateFile = (directory: string, name: string, isMade = false): void => {
  const file = join(directory, name)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) {
    if (isMade) closeSync(openSync(file, "wx", 0o600))
  } else if (hasModes && (found.mode & OTHERS) !== 0) chmodSync(file, 0o600)
}

/** A place for a data directory that is there for a while, and ours alone. `remove` leaves nothing of it. */
export const temporaryPlace = (): { readonly directory: string; readonly remove: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-"))
  return { directory: join(folder, "data"), remove: () => rmSync(folder, { recursive: true, force: true }) }
}
