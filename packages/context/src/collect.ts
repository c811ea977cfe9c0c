// Collect: the components of one prompt, out of what is known (F19).
// Owns the way from texts, overrides and plugged-in components to priced components. Leaves their order and the history
// between them to `assemble.ts`, which of them a context has to `context-types.ts`.
// L1  What a context puts in a component's place stands there, whatever else was given for it (F14).
// L2  A component without a text is left out, and so is one that is not enabled or not of this context; each is named.
// L3  Gaps are filled in what people wrote for prompts, never in texts that come with the moment.
// L4  No component becomes a tool message: such a message answers a call, and a component has none.
// L5  A text that is marked as data goes to the model in the user role, whatever the role of its place; so does what
//     stands behind the conversation, for servers move words of the system to the front.

import {
  type ExecutionMode,
  type Goals,
  goalsText,
  type Projects,
  projectText,
  type SessionMemory,
  sessionMemoryText
} from "@reverie/assistant"
import type { BlockPermission, BlockType } from "@reverie/memory"
import { isJsonObject, type Json, type ToolRule, toolRuleOrder } from "@reverie/protocol"
import type { Component } from "./layout/component.ts"
import { contentOverride, type ContextTypeConfig, isIncluded, isLate } from "./layout/context-types.ts"
import { type Content, fingerprintOf, linesOf, type PriceBook, textOf } from "./tokens/price-book.ts"
import { type PlaceholderValues, safeRenderTemplate } from "./prompt/template.ts"
import type { Absent } from "./report.ts"
import { OPENING_PLACE, PLACES, type PromptComponent, RESERVED_COMPONENTS, STATIC_COMPONENTS } from "./layout/scheme.ts"

/** What was plugged in between the static components. */
export interface PluggedIn extends Omit<PromptComponent, "isStatic"> {
  readonly afterStatic?: number
}

export interface CollectInput {
  readonly context: ContextTypeConfig
  /**
   * Ready texts by the key of a static or reserved component. One for `pending_event` stands in the place of the
   * window's own; `conversation_history` and `tool_result` come from the window alone.
   */
  readonly texts: Readonly<Record<string, Content>>
  readonly pluggedIn?: ReadonlyArray<PluggedIn>
  /** For the gaps of plugged-in components and of overrides. */
  readonly values?: PlaceholderValues
  /** The mode that is left of the context's own. A context that plans asks for its plan unless one action is all. */
  readonly mode?: ExecutionMode
  readonly book: PriceBook
}

export interface Collected {
  /** In ascending order of their ids. */
  readonly components: ReadonlyArray<Component>
  readonly absent: ReadonlyArray<Absent>
}

/** The instruction for a context that plans (A8). */
const PLAN_FIRST = `Before your first tool call, write down a short plan: the steps, in order, and how you will know that you are done.
Then carry it out step by step, and change it openly when a result does not fit it.`

const NO_VALUES: PlaceholderValues = {}

const fromWindow: ReadonlySet<string> = new Set([
  PLACES.conversationHistory.key,
  PLACES.pendingEvent.key,
  PLACES.toolResult.key
])

/** Components that are left out when they are empty. */
const unmissed: ReadonlySet<string> = new Set(RESERVED_COMPONENTS.map(({ key }) => key))

const byId = <Each extends { readonly id: number }>(components: ReadonlyArray<Each>): ReadonlyArray<Each> =>
  components.toSorted((a, b) => a.id - b.id)

const builtIn: ReadonlyArray<PromptComponent> = byId([...STATIC_COMPONENTS, ...RESERVED_COMPONENTS])

export const collect = (input: CollectInput): Collected => {
  const { context, pluggedIn = [] } = input
  const components: Array<Component> = []
  const absent: Array<Absent> = []
  for (const each of pluggedIn.length === 0 ? builtIn : byId([...builtIn, ...pluggedIn])) {
    const content = contentOf(each, input)
    if (content === undefined) continue
    const reason = whyAbsent(each, content, context)
    if (reason === undefined) components.push(componentOf(each, content, input))
    else if (reason !== "empty" || !unmissed.has(each.key)) absent.push({ key: each.key, reason })
  }
  return { components, absent }
}

/** Undefined where the window, or no one, has something to say. */
const contentOf = (each: PromptComponent | PluggedIn, input: CollectInput): Content | undefined => {
  const { book, context, mode = context.executionMode, texts, values = NO_VALUES } = input
  const override = contentOverride(context, each.key)
  const filled = (text: string): string =>
    book.rendered(`gaps of ${each.key}`, [text, values], () => safeRenderTemplate({ content: text }, values))
  if (override !== null) return filled(override)
  if (!("isStatic" in each && each.isStatic)) return filled(each.content)
  const plans = context.executionMode === "plan_execute" && mode !== "single_action"
  if (each.key === "plan_first") return plans ? PLAN_FIRST : undefined
  const text = Object.hasOwn(texts, each.key) ? texts[each.key] : undefined
  if (!fromWindow.has(each.key)) return text ?? ""
  return each.key === PLACES.pendingEvent.key ? text : undefined
}

