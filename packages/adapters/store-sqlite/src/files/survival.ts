// Survival: what a start finds of a store that was killed, copied, restored, emptied or shortened.
// Owns the judgement before the database is opened for work, and the recovery of a log that another program removed.
// Leaves the marks to safeguard.ts, opening to store.ts.
// V1  A store that ends before what it had acknowledged is refused, with the numbers; `acceptLoss` takes it as it is.
// V2  Nothing is deleted that may be of use: what stands in the way is kept beside it, as `.moved-away`.
// V3  A log that was kept under its second name is taken back when it holds more than the database without it.
// V4  Who only reads, or copies, learns of a loss what a start would say, and changes nothing, also beside the owner.
// V5  What could not be read, as on a full disk, is no loss: its own failure is said, and nothing is moved or removed.

import { existsSync, linkSync, mkdtempSync, readdirSync, renameSync, rmSync, type Stats, statSync } from "node:fs"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { defined } from "@reverie/protocol"
import { StoreShortened } from "../errors.ts"
import { DATABASE, LOG, LOG_LINK, type Mark, type Position, positionIn, readMark } from "./safeguard.ts"
import { isUnfitting, sqliteFailure } from "../sql.ts"
import { openToRead } from "./still.ts"

const LOOK = "reverie.db-look-"
const SHARED_INDEX = "reverie.db-shm"
const NO_LINKS = new Set<unknown>(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"])
const NOTHING: Position = { accepted: 0, committed: 0 }
const BUSY_MILLIS = 1_000

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** By a restore, or by a start that found it in the way. */
const FORMER = /^(?!recall\.).*(?:-before-restore-|\.moved-away$)/

/** The names of what is kept in a directory of an earlier store. An index that was moved away is made anew, and is none. */
export const formerIn = (directory: string): ReadonlyArray<string> =>
  existsSync(directory) ? readdirSync(directory).filter((name) => FORMER.test(name)) : []

const moveAway = (directory: string, name: string): void => {
  const file = join(directory, name)
  if (existsSync(file)) renameSync(file, `${file}.moved-away`)
}

/** How far a database has come; nothing where it has other tables. One that is damaged or can not be read throws. */
const positionOf = (database: DatabaseSync): Position => {
  try {
    return positionIn(database)()
  } catch (error) {
    if (!isUnfitting(error)) throw error
    return NOTHING
  }
}

const hasNoLinks = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, "syscall") === "link" && NO_LINKS.has(Reflect.get(error, "code"))

const looked = <A>(file: string, look: (database: DatabaseSync) => A): A => {
  const database = openToRead(file, BUSY_MILLIS)
  try {
    return look(database)
  } finally {
    database.close()
  }
}

