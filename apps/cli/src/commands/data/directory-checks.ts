// DirectoryChecks: a data directory as it lies on its disk: whether it can be written, has room, who works on it, who may read it.
// Owns what doctor says of that, without opening anything. Leaves what is stored in it to doctor.ts.
// D1  Nothing is changed: no directory is made, and no right is corrected, which the next opening does.
// D2  A disk that says nothing of its room is not called full.

import { constants } from "node:fs"
import { access, readdir, readFile, stat, statfs } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { isAlive } from "../../backend/find-backend.ts"

export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly says: string
  /** What to do when it is not ok. */
  readonly fix?: string
}

/** What the system says of the room of a disk. */
export interface Room {
  readonly bsize: number
  readonly blocks: number
  /** Blocks that a user who is not root may still take. */
  readonly bavail: number
}

const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.W_OK).then(
    () => true,
    () => false
  )

/** The directory itself, or the nearest one above it that exists. */
const nearest = async (path: string): Promise<string> => {
  const found = await stat(path).catch(() => undefined)
  const above = dirname(path)
  return found !== undefined || above === path ? path : nearest(above)
}

/** With less, not even what an opening writes has room. */
const LEAST_BYTES = 1_048_576

const freeBytes = ({ bavail, blocks, bsize }: Room): number =>
  blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize

const writableCheck = async (data: string, roomOf: (path: string) => Promise<Room>): Promise<Check> => {
  const path = resolve(data)
  const existing = await nearest(path)
  const isDirectory = (await stat(existing)).isDirectory()
  const name = "data"
  if (!isDirectory || !(await isWritable(existing))) {
    return {
      name,
      ok: false,
      says: `${existing} can not be written`,
      fix: "choose another --data, or correct its owner"
    }
  }
  const room = await roomOf(existing).catch(() => undefined)
  const free = room === undefined ? Number.POSITIVE_INFINITY : freeBytes(room)
  if (free < LEAST_BYTES) {
    const says = `the disk of ${existing} is full: ${free} bytes are free`
    return { name, ok: false, says, fix: "free space on it, or choose another --data" }
  }
  return { name, ok: true, says: existing === path ? `${data} can be written` : `${data} is made with the first start` }
}

const ownerCheck = async (data: string): Promise<Check> => {
  const text = await readFile(join(data, "owner.pid"), "utf8").catch(() => "")
  const pid = Number.parseInt(text, 10)
  const says = Number.isNaN(pid) || !isAlive(pid) ? "no process works on it" : `process ${pid} works on it`
  return { name: "owner", ok: true, says }
}

const OTHERS = 0o077
const OTHERS_READ = 0o044

const octal = (mode: number): string => (mode & 0o777).toString(8)

/** Only where there is data, and the system has modes: an empty directory is closed by the first opening. */
const rightsChecks = async (data: string): Promise<ReadonlyArray<Check>> => {
  const isThere = (await stat(join(data, "reverie.db")).catch(() => undefined)) !== undefined
  if (!isThere || process.platform === "win32") return []
  const { mode } = await stat(data)
  if ((mode & OTHERS) === 0) return []
  const files = await Promise.all(
    (await readdir(data)).map(async (name) => ({
      name,
      mode: (await stat(join(data, name)).catch(() => undefined))?.mode ?? 0
    }))
  )
  const open = files
    .filter((file) => (file.mode & OTHERS_READ) !== 0)
    .map((file) => `${file.name} (${octal(file.mode)})`)
  const says = `others may enter ${data} (${octal(mode)})${open.length === 0 ? "" : `, and read ${open.join(", ")}`}`
  const fix = `chmod 700 ${data}; the next start does it, where the directory holds nothing else`
  return [{ name: "rights", ok: false, says, fix }]
}

/** What can be seen of a data directory from outside. */
export const directoryChecks = async (
  data: string,
  roomOf: (path: string) => Promise<Room> = statfs
): Promise<ReadonlyArray<Check>> => [
  await writableCheck(data, roomOf),
  await ownerCheck(data),
  ...(await rightsChecks(data))
]
