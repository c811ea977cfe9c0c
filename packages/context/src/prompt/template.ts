// Template: a text with named gaps, and the filling of them.
// Owns the grammar of gaps and both ways to fill them. Leaves where templates are kept to `registry.ts`.
// T1  `{name}` is a gap, `{{` and `}}` are one brace each; any other single brace stands for itself.
// T2  A value is put in as it is and is not read again: a `{name}` inside it stays.
// T3  Reading and filling take time in proportion to the text that goes in and comes out.
// T4  Strict filling fails and names every gap without a value, once, in the order of the text; tolerant filling leaves
//     such a gap as it is. A value that no gap asks for is of no account.

import * as Result from "effect/Result"
import { PlaceholdersMissing } from "./errors.ts"

export interface PromptTemplate {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly content: string
  /** The names of the gaps in `content`, in the order in which they first appear. */
  readonly placeholders: ReadonlyArray<string>
  readonly isBuiltin: boolean
  /** What it is for: `system_prompt`, `reflection`, or a word of its author. */
  readonly category: string
}

export type PlaceholderValues = Readonly<Record<string, string | number>>

type Fillable = Pick<PromptTemplate, "key" | "content">

/** Every start of a match is a brace and no match runs over the next one, so that no character is looked at often. */
const marks = /\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]/g

/** The names of the gaps in a text, each once, in the order in which they first appear. */
export const placeholdersIn = (content: string): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const [, name] of content.matchAll(marks)) if (name !== undefined) names.add(name)
  return [...names]
}

/** Where a brace stands that is neither doubled nor part of a gap; -1 when there is none. */
export const loneBraceIn = (content: string): number => {
  for (const { 0: mark, index } of content.matchAll(marks)) if (mark.length === 1) return index
  return -1
}

const valueOf = (values: PlaceholderValues, name: string): string | undefined => {
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  return value === undefined ? undefined : String(value)
}

const fill = (content: string, values: PlaceholderValues): string =>
  content.replace(marks, (mark: string, name: string | undefined) => {
    if (name !== undefined) return valueOf(values, name) ?? mark
    return mark.length === 2 ? mark.charAt(0) : mark
  })

/** Fills every gap, or fails with the names of those that have no value. */
export const renderTemplate = (
  { content, key }: Fillable,
  values: PlaceholderValues
): Result.Result<string, PlaceholdersMissing> => {
  const missing = placeholdersIn(content).filter((name) => valueOf(values, name) === undefined)
  return missing.length === 0
    ? Result.succeed(fill(content, values))
    : Result.fail(new PlaceholdersMissing({ key, missing }))
}

/** Fills the gaps that have a value and leaves `{name}` where there is none. */
export const safeRenderTemplate = ({ content }: Pick<Fillable, "content">, values: PlaceholderValues): string =>
  fill(content, values)
