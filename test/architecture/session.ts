// Session: what a worker holds of an assistant is changed in one file.
// Owns the rule that a session is read-only outside of runtime/src/session.ts. Leaves to the types what they can see.
// S1  Every field of a session is readonly, so that the types refuse what assigns to one.
// S2  Nothing else assigns to a field of a session, casts included, or writes to one by Object.assign.

import type { Fault, Module } from "./repository.ts"
import { childrenOf, isNode, lineOf, type Node, nodesOf, treeOf } from "./syntax.ts"

const HOME = "packages/runtime/src/session/session.ts"

const nameOf = (node: unknown): string | undefined =>
  isNode(node) && node.type === "Identifier" ? String(node["name"]) : undefined

/** What stands below parentheses, casts and assertions. */
const bare = (node: unknown): Node | undefined => {
  if (!isNode(node)) return undefined
  return /^(TS(As|NonNull|Satisfies)|Parenthesized)Expression$|^TSTypeAssertion$/.test(node.type)
    ? bare(node["expression"])
    : node
}

/** `session`, or the session of something: `host.session`. */
const isSession = (node: unknown): boolean => {
  const found = bare(node)
  if (found?.type !== "MemberExpression") return nameOf(found) === "session"
  return found["computed"] !== true && nameOf(found["property"]) === "session"
}

const isField = (node: unknown): boolean => {
  const found = bare(node)
  return found?.type === "MemberExpression" && isSession(found["object"])
}

/** Targets of an assignment, those in a pattern included. */
const targets = (pattern: Node): ReadonlyArray<Node> =>
  /^(Array|Object)Pattern$|^(Property|AssignmentPattern|RestElement)$/.test(pattern.type)
    ? childrenOf(pattern).flatMap(targets)
    : [pattern]

const writes = (node: Node): boolean => {
  switch (node.type) {
    case "AssignmentExpression":
      return isNode(node["left"]) && targets(node["left"]).some(isField)
    case "UpdateExpression":
      return isField(node["argument"])
    case "UnaryExpression":
      return node["operator"] === "delete" && isField(node["argument"])
    case "CallExpression": {
      const callee = bare(node["callee"])
      const [first] = node["arguments"] as ReadonlyArray<unknown>
      return callee?.type === "MemberExpression" && nameOf(callee["object"]) === "Object" && isSession(first)
    }
    default:
      return false
  }
}

export const sessionWriteFaults = (modules: ReadonlyArray<Module>): ReadonlyArray<Fault> =>
  modules
    .filter(({ path }) => path.startsWith("packages/runtime/src/") && path !== HOME)
    .flatMap((module) =>
      [...nodesOf(treeOf(module))]
        .filter(writes)
        .map((node) => ({ where: lineOf(module, node), what: "changes a session; only session.ts does" }))
    )

/** The fields of the interface Session of a module. */
export const sessionFields = (module: Module): ReadonlyArray<Node> =>
  [...nodesOf(treeOf(module))]
    .filter(({ id, type }) => type === "TSInterfaceDeclaration" && nameOf(id) === "Session")
    .flatMap(({ body }) => (isNode(body) ? childrenOf(body) : []))

export const sessionFieldFaults = (module: Module): ReadonlyArray<Fault> =>
  sessionFields(module)
    .filter((field) => field["readonly"] !== true)
    .map((field) => ({ where: lineOf(module, field), what: `${nameOf(field["key"])} of a session is not readonly` }))
