// Folder: a model that compacts by rule, and a life talkative enough to be compacted.
// Owns its answers, what is said, and how full the window gets. Leaves what is asserted to the tests.

import type { Settings } from "@reverie/assistant"
import { type Compaction, isCompaction } from "@reverie/context"
import { ModelUnavailable, type Prompt, ReplyUnusable } from "@reverie/model"
import { type Json, type Message, type RecordKind, type Task, taskOf } from "@reverie/protocol"
import type { Line, Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { type Life, live, type LifeOptions } from "./rig.ts"

const taskIn = ({ messages }: Prompt): Task | undefined =>
  messages.flatMap(({ content, role }) => (role === "tool" ? [] : (taskOf(content) ?? [])))[0]

const spoilt = Effect.fail(new ReplyUnusable({ provider: "scripted", message: "the reply held nothing, twice" }))
const dead = Effect.fail(new ModelUnavailable({ provider: "scripted", kind: "network", message: "the line is dead" }))

export const note = (content: string, importance?: number) => ({
  tool: "add_journal_entry",
  arguments: { content, ...(importance === undefined ? {} : { importance }) }
})
export const NOOP = { tool: "noop", arguments: {} }

interface Answers {
  readonly summarize?: string
  /** One line a round. */
  readonly extract?: ReadonlyArray<Line>
  readonly failing?: Task
  /** The model is away for so many calls of this task. */
  readonly away?: readonly [task: Task, calls: number]
}

/** Answers by task, remembers what it was asked, and says a long word to everything else. */
export const folder = ({
  away: [missing, calls] = ["extract", 0] as const,
  extract = [{ calls: [NOOP] }],
  failing,
  summarize = "They spoke of ships."
}: Answers = {}) => {
  const asked: Array<{ readonly task: Task; readonly prompt: Prompt }> = []
  let absent = 0
  const script: Script = (prompt) => {
    const task = taskIn(prompt)
    if (task === undefined) return Effect.succeed({ text: "Aye." })
    if (task === missing && absent++ < calls) return dead
    const round = asked.filter((each) => each.task === task).length
    asked.push({ task, prompt })
    if (task === failing) return spoilt
    if (task === "summarize") return Effect.succeed({ text: summarize })
    if (task === "extract") return Effect.succeed(extract[round] ?? { calls: [NOOP] })
    return Effect.succeed({ text: "[]" })
  }
  return { script, asked, of: (task: Task) => asked.filter((each) => each.task === task).map(({ prompt }) => prompt) }
}

export const settings: Partial<Settings> = { compactEnabled: true }

/** Small enough that some forty ships fill it. */
export const small = { maxContextTokens: 6_000, reservedResponseTokens: 100 }

/** About 150 tokens. */
export const ship = (index: number): string =>
  `Ship ${index} lies at pier ${index % 7} and wants to sail with the tide. ${"Her papers are in order. ".repeat(21)}`

/** Half of it stays, so that one call reads all that is compacted. */
export const halved: LifeOptions = { definition: { ...small, compaction: { compactPreserveWindow: 32 } } }

export const talk = (life: Life, count: number): void => {
  for (let index = 0; index < count; index++) life.say(ship(index))
  life.rest()
}

export const opened = (script: Script, options: LifeOptions = {}): Life =>
  live({ model: script, settings, definition: small, ...options })

export const rowsOf = (life: Life, kind: RecordKind): ReadonlyArray<Json> =>
  Effect.runSync(life.store.ledger.records(life.address(), [kind])).map(({ value }) => value)

export const compactions = (life: Life): ReadonlyArray<Compaction> => rowsOf(life, "compaction").filter(isCompaction)

export const status = (life: Life) => life.entries().map((entry) => entry.status)

/** Talks until the history was compacted once; answers what stood there before. */
export const talkUntilCompacted = (life: Life, most = 60): ReadonlyArray<Message> => {
  for (let index = 0; index < most && compactions(life).length === 0; index++) {
    life.say(ship(index), { id: `m-${index}` })
    life.rest()
  }
  const [compacted] = compactions(life)
  if (compacted === undefined) throw new Error("nothing was compacted")
  return life.messages()
}

/** What the model is shown now, without the built-in parts. */
export const shownNext = (life: Life) => {
  life.say("And now?", { id: "next" })
  life.rest()
  return life.scripted.prompts.at(-1)?.messages ?? []
}
