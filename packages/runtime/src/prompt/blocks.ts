// Blocks: the memory blocks of an assistant, while it works.
// Owns reading them at the beginning of a tick, and lending them to a run. Leaves which are shown to `blocks-in-view.ts`,
// every rule about them to the store of blocks.
// I1  A tick is shown one state of its blocks from its first model call to its last; the next tick sees the newest (F86).
// I2  A block that is neither core nor pinned is shown in the ticks whose message refers to it, and in no other (F108).
// I3  A store that can not be read leaves what was last read: a prompt is better with old blocks than without.
// I4  A change is made to what the assistant has last seen of a block, under the key of its run.

import {
  contextOf,
  goalsOf,
  journalChanges,
  recordReflection,
  reflectionChanges,
  reflectionIn,
  reflectionOf,
  reflectionQuestions,
  reflectionText
} from "@reverie/assistant"
import { type BlockChange, BlockStore, type BlockView } from "@reverie/memory"
import {
  type AssembleInput,
  builtInTemplates,
  type Content,
  openingOf,
  type PromptTemplate,
  type REFLECTION_METRICS,
  safeRenderTemplate
} from "@reverie/context"
import type { ToolOffer } from "@reverie/model"
import type { BlockAccess } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { defined, type Entry, isJsonObject, type RecordChange } from "@reverie/protocol"
import { readableEntries } from "../recall/index-parts.ts"
import { inView } from "./blocks-in-view.ts"
import type { Definition } from "../session/definition.ts"
import { noteShown, type Session } from "../session/session.ts"
import { journalOn, recordsOf } from "../session/own-records.ts"

/** The most that blocks may take of the context window, as a part of it. */
const BLOCKS_SHARE = 0.25

const viewerOf = ({ address }: Session) => ({ tenant: address.tenant, by: address.assistant })

/** What the message refers to that the tick at hand began with. */
const referredIn = ({ window }: Session): ReadonlyArray<string> =>
  window.messages.findLast(({ role }) => role === "user")?.blocks ?? []

export const refreshBlocks = Effect.fnUntraced(function* (session: Session) {
  const { tick } = contextOf(session.decoded)
  if (session.blocks.tick === tick) return
  const store = yield* Effect.serviceOption(BlockStore)
  if (Option.isNone(store)) return
  const known = yield* Effect.option(store.value.list(viewerOf(session)))
  const blocks = inView(
    session.blocks,
    tick,
    Option.getOrElse(known, () => session.blocks.known),
    referredIn(session),
    memoryLimitOf(session.definition),
    (text) => session.book.pieceTokens(text, "\n\n")
  )
  noteShown(session, { blocks })
})

/** How much of memory a prompt has, and what of each block it shows. */
const memoryLimitOf = ({ maxContextTokens, prompt = {} }: Definition) => ({
  maxTokens: prompt.memoryTokens ?? Math.floor(maxContextTokens * BLOCKS_SHARE),
  includeDescriptions: prompt.includeDescriptions ?? true,
  includeSchemas: prompt.includeSchemas ?? false
})

/** What bounds the history of a prompt besides its window, and what it begins with where a model wants a user's words first. */
export const builtWith = ({ book, definition }: Session): Pick<AssembleInput, "history" | "opening"> => {
  const { firstMessageUser, historyTokens, keepRecent, maxMessagesCap: max } = definition.prompt ?? {}
  const isBounded = max !== undefined || historyTokens !== undefined
  const cap = max === undefined ? undefined : { max, kept: Math.min(max, keepRecent ?? max) }
  return defined({
    history: isBounded ? defined({ maxTokens: historyTokens, cap }) : undefined,
    opening: firstMessageUser === true ? openingOf(book) : undefined
  })
}

// Activity: what an assistant did of late, for those whose definition asks for it.

const ENTRIES_LOOKED_AT = 8

const activityLine = ({ at, step, tick, tickEnd }: Entry): string | undefined => {
  const time = new Date(at).toISOString().slice(0, 16)
  if (step?.kind === "tool") return `- ${time} ${step.name}${step.ok ? "" : ", which failed"}`
  return tickEnd === undefined ? undefined : `- ${time} tick ${tick} ended: ${tickEnd.outcome}`
}

/** The newest lines of it, the oldest of them first; empty where none are asked for. */
export const activityOf = Effect.fnUntraced(function* ({ address, definition, version }: Session) {
  const { activityEntriesLimit: limit = 0 } = definition.prompt ?? {}
  if (limit === 0) return ""
  const looked = limit * ENTRIES_LOOKED_AT
  const entries = yield* readableEntries(address, Math.max(1, version - looked + 1), looked)
  const lines = entries.flatMap((entry) => activityLine(entry) ?? []).slice(-limit)
  return lines.length === 0 ? "" : ["# Lately", ...lines].join("\n")
})

