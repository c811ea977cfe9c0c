// ContextsOption: how a user defines kinds of context, and changes those that there are.
// Owns the checks and the way into the kinds that the runtime works with. Leaves choosing one for an event to the runtime.
// K1  A kind of one's own is `tick_event` with changes; one of the seven has the values of the sources, with changes.
// K2  A kind can only narrow what the assistant may do: what asks for more is refused, not cut.
// K3  `maxSteps` of the assistant is what its events get: the sources' limit of 5 holds where nothing was asked for.
// K4  Consolidation is no tick: its answers and tools are bounded by what the sources give it, not by those of the assistant.

import { type ExecutionMode, executionModes, MAX_ITERATIONS } from "@reverie/assistant"
import {
  type ContextTypeConfig,
  findContextType,
  getContextType,
  needsOpening,
  RESERVED_COMPONENTS,
  SLEEP_TOOLS,
  STATIC_COMPONENTS
} from "@reverie/context"
import type { Definition } from "@reverie/runtime"
import { defined, toolCategories, type ToolCategory, unknownName } from "@reverie/protocol"
import { flag, flawOfShape, oneOf, orNull, type Shape, text, texts, whole } from "./shape.ts"

/** One kind of context: what a model is shown in it, and what it may do. What is left out stays as it is. */
export interface ContextOption {
  /** For people who read the definition. */
  readonly description?: string
  /** `plan_execute` asks for a plan before the first tool call; `single_action` allows one call. */
  readonly mode?: ExecutionMode
  /** Model calls that one tick may make in it, at most the `maxSteps` of the assistant. */
  readonly maxSteps?: number
  /** Keys of the parts of the prompt that it has, as `system_prompt` or `conversation_history`. All when left out. */
  readonly components?: ReadonlyArray<string>
  /** By the key of a part: the text that stands in its place, with `{gaps}`. Null takes back what the kind has there. */
  readonly overrides?: Readonly<Record<string, string | null>>
  /** Names of the tools that may be called in it. All when left out. */
  readonly tools?: ReadonlyArray<string>
  /** Categories of the tools that may be called in it. All when left out. */
  readonly toolCategories?: ReadonlyArray<ToolCategory>
  /** Most tokens of a prompt in it. What the window has room for when left out. */
  readonly tokenBudget?: number
  /** Tools with `needsApproval` wait for a person, whatever the settings say. */
  readonly requireApproval?: boolean
  /** A tool with `final: true` ends the tick, whatever the settings say. */
  readonly stopOnFinal?: boolean
  /** More than one tool call, and more than one step. */
  readonly multiStep?: boolean
  /** Tasks may be handed on to sub-agents, where the assistant may have them. */
  readonly subAgents?: boolean
  /** Names of timers that are handled in it. */
  readonly timers?: ReadonlyArray<string>
}

/** Kinds of context by their names. */
export type ContextsOption = Readonly<Record<string, ContextOption>>

const shape: Shape = {
  description: text,
  mode: oneOf(...executionModes),
  maxSteps: whole(1, MAX_ITERATIONS),
  components: texts,
  overrides: (value) => flawOfShape("overrides", value, overridable),
  tools: texts,
  toolCategories: texts,
  tokenBudget: whole(1),
  requireApproval: flag,
  stopOnFinal: flag,
  multiStep: flag,
  subAgents: flag,
  timers: texts
}

const parts = new Map([...STATIC_COMPONENTS, ...RESERVED_COMPONENTS].map(({ id, key }) => [key, id]))

/** What comes out of the history itself, in whose place no other text can stand. */
const SAID = new Set(["conversation_history", "pending_event", "tool_result"])

const overridable: Shape = Object.fromEntries(
  [...parts.keys()].filter((key) => !SAID.has(key)).map((key) => [key, orNull(text)])
)

/** What can be said of a kind that handles no event, and why no more. */
const narrow: Readonly<Record<string, { readonly of: ReadonlyArray<string>; readonly because: string }>> = {
  reflection_cont: {
    of: ["description", "components", "overrides", "tools", "tokenBudget"],
    because: "what a tick may do is decided where it begins, in reflection"
  },
  goal_decompose: {
    of: ["description", "components", "overrides", "tokenBudget"],
    because: "it is one question without tools"
  },
  pre_compaction: {
    of: ["description", "components", "overrides", "tokenBudget"],
    because: "its tools are those that save facts, and compaction.preCompactMaxIterations its rounds"
  },
  sleep_consolidate: {
    of: ["description", "maxSteps", "tools", "tokenBudget"],
    because: "a dream consolidates with instructions and material of its own"
  }
}

const PREFIX = "its contexts."

const NAME = /^[a-z][a-z0-9_]{0,63}$/

interface Owner {
  readonly maxSteps: number
  readonly toolNames: ReadonlyArray<string>
}

const unknownIn = (words: ReadonlyArray<string> = [], known: ReadonlyArray<string>): string | undefined =>
  words.find((word) => !known.includes(word))

const named = (of: string, word: string, known: ReadonlyArray<string>): string =>
  `${of} name ${unknownName(word, known)}`

