// BlockEditTool: `block_edit`, by which an assistant changes what a memory block holds.
// Owns the way from what a model says to an operation. Leaves carrying it out to the store of blocks.
// I1  Positions count from 1, as a list is shown.
// I2  A change that needs someone's consent is asked before it runs, as this very call with these very arguments.

import type { BlockAct, BlockOperation, BlockSchema, BlockView, PartSchema } from "@reverie/memory"
import { defined, isJsonObject, type Json } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { selfTool, text } from "../self/self-tool.ts"
import { type BlockAccess, namedBlock, withBlock } from "./outcome.ts"

const actions = [
  "append",
  "replace",
  "set",
  "set_field",
  "increment",
  "push",
  "insert",
  "delete",
  "undo",
  "redo"
] as const
type Action = (typeof actions)[number]

const plain = [Schema.String, Schema.Finite, Schema.Boolean] as const
const Value = Schema.Union([
  ...plain,
  Schema.Array(Schema.Union(plain)),
  Schema.Record(Schema.String, Schema.Union(plain))
])

const MAX_TEXT = 100_000
const anyText = (description: string) =>
  Schema.optionalKey(Schema.String.check(Schema.isMaxLength(MAX_TEXT)).annotate({ description }))

const Input = Schema.Struct({
  block: text(128, "Its label, or its id"),
  action: Schema.Literals(actions).annotate({
    description:
      "append: text to a text, an entry to a log, a value to a list or to a field that is a list. replace: the first " +
      "place where old stands by new. set: the whole text. set_field: a field. increment: a counter. push, insert, " +
      "delete: items of a list. undo: take the last change back. redo: make it again"
  }),
  text: anyText("For append and set: the text"),
  old: anyText("For replace: what stands there now, exactly"),
  new: anyText("For replace: what is to stand there"),
  field: Schema.optionalKey(text(64, "For set_field, increment, append: the field")),
  value: Schema.optionalKey(Value.annotate({ description: "The value of a field or item, or the entry of a log" })),
  by: Schema.optionalKey(Schema.Int.annotate({ description: "For increment: by how much; 1 when not said" })),
  position: Schema.optionalKey(Schema.Int.annotate({ description: "For insert, delete: the number before the item" })),
  section: Schema.optionalKey(text(64, "The section, where a block has sections"))
})
type Input = typeof Input.Type

const partOf = (schema: BlockSchema, section: string | undefined): PartSchema | undefined =>
  schema.kind === "composite" ? schema.sections.find(({ name }) => name === section)?.schema : schema

const entryFor = (
  part: PartSchema | undefined,
  { text: said, value }: Input
): { readonly [name: string]: Json } | string => {
  if (isJsonObject(value)) return value
  const [only, another] = part?.kind === "log" ? part.entrySchema.fields : []
  const content = value ?? said
  if (content === undefined) return "Say what is to be appended: value."
  return only === undefined || another !== undefined
    ? "Give the entry as an object of its fields: value."
    : { [only.name]: content as Json }
}

const appended = ({ schema }: BlockView, input: Input): BlockOperation | string => {
  const { field, section, text: said, value } = input
  const part = partOf(schema, section)
  const content = (value ?? said) as Json | undefined
  if (part?.kind === "log") {
    const entry = entryFor(part, input)
    return typeof entry === "string" ? entry : { op: "append_log_entry", entry }
  }
  if (content === undefined) return "Say what is to be appended: text or value."
  if (field !== undefined) return { op: "append_to_list_field", field, value: content }
  if (part?.kind === "list") return { op: "push_item", value: content }
  return { op: "append_text", text: typeof content === "string" ? content : JSON.stringify(content) }
}

const itemOf = ({ text: said, value }: Input): Json | undefined => (value ?? said) as Json | undefined

type Edit = Exclude<Action, "undo" | "redo">

/** The operation that is meant, or what is missing. */
const operationOf = (block: BlockView, action: Edit, input: Input): BlockOperation | string => {
  const { by = 1, field, new: wanted, old, position, text: said } = input
  switch (action) {
    case "append":
      return appended(block, input)
    case "replace":
      if (old === undefined || wanted === undefined) return "Say what is to be replaced by what: old and new."
      return { op: "replace_text", old, new: wanted }
    case "set":
      return said === undefined ? "Say the whole text: text." : { op: "set_text", text: said }
    case "set_field": {
      const value = itemOf(input)
      if (field === undefined || value === undefined) return "Say which field and what it is to be: field and value."
      return { op: "set_field", field, value }
    }
    case "increment":
      return field === undefined ? "Say which counter: field." : { op: "increment_counter", field, by }
    case "push": {
      const value = itemOf(input)
      return value === undefined ? "Say what is to be added: value." : { op: "push_item", value }
    }
    case "insert": {
      const value = itemOf(input)
      if (value === undefined || position === undefined)
        return "Say what is to be added, and where: value and position."
      return { op: "insert_item", index: position - 1, value }
    }
    case "delete":
      return position === undefined ? "Say which item: position." : { op: "delete_item", index: position - 1 }
  }
}

const edited = (blocks: BlockAccess, key: string, block: BlockView, input: Input) => {
  const { action, section } = input
  const told = async (changing: ReturnType<BlockAccess["change"]>) => {
    const { changed, dropped, restores, version } = await changing
    const { text: now } = await blocks.read(block.id, version)
    return {
      label: block.label,
      changed,
      version,
      ...defined({ dropped: dropped === 0 ? undefined : dropped, restores }),
      text: now
    }
  }
  if (action === "undo") return told(blocks.undo(key, block.id))
  if (action === "redo") return told(blocks.redo(key, block.id))
  const operation = operationOf(block, action, input)
  if (typeof operation === "string") return operation
  return told(blocks.change(key, block.id, section === undefined ? operation : { ...operation, section }))
}

const acts: Readonly<Record<Action, BlockAct>> = {
  append: "append",
  push: "append",
  insert: "append",
  replace: "overwrite",
  set: "overwrite",
  set_field: "overwrite",
  increment: "overwrite",
  undo: "overwrite",
  redo: "overwrite",
  delete: "delete"
}

const isAction = (action: unknown): action is Action => actions.some((each) => each === action)

/** Read off the arguments as the model gave them, which need not fit. */
const needsApproval = (args: Json, blocks: ReadonlyArray<BlockView>): boolean => {
  if (!isJsonObject(args)) return false
  const { action, block: name } = args
  const block = typeof name === "string" ? namedBlock(blocks, name) : ""
  if (typeof block === "string" || !isAction(action)) return false
  const access = block.access[acts[action]]
  return access === "partner" || access === "human"
}

export const blockEditTool = selfTool({
  name: "block_edit",
  description:
    "Changes what one of your memory blocks holds, as far as its permission allows. Changes to a block that asks for a " +
    "person's consent wait for it.",
  input: Input,
  needsApproval,
  run: (input, { records: { blocks }, key }) =>
    withBlock(blocks, input.block, (block) => edited(blocks, key, block, input))
})
