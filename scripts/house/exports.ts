// Exports: what a package offers to others, and which of it others use.
// Owns the names of a barrel and their uses. Leaves the forms of an import to test/architecture.
// E1  A name counts once for each specifier under which its package offers it, value or type alike.
// E2  A use is an import by another package, an app or an example; what the package itself does with it is none.
// E3  What another package hands on is used there, so everything in the public SDK is. `export *` hands on every name.
// E4  Of a namespace the names that are read off it count, and all of them where the program passes it on. Of an import at
//     run time the names count that the file reads off anything.
// E5  Names that only tests of others, the testkit or tools use are listed apart and are no fault: laws and rigs prove a port
//     from outside. A test that replaces a whole module uses only the names that it reads, or one mock would excuse all.

import { childrenOf, isNode, type Node, nodesOf, treeOf } from "../../test/architecture/syntax.ts"
import { roomOf } from "../../test/architecture/repository.ts"
import type { Count } from "./count.ts"
import { isSource, targetOf, type Tree, type TreeFile, type TreePackage } from "./tree.ts"

type Names = ReadonlySet<string>

/** Public, for tests, or not a package that others build on. */
const isInner = ({ folder }: TreePackage): boolean =>
  folder.startsWith("packages/") && folder !== "packages/reverie" && folder !== "packages/testkit"

const nameOf = (value: unknown): string => (isNode(value) ? String(value["name"] ?? value["value"]) : "")

const specifiersOf = (node: Node): ReadonlyArray<Node> =>
  childrenOf(node).filter(({ type }) => type.endsWith("Specifier"))

const namesInPattern = (node: Node): ReadonlyArray<string> => {
  if (node.type === "Identifier") return [nameOf(node)]
  if (node.type === "AssignmentPattern") return namesInPattern(node["left"] as Node)
  if (node.type === "Property") return namesInPattern(node["value"] as Node)
  return node.type.startsWith("TS") ? [] : childrenOf(node).flatMap(namesInPattern)
}

const declaredBy = (declaration: Node): ReadonlyArray<string> =>
  declaration.type === "VariableDeclaration"
    ? childrenOf(declaration).flatMap(({ id }) => (isNode(id) ? namesInPattern(id) : []))
    : [nameOf(declaration["id"])]

/** The file behind a specifier, wherever it lies. */
type Find = (from: string, to: string) => string | undefined

const exportedBy = (tree: Tree, find: Find, path: string, seen = new Set<string>()): ReadonlyArray<string> => {
  const file = tree.files.get(path)
  if (file === undefined || seen.has(path)) return []
  seen.add(path)
  return (file.module().program.body as unknown as ReadonlyArray<Node>).flatMap((node) => {
    if (node.type === "ExportDefaultDeclaration") return ["default"]
    if (node.type === "ExportAllDeclaration") {
      if (isNode(node["exported"])) return [nameOf(node["exported"])]
      const target = find(path, nameOf(node["source"]))
      return target === undefined ? [] : exportedBy(tree, find, target, seen)
    }
    if (node.type !== "ExportNamedDeclaration") return []
    return isNode(node["declaration"])
      ? declaredBy(node["declaration"])
      : specifiersOf(node).map(({ exported }) => nameOf(exported))
  })
}

/** Names that are read off anything in a file: `x.name`, `X.Name` in a type, `{ name }` in a pattern. */
const readNames = (file: TreeFile, of?: string): Names => {
  const names = new Set<string>()
  for (const node of nodesOf(treeOf(file.module()))) {
    if (node.type === "MemberExpression" && (of === undefined || nameOf(node["object"]) === of)) {
      names.add(nameOf(node["property"]))
    } else if (node.type === "TSQualifiedName" && (of === undefined || nameOf(node["left"]) === of)) {
      names.add(nameOf(node["right"]))
    } else if (node.type === "ObjectPattern" && of === undefined) {
      for (const { key } of node["properties"] as ReadonlyArray<Node>) names.add(nameOf(key))
    }
  }
  return names
}

/** How often a name is written, its declaration included. */
const timesWritten = (file: TreeFile, name: string): number =>
  [...nodesOf(treeOf(file.module()))].filter((node) => node.type === "Identifier" && nameOf(node) === name).length

const timesRead = (file: TreeFile, name: string): number =>
  [...nodesOf(treeOf(file.module()))].filter(
    ({ left, object, type }) =>
      (type === "MemberExpression" && nameOf(object) === name) || (type === "TSQualifiedName" && nameOf(left) === name)
  ).length

