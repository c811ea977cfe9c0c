// BenchContext: what a prompt costs to assemble when little is new.
// Owns the assistant that is measured (10,000 messages, 30 blocks, 200 goals) and the targets. Leaves reporting to main.
// Every sample appends what is new, renders, collects and assembles, as before each model call. Small and large
// assistants take turns, so that a busy machine slows both.

import { type Goal, type Goals } from "@reverie/assistant"
import {
  append,
  assemble,
  characterContent,
  collect,
  countMessage,
  getContextType,
  goalsContent,
  openPriceBook,
  openWindow,
  type PromptBlock,
  renderBlock,
  shownBlocks,
  type UncountedMessage,
  type Window
} from "@reverie/context"
import { Tokens } from "@reverie/model"
import type { Message } from "@reverie/protocol"
import { gptTokenizerLayer } from "@reverie/tokens"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

interface Size {
  readonly messages: number
  readonly blocks: number
  readonly goals: number
}

const LARGE: Size = { messages: 10_000, blocks: 30, goals: 200 }
const SMALL: Size = { messages: 1_000, blocks: 3, goals: 20 }

const CONTEXT = getContextType("tick_event")
const LIMITS = { maxContextTokens: 300_000, reservedResponseTokens: 4_000 }
const HISTORY_TOKENS = 250_000
const PERSONA = { persona: "Calm." }
const BLOCKS = { includeDescriptions: true, includeSchemas: false }

const line = (index: number): string => `Line ${index}: the tide was fair.`

/** A conversation: who asks, a call, its result, an answer. */
const messageOf = (index: number, count: (message: UncountedMessage) => number): Message => {
  const call = `${index - (index % 4)}.0.0`
  const bare: UncountedMessage =
    index % 4 === 0
      ? { role: "user", content: line(index), at: index }
      : index % 4 === 1
        ? { role: "assistant", content: "", at: index, calls: [{ id: call, tool: "note", arguments: {} }] }
        : index % 4 === 2
          ? { role: "tool", content: "noted", name: "note", call, at: index }
          : { role: "assistant", content: line(index), at: index }
  return { ...bare, tokens: count(bare) }
}

const blockOf = (index: number): PromptBlock => ({
  id: `block-${index}`,
  label: `notes_${index}`,
  type: index % 3 === 0 ? "core" : "working",
  permission: "ReadWrite",
  pinned: true,
  description: `What is known of berth ${index}.`,
  content: Array.from({ length: 12 }, (_, row) => `berth ${index}, row ${row}: taken until the tide turns`).join("\n")
})

const goalOf = (index: number): Goal => ({
  id: `goal_1_${index}`,
  description: `Keep berth ${index} free for the evening`,
  priority: index % 2 === 0 ? "high" : "low",
  status: "active",
  progress: index % 100,
  created: "2025-12-06T10:00:00Z",
  parent_id: index % 5 === 0 ? null : `goal_1_${index - (index % 5)}`,
  subtask_ids: index % 5 === 0 ? [1, 2, 3, 4].map((each) => `goal_1_${index + each}`) : [],
  auto_generated: false
})

const many = <A>(length: number, of: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length }, (_, index) => of(index))

class Subject {
  window: Window
  blocks: ReadonlyArray<PromptBlock>
  goals: Goals
  promptTokens = 0
  promptMessages = 0
  #next: number
  readonly #count: (message: UncountedMessage) => number
  readonly #book: ReturnType<typeof openPriceBook>

