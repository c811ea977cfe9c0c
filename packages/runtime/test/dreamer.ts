// Dreamer: a model that answers a dream by its tasks, and what a dream leaves among the records.
// Owns its answers and reading records. Leaves what is asserted to the tests.

import type { JournalEntry } from "@reverie/assistant"
import { type Fact, isFact } from "@reverie/memory"
import type { Prompt } from "@reverie/model"
import { type Json, type RecordKind, type Task, taskOf } from "@reverie/protocol"
import type { Line, Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { type Life, live, type LifeOptions } from "./rig.ts"

export const DAY = 24 * 60 * 60_000

/** What an ask of a dream shows as material. */
export const dataOf = (prompt: Prompt): string => prompt.messages.find(({ role }) => role === "user")?.content ?? ""

const taskIn = ({ messages }: Prompt): Task | undefined =>
  messages.flatMap(({ content, role }) => (role === "system" ? (taskOf(content) ?? []) : []))[0]

/** Ids at the beginning of the lines of an ask. */
export const idsIn = (data: string): ReadonlyArray<string> =>
  Array.from(data.matchAll(/^\[([^\]]+)\]/gm), ([, id = ""]) => id)

/** Each line becomes one fact that says it again. */
export const echoed = (data: string, importance = 8): Json =>
  Array.from(data.matchAll(/^\[([^\]]+)\] \S+ ([^:]+): (.*)$/gm), ([, id = "", speaker = "", text = ""]) => ({
    id,
    importance,
    facts: [{ text: text.slice(0, 200), entities: [speaker] }]
  }))

type Answer = (prompt: Prompt, call: number) => Line

/** Asks of a dream are answered by their task, everything else by `awake`, or with a word. */
export const dreamer =
  (answers: Partial<Record<Task, Answer>> = {}, awake?: Script): Script =>
  (prompt, call) => {
    const task = taskIn(prompt)
    if (task === undefined) return awake === undefined ? Effect.succeed({ text: "I see." }) : awake(prompt, call)
    const echo: Answer = (asked) => ({ text: JSON.stringify(echoed(dataOf(asked))) })
    const answer = answers[task] ?? (task === "consolidate" ? echo : undefined)
    return Effect.succeed(answer?.(prompt, call) ?? { text: "[]" })
  }

export const rowsOf = (life: Life, kind: RecordKind): ReadonlyArray<Json> =>
  Effect.runSync(life.store.ledger.records(life.address(), [kind])).map(({ value }) => value)

export const facts = (life: Life): ReadonlyArray<Fact> => rowsOf(life, "fact").filter(isFact)

export const journal = (life: Life, kind: "journal" | "episode" = "journal"): ReadonlyArray<JournalEntry> =>
  rowsOf(life, kind) as unknown as ReadonlyArray<JournalEntry>

type ReportLine = Readonly<Record<string, Json>>

/** The lines of the newest dream's report, by operation. */
export const report = (life: Life): ReadonlyMap<string, ReportLine> => {
  const all = rowsOf(life, "dream") as unknown as ReadonlyArray<{
    began_at: number
    lines: ReadonlyArray<ReportLine>
  }>
  const newest = all.toSorted((a, b) => b.began_at - a.began_at)[0]
  return new Map((newest?.lines ?? []).map((line) => [String(line["operation"]), line]))
}

export const sleep = (life: Life): Life => {
  // Another life of the same assistant counts its events anew.
  life.post({ type: "sleep", forMs: 3_600_000 }, { id: `sleep-${life.time.now}` })
  life.rest()
  return life
}

export const wake = (life: Life): Life => {
  life.post({ type: "wake" }, { id: `wake-${life.time.now}` })
  life.rest()
  return life
}

/** The same assistant some days later, in another process. */
export const daysLater = (life: Life, days: number, options: LifeOptions): Life =>
  live({ ...options, disk: life.disk, startAt: life.time.now + days * DAY })
