// Direction: imports run downhill.
// Owns the rank of each room and every rule about who may import whom. Leaves declared dependencies to manifests.
// D1  An import points only to a room of a smaller rank; rooms of one rank do not import one another.
// D2  Adapters import protocol and the rooms whose ports they implement, never each other (they share a rank).
// D3  Only `assistant` imports xstate. No one imports the barrel of effect.
// D4  A relative import stays in its room; a computed one is for what loads a module that a user names: apps, and the process
//     of an isolated tool.

import { dirname, join } from "node:path/posix"
import { type Fault, type Repository, isAdapter, type Module, type Room, roomOf } from "./repository.ts"
import { type Import, importsOf, lineOf } from "./syntax.ts"

const rankByFolder: Readonly<Record<string, number>> = {
  "packages/protocol": 0,
  "packages/assistant": 1,
  "packages/mailbox": 1,
  "packages/ledger": 1,
  "packages/memory": 1,
  "packages/model": 1,
  "packages/tools": 2,
  "packages/context": 2,
  "packages/runtime": 3,
  "packages/reverie": 5,
  "packages/testkit": 5,
  "apps/server": 6,
  "packages/create-reverie": 7
}

/** Undefined for a room that no one has given a place. */
export const rankOf = (folder: string): number | undefined => {
  if (folder.startsWith("packages/adapters/")) return 4
  const known = rankByFolder[folder]
  if (known !== undefined) return known
  return folder.startsWith("apps/") || folder.startsWith("examples/") || folder === "test" ? 7 : undefined
}

/** The package a specifier names: `@scope/name/deep` and `name/deep` both lose what is deep. */
export const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

const uphill = (module: Module, target: Room): string | undefined => {
  if (target.folder === module.room) return "imports its own room by name; use a relative path"
  const from = rankOf(module.room)
  const to = rankOf(target.folder)
  if (from === undefined || to === undefined) {
    return `${from === undefined ? module.room : target.folder} has no rank; give it one in direction.ts`
  }
  if (to < from) return undefined
  return `${module.room} (${from}) imports ${target.folder} (${to}): ${to === from ? "sideways" : "uphill"}`
}

const relativeFault = (module: Module, specifier: string): string | undefined => {
  const target = join(dirname(module.path), specifier)
  return roomOf(`${target}/`) === module.room ? undefined : `${specifier} leaves its room; import the package`
}

/** Rooms above the first rank that have a port for adapters: the prompt store of context, the tools of others. */
const roomsWithPorts = new Set(["packages/context", "packages/tools"])

const adapterMayImport = (target: Room): boolean =>
  (rankOf(target.folder) ?? 9) <= 1 || roomsWithPorts.has(target.folder)

const loaders = ["apps/", "packages/adapters/run-place/src/child/"]

const faultOf = (repository: Repository, module: Module, { to }: Import): string | undefined => {
  if (to === undefined)
    return loaders.some((folder) => module.path.startsWith(folder)) ? undefined : "computes what it imports"
  if (to.startsWith(".")) return relativeFault(module, to)
  if (to === "effect") return "imports the barrel of effect; import the module (effect/Effect)"
  const name = packageOf(to)
  if (name === "xstate" && module.room !== "packages/assistant") return "imports xstate, which only assistant may"
  const target = repository.rooms.find((room) => room.name === name)
  if (target === undefined) return name.startsWith("@reverie/") ? `imports ${name}, which is no room` : undefined
  const wrongWay = uphill(module, target)
  if (wrongWay !== undefined) return wrongWay
  return isAdapter(module) && !adapterMayImport(target)
    ? `an adapter imports ${target.folder}, no port of its own`
    : undefined
}

export const directionFaults = (repository: Repository, modules: ReadonlyArray<Module>): ReadonlyArray<Fault> =>
  modules.flatMap((module) =>
    importsOf(module).flatMap((found) => {
      const what = faultOf(repository, module, found)
      return what === undefined ? [] : [{ where: lineOf(module, found.node), what }]
    })
  )
