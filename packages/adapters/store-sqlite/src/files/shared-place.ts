// SharedPlace: what all copies of a module in one process have in common, one name for a directory, and a temporary place.
// Owns the places on globalThis, paths as the disk knows them, and folders for a while. Leaves their content to the caller.
// P1  Two copies of this module, as hot reload and bundlers make them, find the same map.
// P2  A directory has one name by whatever path it is reached, also before it exists.
// P3  A temporary place is a new folder; removing it removes everything in it.

import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"

/** The map of that name, which every copy of a module in this process shares. */
export const processWide = <Value>(name: string): Map<string, Value> => {
  const place = Symbol.for(name)
  const found = Reflect.get(globalThis, place) as Map<string, Value> | undefined
  const map = found ?? new Map<string, Value>()
  if (found === undefined) Reflect.set(globalThis, place, map)
  return map
}

/** The path of a directory without any link in it. */
export const realPath = (directory: string): string => {
  const path = resolve(directory)
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realPath(above), basename(path))
  }
}

/** A path for a data directory in a new temporary folder. `remove` deletes the folder with everything in it. */
export const temporaryPlace = (): { readonly directory: string; readonly remove: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-"))
  return { directory: join(folder, "data"), remove: () => rmSync(folder, { recursive: true, force: true }) }
}
