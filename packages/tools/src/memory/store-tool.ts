// StoreTool: store_memory.
// Owns what the model is offered and what a passage is made of. Leaves how it is found again to the index.
// I1  ASYNC_REQUIRED: the call is acknowledged, the report comes with the same commit as what is kept.
// I2  A text that poses as an instruction is not kept; invisible characters are taken out of every text.
// I3  The same call kept again after a crash is the same passage.

import { createHash } from "node:crypto"
import { cleanText, instructionIn, MAX_PASSAGE_CHARS, type Passage, trustOf } from "@reverie/memory"
import * as Schema from "effect/Schema"
import { type AsyncReport, asyncReport } from "../async-report.ts"
import { selfTool, text } from "../self/self-tool.ts"

const DEFAULT_IMPORTANCE = 6

/** Unique without chance: every call has its own key, the same for every attempt at it. */
const passageId = (key: string): string => `passage_${createHash("sha256").update(key).digest("hex").slice(0, 16)}`

const tag = text(100, "A short word")

export const storeMemoryTool = selfTool({
  name: "store_memory",
  description:
    "Puts a text away in your long-term memory, where recall_memories finds it: something worth knowing in a year. " +
    "It is reported when it has been kept.",
  category: "async_required",
  input: Schema.Struct({
    text: text(MAX_PASSAGE_CHARS, "One thing, told so that it can be understood without this conversation"),
    tags: Schema.optionalKey(Schema.Array(tag).check(Schema.isMaxLength(10))),
    importance: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 }))),
    readers: Schema.optionalKey(
      Schema.Literals(["owner", "fleet"]).annotate({
        description: "owner: you alone (the default). fleet: every assistant that may look into the memories of others"
      })
    )
  }),
  run: (wanted, { assistant, records, key, now }): AsyncReport => {
    const kept = cleanText(wanted.text).trim()
    if (kept === "") throw new Error("there is nothing to read in the text")
    const rule = [kept, ...(wanted.tags ?? [])].map(instructionIn).find((found) => found !== undefined)
    if (rule !== undefined) {
      throw new Error(`the text poses as an instruction (${rule}) and is not kept; tell what is so, not what to do`)
    }
    const passage: Passage = {
      id: passageId(key),
      text: kept,
      at: now,
      tags: [...new Set((wanted.tags ?? []).map((each) => cleanText(each).trim()))].filter((each) => each !== ""),
      readers: wanted.readers ?? "owner",
      origin: { type: "self", name: assistant },
      trust: trustOf.self,
      importance: wanted.importance ?? DEFAULT_IMPORTANCE
    }
    records.write("passage", passage.id, { ...passage })
    return asyncReport(
      `Putting it away as ${passage.id}; it is reported when it is kept`,
      JSON.stringify({ success: true, id: passage.id, characters: kept.length, readers: passage.readers })
    )
  }
})
