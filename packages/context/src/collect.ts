// Collect: the components of one prompt, out of what is known (F19).
// Owns the way from texts, overrides and plugged-in components to priced components. Leaves their order and the history
// between them to `assemble.ts`, which of them a context has to `inclusion.ts`.
// L1  What a context puts in a component's place stands there, whatever else was given for it (F14).
// L2  A component without a text is left out, and so is one that is not enabled or not of this context; each is named.
// L3  Gaps are filled in what people wrote for prompts, never in texts that come with the moment.
// L4  No component becomes a tool message: such a message answers a call, and a component has none.
// L5  A text that is marked as data goes to the model in the user role, whatever the role of its place.

import type { ExecutionMode } from "@reverie/assistant"
import type { Component } from "./layout/component.ts"
import { contentOverride, type ContextTypeConfig } from "./layout/context-types.ts"
import { isIncluded } from "./layout/inclusion.ts"
import { type Content, type PriceBook, textOf } from "./tokens/price-book.ts"
import { type PlaceholderValues, safeRenderTemplate } from "./prompt/template.ts"
import type { Absent } from "./report.ts"
import { PLACES, type PromptComponent, RESERVED_COMPONENTS, STATIC_COMPONENTS } from "./layout/scheme.ts"

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

/** What a context that plans is told (A8). */
const PLAN_FIRST = `Before your first tool call, write down a short plan: the steps, in order, and how you will know that you are done.
Then carry it out step by step, and change it openly when a result does not fit it.`

const NO_VALUES: PlaceholderValues = {}

const fromWindow: ReadonlySet<string> = new Set([
  PLACES.conversationHistory.key,
  PLACES.pendingEvent.key,
  PLACES.toolResult.key
])

/** Nobody misses these when there is nothing to say in them. */
const unmissed: ReadonlySet<string> = new Set(RESERVED_COMPONENTS.map(({ key }) => key))

const builtIn: ReadonlyArray<PromptComponent> = [...STATIC_COMPONENTS, ...RESERVED_COMPONENTS]

export const collect = (input: CollectInput): Collected => {
  const { context, pluggedIn = [] } = input
  const components: Array<Component> = []
  const absent: Array<Absent> = []
  for (const each of [...builtIn, ...pluggedIn].toSorted((a, b) => a.id - b.id)) {
    const content = contentOf(each, input)
    if (content === undefined) continue
    const reason = whyAbsent(each, content, context)
    if (reason === undefined) components.push(componentOf(each, content, input))
    else if (reason !== "empty" || !unmissed.has(each.key)) absent.push({ key: each.key, reason })
  }
  return { components, absent }
}

/** Undefined where the window, or nobody, has something to say. */
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
  const role = isData ? "user" : each.role === "user" || each.role === "assistant" ? each.role : "system"
  return book.component({ id: each.id, key: each.key, role }, content)
}
