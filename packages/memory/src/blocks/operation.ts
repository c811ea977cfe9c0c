// BlockOperation: one change of what a block holds.
// Owns the closed list (F95-F99), what each may be done to and what permission it needs. Leaves carrying it out to
// `document.ts`.
// O1  Whoever may only append can neither change nor take away what was there before.
// O2  Taking an item out of a list is deleting.

import type { Json } from "@reverie/protocol"
import type { BlockAct } from "./permission.ts"
import type { PartSchema } from "./document/schema.ts"

/** `section` names where in a composite; positions in a list count from 0. */
export type BlockOperation = (
  | { readonly op: "set_text"; readonly text: string }
  | { readonly op: "append_text"; readonly text: string }
  /** The first occurrence only. */
  | { readonly op: "replace_text"; readonly old: string; readonly new: string }
  | { readonly op: "set_field"; readonly field: string; readonly value: Json }
  | { readonly op: "set_text_field"; readonly field: string; readonly text: string }
  | { readonly op: "append_to_list_field"; readonly field: string; readonly value: Json }
  | { readonly op: "increment_counter"; readonly field: string; readonly by: number }
  | { readonly op: "push_item"; readonly value: Json }
  | { readonly op: "insert_item"; readonly index: number; readonly value: Json }
  | { readonly op: "delete_item"; readonly index: number }
  | { readonly op: "append_log_entry"; readonly entry: { readonly [name: string]: Json } }
) & { readonly section?: string }

export type BlockOperationName = BlockOperation["op"]

interface Trait {
  readonly act: BlockAct
  readonly kind: PartSchema["kind"]
}

const traits: Readonly<Record<BlockOperationName, Trait>> = {
  set_text: { act: "overwrite", kind: "text" },
  append_text: { act: "append", kind: "text" },
  replace_text: { act: "overwrite", kind: "text" },
  set_field: { act: "overwrite", kind: "map" },
  set_text_field: { act: "overwrite", kind: "map" },
  append_to_list_field: { act: "append", kind: "map" },
  increment_counter: { act: "overwrite", kind: "map" },
  push_item: { act: "append", kind: "list" },
  insert_item: { act: "append", kind: "list" },
  delete_item: { act: "delete", kind: "list" },
  append_log_entry: { act: "append", kind: "log" }
}

export const actOf = ({ op }: BlockOperation): BlockAct => traits[op].act

/** What a block or section must hold for the operation to make sense. */
export const kindOf = ({ op }: BlockOperation): PartSchema["kind"] => traits[op].kind

/** The field that it changes. */
export const fieldOf = (operation: BlockOperation): string | undefined =>
  "field" in operation ? operation.field : undefined
