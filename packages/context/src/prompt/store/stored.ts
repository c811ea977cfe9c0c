// Stored: what is kept of a template and of a component, inside and on the wire.
// Owns both shapes and the way between them. Leaves which of them may be written to `definition.ts`.
// S1  On the wire names are snake_case and times are text, `created` and `updated`; inside they are camelCase and
//     milliseconds, `createdAt` and `updatedAt`. Both ways together change nothing.
// S2  What does not fit is one sentence, never a half-read value.
// S3  A component that says nothing of `enabled` is enabled.

import type { Json } from "@reverie/protocol"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isStaticId } from "../../layout/scheme.ts"
import type { PromptTemplate } from "../template.ts"

/** Roles of components that a user adds: `mixed` is for the history alone. */
export const pluggableRoles = ["system", "user", "assistant", "tool"] as const
export type PluggableRole = (typeof pluggableRoles)[number]

interface Dated {
  readonly createdAt: number
  readonly updatedAt: number
}

export interface StoredTemplate extends PromptTemplate, Dated {
  readonly isBuiltin: false
}

/** A component that a user has put somewhere after a static one. */
export interface PluggableComponent extends Dated {
  readonly id: number
  readonly key: string
  readonly name: string
  readonly description: string
  readonly content: string
  readonly role: PluggableRole
  readonly afterStatic: number
  readonly isStatic: false
  readonly enabled: boolean
}

const isoText = (millis: number): string => new Date(millis).toISOString()

const IsoText = Schema.String.check(
  Schema.makeFilter((text: string) => {
    const millis = Date.parse(text)
    return !Number.isNaN(millis) && isoText(millis) === text
      ? undefined
      : "expected a time like 2025-12-06T10:00:00.000Z"
  })
)

const dated = { created: IsoText, updated: IsoText }

const TemplateWire = Schema.Struct({
  key: Schema.String,
  name: Schema.String,
  description: Schema.String,
  content: Schema.String,
  placeholders: Schema.Array(Schema.String),
  category: Schema.String,
  is_builtin: Schema.Literal(false),
  ...dated
})
export type TemplateWire = typeof TemplateWire.Type

const ComponentWire = Schema.Struct({
  id: Schema.Int,
  key: Schema.String,
  name: Schema.String,
  description: Schema.String,
  content: Schema.String,
  role: Schema.Literals(pluggableRoles),
  after_static: Schema.Int.check(Schema.makeFilter(isStaticId, { message: "expected the id of a static component" })),
  is_static: Schema.Literal(false),
  enabled: Schema.optionalKey(Schema.Boolean),
  ...dated
})
export type ComponentWire = typeof ComponentWire.Type

const decodeTemplate = Schema.decodeUnknownResult(TemplateWire)
const decodeComponent = Schema.decodeUnknownResult(ComponentWire)

const timesOf = ({ created, updated }: { readonly created: string; readonly updated: string }): Dated => ({
  createdAt: Date.parse(created),
  updatedAt: Date.parse(updated)
})

export const writeTemplate = (template: StoredTemplate): TemplateWire => {
  const { category, content, createdAt, description, isBuiltin, key, name, placeholders, updatedAt } = template
  const times = { created: isoText(createdAt), updated: isoText(updatedAt) }
  return { key, name, description, content, placeholders, category, is_builtin: isBuiltin, ...times }
}

export const readTemplate = (body: Json): Result.Result<StoredTemplate, string> =>
  Result.mapBoth(decodeTemplate(body), {
    onSuccess: ({ created, is_builtin: isBuiltin, updated, ...rest }) => ({
      ...rest,
      isBuiltin,
      ...timesOf({ created, updated })
    }),
    onFailure: ({ message }) => message
  })

export const writeComponent = (component: PluggableComponent): ComponentWire => {
  const { afterStatic, content, createdAt, description, enabled, id, isStatic, key, name, role, updatedAt } = component
  const times = { created: isoText(createdAt), updated: isoText(updatedAt) }
  const place = { after_static: afterStatic, is_static: isStatic }
  return { id, key, name, description, content, role, ...place, enabled, ...times }
}

export const readComponent = (body: Json): Result.Result<PluggableComponent, string> =>
  Result.mapBoth(decodeComponent(body), {
    onSuccess: ({ after_static: afterStatic, created, enabled = true, is_static: isStatic, updated, ...rest }) => ({
      ...rest,
      afterStatic,
      isStatic,
      enabled,
      ...timesOf({ created, updated })
    }),
    onFailure: ({ message }) => message
  })