const whyAbsent = (
  each: PromptComponent | PluggedIn,
  content: Content,
  context: ContextTypeConfig
): Absent["reason"] | undefined => {
  if (!each.enabled) return "disabled"
  if (isEmpty(content)) return "empty"
  const isForTools = each.key === "tool_rules"
  if (isForTools && context.toolFilter?.length === 0) return "not-in-context"
  return isIncluded(each, context.enabledComponents) ? undefined : "not-in-context"
}

const isEmpty = (content: Content): boolean =>
  typeof content === "string" ? content === "" : content.pieces.length === 0 || textOf(content) === ""

const componentOf = (each: PromptComponent | PluggedIn, content: Content, { book }: CollectInput): Component => {
  const isData = typeof content === "object" && content.isData === true
  const role =
    isData || isLate(each.id) ? "user" : each.role === "user" || each.role === "assistant" ? each.role : "system"
  return book.component({ id: each.id, key: each.key, role }, content)
}

// Opening: a first message of a user, for a model that wants one before any of an assistant.

const OPENING = "(The conversation goes on.)"

/** Whether a model is known by its name to want a user's words first. */
export const needsOpening = (model: string): boolean => /gemini/i.test(model)

export const openingOf = (book: PriceBook): Component => book.component({ ...OPENING_PLACE, role: "user" }, OPENING)

// Standing: what is shown beside an event and stays there, so that it is said once and not with every event.
// T1  A thing is shown again only when it says something else than where it was shown last.
// T2  A part shows its new things only, and is left out when there are none.

/** What there is to show of one part. */
export interface Standing {
  readonly key: string
  /** A thing that says nothing is shown only where it said something before. */
  readonly things: ReadonlyArray<{ readonly id: string; readonly says: string }>
  /** These are all there are: what was shown and is not among them has ended, and that is shown too. */
  readonly isWhole?: boolean
  /** The text of the part with these things, those among them that have ended. */
  readonly render: (ids: ReadonlySet<string>) => string
}

/** A part as it was shown beside an event. */
export interface ShownPart {
  readonly key: string
  readonly text: string
  /** For the id of each thing in it the fingerprint of what it said. */
  readonly marks: Readonly<Record<string, string>>
}

/** For the key of a part and the id of a thing in it the fingerprint of what that said where it was shown last. */
export type Marks = ReadonlyMap<string, string>

const SILENT = fingerprintOf("")

/** What of a part is not shown yet; undefined when all of it is. */
export const unshown = ({ isWhole = false, key, render, things }: Standing, shown: Marks): ShownPart | undefined => {
  const fresh = [...things, ...(isWhole ? endedOf(key, things, shown) : [])]
    .map(({ id, says }) => [id, fingerprintOf(says)] as const)
    .filter(([id, mark]) => (shown.get(`${key} ${id}`) ?? SILENT) !== mark)
  if (fresh.length === 0) return undefined
  return { key, text: render(new Set(fresh.map(([id]) => id))), marks: Object.fromEntries(fresh) }
}

const endedOf = (key: string, things: Standing["things"], shown: Marks): Standing["things"] => {
  const present = new Set(things.map(({ id }) => `${key} ${id}`))
  return [...shown.keys()]
    .filter((name) => name.startsWith(`${key} `) && !present.has(name))
    .map((name) => ({ id: name.slice(key.length + 1), says: "" }))
}

// Block: memory as a prompt shows it.
// B1  Core blocks are always shown; working ones when they are pinned, or when the batch refers to them by id (A32).
//     Archival and log blocks never are.
// B2  What a block holds can not end it: only Reverie writes a closing tag.
// B3  Over the limit of memory, working blocks that are not pinned leave, the last one first; nothing else does.

/** A block as far as a prompt needs to know it. One that has changed is another object. */
export interface PromptBlock {
  readonly id: string
  readonly label: string
  readonly type: BlockType
  readonly permission: BlockPermission
  /** Rendered already. */
  readonly content: string
  readonly description?: string
  readonly schema?: Json
  readonly pinned?: boolean
  /** Who shares it. */
  readonly sharedFrom?: string
}

export interface BlockOptions {
  readonly includeDescriptions: boolean
  readonly includeSchemas: boolean
}

