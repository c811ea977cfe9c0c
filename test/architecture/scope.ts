// Scope: which names in a module mean the world's own, and which something declared in the module.
// Owns finding free identifiers on the tree. Leaves which of them are forbidden to ambient.
// C1  A name that an import, a parameter or a declaration around it gives is not free, wherever it is used.
// C2  Types are not code: what stands only in a type annotation is never reported.
// Declarations count for the whole function they stand in; a block of its own scope is not told apart.

import { childrenOf, isNode, type Node } from "./syntax.ts"

const isFunction = ({ type }: Node): boolean =>
  type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression"

const expressionsInTypes = new Set([
  "TSAsExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "TSInstantiationExpression",
  "TSTypeAssertion",
  "TSExportAssignment"
])

/** The parts of a node that run. */
const codeIn = (node: Node): ReadonlyArray<Node> => {
  if (expressionsInTypes.has(node.type)) return isNode(node["expression"]) ? [node["expression"]] : []
  if (node.type.startsWith("TS")) return []
  if (node["importKind"] === "type" || node["exportKind"] === "type") return []
  if (node.type === "ExportSpecifier") return isNode(node["local"]) ? [node["local"]] : []
  const named = node["computed"] === true ? [] : [node.type === "MemberExpression" ? node["property"] : node["key"]]
  return childrenOf(node).filter((child) => !named.includes(child))
}

const patternNames = (pattern: Node): ReadonlyArray<string> => {
  switch (pattern.type) {
    case "Identifier":
      return [String(pattern["name"])]
    case "AssignmentPattern":
      return isNode(pattern["left"]) ? patternNames(pattern["left"]) : []
    case "Property":
      return isNode(pattern["value"]) ? patternNames(pattern["value"]) : []
    default:
      return pattern.type.startsWith("TS") ? [] : childrenOf(pattern).flatMap(patternNames)
  }
}

/** The names declared in a scope, not in the functions inside it. */
const declaredIn = (scope: Node): ReadonlySet<string> => {
  const names = new Set<string>()
  const add = (pattern: unknown) => {
    if (isNode(pattern)) for (const name of patternNames(pattern)) names.add(name)
  }
  const visit = (node: Node) => {
    if (/^Import.*Specifier$/.test(node.type)) add(node["local"])
    else if (node.type === "VariableDeclarator") add(node["id"])
    else if (node.type === "CatchClause") add(node["param"])
    else if (node.type.startsWith("Class")) add(node["id"])
    if (isFunction(node) && node !== scope) {
      if (node.type === "FunctionDeclaration") add(node["id"])
      return
    }
    for (const child of codeIn(node)) visit(child)
  }
  if (isFunction(scope)) {
    add(scope["id"])
    for (const parameter of scope["params"] as ReadonlyArray<unknown>) add(parameter)
  }
  visit(scope)
  return names
}

export interface Use {
  readonly name: string
  readonly node: Node
  /** The node around it, to tell `Date.now` and `new Date()` from `Date`. */
  readonly parent: Node
}

/** Every use of a name that the module does not declare itself. */
export const freeUses = (program: Node): ReadonlyArray<Use> => {
  const found: Array<Use> = []
  const visit = (node: Node, parent: Node, scopes: ReadonlyArray<ReadonlySet<string>>) => {
    if (node.type === "ImportDeclaration" || (isNode(node["source"]) && node.type.startsWith("Export"))) return
    if (node.type === "Identifier") {
      const name = String(node["name"])
      if (!scopes.some((scope) => scope.has(name))) found.push({ name, node, parent })
      return
    }
    const inner = isFunction(node) || node.type === "Program" ? [...scopes, declaredIn(node)] : scopes
    for (const child of codeIn(node)) visit(child, node, inner)
  }
  visit(program, program, [])
  return found
}
