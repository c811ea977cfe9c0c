// BlockContent: what a block holds, as plain values.
// Owns its shape, and the operations that bring about a content given whole. Leaves keeping it to `document.ts`, showing
// it to `render.ts`.

import { isJsonObject, type Json } from "@reverie/protocol"
import * as Result from "effect/Result"
import type { BlockOperation } from "../operation.ts"
import { type BlockSchema, type ItemSchema, misfitOfMembers, type PartSchema } from "./schema.ts"

export type PartContent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "map"; readonly values: ReadonlyMap<string, Json> }
  | { readonly kind: "list"; readonly items: ReadonlyArray<Json> }
  /** Oldest first. */
  | { readonly kind: "log"; readonly entries: ReadonlyArray<Json> }

export type BlockContent =
  | PartContent
  | { readonly kind: "composite"; readonly sections: ReadonlyMap<string, PartContent> }

const partJson = (content: PartContent): Json => {
  switch (content.kind) {
    case "text":
      return content.text
    case "map":
      return Object.fromEntries(content.values)
    case "list":
      return content.items
    case "log":
      return content.entries
  }
}

/** A text as a text, fields as an object, items and entries as an array, sections as an object of those. */
export const contentJson = (content: BlockContent): Json =>
  content.kind === "composite"
    ? Object.fromEntries([...content.sections].map(([name, part]) => [name, partJson(part)]))
    : partJson(content)

const wanted: Readonly<Record<BlockSchema["kind"], string>> = {
  text: "a text",
  map: "an object of fields",
  list: "an array of items",
  log: "an array of entries",
  composite: "an object of sections"
}

const partOperations = (
  { kind }: PartSchema,
  given: Json,
  section?: string
): Result.Result<ReadonlyArray<BlockOperation>, string> => {
  const place = section === undefined ? {} : { section }
  const misfit = Result.fail(`what it begins with must be ${wanted[kind]}`)
  switch (kind) {
    case "text":
      return typeof given === "string" ? Result.succeed([{ op: "set_text", text: given, ...place }]) : misfit
    case "map":
      return isJsonObject(given)
        ? Result.succeed(
            Object.entries(given).map(([field, value]) => ({ op: "set_field" as const, field, value, ...place }))
          )
        : misfit
    case "list":
      return Array.isArray(given)
        ? Result.succeed(given.map((value: Json) => ({ op: "push_item" as const, value, ...place })))
        : misfit
    case "log":
      return Array.isArray(given) && given.every(isJsonObject)
        ? Result.succeed(given.map((entry) => ({ op: "append_log_entry" as const, entry, ...place })))
        : misfit
  }
}

/** The operations that fill an empty block with a content of the form of `contentJson`. */
export const operationsFor = (
  schema: BlockSchema,
  given: Json
): Result.Result<ReadonlyArray<BlockOperation>, string> => {
  if (schema.kind !== "composite") return partOperations(schema, given)
  if (!isJsonObject(given)) return Result.fail(`what it begins with must be ${wanted.composite}`)
  const parts = Object.entries(given).map(([name, value]) => {
    const section = schema.sections.find((each) => each.name === name)
    return section === undefined
      ? Result.fail(`there is no section ${JSON.stringify(name)}`)
      : partOperations(section.schema, value, name)
  })
  return Result.map(Result.all(parts), (operations) => operations.flat())
}

const misfitOfPart = (schema: PartSchema, content: PartContent): string | undefined => {
  if (schema.kind === "map" && content.kind === "map") {
    return misfitOfMembers(schema.fields, Object.fromEntries(content.values))
  }
  if (schema.kind !== "list" || content.kind !== "list") return undefined
  return content.items.map((item) => misfitOfItem(schema, item)).find((misfit) => misfit !== undefined)
}

type ListSchema = Extract<PartSchema | ItemSchema, { readonly kind: "list" }>

/** Why a value is no item of this list, or undefined. */
export const misfitOfItem = ({ itemSchema }: ListSchema, value: Json): string | undefined => {
  if (itemSchema === undefined) return undefined
  if (itemSchema.kind === "text") return typeof value === "string" ? undefined : "an item of this list is a text"
  if (itemSchema.kind === "list") {
    if (!Array.isArray(value)) return "an item of this list is a list"
    const { maxItems = Infinity } = itemSchema
    if (value.length > maxItems) return `an item of this list has at most ${maxItems} items`
    return value.map((each: Json) => misfitOfItem(itemSchema, each)).find((misfit) => misfit !== undefined)
  }
  return isJsonObject(value)
    ? misfitOfMembers(itemSchema.fields, value)
    : "an item of this list is an object of its fields"
}

/** Why a content is none of this schema, or undefined. */
export const misfitOfContent = (schema: BlockSchema, content: BlockContent): string | undefined => {
  if (schema.kind !== "composite") return content.kind === "composite" ? undefined : misfitOfPart(schema, content)
  if (content.kind !== "composite") return undefined
  return schema.sections
    .flatMap(({ name, schema: part }) => {
      const held = content.sections.get(name)
      return held === undefined ? [] : [misfitOfPart(part, held)]
    })
    .find((misfit) => misfit !== undefined)
}
