// SessionMemory: facts and patterns about the world that an assistant carries with it (F75, F76).
// Owns their shape, adding, compacting and the limits. Leaves telling the world from the self to persona.ts.
// I1  Nothing that speaks of the assistant is remembered as a fact or a pattern.
// I2  A list holds a statement once, and at most MAX_STATEMENTS; the oldest gives way and is named.
// I3  Compacting twice changes nothing but the time.

import { type Json, type RecordChange, defined } from "@reverie/protocol"
import { changesOf, isoTime, oneLine, type Outcome, type Records } from "./kept.ts"
import { type PersonaRejection, personaRejection } from "./persona.ts"

export interface CompletedTask {
  readonly description: string
  readonly timestamp: string
}

export interface SessionMemory {
  readonly key_facts: ReadonlyArray<string>
  readonly learned_patterns: ReadonlyArray<string>
  readonly completed_tasks: ReadonlyArray<CompletedTask>
  readonly last_compacted: string | null
}

export const MAX_STATEMENTS = 200
const MAX_TASKS = 50

export const memoryKinds = ["fact", "pattern"] as const
export type MemoryKind = (typeof memoryKinds)[number]

const listByKind = { fact: "key_facts", pattern: "learned_patterns" } as const

const texts = (value: Json | undefined): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : []

const isTask = (value: unknown): value is CompletedTask =>
  typeof value === "object" &&
  value !== null &&
  "description" in value &&
  typeof value.description === "string" &&
  "timestamp" in value &&
  typeof value.timestamp === "string"

/** Four records under the names of the wire. */
export const sessionMemoryOf = (records: Records): SessionMemory => {
  const tasks = records.get("completed_tasks")
  const compacted = records.get("last_compacted")
  return {
    key_facts: texts(records.get("key_facts")),
    learned_patterns: texts(records.get("learned_patterns")),
    completed_tasks: Array.isArray(tasks) ? tasks.filter(isTask) : [],
    last_compacted: typeof compacted === "string" ? compacted : null
  }
}

const recordsOf = ({ completed_tasks, key_facts, last_compacted, learned_patterns }: SessionMemory): Records =>
  new Map<string, Json>([
    ["key_facts", key_facts],
    ["learned_patterns", learned_patterns],
    ["completed_tasks", completed_tasks.map((task) => ({ ...task }))],
    ["last_compacted", last_compacted]
  ])

export const sessionChanges = (before: SessionMemory, after: SessionMemory): ReadonlyArray<RecordChange> =>
  changesOf("session", recordsOf(before), recordsOf(after)).filter(
    // The tasks were copied for the record: they have changed only when the lists are not the same.
    ({ key }) => key !== "completed_tasks" || before.completed_tasks !== after.completed_tasks
  )

/** Two statements with the same words are one, whatever their case, spaces and last stop. */
const sameness = (statement: string): string =>
  oneLine(statement)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s.!;,]+$/u, "")

export interface Remembered {
  readonly success: true
  readonly kind: MemoryKind
  readonly count: number
  /** It was known already; nothing has changed. */
  readonly already_known?: true
  /** What had to give way. */
  readonly dropped?: string
}

export const addSessionMemory = (
  memory: SessionMemory,
  { content, kind }: { readonly kind: MemoryKind; readonly content: string },
  names: ReadonlyArray<string> = []
): Outcome<SessionMemory, Remembered | PersonaRejection> => {
  const rejected = personaRejection(content, names)
  if (rejected !== undefined) return { state: memory, result: rejected }
  const list = listByKind[kind]
  const known = memory[list]
  const statement = oneLine(content)
  if (known.some((each) => sameness(each) === sameness(statement))) {
    return { state: memory, result: { success: true, kind, count: known.length, already_known: true } }
  }
  const dropped = known.length >= MAX_STATEMENTS ? known[0] : undefined
  const kept = [...known, statement].slice(-MAX_STATEMENTS)
  return {
    state: { ...memory, [list]: kept },
    result: { success: true, kind, count: kept.length, ...defined({ dropped }) }
  }
}

/** Notes a task that was finished; the same one finished again is kept once, with its last time. */
export const noteTask = (memory: SessionMemory, description: string, now: number): SessionMemory => {
  const task: CompletedTask = { description: oneLine(description), timestamp: isoTime(now) }
  const others = memory.completed_tasks.filter((each) => sameness(each.description) !== sameness(description))
  return { ...memory, completed_tasks: [...others, task].slice(-MAX_TASKS) }
}

/** Equal statements once, and none that another one goes on from: "The gate is old", "The gate is old and rusty". */
const consolidated = (list: ReadonlyArray<string>): ReadonlyArray<string> => {
  const byWords = new Map<string, string>()
  for (const text of list.map(oneLine)) {
    const words = sameness(text)
    if (words !== "" && !byWords.has(words)) byWords.set(words, text)
  }
  const all = [...byWords.keys()]
  const kept = all.flatMap((words) =>
    all.some((other) => other.startsWith(`${words} `)) ? [] : (byWords.get(words) ?? [])
  )
  return kept.length === list.length && kept.every((text, at) => text === list[at]) ? list : kept
}

export interface CompactedMemory {
  readonly success: true
  readonly facts: { readonly before: number; readonly after: number }
  readonly patterns: { readonly before: number; readonly after: number }
  readonly tasks: { readonly before: number; readonly after: number }
  readonly last_compacted: string
}

/** Keeps of equal statements the first, of one that another goes on from the longer, of equal tasks the last. */
export const compactSessionMemory = (memory: SessionMemory, now: number): Outcome<SessionMemory, CompactedMemory> => {
  const last_compacted = isoTime(now)
  const tasks = new Map<string, CompletedTask>()
  for (const task of memory.completed_tasks) {
    const key = sameness(task.description)
    tasks.delete(key)
    tasks.set(key, task)
  }
  const state: SessionMemory = {
    key_facts: consolidated(memory.key_facts),
    learned_patterns: consolidated(memory.learned_patterns),
    completed_tasks: tasks.size === memory.completed_tasks.length ? memory.completed_tasks : [...tasks.values()],
    last_compacted
  }
  const counts = (list: "key_facts" | "learned_patterns" | "completed_tasks") => ({
    before: memory[list].length,
    after: state[list].length
  })
  return {
    state,
    result: {
      success: true,
      facts: counts("key_facts"),
      patterns: counts("learned_patterns"),
      tasks: counts("completed_tasks"),
      last_compacted
    }
  }
}