// A tag has no quotes and no line breaks in its values.
const inTag = (text: string): string => text.replace(/["<>\r\n]/g, "'")

const inside = (text: string): string => text.replaceAll("</block:", "<\\/block:")

export const renderBlock = (block: PromptBlock, { includeDescriptions, includeSchemas }: BlockOptions): string => {
  const { content, description = "", permission, schema, sharedFrom } = block
  const label = inTag(block.label)
  const shared = sharedFrom === undefined ? "" : ` shared_from="${inTag(sharedFrom)}"`
  return [
    `<block:${label} permission="${permission}"${shared}>`,
    ...(includeDescriptions && description !== "" ? [inside(description), ""] : []),
    ...(includeSchemas && isJsonObject(schema) ? [inside(`Schema: ${JSON.stringify(schema)}`), ""] : []),
    inside(content),
    `</block:${label}>`
  ].join("\n")
}

/** The blocks of a prompt, in the order in which they were given. */
interface ShownBlocks {
  readonly core: ReadonlyArray<PromptBlock>
  readonly working: ReadonlyArray<PromptBlock>
}

export const shownBlocks = (blocks: ReadonlyArray<PromptBlock>, batchBlocks: ReadonlySet<string>): ShownBlocks => ({
  core: blocks.filter(({ type }) => type === "core"),
  working: blocks.filter(({ id, pinned = false, type }) => type === "working" && (pinned || batchBlocks.has(id)))
})

/** The blocks within the limit of memory, and those that had to leave. */
export const withinMemory = (
  { core, working }: ShownBlocks,
  maxTokens: number,
  tokensOf: (block: PromptBlock) => number
): { readonly shown: ShownBlocks; readonly absent: ReadonlyArray<Absent> } => {
  let tokens = [...core, ...working].reduce((sum, block) => sum + tokensOf(block), 0)
  const left = new Set<PromptBlock>()
  for (const block of working.toReversed()) {
    if (tokens <= maxTokens) break
    if (block.pinned === true) continue
    left.add(block)
    tokens -= tokensOf(block)
  }
  return {
    shown: { core, working: working.filter((block) => !left.has(block)) },
    absent: working
      .filter((block) => left.has(block))
      .map(({ label }) => ({ key: `block:${label}`, reason: "over-memory" }))
  }
}

// ToolRules: the text about the order and number of tool calls (F109, F110).
// R1  Lines stand in the order start, exit, continue, requires, max, whatever the order of the rules (A30); within a
//     kind, in the order in which they were given, each once.
// R2  Without a rule there is no heading either.

const HEADING = "# Tool Execution Rules"

const lineOf = (rule: ToolRule): string => {
  switch (rule.type) {
    case "start":
      return `- Call \`${rule.tool}\` first before any other tools`
    case "exit":
      return `- The conversation will end after calling \`${rule.tool}\``
    case "continue":
      return `- The conversation will be continued after calling \`${rule.tool}\``
    case "requires":
      return `- Call \`${rule.tool}\` only after calling: ${rule.prior.join(", ")}`
    case "max-calls":
      return `- Call \`${rule.tool}\` at most ${rule.max} times`
  }
}

export const toolRulesText = (rules: ReadonlyArray<ToolRule>): string => {
  const lines = toolRuleOrder.flatMap((type) => rules.filter((rule) => rule.type === type).map(lineOf))
  return lines.length === 0 ? "" : [HEADING, "", ...new Set(lines)].join("\n")
}

// Surroundings: the texts of who an assistant is, what it is after, and what goes on around it.
// S1  Nothing to show is the empty text, which leaves the component out.
// S2  Every message of others is one line, so that no sender can write a line in another's name.

const headed = (heading: string, text: string): ReadonlyArray<string> => (text === "" ? [] : [`# ${heading}`, text, ""])

const linesUnder = (...sections: ReadonlyArray<ReadonlyArray<string>>): Content =>
  linesOf(sections.flat().join("\n").trimEnd())

interface Character {
  readonly persona?: string
  readonly projects?: Projects
  readonly sessionMemory?: SessionMemory
}

/** `character_context`: persona, active project, session memory. */
export const characterContent = ({ persona = "", projects, sessionMemory }: Character): Content =>
  linesUnder(
    persona === "" ? [] : [persona, ""],
    headed("Projects", projects === undefined ? "" : projectText(projects)),
    headed("Session memory", sessionMemory === undefined ? "" : sessionMemoryText(sessionMemory))
  )

/** `goals`: as a tree, with priority and progress. */
export const goalsContent = (goals: Goals): Content => linesUnder(headed("Goals", goalsText(goals)))

/** One thing that was said nearby. */
interface AmbientLine {
  readonly from: string
  readonly text: string
  readonly channel?: string
}

const onOneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

/** `context_buffer`: what was said nearby, the oldest first. */
export const bufferContent = (lines: ReadonlyArray<AmbientLine>): Content =>
  linesUnder(
    headed(
      "Ambient messages",
      lines
        .map(({ channel, from, text }) => {
          const where = channel === undefined ? "" : ` (${onOneLine(channel)})`
          return `- ${onOneLine(from)}${where}: ${onOneLine(text)}`
        })
        .join("\n")
    )
  )
