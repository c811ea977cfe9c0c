// Ambient: no room touches the real clock, dice, ids, environment, network, console or disk; only adapters and apps do.
// Owns the closed list of what is the world. Leaves the reading of names to scope.
// A1  Found on the syntax tree: a comment, a string or a local name of the same spelling is no finding.
// A2  An exemption names a folder and its reason, and is a fault itself as soon as nothing there needs it.

import { type Fault, isAdapter, type Module } from "./repository.ts"
import { freeUses, type Use } from "./scope.ts"
import { importsOf, lineOf, treeOf } from "./syntax.ts"

const forbidden = new Set([
  "setTimeout",
  "setInterval",
  "setImmediate",
  "process",
  "fetch",
  "console",
  "performance",
  "XMLHttpRequest",
  "WebSocket"
])

const forbiddenMembers: Readonly<Record<string, ReadonlyArray<string>>> = {
  Date: ["now"],
  Math: ["random"],
  crypto: ["randomUUID", "getRandomValues"]
}

/** Modules of Node that compute and touch nothing. */
const pureModules = new Set([
  "node:crypto",
  "node:buffer",
  "node:util",
  "node:path",
  "node:url",
  "node:zlib",
  "node:assert/strict"
])
const impureNames = new Set([
  "randomUUID",
  "randomBytes",
  "randomInt",
  "randomFillSync",
  "getRandomValues",
  "webcrypto"
])

export interface Exemption {
  readonly folder: string
  readonly why: string
}

export const exemptions: ReadonlyArray<Exemption> = [
  { folder: "packages/testkit/src/length.ts", why: "who checks says how far tests go" },
  { folder: "packages/testkit/src/model-server/", why: "a server that lies needs a real socket and real delays" },
  { folder: "packages/testkit/src/qdrant-server/", why: "a server needs a real socket, its contract a real file" },
  { folder: "packages/testkit/src/servers/", why: "real servers are processes with ports, signals and directories" }
]

const memberOf = ({ node, parent }: Use): string | undefined => {
  if (parent.type !== "MemberExpression" || parent["object"] !== node) return undefined
  const property = parent["property"] as { readonly name?: string; readonly value?: unknown }
  return property.name ?? String(property.value)
}

const isBareDate = ({ name, node, parent }: Use): boolean =>
  name === "Date" &&
  parent["callee"] === node &&
  (parent.type === "CallExpression" || (parent["arguments"] as ReadonlyArray<unknown>).length === 0)

const worldIn = (use: Use): string | undefined => {
  const member = memberOf(use)
  if (use.name === "globalThis" || use.name === "global") {
    if (member === undefined) return use.name
    return forbidden.has(member) || member in forbiddenMembers ? `${use.name}.${member}` : undefined
  }
  if (forbidden.has(use.name)) return use.name
  if (isBareDate(use)) return "new Date()"
  return member !== undefined && forbiddenMembers[use.name]?.includes(member) === true
    ? `${use.name}.${member}`
    : undefined
}

const worldImports = (module: Module): ReadonlyArray<Fault> =>
  importsOf(module).flatMap(({ names, node, to, typeOnly }) => {
    if (typeOnly || to === undefined || !to.startsWith("node:")) return []
    const impure = pureModules.has(to) ? names.filter((name) => impureNames.has(name)) : [to]
    return impure.map((name) => ({ where: lineOf(module, node), what: `touches the world: ${name}` }))
  })

/** All touches of the world, exempted or not. */
const touches = (module: Module): ReadonlyArray<Fault> => [
  ...worldImports(module),
  ...freeUses(treeOf(module)).flatMap((use) => {
    const world = worldIn(use)
    return world === undefined ? [] : [{ where: lineOf(module, use.node), what: `touches the world: ${world}` }]
  })
]

const isJudged = (module: Module): boolean => module.path.startsWith("packages/") && !isAdapter(module)

export const ambientFaults = (
  modules: ReadonlyArray<Module>,
  exempt: ReadonlyArray<Exemption>
): ReadonlyArray<Fault> => {
  const found = modules.filter(isJudged).flatMap(touches)
  const excused = (fault: Fault) => exempt.some(({ folder }) => fault.where.startsWith(folder))
  const idle = exempt.filter(({ folder }) => !found.some(({ where }) => where.startsWith(folder)))
  return [
    ...found.filter((fault) => !excused(fault)),
    ...idle.map(({ folder, why }) => ({ where: folder, what: `touches nothing any more; drop its exemption (${why})` }))
  ]
}
