// SelfTool: a tool by which an assistant manages itself.
// Owns what these tools have in common. Leaves the rules of what they change to `assistant`.
// I1  Such a tool changes the records and nothing else, so that running it again after a crash does no harm.
// I2  What its rule refuses changes nothing; the refusal is the answer, with `success: false`.

import type { RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { defineTool, type ToolDefinition } from "../define.ts"
import type { ToolInput } from "../schema/input.ts"
import type { ToolRecords, Tool } from "../tool.ts"

export const selfTool = <Input extends ToolInput | undefined = undefined>(
  definition: Omit<ToolDefinition<Input>, "idempotent" | "usesRecords">
): Tool => defineTool<Input>({ ...definition, idempotent: true, usesRecords: true })

export const writeAll = (records: ToolRecords, changes: ReadonlyArray<RecordChange>): void => {
  for (const { key, kind, value } of changes) records.write(kind, key, value)
}

/** A text with something in it, at most `maxChars` UTF-16 units. */
export const text = (maxChars: number, description: string) =>
  Schema.String.check(Schema.isPattern(/\S/), Schema.isMaxLength(maxChars)).annotate({ description })