const seenIn = (known: ReadonlyArray<BlockView>, id: string) => {
  const seen = known.find((block) => block.id === id)
  return seen === undefined ? {} : { seen: seen.version }
}

/** The blocks as a run of this assistant may use them; nothing where none are kept. */
export const lentBlocks = Effect.fnUntraced(function* (
  session: Session,
  hasConsent: boolean
): Effect.fn.Return<{ readonly blocks?: BlockAccess }> {
  const found = yield* Effect.serviceOption(BlockStore)
  if (Option.isNone(found)) return {}
  const store = found.value
  const viewer = viewerOf(session)
  const run = Effect.runPromiseWith(yield* Effect.context())
  // What the run learns of a block is what its next change is made to.
  const changing = <E>(key: string, change: (asked: Asked) => Effect.Effect<BlockChange, E>) =>
    run(
      Effect.gen(function* () {
        const at = yield* Clock.currentTimeMillis
        const changed = yield* change({ ...viewer, key, at, hasConsent })
        const block = yield* Effect.option(store.load(viewer, changed.block))
        const others = session.blocks.known.filter(({ id }) => id !== changed.block)
        const own = Option.isSome(block) && block.value !== undefined ? [block.value] : []
        noteShown(session, { blocks: { ...session.blocks, known: [...others, ...own] } })
        return changed
      })
    )
  const access: BlockAccess = {
    list: () => run(store.list(viewer)),
    read: (id, version) => run(store.read(viewer, id, version)),
    versions: (id, limit) => run(store.versions(viewer, id, { limit })),
    change: (key, id, operation) =>
      changing(key, (asked) => store.change(id, { ...asked, ...seenIn(session.blocks.known, id) }, operation)),
    undo: (key, id) => changing(key, (asked) => store.undo(id, asked)),
    redo: (key, id) => changing(key, (asked) => store.redo(id, asked)),
    configure: (key, id, setting) => changing(key, (asked) => store.configure(id, asked, setting))
  }
  return { blocks: access }
})

type Asked = ReturnType<typeof viewerOf> & { readonly key: string; readonly at: number; readonly hasConsent: boolean }

// Reflection: what the assistant is asked when it looks back, and what it keeps of the answer.
// R1  The answer that ends a reflection is read for insights once; with or without any, gathering begins anew.

/** The three questions with the evidence for each. */
export const reflectionQuestion = (session: Session): string => {
  const journal = journalOn(session.own)
  const entries = [...journal.entries.values()]
  return entries.length === 0
    ? "Look back on your work. Your journal is still empty: write down what is worth keeping, or call noop."
    : reflectionText(journal, reflectionQuestions(entries))
}

/** What an answer to the questions comes to, and what it changes. */
export const reflected = ({ address, decoded, own }: Session, answer: string, now: number) => {
  const { tick } = contextOf(decoded)
  const before = { journal: journalOn(own), reflection: reflectionOf(recordsOf(own, "reflection")) }
  const { result, state } = recordReflection(before, answer, [address.assistant], { tick, now })
  const records: ReadonlyArray<RecordChange> = [
    ...journalChanges(before.journal, state.journal),
    ...reflectionChanges(before.reflection, state.reflection)
  ]
  return { result, records }
}

/** What the end of a reflection changes; nothing when the tick at hand is none. */
export const insightsOf = (session: Session, answer: string, now: number): ReadonlyArray<RecordChange> =>
  contextOf(session.decoded).contextType === "reflection" ? reflected(session, answer, now).records : []

// Templates: the text that component 0 begins with, out of the registry of the tenant.
// T1  A template that the tenant wrote takes the place of the built-in one of its key, from the next tick on (F112).
// T2  A model without tool calls is given the fallback of its template, `default_fallback` where there is none of its own.
// T3  What the assistant was told, and has told itself, stands in the gap `instructions`, or behind the text.
// T4  A template under the `instructionsKey` of a definition stands in the place of its instructions, from the next tick on; its
//     own gap `instructions` is what the definition says.

const FALLBACK = "_fallback"
const DEFAULT_TEMPLATE = "default"

const templateIn = ({ rendering }: Session, key: string): PromptTemplate | undefined =>
  rendering.templates.get(key) ?? builtInTemplates.get(key)

/** The template of component 0; undefined where the definition asks for none. */
export const templateNow = (session: Session, isPlain = session.rendering.isPlain): PromptTemplate | undefined => {
  const { template: key } = session.definition
  if (key === undefined) return undefined
  const own = isPlain ? templateIn(session, `${key}${FALLBACK}`) : templateIn(session, key)
  return own ?? templateIn(session, isPlain ? `${DEFAULT_TEMPLATE}${FALLBACK}` : DEFAULT_TEMPLATE)
}

