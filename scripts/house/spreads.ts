// Spreads: properties that an object has only sometimes, written as `...(x === undefined ? {} : { x })`.
// Owns finding them on the syntax tree.
// S1  Counted where one side of a condition is empty, or where `&&` ends in an object; parentheses and types around it
//     change nothing. A choice between two objects that both hold something is none, and neither is a list.

import { isNode, lineOf, type Node, nodesOf, treeOf } from "../../test/architecture/syntax.ts"
import type { Count } from "./count.ts"
import type { Tree, TreeFile } from "./tree.ts"

const MAX_SPREADS = 39

const WRAPPERS = new Set(["ParenthesizedExpression", "TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"])

const unwrapped = (value: unknown): Node | undefined => {
  if (!isNode(value)) return undefined
  return WRAPPERS.has(value.type) ? unwrapped(value["expression"]) : value
}

const isEmptyObject = (value: unknown): boolean => {
  const node = unwrapped(value)
  return node?.type === "ObjectExpression" && (node["properties"] as ReadonlyArray<unknown>).length === 0
}

const isConditional = (value: unknown): boolean => {
  const node = unwrapped(value)
  if (node?.type === "LogicalExpression") {
    return node["operator"] === "&&" && unwrapped(node["right"])?.type === "ObjectExpression"
  }
  if (node?.type !== "ConditionalExpression") return false
  const sides = [node["consequent"], node["alternate"]]
  return sides.some((side) => isEmptyObject(side) || isConditional(side))
}

const spreadsOf = (node: Node): ReadonlyArray<Node> => {
  if (node.type === "JSXSpreadAttribute") return [node]
  if (node.type !== "ObjectExpression") return []
  return (node["properties"] as ReadonlyArray<Node>).filter(({ type }) => type === "SpreadElement")
}

const linesIn = (file: TreeFile): ReadonlyArray<string> => {
  const module = file.module()
  return [...nodesOf(treeOf(module))]
    .flatMap(spreadsOf)
    .filter((spread) => isConditional(spread["argument"]))
    .map((spread) => lineOf(module, spread))
}

export const spreads = ({ source }: Tree): Count => {
  const lines = source.map(linesIn).filter((each) => each.length > 0)
  const found = lines.flat()
  return {
    name: "conditional spreads",
    examined: source.length,
    value: found.length,
    most: MAX_SPREADS,
    found,
    figures: { files: lines.length }
  }
}
