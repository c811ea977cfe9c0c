// Ask: what a model is asked for memory's sake while an assistant sleeps or compacts its history.
// Owns the tasks and the form of question and answer that all of them share. Leaves wording and reading the answers to
// the module of each task.
// A1  The instructions begin with the line `Task: <task>`; what is to be read is data, and never part of them.
// A2  Each thing to be read is one line, `[id] text`, so that no text can pose as another one.
// A3  The answer is one JSON array. What does not fit is dropped and counted, never guessed at.

export const tasks = [
  /**
   * Lines `[id] 2023-05-08T13:56Z speaker: text`. Answer, one object an item that is worth it:
   * `{"id", "importance": 1-10, "facts": [{"text", "entities": ["name"]}]}`.
   */
  "consolidate",
  /**
   * Lines `[fact id] text`, each followed by its nearest neighbours as lines `  [fact id] text`. Answer, one object a
   * fact: `{"fact", "action": "ADD" | "UPDATE" | "IGNORE", "target": id or null}`. UPDATE: the fact takes the place of the
   * target, which it contradicts or renews. IGNORE: the target says it already.
   */
  "route",
  /** Lines as in `route`. Answer: `{"fact", "links": [{"to": id, "why": "few words"}]}`. */
  "link",
  /**
   * First `Entity: name`, then lines `[attribute id] text` under `Known:`, then lines `[fact id] text` under `New:`. Answer:
   * `{"action": "ADD" | "UPDATE" | "IGNORE", "target": attribute id or null, "attribute": "text", "evidence": [fact ids]}`.
   */
  "profile",
  /** The journal and three questions. Answer: `{"insight", "evidence": [entry ids]}`. */
  "reflect",
  /**
   * First, as lines `[summary] text`, what is known of everything before, then the messages that are to be compacted, one a
   * line: `[m/12/0] 2023-05-08T13:56Z speaker: text`. The answer is a plain text, no JSON, and holds what was known too.
   */
  "summarize",
  /** The conversation, with tools. The answer is calls of tools, and `noop` when nothing is left to save. */
  "extract"
] as const
export type Task = (typeof tasks)[number]

export interface Ask {
  readonly task: Task
  /** Instructions, for the system role. */
  readonly instructions: string
  /** What is to be read, for the user role. */
  readonly data: string
}

export const taskLine = (task: Task): string => `Task: ${task}`

/** The task that instructions are for; undefined when they are for none. */
export const taskOf = (instructions: string): Task | undefined => {
  const [, named] = /^Task: (\w+)$/m.exec(instructions) ?? []
  return tasks.find((task) => task === named)
}

/** A text on one line. */
export const onOneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

export const askLine = (id: string, text: string): string => `[${id}] ${onOneLine(text)}`
