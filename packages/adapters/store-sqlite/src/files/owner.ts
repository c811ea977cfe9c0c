// Owner: the right of one process to write a data directory.
// Owns the lock, the name that is held, and the word on who holds it. Leaves the data to store.ts.
// O1  At most one living process owns a directory.
// O2  Ownership ends with the process, however it dies: the kernel frees the lock and the name.
// O3  Who is refused learns who owns it; the process number may lag behind, it never decides alone.
// O4  A file that someone reads and closes in the owning process drops its POSIX locks, all of them ("How to corrupt an
//     SQLite database", 2.2). So the directory is owned by a listening socket too, which only the end of the process
//     frees. It has no file in the directory, so that nothing that copies a directory stumbles over it.

import { defined } from "@reverie/protocol"
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { createConnection, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { StoreBusy, StoreExposed, StoreUnopenable } from "../errors.ts"
import { sqliteFailure } from "../sql.ts"
import { openingFailure } from "./room.ts"

// Rights: who may read what a store writes.
// R1  The directory is 0700 and every file in it 0600, no matter who made them and whatever the umask says.
// R2  A directory that is not ours alone is not taken from others: it is refused, and nothing is written into it.
// R3  A file that exists is never opened here: closing a descriptor of a database drops the locks of the whole process.

const OTHERS = 0o077

/** Names that Reverie gives to files of a data directory. */
const OURS = /^(reverie|recall|keys)\.(db|mark)|^(owner|server|moved|audit)\.[a-z]+|^restored\.|^lost\+found$/

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

const LOCK = "owner.lock"
const PID = "owner.pid"

/** Locks the directory. */
const lock = (directory: string): DatabaseSync => {
  privateFile(directory, LOCK, true)
  const database = new DatabaseSync(join(directory, LOCK), { timeout: 0 })
  try {
    // Nothing is ever written into it, so no journal appears beside it and a crash leaves nothing to recover.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
  } catch (error) {
    database.close()
    throw error
  }
  return database
}

/** Where a process is known by its number and the moment it began, which no later process of that number shares. */
const beginningOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name of the program stands in brackets and may hold anything; the 20th field behind it is the beginning.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
  } catch {
    return undefined
  }
}

const readHolder = (directory: string): { readonly pid: number; readonly began: string | undefined } | undefined => {
  try {
    const [pid, began] = readFileSync(join(directory, PID), "utf8").trim().split(" ")
    const number = Number.parseInt(pid ?? "", 10)
    return Number.isNaN(number) ? undefined : { pid: number, began }
  } catch (error) {
    if (sqliteFailure(error) === undefined) throw error
    return undefined
  }
}

/** The recorded holder is another process, and lives: whatever became of its lock. */
const isHeldByLiving = (directory: string): boolean => {
  const holder = readHolder(directory)
  return holder?.began !== undefined && holder.pid !== process.pid && beginningOf(holder.pid) === holder.began
}

const busy = (directory: string): StoreBusy => {
  const holder = readHolder(directory)
  // In another container a process may have the same number.
  const isOwn = holder?.pid === process.pid && (holder.began || undefined) === beginningOf(process.pid)
  return new StoreBusy({ directory, ...defined({ pid: holder?.pid, isOwn: isOwn || undefined }) })
}

const refusal = (directory: string, error: unknown): StoreBusy | StoreUnopenable => {
  if (error instanceof StoreBusy) return error
  const failure = openingFailure(directory, error)
  if (failure === undefined) throw error
  if (failure.kind !== "busy") return new StoreUnopenable({ directory, reason: failure.message, cause: error })
  return busy(directory)
}

/** One name for a directory, by whatever path it is reached. */
const nameOf = (directory: string): string => {
  const { dev, ino } = statSync(directory, { bigint: true })
  return `reverie-owner-${dev}-${ino}`
}

/** Where the name is listened on. Linux has names without a file, Windows has pipes; elsewhere it is a file in the temporary folder. */
const placeOf = (name: string): string => {
  if (process.platform === "linux") return `\0${name}`
  return process.platform === "win32" ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`)
}

const listen = (place: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once("error", reject)
    server.listen(place, () => {
      // An owner keeps no process alive.
      server.unref()
      resolve(server)
    })
  })

const answers = (place: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(place)
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })

/** Holds the name; undefined where the system lets no one listen, and then the lock alone decides. */
const holdName = async (directory: string): Promise<Server | undefined> => {
  const place = placeOf(nameOf(directory))
  for (let tries = 0; tries < 2; tries++) {
    try {
      return await listen(place)
    } catch (error) {
      if (!(error instanceof Error) || Reflect.get(error, "code") !== "EADDRINUSE") return undefined
      // The file of a process that died is in the way; the lock is held by now, so that two do not take it away at once.
      if (place.startsWith("\0") || (await answers(place))) throw busy(directory)
      rmSync(place, { force: true })
    }
  }
  throw busy(directory)
}

interface Held {
  readonly lock: DatabaseSync
  readonly name: Server | undefined
}

const endedName = (name: Server | undefined): Promise<void> =>
  new Promise((resolve) => (name === undefined ? resolve() : name.close(() => resolve())))

const take = async (directory: string): Promise<Held> => {
  const held = lock(directory)
  let name: Server | undefined
  try {
    if (isHeldByLiving(directory)) throw busy(directory)
    name = await holdName(directory)
    writeFileSync(join(directory, PID), `${process.pid} ${beginningOf(process.pid) ?? ""}\n`, { mode: 0o600 })
    privateFile(directory, PID)
    return { lock: held, name }
  } catch (error) {
    held.close()
    await endedName(name)
    throw error
  }
}

/** Takes the directory for this process until the scope closes. */
export const own = (directory: string): Effect.Effect<void, StoreBusy | StoreUnopenable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({ try: () => take(directory), catch: (error) => refusal(directory, error) }),
    ({ lock: held, name }) =>
      Effect.promise(() => {
        rmSync(join(directory, PID), { force: true })
        held.close()
        return endedName(name)
      })
  ).pipe(Effect.asVoid)