/** Looks at the database with a log of that name, under other names, so that nothing of it is changed. */
const lookWith = <A>(directory: string, log: string, look: (database: DatabaseSync) => A): A => {
  const folder = mkdtempSync(join(directory, LOOK))
  try {
    linkSync(join(directory, DATABASE), join(folder, DATABASE))
    if (existsSync(join(directory, log))) linkSync(join(directory, log), join(folder, LOG))
    return looked(join(folder, DATABASE), look)
  } catch (error) {
    // A file system without hard links has no second name of the log either.
    if (!hasNoLinks(error)) throw error
    return looked(join(directory, DATABASE), look)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a look at the database of a directory. */
type Looking = <A>(look: (database: DatabaseSync) => A) => A

const isBehind = (found: Position, expected: Position): boolean =>
  found.accepted < expected.accepted || found.committed < expected.committed

/** What was kept of a log that is no longer at its place. */
const keptLog = (directory: string): Stats | undefined => {
  const [log, link] = [join(directory, LOG), join(directory, LOG_LINK)]
  const kept = statSync(link, { throwIfNoEntry: false })
  return statSync(log, { throwIfNoEntry: false })?.ino === kept?.ino ? undefined : kept
}

/** Takes back what was kept of a log that another program removed. */
const recoverLog = (directory: string): void => {
  const [log, link] = [join(directory, LOG), join(directory, LOG_LINK)]
  const kept = keptLog(directory)
  if (kept === undefined) return
  if (kept.size > 0 && isBehind(lookWith(directory, LOG, positionOf), lookWith(directory, LOG_LINK, positionOf))) {
    moveAway(directory, LOG)
    rmSync(join(directory, SHARED_INDEX), { force: true })
    renameSync(link, log)
  } else rmSync(link, { force: true })
}

const numbers = ({ accepted, committed }: Position): string => `${accepted} messages and ${committed} commits`

/** The database is gone or empty, though there was something. */
const assertThere = (directory: string, mark: Mark | undefined, acceptLoss: boolean): void => {
  const isMarked = mark !== undefined && mark.committed > 0
  if (sizeOf(join(directory, DATABASE)) > 0) return
  // A log without its database would be thrown away by SQLite.
  if (!isMarked && sizeOf(join(directory, LOG)) === 0 && sizeOf(join(directory, LOG_LINK)) === 0) return
  if (!acceptLoss) {
    const before = isMarked ? `, though ${numbers(mark)} had been kept` : ", though its log is there"
    throw new StoreShortened({ directory, reason: `${DATABASE} is missing or empty${before}` })
  }
  for (const name of [DATABASE, LOG, SHARED_INDEX, LOG_LINK]) moveAway(directory, name)
}

const isConsistent = (database: DatabaseSync): boolean => {
  try {
    return Object.values(database.prepare("PRAGMA integrity_check(1)").get() ?? {})[0] === "ok"
  } catch (error) {
    if (sqliteFailure(error)?.kind !== "damaged" && !isUnfitting(error)) throw error
    return false
  }
}

/**
 * The database was written by someone else, and the log is still there. Another program may have moved a part of the log
 * into it, which is well; or the file is an older one, which the log would make into neither.
 */
const assertTogether = (directory: string, mark: Mark | undefined, acceptLoss: boolean, looking: Looking): void => {
  if (mark?.database == null || sizeOf(join(directory, LOG)) === 0) return
  const found = statSync(join(directory, DATABASE))
  if (found.size === mark.database.size && found.mtimeMs === mark.database.mtimeMs) return
  if (looking(isConsistent)) return
  if (!acceptLoss) {
    const reason = `${DATABASE} was replaced, and the log of the former one (${LOG}) is still beside it`
    throw new StoreShortened({ directory, reason })
  }
  for (const name of [LOG, SHARED_INDEX]) moveAway(directory, name)
}

const assertWhole = (directory: string, expected: Position, looking: Looking): void => {
  const found = looking(positionOf)
  if (!isBehind(found, expected)) return
  const reason = `it ends after ${numbers(found)}, though ${numbers(expected)} had been kept`
  const log = (keptLog(directory)?.size ?? 0) > 0 ? LOG_LINK : undefined
  throw new StoreShortened({ directory, reason, ...defined({ log }) })
}

/** What is gone of a directory that is only looked into. Throws StoreShortened. */
export const assertNotGone = (directory: string): void => assertThere(directory, readMark(directory), false)

/** Why a start would refuse the directory, or find more than is read now; undefined when it is whole. */
export const lossIn = (directory: string): StoreShortened | undefined => {
  // The mark comes first: an owner that works meanwhile only adds to what it said.
  const mark = readMark(directory)
  const looking: Looking = (look) => looked(join(directory, DATABASE), look)
  try {
    assertThere(directory, mark, false)
    if (mark === undefined || sizeOf(join(directory, DATABASE)) === 0) return undefined
    assertTogether(directory, mark, false, looking)
    assertWhole(directory, mark, looking)
    return undefined
  } catch (error) {
    if (error instanceof StoreShortened) return error
    throw error
  }
}

/** Before the database is opened for work. Throws StoreShortened. */
export const survive = (directory: string, acceptLoss: boolean): void => {
  const looks = readdirSync(directory).filter((name) => name.startsWith(LOOK))
  for (const name of looks) rmSync(join(directory, name), { recursive: true, force: true })
  const mark = readMark(directory)
  assertThere(directory, mark, acceptLoss)
  if (sizeOf(join(directory, DATABASE)) === 0) return
  recoverLog(directory)
  const looking: Looking = (look) => lookWith(directory, LOG, look)
  assertTogether(directory, mark, acceptLoss, looking)
  if (mark !== undefined && !acceptLoss) assertWhole(directory, mark, looking)
}
