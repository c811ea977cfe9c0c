// MemoryTools: add_session_memory, compact_session_memory (F76-F78, A26).
// Owns what the model is offered. Leaves the rules, persona protection among them, to `assistant`.
// I1  Both are SAFE_CHAIN.
// I2  The assistant's own id counts as a name of it.

import {
  addSessionMemory,
  compactSessionMemory,
  memoryKinds,
  type Outcome,
  sessionChanges,
  type SessionMemory,
  sessionMemoryOf
} from "@reverie/assistant"
import * as Schema from "effect/Schema"
import type { ToolRecords } from "../tool.ts"
import { selfTool, text, writeAll } from "./self-tool.ts"

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
    "that belongs in the journal.",
  input: Schema.Struct({
    kind: Schema.Literals(memoryKinds).annotate({
      description: "fact: what is so. pattern: how others tend to behave"
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
