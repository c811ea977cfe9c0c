// SharedPlace: what all copies of a module in one process have in common, and one name for a directory.
// Owns the places on globalThis, and paths as the disk knows them. Leaves what is kept there to who asks.
// P1  Two copies of this module, as hot reload and bundlers make them, find the same map.
// P2  A directory has one name by whatever path it is reached, also before it exists.

import { realpathSync } from "node:fs"
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