/** What a file takes of a namespace; undefined when it passes the whole on. */
const readOff = (file: TreeFile, namespace: string): Names | undefined =>
  timesWritten(file, namespace) > timesRead(file, namespace) + 1 ? undefined : readNames(file, namespace)

/** What one import takes; undefined for everything. */
const takenBy = (file: TreeFile, node: Node): Names | undefined => {
  switch (node.type) {
    case "ExportAllDeclaration":
      return undefined
    case "ExportNamedDeclaration":
      return new Set(specifiersOf(node).map(({ local }) => nameOf(local)))
    case "TSImportType":
      return isNode(node["qualifier"]) ? new Set([...nodesOf(node["qualifier"])].map(nameOf)) : undefined
    case "ImportDeclaration": {
      const taken = specifiersOf(node).map(({ imported, local, type }) => {
        if (type === "ImportNamespaceSpecifier") return readOff(file, nameOf(local))
        return new Set([type === "ImportDefaultSpecifier" ? "default" : nameOf(imported)])
      })
      if (taken.includes(undefined)) return undefined
      return new Set(taken.flatMap((names) => [...(names ?? [])]))
    }
    default:
      return readNames(file)
  }
}

/** By specifier: who takes which names, with everything a `*`. */
const usesIn = (
  tree: Tree,
  offers: ReadonlyMap<string, TreePackage>,
  isUser: (file: TreeFile) => boolean,
  wholeOf: (file: TreeFile) => Iterable<string>
) => {
  const uses = new Map<string, Set<string>>()
  for (const file of tree.files.values()) {
    if (!isUser(file) || ![...offers.keys()].some((specifier) => file.text.includes(specifier))) continue
    for (const { node, to } of file.imports()) {
      const offer = offers.get(to ?? "")
      if (to === undefined || offer === undefined || offer.folder === roomOf(file.path)) continue
      const names = uses.get(to) ?? new Set()
      for (const name of takenBy(file, node) ?? wholeOf(file)) names.add(name)
      uses.set(to, names)
    }
  }
  return (specifier: string, name: string): boolean => {
    const names = uses.get(specifier)
    return names?.has(name) === true || names?.has("*") === true
  }
}

interface Offered {
  readonly package: string
  readonly label: string
  readonly use: "used" | "onlyByTests" | "unused"
}

const offeredBy = (tree: Tree): ReadonlyArray<Offered> => {
  const specifiers = new Map(tree.packages.flatMap(({ barrels }) => [...barrels]))
  const find: Find = (from, to) => specifiers.get(to) ?? targetOf(tree, from, to)
  const inner = tree.packages.filter(isInner)
  const offers = new Map(
    inner.flatMap((each) => [...each.barrels.keys()].map((specifier) => [specifier, each] as const))
  )
  const isProgram = ({ path }: TreeFile) => isSource(path) || (path.startsWith("examples/") && !path.includes("/test/"))
  const isUsed = usesIn(tree, offers, isProgram, () => ["*"])
  const isTested = usesIn(
    tree,
    offers,
    (file) => !isProgram(file),
    (file) => readNames(file)
  )
  return inner.flatMap(({ barrels, name }) =>
    [...barrels].flatMap(([specifier, path]) =>
      [...new Set(exportedBy(tree, find, path))].toSorted().map((exported): Offered => {
        const use = isUsed(specifier, exported) ? "used" : isTested(specifier, exported) ? "onlyByTests" : "unused"
        return { package: name, label: `${specifier} ${exported}`, use }
      })
    )
  )
}

const figuresOf = (offered: ReadonlyArray<Offered>) => {
  const times = (use: Offered["use"]) => offered.filter((each) => each.use === use).length
  const [used, onlyByTests, unused] = [times("used"), times("onlyByTests"), times("unused")]
  return { exported: offered.length, used, onlyByTests, unused }
}

export const unusedExports = (tree: Tree): Count => {
  const offered = offeredBy(tree)
  const labels = (use: Offered["use"]) => offered.filter((each) => each.use === use).map(({ label }) => label)
  const names = [...new Set(offered.map((each) => each.package))]
  const found = labels("unused")
  return {
    name: "unused exports",
    examined: offered.length,
    value: found.length,
    most: 0,
    found,
    figures: {
      all: figuresOf(offered),
      packages: Object.fromEntries(
        names.map((name) => [name, figuresOf(offered.filter((each) => each.package === name))])
      ),
      onlyByTests: labels("onlyByTests")
    }
  }
}