const flawOfContext = (of: string, context: ContextOption, owner: Owner): string | undefined => {
  const flaw = flawOfShape(of, context, shape)
  if (flaw !== undefined) return flaw
  const limited = narrow[of.slice(PREFIX.length)]
  const idle = limited === undefined ? undefined : Object.keys(context).find((key) => !limited.of.includes(key))
  if (limited !== undefined && idle !== undefined) return `${of}.${idle} has no effect: ${limited.because}`
  const part = unknownIn(context.components, [...parts.keys()])
  if (part !== undefined) return named(`${of}.components`, part, [...parts.keys()])
  // A dream has tools of Reverie's own, and no steps of a tick.
  const isDream = of === `${PREFIX}sleep_consolidate`
  const toolNames = isDream ? SLEEP_TOOLS : owner.toolNames
  const tool = unknownIn(context.tools, toolNames)
  if (tool !== undefined) return named(`${of}.tools`, tool, toolNames)
  const category = unknownIn(context.toolCategories, toolCategories)
  if (category !== undefined) return named(`${of}.toolCategories`, category, toolCategories)
  const { maxSteps = 1 } = context
  const { maxIterations } = getContextType("sleep_consolidate")
  if (isDream) {
    return maxSteps > maxIterations
      ? `${of}.maxSteps is ${maxSteps}, and a dream asks at most ${maxIterations} times over what it reads at once`
      : undefined
  }
  return maxSteps > owner.maxSteps
    ? `${of}.maxSteps is ${maxSteps}, and the maxSteps of the assistant ${owner.maxSteps}: a context can only narrow it`
    : undefined
}

/** What is wrong with the contexts of a definition, in one sentence; undefined when nothing is. */
export const flawOfContexts = (contexts: ContextsOption = {}, owner: Owner): string | undefined => {
  const timers = Object.entries(contexts).flatMap(([, { timers: own = [] }]) => own)
  const twice = timers.find((timer, index) => timers.indexOf(timer) !== index)
  if (twice !== undefined) return `two of its contexts handle the timer ${JSON.stringify(twice)}`
  for (const [name, context] of Object.entries(contexts)) {
    if (!NAME.test(name)) {
      return `its context ${JSON.stringify(name)} needs a name of small letters, digits and _, a letter first, at most 64`
    }
    const flaw = flawOfContext(`${PREFIX}${name}`, context, owner)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

/** With the values of the option, where it has one. */
const changed = (base: ContextTypeConfig, option: ContextOption): ContextTypeConfig => ({
  ...base,
  description: option.description ?? base.description,
  executionMode: option.mode ?? base.executionMode,
  maxIterations: option.maxSteps ?? base.maxIterations,
  enabledComponents: option.components?.flatMap((key) => parts.get(key) ?? []) ?? base.enabledComponents,
  componentOverrides: {
    ...base.componentOverrides,
    ...Object.fromEntries(
      Object.entries(option.overrides ?? {}).map(([key, content]) => [key, content === null ? null : { content }])
    )
  },
  toolFilter: option.tools ?? base.toolFilter,
  allowedToolCategories: option.toolCategories ?? base.allowedToolCategories,
  tokenBudget: option.tokenBudget ?? base.tokenBudget,
  dangerousRequiresConfirm: option.requireApproval ?? base.dangerousRequiresConfirm,
  terminalEndsLoop: option.stopOnFinal ?? base.terminalEndsLoop,
  allowsMultiTool: option.multiStep ?? base.allowsMultiTool,
  allowsSubAgents: option.subAgents ?? base.allowsSubAgents,
  ...defined({ timers: option.timers })
})

/** In these an event is handled, and its work done. */
const EVENTS = ["tick_event", "tick_autonomous"] as const

/** The kinds that differ from those of the sources, and those of one's own; undefined when there are none. */
export const contextsOf = (
  contexts: ContextsOption = {},
  maxSteps: number
): Readonly<Record<string, ContextTypeConfig>> | undefined => {
  const lifted = EVENTS.map((type) => getContextType(type)).filter(({ maxIterations }) => maxIterations < maxSteps)
  const base = new Map(lifted.map((config) => [config.contextType, { ...config, maxIterations: maxSteps }]))
  for (const [name, option] of Object.entries(contexts)) {
    const own = {
      ...getContextType("tick_event"),
      contextType: name,
      name,
      maxIterations: maxSteps
    }
    base.set(name, changed(base.get(name) ?? findContextType(name) ?? own, option))
  }
  return base.size === 0 ? undefined : Object.freeze(Object.fromEntries(base))
}

// ForModel: an assistant as it is with the model that a fleet asks.
// M1  A model that is named in `modelOverrides` has those limits, in every part that goes by them; what they leave out stays.
// M2  A model that wants a user's words first is known by its name, unless the definition says.

export const forModel = (definition: Definition, model: string | undefined): Definition => {
  const { modelOverrides = {}, ...prompt } = definition.prompt ?? {}
  const limits = model !== undefined && Object.hasOwn(modelOverrides, model) ? (modelOverrides[model] ?? {}) : {}
  const firstMessageUser = prompt.firstMessageUser ?? (model !== undefined && needsOpening(model))
  if (Object.keys(limits).length === 0 && !firstMessageUser) return definition
  const { historyTokens, maxTokens, memoryTokens, reservedResponseTokens } = limits
  return {
    ...definition,
    ...defined({ maxContextTokens: maxTokens, reservedResponseTokens }),
    prompt: { ...prompt, ...defined({ memoryTokens, historyTokens }), firstMessageUser }
  }
}
