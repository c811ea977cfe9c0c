// JournalTools: add_journal_entry, review_journal (F10).
// Owns what the model is offered. Leaves the rules of the journal and of reflection to `assistant`.
// I1  Both are SAFE_CHAIN; review_journal changes nothing.
// I2  Each entry that is added counts towards the next reflection.

import {
  addEntry,
  gathered,
  journalChanges,
  journalOf,
  reflectionChanges,
  reflectionOf,
  reviewJournal,
  sourceTypes
} from "@reverie/assistant"
import * as Schema from "effect/Schema"
import type { ToolRecords } from "../tool.ts"
import { selfTool, text, writeAll } from "./self-tool.ts"

const journalOn = (records: ToolRecords) => journalOf(records.read("journal"), records.read("state"))

const name = text(100, "A short name")
const importance = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 }))
const source = Schema.Literals(sourceTypes)

export const addJournalEntryTool = selfTool({
  name: "add_journal_entry",
  description: "Writes into your journal: what happened, what you noticed, what you concluded.",
  input: Schema.Struct({
    content: text(1_000, "What is to be kept"),
    source_type: Schema.optionalKey(
      source.annotate({
        description:
          "direct: told to you. observation: seen by you (the default). inference: concluded. environmental: overheard"
      })
    ),
    source_entity: Schema.optionalKey(name),
    importance: Schema.optionalKey(importance),
    tags: Schema.optionalKey(Schema.Array(name).check(Schema.isMaxLength(10))),
    related_projects: Schema.optionalKey(Schema.Array(name).check(Schema.isMaxLength(10)))
  }),
  run: (wanted, { records, now }) => {
    const before = journalOn(records)
    const moment = { tick: records.loop.tick, now }
    const { result, state } = addEntry(before, { source_type: "observation", ...wanted }, moment)
    const reflection = reflectionOf(records.read("reflection"))
    writeAll(records, journalChanges(before, state))
    writeAll(records, reflectionChanges(reflection, gathered(reflection, result.entry)))
    return result
  }
})

export const reviewJournalTool = selfTool({
  name: "review_journal",
  description: "Reads your journal, the newest entries first. Every condition given must hold.",
  input: Schema.Struct({
    limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 }))),
    tag: Schema.optionalKey(name),
    source_type: Schema.optionalKey(source),
    min_importance: Schema.optionalKey(importance),
    text: Schema.optionalKey(text(200, "Words that must stand in the entry"))
  }),
  run: (review, { records }) => reviewJournal(journalOn(records), review)
})
