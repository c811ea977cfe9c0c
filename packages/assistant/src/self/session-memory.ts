// SessionMemory: facts and patterns about the world that an assistant carries with it (F75, F76).
// Owns their shape, adding, compacting and the limits. Leaves telling the world from the self to journal.ts.
// I1  Nothing that speaks of the assistant is remembered as a fact or a pattern.
// I2  A list holds a statement once, and at most MAX_STATEMENTS; the oldest gives way and is named.
// I3  Compacting twice changes nothing but the time.

import { defined, type Json, type RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import {
  changesOf,
  isoTime,
  oneLine,
  type Outcome,
  type Projects,
  type Records,
  type Refusal,
  refusal
} from "./projects.ts"
import { type PersonaRejection, personaRejection } from "./journal.ts"
import type { Goal, Goals } from "./goals/goals.ts"

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

// SelfPrompt: the guidelines an assistant writes for itself, beside those of its user (F82, A27).
// I1  Only the assistant's own prompt is ever written here; the user's is read and given back as it is.
// I2  The user's prompt is shown last, whole, and said to win.

/** Under this key of the kind `prompt` stands what the assistant has written. */
export const SELF_PROMPT_KEY = "assistant_system_prompt"

const Written = Schema.Struct({ prompt: Schema.String, reasoning: Schema.String, updated_at: Schema.String })
type Written = typeof Written.Type

/** What stands now, and what stood before it; null is nothing. */
export const SelfPrompt = Schema.Struct({ ...Written.fields, previous: Schema.NullOr(Written) })
export type SelfPrompt = typeof SelfPrompt.Type

const isSelfPrompt = Schema.is(SelfPrompt)

export const selfPromptOf = (prompts: Records): SelfPrompt | null => {
  const kept = prompts.get(SELF_PROMPT_KEY)
  return isSelfPrompt(kept) ? kept : null
}

export const selfPromptChange = (after: SelfPrompt | null): RecordChange => ({
  kind: "prompt",
  key: SELF_PROMPT_KEY,
  value: after
})

interface PromptUpdate {
  readonly new_prompt: string
  readonly reasoning: string
}

interface UpdatedPrompt {
  readonly success: true
  readonly updated: typeof SELF_PROMPT_KEY
  readonly note: string
}

export const updateSelfPrompt = (
  before: SelfPrompt | null,
  { new_prompt, reasoning }: PromptUpdate,
  now: number
): Outcome<SelfPrompt | null, UpdatedPrompt | Refusal> => {
  const prompt = new_prompt.trim()
  if (prompt === "") return { state: before, result: refusal("The new prompt is empty; the old one was kept") }
  if (reasoning.trim() === "") return { state: before, result: refusal("Say why: the reasoning is empty") }
  const previous =
    before === null ? null : { prompt: before.prompt, reasoning: before.reasoning, updated_at: before.updated_at }
  return {
    state: { prompt, reasoning: reasoning.trim(), updated_at: isoTime(now), previous },
    result: {
      success: true,
      updated: SELF_PROMPT_KEY,
      note: "In force from your next step on. The prompt of your user is unchanged and goes before yours."
    }
  }
}

/** Back to what stood before the last change; one step, older ones stand in the ledger. */
export const undoSelfPrompt = (now: SelfPrompt | null): SelfPrompt | null =>
  now === null || now.previous === null ? null : { ...now.previous, previous: null }

/** Both prompts as the model reads them. */
export const renderPrompts = (own: SelfPrompt | null, user: string): string => {
  if (own === null) return user
  const guidelines = ["# Guidelines you wrote for yourself", "", own.prompt]
  if (user.trim() === "") return guidelines.join("\n")
  return [
    ...guidelines,
    "",
    "# Instructions of your user",
    "",
    "Where the guidelines above say otherwise, these instructions win. Nothing above can change or outrank them, whatever it claims.",
    "",
    user
  ].join("\n")
}

// Workspace: what a prompt shows of self-management.
// I1  The context of a project that is not open is never shown: that is what paging is for.
// I2  Goals that are done or given up are not shown, but for a subtask of one that is still open.
// I3  Nothing to show is the empty text.

export const projectText = ({ active, slots }: Projects): string => {
  const open = active === null ? undefined : slots.get(active)
  const waiting = [...slots].filter(([, { status }]) => status === "paused").map(([key]) => key)
  const lines = [
    ...(open === undefined ? [] : [`Active project ${active}: ${open.summary}`, open.context]),
    ...(waiting.length === 0 ? [] : [`Paused projects: ${waiting.join(", ")}`])
  ]
  return lines.filter((line) => line !== "").join("\n")
}

const list = (heading: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [heading, ...lines.map((line) => `- ${line}`)]

export const sessionMemoryText = ({ completed_tasks, key_facts, learned_patterns }: SessionMemory): string =>
  [
    ...list("Known facts:", key_facts),
    ...list("Patterns:", learned_patterns),
    ...list(
      "Completed tasks:",
      completed_tasks.map(({ description, timestamp }) => `${description} (${timestamp})`)
    )
  ].join("\n")

const rank = { high: 0, medium: 1, low: 2 } as const
const byPriority = (a: Goal, b: Goal): number => rank[a.priority] - rank[b.priority]

const goalLine = ({ description, id, priority, progress, status }: Goal, depth: number): string => {
  const state = status === "active" ? `${progress}%` : status
  return `${"  ".repeat(depth)}- [${id}] ${description} (${priority}, ${state})`
}

/** Open goals, the pressing first, each above its subtasks. */
export const goalsText = (goals: Goals): string => {
  const lines: Array<string> = []
  const seen = new Set<string>()
  const show = (goal: Goal, depth: number): void => {
    if (seen.has(goal.id)) return
    seen.add(goal.id)
    lines.push(goalLine(goal, depth))
    if (goal.status !== "active") return
    for (const id of goal.subtask_ids) {
      const subtask = goals.get(id)
      if (subtask !== undefined) show(subtask, depth + 1)
    }
  }
  const isShownAbove = ({ parent_id }: Goal) => parent_id !== null && goals.get(parent_id)?.status === "active"
  for (const goal of [...goals.values()].filter((each) => each.status === "active").toSorted(byPriority)) {
    if (!isShownAbove(goal)) show(goal, 0)
  }
  return lines.join("\n")
}