/** The template that the tenant wrote in the place of the instructions of the definition. */
export const instructionsTemplate = ({ definition, rendering }: Session): PromptTemplate | undefined =>
  definition.instructionsKey === undefined ? undefined : rendering.templates.get(definition.instructionsKey)

/** What the assistant has as its instructions: the words of its definition, or what the tenant wrote in their place. */
export const instructionsText = (
  { definition: { systemPrompt }, rendering: { values } }: Session,
  own: PromptTemplate | undefined
): string => (own === undefined ? systemPrompt : safeRenderTemplate(own, { ...values, instructions: systemPrompt }))

const toolLine = ({ description, name, parameters }: ToolOffer): string =>
  `- ${name}: ${description}\n  arguments: ${JSON.stringify(parameters)}`

/** What stands at component 0. */
export const systemText = (
  { rendering: { values } }: Session,
  template: PromptTemplate | undefined,
  instructions: string,
  offers: ReadonlyArray<ToolOffer>
): Content => {
  if (template === undefined) return instructions
  const { content, placeholders } = template
  const schemas = placeholders.includes("tool_schemas") ? { tool_schemas: offers.map(toolLine).join("\n") } : {}
  const text = safeRenderTemplate({ content }, { ...values, ...schemas, instructions }).trim()
  if (placeholders.includes("instructions") || instructions === "") return text
  return text === "" ? instructions : { pieces: [text, instructions], separator: BETWEEN_TEXTS }
}

const BETWEEN_TEXTS = "\n\n"

/** Whether the prompt itself says which tools there are. */
export const describesTools = (session: Session): boolean =>
  session.rendering.isPlain && templateNow(session)?.placeholders.includes("tool_schemas") === true

// ReflectionMetrics: what the template of a reflection tells of the time since the last one.
// R1  They are counted from the ledger when a reflection begins, and at no other time.
// R2  The last reflection ended with the entry that wrote so first: its time is written in whole seconds, and tells nothing of
//     entries within one.

const PAGE = 200
const MOST_PAGES = 25

const isDone = ({ kind, value }: RecordChange): boolean =>
  kind === "goal" && isJsonObject(value) && value["status"] === "completed"

const NOTHING_COUNTED = { ticks: 0, tool_calls: 0, tool_failures: 0, goals_completed: 0 }

/** R2: counts entries from the newest on, and keeps what was counted where the last reflection ended. */
class SinceReflection {
  readonly #last: string | null
  readonly #done = new Set<string>()
  readonly #counts = { ...NOTHING_COUNTED }
  #since: typeof NOTHING_COUNTED | undefined

  constructor(last: string | null) {
    this.#last = last
  }

  get counts(): typeof NOTHING_COUNTED {
    return this.#since ?? this.#counts
  }

  /** False for what is older. */
  take(entry: Entry): boolean {
    const reflected = reflectionIn(entry)?.last_reflection
    if (this.#last !== null && reflected === this.#last) this.#since = { ...this.#counts }
    else if (this.#last !== null && (reflected !== undefined || entry.at < Date.parse(this.#last))) return false
    if (entry.tickEnd !== undefined) this.#counts.ticks++
    if (entry.step?.kind === "tool") this.#counts.tool_calls++
    if (entry.step?.kind === "tool" && !entry.step.ok) this.#counts.tool_failures++
    for (const change of entry.records ?? []) if (isDone(change)) this.#done.add(change.key)
    this.#counts.goals_completed = this.#done.size
    return true
  }
}

/** Values of the gaps of a reflection, its template already filled. */
export const reflectionValues = Effect.fnUntraced(function* (session: Session) {
  const { entries_since_reflection, last_reflection } = reflectionOf(recordsOf(session.own, "reflection"))
  const open = [...goalsOf(recordsOf(session.own, "goal")).values()].filter(({ status }) => status === "active")
  const since = new SinceReflection(last_reflection)
  let isOlder = false
  for (let page = 0, to = session.version; page < MOST_PAGES && to > 0 && !isOlder; page++, to -= PAGE) {
    const from = Math.max(1, to - PAGE + 1)
    const read = yield* readableEntries(session.address, from, to - from + 1)
    isOlder = read.toReversed().some((entry) => entry.no <= to && !since.take(entry))
  }
  const metrics: Readonly<Record<(typeof REFLECTION_METRICS)[number], number>> = {
    ...since.counts,
    goals_open: open.length,
    journal_entries: entries_since_reflection
  }
  const content = templateIn(session, "reflection")?.content ?? ""
  return { ...metrics, reflection: safeRenderTemplate({ content }, { ...session.rendering.values, ...metrics }) }
})
