// BlockEdit: one change of a memory block, as it crosses the wire.
// Owns its schema, operation by operation. Leaves what each may be done to, and the limits of a block, to `memory`.

import * as Schema from "effect/Schema"
import { Text } from "./words.ts"

const Words = Text(1_000_000)
const field = Text(256)
/** Where in a block that has sections. */
const section = Schema.optionalKey(Text(256))
const index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const value = Schema.Json

const edit = <const Op extends string, Fields extends Schema.Struct.Fields>(op: Op, fields: Fields) =>
  Schema.Struct({ op: Schema.Literal(op), ...fields, section })

export const BlockEdit = Schema.Union([
  edit("set_text", { text: Words }),
  edit("append_text", { text: Words }),
  edit("replace_text", { old: Words, new: Words }),
  edit("set_field", { field, value }),
  edit("set_text_field", { field, text: Words }),
  edit("append_to_list_field", { field, value }),
  edit("increment_counter", { field, by: Schema.Finite }),
  edit("push_item", { value }),
  edit("insert_item", { index, value }),
  edit("delete_item", { index }),
  edit("append_log_entry", { entry: Schema.Record(Schema.String, value) })
])
export type BlockEdit = typeof BlockEdit.Type
