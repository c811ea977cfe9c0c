// Definition: what a user may write as a template or a component.
// Owns the rules about keys, texts, gaps and roles. Leaves which keys and ids are free to the registry.
// D1  A key is a word of letters, digits, dot, hyphen and underscore; texts have limits.
// D2  Every brace in a content is doubled or part of a gap, so that filling it never changes a brace by surprise.
// D3  The gaps of a template are those of its content: a list of them that differs is refused.
// D4  A pluggable component has a role of its own, never `mixed`, and no key of a built-in component.

import * as Result from "effect/Result"
import { isBuiltInKey } from "../layout/scheme.ts"
import { PromptInvalid } from "./errors.ts"
import { type PluggableComponent, type PluggableRole, pluggableRoles, type StoredTemplate } from "./store/stored.ts"
import { loneBraceIn, placeholdersIn } from "./template.ts"

const MAX_KEY_LENGTH = 64
const MAX_NAME_LENGTH = 200
const MAX_DESCRIPTION_LENGTH = 2_000
const MAX_CONTENT_LENGTH = 100_000

/** What stands where nothing is said. */
const CUSTOM_CATEGORY = "custom"

export interface TemplatePatch {
  readonly name?: string
  readonly description?: string
  readonly content?: string
  /** Need not be given; if it is, it names the gaps of the content. */
  readonly placeholders?: ReadonlyArray<string>
  readonly category?: string
}

export interface TemplateDraft extends TemplatePatch {
  readonly key: string
  readonly name: string
  readonly content: string
}

export interface ComponentPatch {
  readonly name?: string
  readonly description?: string
  readonly content?: string
  /** A word from outside: any but the four roles is refused. */
  readonly role?: string
  readonly enabled?: boolean
}

export interface ComponentDraft extends ComponentPatch {
  readonly key: string
  readonly name: string
  readonly content: string
  readonly afterStatic: number
}

type Kind = PromptInvalid["kind"]
type Checked<A> = Result.Result<A, PromptInvalid>

const wordPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

const isWord = (text: string): boolean => text.length <= MAX_KEY_LENGTH && wordPattern.test(text)

interface Texts {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly content: string
}

/** What is wrong with the texts of a definition. */
const faultOfTexts = ({ content, description, key, name }: Texts): string | undefined => {
  if (!isWord(key)) return `a key has 1 to ${MAX_KEY_LENGTH} letters, digits, dots, hyphens or underscores`
  if (name.trim() === "") return "it needs a name"
  if (name.length > MAX_NAME_LENGTH) return `a name has at most ${MAX_NAME_LENGTH} characters`
  if (description.length > MAX_DESCRIPTION_LENGTH) {
    return `a description has at most ${MAX_DESCRIPTION_LENGTH} characters`
  }
  if (content.length > MAX_CONTENT_LENGTH) return `a content has at most ${MAX_CONTENT_LENGTH} characters`
  const lone = loneBraceIn(content)
  return lone < 0 ? undefined : `the brace at character ${lone} is no part of a {placeholder}; write it twice`
}

const SOME = 5

const someOf = (names: ReadonlySet<string>): string => [...names].slice(0, SOME).join(", ")

const faultOfGaps = (declared: ReadonlyArray<string>, found: ReadonlyArray<string>): string | undefined => {
  const unused = new Set(declared).difference(new Set(found))
  const undeclared = new Set(found).difference(new Set(declared))
  if (unused.size > 0) return `the content has no placeholder ${someOf(unused)}`
  return undeclared.size > 0 ? `the placeholders do not name ${someOf(undeclared)}` : undefined
}

const isPluggableRole = (role: string): role is PluggableRole => pluggableRoles.some((each) => each === role)

const faultOfRank = ({ key, role }: { readonly key: string; readonly role: string }): string | undefined => {
  if (isBuiltInKey(key)) return "a built-in component has this key"
  return isPluggableRole(role) ? undefined : `its role is one of ${pluggableRoles.join(", ")}, not ${role}`
}

const checked = <A extends { readonly key: string }>(kind: Kind, value: A, fault: string | undefined): Checked<A> =>
  fault === undefined
    ? Result.succeed(value)
    : Result.fail(new PromptInvalid({ kind, key: value.key.slice(0, MAX_KEY_LENGTH), reason: fault }))

const checkedTemplate = (
  template: StoredTemplate,
  declared: ReadonlyArray<string> | undefined
): Checked<StoredTemplate> => {
  const placeholders = placeholdersIn(template.content)
  const fault =
    faultOfTexts(template) ??
    (isWord(template.category) ? undefined : "a category is a word like a key") ??
    faultOfGaps(declared ?? placeholders, placeholders)
  return checked("template", { ...template, placeholders }, fault)
}

const checkedComponent = (component: PluggableComponent): Checked<PluggableComponent> =>
  checked("component", component, faultOfTexts(component) ?? faultOfRank(component))

export const newTemplate = (draft: TemplateDraft, now: number): Checked<StoredTemplate> => {
  const { category = CUSTOM_CATEGORY, content, description = "", key, name, placeholders } = draft
  const times = { createdAt: now, updatedAt: now }
  return checkedTemplate(
    { key, name, description, content, placeholders: [], category, isBuiltin: false, ...times },
    placeholders
  )
}

/** Changes nothing but what the patch says, and when it was. */
export const changedTemplate = (
  template: StoredTemplate,
  patch: TemplatePatch,
  now: number
): Checked<StoredTemplate> => {
  const { category, content, description, name } = { ...template, ...patch }
  return checkedTemplate({ ...template, name, description, content, category, updatedAt: now }, patch.placeholders)
}

/** Without an id, which is the registry's to give. */
export const newComponent = (draft: ComponentDraft, now: number): Checked<Omit<PluggableComponent, "id">> => {
  const { afterStatic, content, description = "", enabled = true, key, name, role = "system" } = draft
  const times = { createdAt: now, updatedAt: now }
  const place = { role: role as PluggableRole, afterStatic, isStatic: false as const }
  return checkedComponent({ id: 0, key, name, description, content, ...place, enabled, ...times })
}

export const changedComponent = (
  component: PluggableComponent,
  patch: ComponentPatch,
  now: number
): Checked<PluggableComponent> => {
  const { content, description, enabled, name, role } = { ...component, ...patch }
  return checkedComponent({
    ...component,
    name,
    description,
    content,
    role: role as PluggableRole,
    enabled,
    updatedAt: now
  })
}