  constructor({ blocks, goals, messages }: Size, countText: (text: string) => number) {
    this.#count = (message) => countMessage(message, countText)
    this.#book = openPriceBook(this.#count)
    this.blocks = many(blocks, blockOf)
    this.goals = new Map(many(goals, goalOf).map((goal) => [goal.id, goal]))
    this.window = openWindow(
      many(messages, (index) => messageOf(index, this.#count)),
      HISTORY_TOKENS
    )
    this.#next = messages
  }

  /** One prompt after so many new messages. */
  assemble(news: number): void {
    const { blocks, goals } = this
    const messages = many(news, () => messageOf(this.#next++, this.#count))
    const book = this.#book
    const { core, working } = shownBlocks(blocks, new Set())
    const shown = (key: string, some: ReadonlyArray<PromptBlock>) =>
      book.rendered(key, some, () => ({ pieces: some.map((each) => renderBlock(each, BLOCKS)), separator: "\n\n" }))
    const texts = {
      system_prompt: "You keep the berths.",
      core_blocks: shown("core", core),
      working_blocks: shown("working", working),
      character_context: book.rendered("character", [PERSONA], () => characterContent(PERSONA)),
      goals: book.rendered("goals", [goals], () => goalsContent(goals))
    }
    const built = Result.getOrThrow(
      assemble({
        ...LIMITS,
        ...collect({ context: CONTEXT, texts, book }),
        context: CONTEXT,
        window: append(this.window, messages),
        history: { maxTokens: HISTORY_TOKENS },
        count: book.count
      })
    )
    this.window = built.window
    this.promptTokens = built.report.tokens
    this.promptMessages = built.messages.length
  }

  changeGoal(): void {
    const [first] = this.goals.values()
    if (first !== undefined) this.goals = new Map(this.goals).set(first.id, { ...first, progress: this.#next % 100 })
  }

  changeBlock(): void {
    const at = this.#next % this.blocks.length
    const block = this.blocks[at]
    if (block !== undefined) this.blocks = this.blocks.with(at, { ...block, content: line(this.#next) })
  }
}

const millisOf = (work: () => void): number => {
  const start = process.hrtime.bigint()
  work()
  return Number(process.hrtime.bigint() - start) / 1e6
}

const medianOf = (samples: ReadonlyArray<number>): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN

export interface ContextBenchReport {
  readonly ok: boolean
  readonly messages: number
  readonly promptMessages: number
  readonly promptTokens: number
  /** The first prompt: everything is new. */
  readonly coldMillis: number
  /** Medians, in milliseconds, by what is new. */
  readonly medianMillis: Readonly<Record<string, number>>
  readonly targets: Readonly<Record<string, boolean>>
}

const MAX_MEDIAN_MILLIS = 5
/** What a tenfold assistant may cost more, with the same one message new. */
const MAX_MORE_MILLIS = 1

export const benchContext = async (isShort: boolean): Promise<ContextBenchReport> => {
  const countText = await Effect.runPromise(Tokens.use(({ ready }) => ready).pipe(Effect.provide(gptTokenizerLayer)))
  const small = new Subject(SMALL, countText)
  const large = new Subject(LARGE, countText)
  const coldMillis = millisOf(() => large.assemble(0))
  const cases: Readonly<Record<string, () => number>> = {
    "one message": () => millisOf(() => large.assemble(1)),
    "one message, a tenth of everything there": () => millisOf(() => small.assemble(1)),
    "a hundred messages": () => millisOf(() => large.assemble(100)),
    "one message and one goal": () => millisOf(() => (large.changeGoal(), large.assemble(1))),
    "one message and one block": () => millisOf(() => (large.changeBlock(), large.assemble(1)))
  }
  const samples = new Map(Object.keys(cases).map((name) => [name, [] as Array<number>]))
  for (let round = 0; round < (isShort ? 60 : 300); round++) {
    // A round adds a few messages; a hundred at a time would outgrow the window, so they come more rarely.
    for (const [name, sample] of Object.entries(cases)) {
      if (name !== "a hundred messages" || round % 20 === 0) samples.get(name)?.push(sample())
    }
  }
  const medianMillis = Object.fromEntries([...samples].map(([name, millis]) => [name, medianOf(millis)]))
  const one = medianMillis["one message"] ?? Number.NaN
  const targets = {
    [`median with one new message ≤ ${MAX_MEDIAN_MILLIS} ms`]: one <= MAX_MEDIAN_MILLIS,
    [`a tenth of everything there saves ≤ ${MAX_MORE_MILLIS} ms`]:
      one - (medianMillis["one message, a tenth of everything there"] ?? Number.NaN) <= MAX_MORE_MILLIS,
    "all 10,000 messages are in the prompt": large.promptMessages >= LARGE.messages
  }
  return {
    ok: Object.values(targets).every(Boolean),
    messages: large.window.messages.length,
    promptMessages: large.promptMessages,
    promptTokens: large.promptTokens,
    coldMillis,
    medianMillis,
    targets
  }
}
