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
import type { Desk } from "../tool.ts"
import { deskTool, text, writeAll } from "./desk-tool.ts"

const journalOn = (desk: Desk) => journalOf(desk.read("journal"), desk.read("desk"))

const name = text(100, "A short name")
const importance = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 }))
const source = Schema.Literals(sourceTypes)

export const addJournalEntryTool = deskTool({
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
  run: (wanted, { desk, now }) => {
    const before = journalOn(desk)
    const moment = { tick: desk.loop.tick, now }
    const { result, state } = addEntry(before, { source_type: "observation", ...wanted }, moment)
    const reflection = reflectionOf(desk.read("reflection"))
    writeAll(desk, journalChanges(before, state))
    writeAll(desk, reflectionChanges(reflection, gathered(reflection, result.entry)))
    return result
  }
})

export const reviewJournalTool = deskTool({
  name: "review_journal",
  description: "Reads your journal, the newest entries first. Every condition given must hold.",
  input: Schema.Struct({
    limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 }))),
    tag: Schema.optionalKey(name),
    source_type: Schema.optionalKey(source),
    min_importance: Schema.optionalKey(importance),
    text: Schema.optionalKey(text(200, "Words that must stand in the entry"))
  }),
  run: (review, { desk }) => reviewJournal(journalOn(desk), review)
})
