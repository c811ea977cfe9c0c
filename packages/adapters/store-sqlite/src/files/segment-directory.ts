// SegmentDirectory: a directory as a place for segments.
// Owns that a file is there whole or not at all. Leaves what refers to it to the stores.
// D1  A segment is written beside, flushed, renamed, and its directory is flushed: once put, it survives a power cut.
// D2  What a crash left of a segment that was not renamed is no segment: it is neither read nor listed, and the next writer takes it away.
// D3  What of a store lies here is in a folder of its own, which stays when all of it is removed: where that folder lacks, this is not the
//     place that it was put into, but a mount point without its disk, or another directory.

import { randomUUID } from "node:crypto"
import { accessSync, constants, existsSync, statSync } from "node:fs"
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname, join, relative, resolve, sep } from "node:path"
import { isSegmentKey, type PlacedObject, type SegmentPlace, SegmentPlaceUnavailable } from "@reverie/ledger"
import * as Effect from "effect/Effect"

const PRIVATE = 0o700
/** No key has a dot. */
const PARTIAL = ".partial-"
const ENDING = ".segment"
/** What is older than that is under way no more. */
const PARTIAL_MILLIS = 3_600_000

const codeOf = (error: unknown): unknown => (error instanceof Error ? Reflect.get(error, "code") : undefined)

const flush = async (directory: string): Promise<void> => {
  const handle = await open(directory, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes a directory, and those above it that are missing, and flushes what names each. */
const madeDurable = async (directory: string): Promise<void> => {
  const first = await mkdir(directory, { recursive: true, mode: PRIVATE })
  if (first === undefined) return
  for (let each = directory; ; each = dirname(each)) {
    await flush(dirname(each))
    if (each === first) return
  }
}

const putInto = async (file: string, bytes: Uint8Array): Promise<void> => {
  const folder = dirname(file)
  await madeDurable(folder)
  const partial = join(folder, `${PARTIAL}${randomUUID()}`)
  try {
    const handle = await open(partial, "wx", 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
  await flush(folder)
}

const getFrom = async (file: string): Promise<Uint8Array | undefined> => {
  try {
    return new Uint8Array(await readFile(file))
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined
    throw error
  }
}

const removeAll = async (files: ReadonlyArray<string>): Promise<void> => {
  for (const file of files) await rm(file, { force: true })
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    try {
      await flush(folder)
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error
    }
  }
}

/** Every segment below, as keys; what a crash cut off is taken away. */
const listIn = async (root: string): Promise<ReadonlyArray<PlacedObject>> => {
  const found: Array<PlacedObject> = []
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return []
    throw error
  })
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const held = await stat(file).catch(() => undefined)
    if (held === undefined) continue
    if (entry.name.startsWith(PARTIAL)) {
      if (Date.now() - held.mtimeMs > PARTIAL_MILLIS) await rm(file, { force: true })
      continue
    }
    const key = relative(root, file).split(sep).join("/").slice(0, -ENDING.length)
    if (file.endsWith(ENDING) && isSegmentKey(key)) found.push({ key, bytes: held.size })
  }
  return found
}

/** What is wrong with a path as such a place, in words; undefined when nothing is, also where nothing is there yet. */
export const flawOfSegmentDirectory = (directory: string): string | undefined => {
  const root = resolve(directory)
  try {
    if (!statSync(root).isDirectory()) return `${root} is no directory`
    accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    return error instanceof Error ? error.message : String(error)
  }
}

/** A directory as a place for segments: made with the first one. */
export const segmentDirectory = (directory: string): SegmentPlace["Service"] => {
  const root = resolve(directory)
  const at = (key: string): string => {
    if (!isSegmentKey(key)) throw new Error(`${JSON.stringify(key)} is no key`)
    return join(root, `${key.split("/").join(sep)}${ENDING}`)
  }
  const attempt = <A>(operation: SegmentPlaceUnavailable["operation"], run: () => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) => {
        const reason = cause instanceof Error ? cause.message : String(cause)
        return new SegmentPlaceUnavailable({ operation, place: root, message: `${root}: ${reason}`, cause })
      }
    })
  return {
    says: root,
    assertHas: (beginning) =>
      attempt("list", async () => {
        const folder = join(root, beginning)
        if (existsSync(folder)) return
        throw new Error(
          `older segments of this store lie in its folder ${beginning}, which is not there; mount the disk that has it, or name the directory that has it (if all of it is lost for good, make that folder)`
        )
      }),
    put: (key, bytes) => attempt("put", async () => putInto(at(key), bytes)),
    get: (key) => attempt("get", async () => getFrom(at(key))),
    remove: (keys) => attempt("remove", async () => removeAll(keys.map(at))),
    list: (prefix) => attempt("list", async () => (await listIn(root)).filter(({ key }) => key.startsWith(prefix)))
  }
}
