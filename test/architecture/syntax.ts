// Syntax: walking a module's tree, and the imports found on the way.
// Owns the walk and the closed list of ways to import. Leaves what an import may name to the rules.
// S1  Every form counts: static, dynamic, type-only, re-export, `import("x")` in a type, require.

import type { Program } from "oxc-parser"
import type { Module } from "./repository.ts"

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string"

export const childrenOf = (node: Node): ReadonlyArray<Node> =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []))

/** Each node of the tree, parents first. */
export const nodesOf = function* (root: Node): Generator<Node> {
  yield root
  for (const child of childrenOf(root)) yield* nodesOf(child)
}

export const treeOf = (module: Module): Node => module.program as Program as unknown as Node

export const lineOf = (module: Module, node: Node): string =>
  `${module.path}:${module.text.slice(0, node.start).split("\n").length}`

export interface Import {
  /** Undefined when it is computed: no one can say where it points. */
  readonly to: string | undefined
  readonly typeOnly: boolean
  readonly names: ReadonlyArray<string>
  readonly node: Node
}

const literal = (value: unknown): string | undefined =>
  isNode(value) && value.type === "Literal" && typeof value["value"] === "string" ? value["value"] : undefined

const isRequire = (node: Node): boolean =>
  node.type === "CallExpression" && isNode(node["callee"]) && node["callee"]["name"] === "require"

const importedNames = (node: Node): ReadonlyArray<string> =>
  childrenOf(node).flatMap(({ imported, type }) =>
    type === "ImportSpecifier" && isNode(imported) ? [String(imported["name"] ?? imported["value"])] : []
  )

const isTypeOnly = (node: Node): boolean => {
  if (node["importKind"] === "type" || node["exportKind"] === "type") return true
  const specifiers = childrenOf(node).filter(({ type }) => type.endsWith("Specifier"))
  return specifiers.length > 0 && specifiers.every((specifier) => specifier["importKind"] === "type")
}

export const importsOf = (module: Module): ReadonlyArray<Import> =>
  [...nodesOf(treeOf(module))].flatMap((node): ReadonlyArray<Import> => {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportNamedDeclaration":
      case "ExportAllDeclaration": {
        const to = literal(node["source"])
        return to === undefined ? [] : [{ to, typeOnly: isTypeOnly(node), names: importedNames(node), node }]
      }
      case "ImportExpression":
        return [{ to: literal(node["source"]), typeOnly: false, names: [], node }]
      case "TSImportType":
        return [{ to: literal(node["source"] ?? node["argument"]), typeOnly: true, names: [], node }]
      case "TSExternalModuleReference":
        return [{ to: literal(node["expression"]), typeOnly: false, names: [], node }]
      default: {
        if (!isRequire(node)) return []
        const [first] = node["arguments"] as ReadonlyArray<unknown>
        return [{ to: literal(first), typeOnly: false, names: [], node }]
      }
    }
  })
