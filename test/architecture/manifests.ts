// Manifests: what a room imports, its package.json declares.
// Owns the comparison of imports and dependencies. Leaves the direction of imports to direction.
// M1  Every package that src imports stands in `dependencies`, workspace or not; vitest is the repository's own. What is loaded
//     only when it is chosen may stand in `devDependencies` or `peerDependencies`: who runs a clone does not install it.
// M2  Every room that a manifest declares exists.

import { isBuiltin } from "node:module"
import { packageOf } from "./direction.ts"
import type { Fault, Repository, Module } from "./repository.ts"
import { importsOf, lineOf } from "./syntax.ts"

/** Declared once at the root: the test runner is the same for all rooms. */
const fromRoot = new Set(["vitest", "@effect/vitest", "fast-check"])

export const undeclaredImports = (repository: Repository, modules: ReadonlyArray<Module>): ReadonlyArray<Fault> =>
  modules.flatMap((module) => {
    const room = repository.rooms.find(({ folder }) => folder === module.room)
    return importsOf(module).flatMap(({ node, to }) => {
      if (to === undefined || to.startsWith(".") || isBuiltin(to) || fromRoot.has(packageOf(to))) return []
      const name = packageOf(to)
      if (room?.name === name || room?.dependencies.includes(name) === true) return []
      if (node.type === "ImportExpression" && room?.chosen?.includes(name) === true) return []
      return [
        { where: lineOf(module, node), what: `${name} is not in the dependencies of ${module.room}/package.json` }
      ]
    })
  })

export const unknownRooms = (repository: Repository): ReadonlyArray<Fault> => {
  const names = new Set(repository.rooms.map(({ name }) => name))
  return repository.rooms.flatMap(({ dependencies, folder }) =>
    dependencies
      .filter((name) => name.startsWith("@reverie/") && !names.has(name))
      .map((name) => ({ where: `${folder}/package.json`, what: `declares ${name}, which is no room` }))
  )
}
