// Sdk: the reference of what programs import, read from the declarations that the package ships.
// Owns finding what each exported name stands for, and how it is shown. Leaves making the declarations to pack/bundle.ts.
// K1  Every name that an entry point exports has exactly one entry; one whose declaration is not found breaks the build.
// K2  A name that stands for a declaration of the same name shows that one, a class with all its members.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { moduleOf } from "../../test/architecture/repository.ts"

export interface SdkName {
  readonly name: string
  readonly kind: "class" | "function" | "value" | "type"
  /** What its comment says, as Markdown. */
  readonly says: string
  readonly declaration: string
}

interface Declared {
  readonly text: string
  readonly comment: string
  readonly node: Syntax
}

export type Syntax = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>

interface Declarations {
  readonly declared: ReadonlyMap<string, Declared>
  /** From the name inside to the file it comes from and its name there. */
  readonly imported: ReadonlyMap<string, readonly [file: string, name: string]>
  /** From the name outside to the name inside. */
  readonly exported: ReadonlyMap<string, string>
}

const nameIn = (node: unknown): string => {
  const { name, value } = node as { readonly name?: string; readonly value?: string }
  return name ?? value ?? ""
}

const listIn = (node: Syntax, key: string): ReadonlyArray<Syntax> =>
  (node[key] ?? []) as unknown as ReadonlyArray<Syntax>

const namesOf = (node: Syntax): ReadonlyArray<string> => {
  if (node.type === "VariableDeclaration") return listIn(node, "declarations").map(({ id }) => nameIn(id))
  const { id } = node
  return id === undefined || id === null ? [] : [nameIn(id)]
}

const declarationsOf = (file: string): Declarations => {
  const { program, text } = moduleOf(file, readFileSync(file, "utf8"))
  const declared = new Map<string, Declared>()
  const imported = new Map<string, readonly [string, string]>()
  const exported = new Map<string, string>()
  let before = 0
  for (const statement of program.body as unknown as ReadonlyArray<Syntax>) {
    const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(before, statement.start))?.[1] ?? ""
    before = statement.end
    const inner = (statement["declaration"] ?? null) as Syntax | null
    for (const name of namesOf(inner ?? statement)) {
      const node = inner ?? statement
      // Of functions with several forms each counts.
      const earlier = declared.get(name)
      const own = text.slice(node.start, node.end)
      declared.set(name, {
        node,
        text: earlier === undefined ? own : `${earlier.text}\n${own}`,
        comment: earlier?.comment || comment
      })
      if (inner !== null) exported.set(name, name)
    }
    for (const specifier of listIn(statement, "specifiers")) {
      if (statement.type === "ImportDeclaration") {
        imported.set(nameIn(specifier["local"]), [nameIn(statement["source"]), nameIn(specifier["imported"])])
      } else {
        exported.set(nameIn(specifier["exported"]), nameIn(specifier["local"]))
      }
    }
  }
  return { declared, imported, exported }
}

/** The text of a documentation comment as Markdown, its examples as fences. */
export const markdownOf = (comment: string): string => {
  const plain = comment
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .replaceAll(/ \(F\d+(?:, F\d+)*\)/g, "")
    .replaceAll(/\{@link ([^}]+)\}/g, "`$1`")
    .trim()
  const [said = "", ...examples] = plain.split(/^@example\s*/m)
  const fenced = examples.map((example) =>
    example.includes("```") ? example.trim() : `\`\`\`ts\n${example.trim()}\n\`\`\``
  )
  return [said.trim(), ...fenced].filter((part) => part !== "").join("\n\n")
}

const kindOf = ({ node, text }: Declared): SdkName["kind"] => {
  if (node.type === "ClassDeclaration") return "class"
  if (/Interface|TypeAlias|Enum/.test(node.type)) return "type"
  return node.type.includes("Function") || /=>/.test(text.split("\n")[0] ?? "") ? "function" : "value"
}

const MAX_LINES = 150

