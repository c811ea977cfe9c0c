// JournalTools: add_journal_entry, review_journal (F10).
// Owns what the model is offered. Leaves the rules of the journal and of reflection to `assistant`.
// I1  Both are SAFE_CHAIN; review_journal changes nothing.
// I2  Each entry that is added counts towards the next reflection. Its importance is a model's: `llm`, never `manual`.
// I3  The journal is read to its beginning where `older` asks for it: what is no longer at hand as well.

import {
  addEntry,
  addSessionMemory,
  compactSessionMemory,
  episodesIn,
  gathered,
  journalChanges,
  journalOf,
  memoryKinds,
  type Outcome,
  personaRejection,
  reflectionChanges,
  reflectionOf,
  reviewJournal,
  sessionChanges,
  type SessionMemory,
  sessionMemoryOf,
  sourceTypes
} from "@reverie/assistant"
import * as Schema from "effect/Schema"
import { entityTypes, instructionIn, noteObservation } from "@reverie/memory"
import type { ToolRecords } from "../tool.ts"
import { selfTool, text, writeAll } from "./self-tool.ts"

const journalOn = (records: ToolRecords) => journalOf(records.read("journal"), records.read("state"))

const name = text(100, "A short name")
const importance = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 }))
const source = Schema.Literals(sourceTypes)

export const addJournalEntryTool = selfTool({
  name: "add_journal_entry",
  description:
    "Writes into your journal, which is kept for good: what happened, what you noticed, what you concluded. Use it to tell " +
    "and to learn from; facts about the world belong in session memory.",
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
    const entry = { source_type: "observation" as const, ...wanted, importance_method: "llm" as const }
    const { result, state } = addEntry(before, entry, moment)
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
    text: Schema.optionalKey(text(200, "Words that must stand in the entry")),
    older: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "true: also old entries that are no longer at hand" })
    )
  }),
  run: ({ older, ...review }, { records }) => {
    const journal = journalOn(records)
    if (older !== true) return reviewJournal(journal, review)
    return records.episodes().then((episodes) => reviewJournal(journal, review, episodesIn(episodes)))
  }
})

// MemoryTools: add_session_memory, compact_session_memory (F76-F78, A26).
// I1  Both are SAFE_CHAIN.
// I2  The assistant's own id counts as a name of it.

const applied = <Result>(
  records: ToolRecords,
  rule: (memory: SessionMemory) => Outcome<SessionMemory, Result>
): Result => {
  const before = sessionMemoryOf(records.read("session"))
  const { result, state } = rule(before)
  writeAll(records, sessionChanges(before, state))
  return result
}

export const addSessionMemoryTool = selfTool({
  name: "add_session_memory",
  description:
    "Remembers a fact about the world or a pattern in how others behave. In the third person, never about yourself: " +
    "that belongs in the journal. It is kept for good, and in view.",
  input: Schema.Struct({
    kind: Schema.Literals(memoryKinds).annotate({
      description: "fact: what is so, or what someone prefers. pattern: how others tend to behave, for your decisions"
    }),
    content: text(500, "One statement")
  }),
  run: (statement, { assistant, records }) =>
    applied(records, (memory) => addSessionMemory(memory, statement, [assistant]))
})

export const compactSessionMemoryTool = selfTool({
  name: "compact_session_memory",
  description: "Tidies session memory: statements that say the same become one.",
  run: (_none, { records, now }) => applied(records, (memory) => compactSessionMemory(memory, now))
})

// EntityTools: update_entity_observation (F12).
// I1  It is SAFE_CHAIN. What it writes waits among the records; a profile changes only in a dream.
// I2  Nothing that speaks of the assistant is noted of anybody, and nothing that poses as an instruction to a model.

const posing = {
  success: false,
  error: "Content reads like an instruction to a model",
  suggestion: "Say in your own words what you noticed about them, as a statement."
} as const

export const updateEntityObservationTool = selfTool({
  name: "update_entity_observation",
  description:
    "Notes what you noticed about a person, an assistant, a place, an organisation or a thing. In the third person, never " +
    "about yourself. Use it for what concerns one of them; it becomes part of what you know of them when you sleep.",
  input: Schema.Struct({
    entity: text(100, "The name by which you know them"),
    observation: text(500, "One statement about them"),
    type: Schema.optionalKey(
      Schema.Literals(entityTypes).annotate({ description: "What they are; only needed when they are new" })
    )
  }),
  run: (note, { assistant, records, now }) => {
    const texts = [note.entity, note.observation]
    for (const each of texts) {
      const rejected = personaRejection(each, [assistant])
      if (rejected !== undefined) return rejected
    }
    if (texts.some((each) => instructionIn(each) !== undefined)) return posing
    const moment = { by: assistant, now, tick: records.loop.tick }
    const { changes, result } = noteObservation(records.read("observation"), note, moment)
    writeAll(records, changes)
    return result
  }
})
