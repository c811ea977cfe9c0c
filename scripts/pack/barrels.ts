// Barrels: imports of a package of ours, led to the very file that has the name.
// Owns reading what an `index.ts` shows. Leaves bundling to bundle.ts.
// T1  What is loaded with an entry is what it uses: a bundler puts into its chunks whatever its imports reach, and through an
//     `index.ts` that is a whole package.
// T2  A name that is not found where it should be stays as it was written.

import { existsSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import type { Rolldown } from "tsdown"

type Place = readonly [file: string, name: string]
type Context = Rolldown.TransformPluginContext
type Shown = ReadonlyMap<string, Place>

/** As much of the syntax tree as is looked at. */
interface Statement {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly importKind?: string
  readonly exportKind?: string
  readonly exported?: unknown
  readonly source?: { readonly value: string } | null
  readonly specifiers?: ReadonlyArray<Specifier>
  readonly declaration?: { readonly id?: Name; readonly declarations?: ReadonlyArray<{ readonly id: Name }> } | null
}

interface Name {
  readonly name?: string
  readonly value?: string
}

interface Specifier {
  readonly type: string
  readonly importKind?: string
  readonly exportKind?: string
  readonly imported?: Name
  readonly exported?: Name
  readonly local: Name
}

const textOf = ({ name, value }: Name = {}): string => name ?? value ?? ""
const isValue = ({ exportKind, importKind }: Statement | Specifier): boolean => (importKind ?? exportKind) !== "type"
const isBarrel = (file: string): boolean =>
  basename(file) === "index.ts" && !file.includes("node_modules") && existsSync(file)

const statementsOf = (context: Context, code: string, file: string): ReadonlyArray<Statement> =>
  context.parse(code, { lang: file.endsWith("x") ? "tsx" : "ts" }).body as unknown as ReadonlyArray<Statement>

const valuesOf = ({ specifiers = [] }: Statement): ReadonlyArray<Specifier> => specifiers.filter(isValue)

/** What a file declares and shows itself. */
const declaredIn = (statements: ReadonlyArray<Statement>): ReadonlyArray<string> =>
  statements.flatMap((statement) =>
    statement.type === "ExportNamedDeclaration" && isValue(statement)
      ? [
          ...(statement.declaration?.declarations ?? []).map(({ id }) => textOf(id)),
          textOf(statement.declaration?.id),
          ...valuesOf(statement).map(({ exported }) => textOf(exported))
        ]
      : []
  )

/** Where each name that a file shows comes from. */
const shownBy = async (context: Context, file: string, known: Map<string, Shown>): Promise<Shown> => {
  const before = known.get(file)
  if (before !== undefined) return before
  const found = new Map<string, Place>()
  known.set(file, found)
  const statements = statementsOf(context, readFileSync(file, "utf8"), file)
  for (const name of declaredIn(statements)) found.set(name, [file, name])
  for (const statement of statements) {
    if (statement.source == null || !isValue(statement)) continue
    const target = (await context.resolve(statement.source.value, file))?.id
    if (target === undefined || !target.endsWith(".ts") || target.includes("node_modules")) continue
    const theirs = await shownBy(context, target, known)
    if (statement.type === "ExportAllDeclaration" && statement.exported == null) {
      for (const [name, place] of theirs) found.set(name, place)
    }
    if (statement.type !== "ExportNamedDeclaration") continue
    for (const { exported, local } of valuesOf(statement)) {
      found.set(textOf(exported), theirs.get(textOf(local)) ?? [target, textOf(local)])
    }
  }
  return found
}

/** T1. */
export const seeThrough = (): Rolldown.Plugin => {
  const known = new Map<string, Shown>()
  const written = async (context: Context, statement: Statement, file: string): Promise<string | undefined> => {
    const isImport = statement.type === "ImportDeclaration"
    if (!isImport && statement.type !== "ExportNamedDeclaration") return undefined
    if (statement.source == null || !isValue(statement)) return undefined
    const target = (await context.resolve(statement.source.value, file))?.id
    if (target === undefined || target === file || !isBarrel(target)) return undefined
    const specifiers = valuesOf(statement)
    if (specifiers.some(({ type }) => !/^(Import|Export)Specifier$/.test(type))) return undefined
    const shown = await shownBy(context, target, known)
    const lines = specifiers.map(({ exported, imported, local }) => {
      const [wanted, own] = isImport ? [textOf(imported), textOf(local)] : [textOf(local), textOf(exported)]
      const [place, name] = shown.get(wanted) ?? [target, wanted]
      return `${isImport ? "import" : "export"} { ${name} as ${own} } from ${JSON.stringify(place)};`
    })
    return lines.join(" ")
  }
  return {
    name: "see-through",
    async transform(code, id) {
      if (!/\.tsx?$/.test(id) || id.includes("node_modules") || !existsSync(id)) return undefined
      let changed = code
      for (const statement of statementsOf(this, code, id).toReversed()) {
        const text = await written(this, statement, id)
        if (text !== undefined) changed = changed.slice(0, statement.start) + text + changed.slice(statement.end)
      }
      return changed === code ? undefined : { code: changed }
    }
  }
}
