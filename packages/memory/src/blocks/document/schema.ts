// BlockSchema: what a memory block holds.
// Owns the five kinds (F94), their names and which values fit a field. Leaves the content to `document.ts`.
// S1  Names are unique where they stand side by side, and can be part of a line without posing as another one.
// S2  A composite has sections of the other kinds, never of its own: two levels are all there are.
// S3  What a block holds is read by its kind, so that a block keeps its kind for life; everything else of a schema may
//     change.

import type { Json } from "@reverie/protocol"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** Begins with a letter or digit and has no sign that a rendered line is read by. */
const Name = Schema.String.check(Schema.isPattern(/^[\p{L}\p{N}_][\p{L}\p{N}_. -]{0,63}$/u))

const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 }))

export const fieldTypes = ["text", "number", "boolean", "list", "counter", "timestamp"] as const
export type FieldType = (typeof fieldTypes)[number]

export const BlockField = Schema.Struct({
  name: Name,
  type: Schema.Literals(fieldTypes),
  description: Schema.optionalKey(Schema.String),
  /** Changed by the system alone. */
  readOnly: Schema.optionalKey(Schema.Boolean)
})
export type BlockField = typeof BlockField.Type

/** A window on a long text: lines are counted from 1. */
export const Viewport = Schema.Struct({ startLine: count, displayLines: count })
export type Viewport = typeof Viewport.Type

const TextSchema = Schema.Struct({ kind: Schema.Literal("text"), viewport: Schema.optionalKey(Viewport) })
const MapSchema = Schema.Struct({ kind: Schema.Literal("map"), fields: Schema.Array(BlockField) })

/** What an item of a list is: a text, fields, or a list of items again. */
export type ItemSchema =
  | { readonly kind: "text" }
  | typeof MapSchema.Type
  | { readonly kind: "list"; readonly itemSchema?: ItemSchema; readonly maxItems?: number }

const ItemSchema: Schema.Codec<ItemSchema> = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("text") }),
  MapSchema,
  Schema.Struct({
    kind: Schema.Literal("list"),
    itemSchema: Schema.optionalKey(Schema.suspend((): Schema.Codec<ItemSchema> => ItemSchema)),
    /** An item with more is refused: what an item holds is its author's to shorten. */
    maxItems: Schema.optionalKey(count)
  })
])

const ListSchema = Schema.Struct({
  kind: Schema.Literal("list"),
  itemSchema: Schema.optionalKey(ItemSchema),
  /** Beyond it the oldest items go. */
  maxItems: Schema.optionalKey(count)
})
const LogSchema = Schema.Struct({
  kind: Schema.Literal("log"),
  /** Most entries that are shown; all are kept. */
  displayLimit: count,
  entrySchema: Schema.Struct({
    /** When it was appended is shown. */
    timestamp: Schema.Boolean,
    /** Who appended it is shown. */
    agent: Schema.Boolean,
    fields: Schema.Array(BlockField)
  })
})

const PartSchema = Schema.Union([TextSchema, MapSchema, ListSchema, LogSchema])
/** What a section holds, and any block that is no composite. */
export type PartSchema = typeof PartSchema.Type

const BlockSection = Schema.Struct({ name: Name, schema: PartSchema, readOnly: Schema.optionalKey(Schema.Boolean) })
export type BlockSection = typeof BlockSection.Type

const CompositeSchema = Schema.Struct({ kind: Schema.Literal("composite"), sections: Schema.Array(BlockSection) })

/** The form that the text of a block must keep. */
export const BlockSchema = Schema.Union([PartSchema, CompositeSchema])
export type BlockSchema = typeof BlockSchema.Type

export const PLAIN_TEXT: BlockSchema = { kind: "text" }

const decode = Schema.decodeUnknownResult(BlockSchema, { onExcessProperty: "error" })

const twice = (named: ReadonlyArray<{ readonly name: string }>): string | undefined => {
  const names = named.map(({ name }) => name)
  return names.find((name, index) => names.indexOf(name) !== index)
}

const fieldsOf = (schema: PartSchema | ItemSchema): ReadonlyArray<BlockField> => {
  if (schema.kind === "map") return schema.fields
  if (schema.kind === "log") return schema.entrySchema.fields
  return schema.kind === "list" && schema.itemSchema !== undefined ? fieldsOf(schema.itemSchema) : []
}

const flawOf = (schema: BlockSchema): string | undefined => {
  if (schema.kind !== "composite") {
    const field = twice(fieldsOf(schema))
    return field === undefined ? undefined : `two fields are called ${JSON.stringify(field)}`
  }
  const section = twice(schema.sections)
  if (section !== undefined) return `two sections are called ${JSON.stringify(section)}`
  return schema.sections.map((each) => flawOf(each.schema)).find((flaw) => flaw !== undefined)
}

/** A schema as a user gave it, checked; fails with one sentence. */
export const readBlockSchema = (given: unknown): Result.Result<BlockSchema, string> =>
  Result.flatMap(
    Result.mapError(decode(given), ({ message }) => message.replaceAll(/\s+/g, " ")),
    (schema) => {
      const flaw = flawOf(schema)
      return flaw === undefined ? Result.succeed(schema) : Result.fail(flaw)
    }
  )

const isTime = (value: Json): boolean => typeof value === "string" && !Number.isNaN(Date.parse(value))

const fits: Readonly<Record<FieldType, (value: Json) => boolean>> = {
  text: (value) => typeof value === "string",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  // Whole numbers add up to the same in any order.
  counter: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === "boolean",
  list: (value) => Array.isArray(value),
  timestamp: isTime
}

/** Why a value is none of this field, or undefined. */
export const misfitOf = ({ name, type }: BlockField, value: Json): string | undefined =>
  fits[type](value) ? undefined : `the field ${JSON.stringify(name)} takes ${type === "list" ? "a list" : `a ${type}`}`

/** Why members are none of these fields, or undefined. */
export const misfitOfMembers = (
  fields: ReadonlyArray<BlockField>,
  members: { readonly [name: string]: Json }
): string | undefined => {
  for (const [name, value] of Object.entries(members)) {
    const field = fields.find((each) => each.name === name)
    if (field === undefined) return `there is no field ${JSON.stringify(name)}`
    const misfit = misfitOf(field, value)
    if (misfit !== undefined) return misfit
  }
  return undefined
}