/** As it is read: without the marks of the bundler, and cut where it would be a page of its own, unless it is a class. */
const shown = (text: string): string => {
  const lines = text
    .replaceAll(/\b([A-Za-z]\w*)\$\d+\b/g, "$1")
    .replaceAll(/^ {2}(?:#private|private constructor\(\));\n/gm, "")
    .replace(/^export /, "")
    .split("\n")
  return lines.length > MAX_LINES && !/^(?:declare )?class /.test(lines[0] ?? "")
    ? [...lines.slice(0, MAX_LINES), "// …"].join("\n")
    : lines.join("\n")
}

/** A field of a schema as what a program reads from it. */
const fieldOf = (line: string): string =>
  line
    .replace(/: optionalKey<(.*)>;$/, "?: $1;")
    .replaceAll(/\b(String|Int|Number|Boolean)\b(?!\.)/g, (name) => (name === "Int" ? "number" : name.toLowerCase()))
    .replaceAll(/\$?Array<(\w+)>/g, "ReadonlyArray<$1>")
    .replaceAll(/\bDefect\b/g, "unknown")

/** An error of ours: what the library makes its base of says its fields. */
const errorText = (own: string, base: string): string | undefined => {
  const [, tag, fields = ""] = /TaggedStruct<"(\w+)", \{\n?([\s\S]*?)\}>, YieldableError>/.exec(base) ?? []
  const [, name, body = ""] = /class (\w+) extends \w+ \{\n?([\s\S]*)\}$/.exec(own) ?? []
  if (tag === undefined || name === undefined) return undefined
  const lines = fields.split("\n").filter((line) => line.trim() !== "")
  return [`class ${name} extends Error {`, `  readonly _tag: "${tag}";`, ...lines.map(fieldOf), `${body}}`].join("\n")
}

/** A class together with the classes of ours that it extends: their members are its own. */
const withBases = (found: Declared, declared: Declarations["declared"]): string => {
  const base = found.node.type === "ClassDeclaration" ? found.node["superClass"] : undefined
  const above = base === undefined || base === null ? undefined : declared.get(nameIn(base))
  const own = shown(found.text)
  if (above === undefined) return own
  const known = errorText(own, shown(above.text))
  return known ?? `${own}\n\n${withBases(above, declared)}`
}

/** The name inside of what a name only stands for, as that of a door: `type Fleet = Fleet$1`. */
const behind = (name: string, { text }: Declared): string | undefined => {
  const [, target] = /^(?:export )?(?:declare )?(?:type \w+ =|const \w+: typeof) ([\w$]+);/.exec(text) ?? []
  return target?.replace(/\$\d+$/, "") === name ? target : undefined
}

/** Of a class both comments count; of anything else that of the declaration, unless it is one of a library. */
const saidOf = (kind: SdkName["kind"], own: string, door: string): string => {
  const said = own.includes("@since") ? "" : markdownOf(own)
  const before = markdownOf(door)
  if (kind === "class") return [before, said].filter((part) => part !== "").join("\n\n")
  return said === "" ? before : said
}

interface Found {
  readonly found: Declared
  readonly file: string
  readonly declared: Declarations["declared"]
}

const readers = new Map<string, Declarations>()

/** The names that an entry point exports, e.g. "index", from the folder of the declarations. */
export const sdkNames = (lib: string, entry: string): ReadonlyArray<SdkName> => {
  const read = (file: string): Declarations => {
    const path = join(lib, file)
    const known = readers.get(path) ?? declarationsOf(path)
    readers.set(path, known)
    return known
  }
  const find = (file: string, local: string): Found => {
    const here = read(file)
    const found = here.declared.get(local)
    if (found !== undefined) return { found, file, declared: here.declared }
    const [from, name] = here.imported.get(local) ?? []
    if (from === undefined || name === undefined) throw new Error(`${file} exports ${local}, which it does not declare`)
    const there = from.replace(/^\.\//, "").replace(/\.js$/, ".d.ts")
    return find(there, read(there).exported.get(name) ?? name)
  }
  const file = `${entry}.d.ts`
  return [...read(file).exported].map(([name, local]) => {
    const named = find(file, local)
    const target = behind(name, named.found)
    const { declared, found } = target === undefined ? named : find(named.file, target)
    const kind = kindOf(found)
    const says = saidOf(kind, found.comment, target === undefined ? "" : named.found.comment)
    return { name, kind, says, declaration: withBases(found, declared) }
  })
}

const ORDER = ["class", "function", "value", "type"] as const
const TITLES = { class: "Classes", function: "Functions", value: "Values", type: "Types" } as const

export const sdkText = (names: ReadonlyArray<SdkName>): string =>
  ORDER.flatMap((kind) => {
    const some = names.filter((each) => each.kind === kind).toSorted((one, other) => (one.name < other.name ? -1 : 1))
    if (some.length === 0) return []
    const entries = some.map(({ declaration, name, says }) =>
      [`### ${name}`, says, `\`\`\`ts\n${declaration}\n\`\`\``].filter((part) => part !== "").join("\n\n")
    )
    return [`## ${TITLES[kind]}`, ...entries]
  }).join("\n\n")
