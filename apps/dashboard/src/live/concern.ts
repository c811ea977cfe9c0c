// Concern: which answers a notice makes old.
// Owns the table from a notice's type to routes. Leaves asking again to live.ts.
// N1  Every type of notice stands here; a new one is a type error until someone has said what it makes old.

import type { Notice, NoticeType } from "@reverie/protocol"
import type { Reading } from "../api/contract.ts"

/** Of the assistant that the notice is about, and of lists of all. */
const inspect: ReadonlyArray<Reading> = ["GET /v1/assistants/:id"]
const mail: ReadonlyArray<Reading> = ["GET /v1/assistants/:id/mailbox", "GET /v1/queues"]
const ticks: ReadonlyArray<Reading> = [
  "GET /v1/assistants/:id/ticks",
  "GET /v1/assistants/:id/ticks/:tick",
  "GET /v1/assistants/:id/messages"
]
const contexts: ReadonlyArray<Reading> = ["GET /v1/assistants/:id/context", "GET /v1/assistants/:id/contexts"]
const usage: ReadonlyArray<Reading> = ["GET /v1/usage"]
const memory: ReadonlyArray<Reading> = [
  "GET /v1/assistants/:id/memory",
  "GET /v1/assistants/:id/memory/facts",
  "GET /v1/assistants/:id/memory/journal",
  "GET /v1/assistants/:id/memory/profiles"
]
const night: ReadonlyArray<Reading> = [
  "GET /v1/assistants/:id/dreams",
  "GET /v1/assistants/:id/dreams/:dream",
  "GET /v1/assistants/:id/compactions"
]
const reminders: ReadonlyArray<Reading> = ["GET /v1/assistants/:id/reminders"]
const subAgentTree: ReadonlyArray<Reading> = ["GET /v1/assistants/:id/subagents"]

const table: Readonly<Record<NoticeType, ReadonlyArray<Reading>>> = {
  created: [...inspect, ...subAgentTree],
  "state-changed": [...inspect, ...subAgentTree, ...reminders],
  "tick-started": [...inspect, ...mail, ...ticks],
  "model-replied": [...inspect, ...ticks, ...contexts, ...usage],
  "model-failed": [...inspect, ...ticks],
  "tool-finished": [...inspect, ...ticks, ...memory],
  "tool-refused": [...inspect, ...ticks],
  "step-skipped": [...ticks, ...night],
  "step-finished": [...ticks, ...memory, ...night, ...subAgentTree, ...usage],
  "approval-asked": [...inspect, "GET /v1/approvals"],
  "approval-decided": [...inspect, "GET /v1/approvals"],
  "sub-agent-started": [...ticks, ...subAgentTree, ...usage],
  "sub-agent-ended": [...inspect, ...subAgentTree],
  "tick-ended": [...inspect, ...mail, ...ticks, ...contexts, ...memory, ...subAgentTree, "GET /v1/approvals"],
  "envelope-settled": [...mail, ...memory, ...night, ...inspect, "GET /v1/dead-letters", "GET /v1/approvals"],
  emitted: [],
  part: []
}

export const concerns = ({ type }: Notice): ReadonlyArray<Reading> => table[type] ?? []
