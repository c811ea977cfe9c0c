// Backup: a whole copy of a data directory, made while work goes on, and put back later.
// Owns the copy, its verification and the way back. Leaves its list to backup-contents.ts, what it may replace to
// backup-target.ts, and ownership to owner.ts.
// B1  A backup appears under its name only when it is whole, verified and on the disk.
// B2  Making one takes no lock from the owner and holds up no work: one read of the database as it is at one moment.
// B3  It holds at least all that was acknowledged when it was begun: of a store that has lost something none is made.
// B4  Restoring touches nothing unless the backup is whole, byte for byte; what was there before is kept beside.
// B5  A restore that is broken off leaves a directory that refuses to open, never one that looks new.
// B6  Keys come along only where that was asked for, and are copied last: what was forgotten meanwhile stays unreadable.

import type { SegmentPlace } from "@reverie/ledger"
import { defined } from "@reverie/protocol"
import { createHash } from "node:crypto"
import { createReadStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { copyFile, open, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { backup, DatabaseSync } from "node:sqlite"
import { pipeline } from "node:stream/promises"
import * as Effect from "effect/Effect"
import { BackupRefused, type StoreError } from "../errors.ts"
import { DATABASE, HighMark, MARK, positionIn } from "./safeguard.ts"
import { type BackupContents, CONTENTS, contentsIn, refuse } from "./backup-contents.ts"
import { isSegment, putSegmentsBack, takeSegments } from "./backup-segments.ts"
import { assertNoBackup, formerOf, partialOf, swap, targetOf } from "./backup-target.ts"
import { own, privateDirectory, privateFile } from "./owner.ts"
import { type KeysLacking, lackingIn } from "../sealing/opening.ts"
import { lossIn } from "./survival.ts"
import { isReadOnlyPlace, openToRead, stillStateOf } from "./still.ts"
import { isOfFiles } from "../sql.ts"

/** The index of memories comes along: made again it costs time, and its vectors cost money. */
const DATABASES = ["recall.db", DATABASE]
const OTHERS = ["audit.jsonl", "moved.json"]
const KEYS = "keys.db"
/** What a restore moves out of the way. */
const REPLACED = /^(reverie|recall)\.(db|mark)(?!-before-)|^(moved|audit)\./
/** The same, where the backup holds keys. */
const REPLACED_KEYS = /^keys\.db/
/** One step, so that work that goes on meanwhile cannot make it begin again. */
const ALL_PAGES = 2 ** 31 - 1

const sha256Of = async (file: string): Promise<string> => {
  const hash = createHash("sha256")
  await pipeline(createReadStream(file), hash)
  return hash.digest("hex")
}

const flush = async (path: string): Promise<void> => {
  const handle = await open(path, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const positionOf = (file: string) => {
  const database = openToRead(file)
  try {
    return positionIn(database)()
  } finally {
    database.close()
  }
}

/** Copies a database as it is at one moment, beside anyone who writes it, and makes the copy a single file. */
const copyDatabase = async (from: string, to: string): Promise<void> => {
  const before = stillStateOf(from)
  const source = openToRead(from)
  try {
    await backup(source, to, { rate: ALL_PAGES })
  } finally {
    source.close()
  }
  if (before !== undefined && stillStateOf(from) !== before) refuse(from, "someone wrote it while it was copied")
  const copy = new DatabaseSync(to)
  try {
    copy.exec("PRAGMA journal_mode = DELETE")
    const [verdict] = Object.values(copy.prepare("PRAGMA integrity_check(1)").get() ?? {})
    if (verdict !== "ok") refuse(from, `its copy is damaged: ${String(verdict)}`)
  } finally {
    copy.close()
  }
}

/** What a backup holds of a directory: databases as copies of one moment, everything else as it is. */
const copyFiles = async (directory: string, folder: string, keys: string | undefined) => {
  const isThere = (name: string): boolean => existsSync(join(directory, name))
  for (const name of DATABASES.filter(isThere)) {
    privateFile(folder, name, true)
    await copyDatabase(join(directory, name), join(folder, name))
  }
  for (const name of OTHERS.filter(isThere)) await copyFile(join(directory, name), join(folder, name))
  if (keys !== undefined) {
    privateFile(folder, KEYS, true)
    await copyDatabase(keys, join(folder, KEYS))
  }
  return [...DATABASES, ...OTHERS, KEYS].filter((name) => existsSync(join(folder, name)))
}

const copyInto = async (
  directory: string,
  folder: string,
  keys: string | undefined,
  { segments: place, withoutLost = false }: BackupOptions
): Promise<BackupContents> => {
  const before = positionOf(join(directory, DATABASE))
  const copied = await copyFiles(directory, folder, keys)
  const taking = { place, live: join(directory, DATABASE), withoutLost }
  const { left, lost, names: segments } = await takeSegments(join(folder, DATABASE), folder, taking)
  const names = [...copied, ...segments]
  const position = positionOf(join(folder, DATABASE))
  if (position.accepted < before.accepted || position.committed < before.committed) {
    refuse(directory, "its copy ends before what was acknowledged when the backup began")
  }
  const files = []
  for (const name of names) {
    privateFile(folder, name)
    await flush(join(folder, name))
    const { size } = await stat(join(folder, name))
    files.push({ name, bytes: size, sha256: await sha256Of(join(folder, name)) })
  }
  const lacking = defined({
    segmentsLeft: left === 0 ? undefined : left,
    segmentsLost: lost.length === 0 ? undefined : lost
  })
  return { format: 1, at: Date.now(), ...position, ...lacking, files }
}

/** A copy of what has lost something would take the place of one that has it. */
const assertWhole = (directory: string): void => {
  const loss = lossIn(directory)
  if (loss === undefined) return
  const cure =
    loss.log === undefined
      ? "put an earlier backup back (reverie restore), or start its fleet with --force, which accepts the loss"
      : `start its fleet once, which takes the rest back from ${loss.log}`
  refuse(directory, `it has lost something: ${loss.reason}; ${cure}`)
}

const makeBackup = async (directory: string, to: string, options: BackupOptions): Promise<BackupContents> => {
  const { force = false, keys } = options
  const target = targetOf(directory, to, force)
  assertWhole(directory)
  if (!existsSync(join(directory, DATABASE))) refuse(directory, "there is no Reverie data in it")
  const wanted = keys === undefined || keys === false ? undefined : keys === true ? join(directory, KEYS) : keys
  if (wanted !== undefined && !existsSync(wanted)) {
    refuse(directory, `there are no keys in ${wanted}: it is not encrypted, or its keys lie elsewhere`)
  }
  const folder = partialOf(target)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    const contents = await copyInto(directory, folder, wanted, options)
    await writeFile(join(folder, CONTENTS), `${JSON.stringify(contents, null, 2)}\n`, { mode: 0o600 })
    await flush(join(folder, CONTENTS))
    await flush(folder)
    swap(folder, target)
    await flush(dirname(target))
    rmSync(formerOf(target), { recursive: true, force: true })
    return contents
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Reads a backup whole and compares it with its list. */
const verify = async (source: string): Promise<BackupContents> => {
  const contents = contentsIn(source) ?? refuse(source, `it is no backup: it has no readable ${CONTENTS}`)
  for (const { bytes, name, sha256 } of contents.files) {
    const file = join(source, name)
    if (name !== basename(name) || !existsSync(file)) refuse(source, `it is not whole: ${name} is missing`)
    if ((await sha256Of(file)) !== sha256)
      refuse(source, `it is damaged: ${name} is not the ${bytes} bytes that were written`)
  }
  if (!contents.files.some(({ name }) => name === DATABASE)) refuse(source, `it is not whole: ${DATABASE} is missing`)
  return contents
}

/** Puts a verified backup into a directory that is owned. Answers where what was there before is kept. */
const putBack = async (
  source: string,
  directory: string,
  contents: BackupContents,
  place: SegmentPlace["Service"] | undefined
): Promise<string | undefined> => {
  const names = contents.files.map(({ name }) => name)
  await putSegmentsBack(source, names.filter(isSegment), place, contents.segmentsLost)
  const files = names.filter((name) => !isSegment(name))
  const hasKeys = contents.files.some(({ name }) => name === KEYS)
  const isReplaced = (name: string): boolean => REPLACED.test(name) || (hasKeys && REPLACED_KEYS.test(name))
  const former = readdirSync(directory).filter(isReplaced)
  const discarded = join(directory, `reverie.db-before-restore-${Date.now()}`)
  if (former.length > 0) mkdirSync(discarded, { mode: 0o700 })
  for (const name of files) {
    await copyFile(join(source, name), join(directory, `restored.${name}`))
    privateFile(directory, `restored.${name}`)
    await flush(join(directory, `restored.${name}`))
  }
  // From here to the last rename the directory says how far it has to come, and holds less: it refuses to open.
  for (const name of former) if (name !== MARK) renameSync(join(directory, name), join(discarded, name))
  rmSync(join(directory, MARK), { force: true })
  const mark = new HighMark(directory)
  mark.write({ accepted: contents.accepted, committed: contents.committed, database: null })
  mark.close()
  await flush(join(directory, MARK))
  for (const name of files) renameSync(join(directory, `restored.${name}`), join(directory, name))
  await flush(directory)
  return former.length > 0 ? discarded : undefined
}

type Refusal = BackupRefused | StoreError

const UNREAD_LOG =
  "it lies on a read-only file system, where its log can not be read; copy the directory, with all its files, to where it " +
  "may be written, and back up the copy"

const reasonOf = (place: string, error: unknown): string => {
  if (isOfFiles(error) && isReadOnlyPlace(place)) return UNREAD_LOG
  return error instanceof Error ? error.message : String(error)
}

const attempted = <A>(place: string, run: () => Promise<A>): Effect.Effect<A, Refusal> =>
  Effect.tryPromise({
    try: run,
    catch: (error) =>
      error instanceof BackupRefused ? error : new BackupRefused({ place, reason: reasonOf(place, error) })
  })

export interface BackupOptions {
  /** Replaces a backup that is there; of a restore, what is in the data directory. */
  readonly force?: boolean
  /** Copies the file with the data keys too, wrapped as they are: `keys.db` of the directory, or the file that is named. */
  readonly keys?: boolean | string
  /** Where segments lie that lie apart from the store: they are taken along, and put back there. */
  readonly segments?: SegmentPlace["Service"]
  /** Does without segments that are missing or damaged, and lists them; otherwise one such refuses the backup. */
  readonly withoutLost?: boolean
}

/** Copies a data directory, while its owner works, into a directory that is not there yet, is empty, or is replaced (`force`). */
export const backupDirectory = (
  directory: string,
  target: string,
  options: BackupOptions = {}
): Effect.Effect<BackupContents, Refusal> => attempted(directory, () => makeBackup(resolve(directory), target, options))

/** What was put back. */
export interface Restored extends BackupContents {
  /** Where the files that were there before are kept. */
  readonly former?: string
  /** What of it does not open with the data keys that lie there now; not there where all of it does, or nothing is encrypted. */
  readonly lacking?: KeysLacking
}

/** Puts a backup in the place of a data directory that no one works on. */
export const restoreDirectory = (
  source: string,
  directory: string,
  { force = false, segments }: Pick<BackupOptions, "force" | "segments"> = {}
): Effect.Effect<Restored, Refusal> =>
  Effect.gen(function* () {
    const contents = yield* attempted(source, () => verify(source))
    yield* attempted(directory, async () => {
      assertNoBackup(source, directory)
      privateDirectory(directory)
      if (!force && existsSync(join(directory, DATABASE))) {
        refuse(
          directory,
          "there is data in it already; say --force to put the backup in its place (what is there is kept)"
        )
      }
    })
    yield* own(directory)
    const former = yield* attempted(directory, () => putBack(source, directory, contents, segments))
    const lacking = yield* attempted(directory, async () => lackingIn(directory, join(directory, DATABASE)))
    return { ...contents, ...defined({ former, lacking }) }
  }).pipe(Effect.scoped)
