// Exchange: a template or a component as JSON text, to be shared.
// Owns the format of an export, its reading, and when it may take the place of what is there. Leaves the rules of a
// definition to the registry.
// X1  An export says what it is and of which version; it has no times and nothing of the tenant, so that one definition
//     always gives one text.
// X2  Reading never throws: text that is no export, is of another version, or has a field too many or too few, is
//     refused with the reason.

import { isJsonObject, parseJson } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ComponentDraft, TemplateDraft } from "../definition.ts"
import { ImportRefused, KeyTaken, PromptConflict } from "../errors.ts"
import { type PluggableComponent, pluggableRoles } from "./stored.ts"
import type { PromptTemplate } from "../template.ts"

const EXPORT_VERSION = 1

/** More than any definition within its limits comes to, however it is escaped. */
const MAX_EXPORT_LENGTH = 1_000_000

const MAX_REASON_LENGTH = 300

const formats = { template: "reverie.prompt-template", component: "reverie.prompt-component" } as const
type Kind = keyof typeof formats

const TemplateExport = Schema.Struct({
  key: Schema.String,
  name: Schema.String,
  description: Schema.String,
  content: Schema.String,
  placeholders: Schema.Array(Schema.String),
  category: Schema.String
})

const ComponentExport = Schema.Struct({
  id: Schema.Int,
  key: Schema.String,
  name: Schema.String,
  description: Schema.String,
  content: Schema.String,
  role: Schema.Literals(pluggableRoles),
  after_static: Schema.Int,
  enabled: Schema.Boolean
})

const decodeTemplate = Schema.decodeUnknownResult(TemplateExport, { onExcessProperty: "error" })
const decodeComponent = Schema.decodeUnknownResult(ComponentExport, { onExcessProperty: "error" })

const text = (kind: Kind, definition: object): string =>
  `${JSON.stringify({ format: formats[kind], version: EXPORT_VERSION, [kind]: definition }, null, 2)}\n`

export const templateText = ({ category, content, description, key, name, placeholders }: PromptTemplate): string =>
  text("template", { key, name, description, content, placeholders, category } satisfies typeof TemplateExport.Type)

export const componentText = (component: PluggableComponent): string => {
  const { afterStatic, content, description, enabled, id, key, name, role } = component
  const definition = { id, key, name, description, content, role, after_static: afterStatic, enabled }
  return text("component", definition satisfies typeof ComponentExport.Type)
}

/** What an export holds, as far as its outside tells. */
const unwrapped = (kind: Kind, json: string): Result.Result<unknown, string> => {
  if (json.length > MAX_EXPORT_LENGTH) return Result.fail(`it has more than ${MAX_EXPORT_LENGTH} characters`)
  return Result.flatMap(parseJson(json), (value): Result.Result<unknown, string> => {
    if (!isJsonObject(value)) return Result.fail("it is not an object")
    const { format, version, [kind]: definition, ...others } = value
    if (format !== formats[kind]) return Result.fail(`its format is not ${formats[kind]}`)
    if (version !== EXPORT_VERSION) return Result.fail(`this Reverie reads version ${EXPORT_VERSION} of the format`)
    const [other] = Object.keys(others)
    return other === undefined ? Result.succeed(definition) : Result.fail(`it has an unknown field ${other}`)
  })
}

const refused = (kind: Kind, reason: string): ImportRefused =>
  new ImportRefused({ kind, reason: reason.slice(0, MAX_REASON_LENGTH) })

const read = <A>(
  kind: Kind,
  json: string,
  decode: (definition: unknown) => Result.Result<A, Schema.SchemaError>
): Result.Result<A, ImportRefused> =>
  Result.flatMap(unwrapped(kind, json), (definition) =>
    Result.mapError(decode(definition), ({ message }) => message)
  ).pipe(Result.mapError((reason) => refused(kind, reason)))

export const readTemplateText = (json: string): Result.Result<TemplateDraft, ImportRefused> =>
  read("template", json, decodeTemplate)

/** The draft, and the id that the component had. */
export const readComponentText = (
  json: string
): Result.Result<ComponentDraft & { readonly id: number }, ImportRefused> =>
  Result.map(read("component", json, decodeComponent), ({ after_static: afterStatic, ...rest }) => ({
    ...rest,
    afterStatic
  }))

export interface ImportOptions {
  /** False when absent: what has the key stays as it is, and the import fails. */
  readonly overwrite?: boolean
  /** The version that was seen, 0 where there was none: over another one nothing is written. Not looked at when absent. */
  readonly version?: number
}

/** Fails where an import would write over what is to stay, or over a version that was not seen. */
export const assertImportable = (
  line: Pick<KeyTaken, "kind" | "key">,
  { overwrite = false, version }: ImportOptions,
  present: { readonly value: unknown; readonly version: number }
): Effect.Effect<void, KeyTaken | PromptConflict> => {
  if (present.value !== undefined && !overwrite) return Effect.fail(new KeyTaken(line))
  return version === undefined || version === present.version
    ? Effect.void
    : Effect.fail(new PromptConflict({ ...line, expected: version, current: present.version }))
}
