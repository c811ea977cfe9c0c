// Scheme: the numbered places of a prompt.
// Owns the nine static components, the reserved places between them, and the handing out of free ones. Leaves what
// fills them to `collect.ts`, which of them a context has to `context-types.ts`.
// N1  A prompt is assembled and told in strictly ascending order of ids; a static id stands on its place for ever.
// N2  What is plugged in after a static component lies between it and the next static one, and never on a reserved id.
// N3  `mixed` is the role of the conversation history alone.

import * as Result from "effect/Result"
import { NoPlaceAfter, PlacesTaken } from "../errors.ts"

export const promptRoles = ["system", "user", "assistant", "tool", "mixed"] as const
export type PromptRole = (typeof promptRoles)[number]

/** One part of a context window, before it is rendered (F17). */
export interface PromptComponent {
  readonly id: number
  readonly key: string
  readonly name: string
  readonly description: string
  /** The text, with `{gaps}`. That of a static component is one gap, filled for each prompt. */
  readonly content: string
  readonly isStatic: boolean
  readonly enabled: boolean
  readonly role: PromptRole
}

const builtIn = (id: number, key: string, role: PromptRole, name: string, description: string): PromptComponent => ({
  id,
  key,
  name,
  description,
  content: `{${key}}`,
  isStatic: true,
  enabled: true,
  role
})

/**
 * In the order of their ids, with their nominal roles. Entities and memories may hold what anybody once said: their texts
 * come marked as data (`dataOf`), and then go to a model in the user role.
 */
export const STATIC_COMPONENTS: ReadonlyArray<PromptComponent> = [
  builtIn(0, "system_prompt", "system", "System prompt", "Who the assistant is and how it works."),
  builtIn(1000, "character_context", "system", "Character", "Persona, active project and session memory."),
  builtIn(1500, "entity_context", "system", "Entities", "Profiles of those it deals with now."),
  builtIn(2000, "semantic_memories", "system", "Memories", "Facts recalled for what is at hand."),
  builtIn(3000, "context_buffer", "system", "Surroundings", "What was said nearby."),
  builtIn(4000, "goals", "system", "Goals", "What it wants to reach, as a tree."),
  builtIn(5000, "conversation_history", "mixed", "Conversation", "What was said before this turn."),
  builtIn(6000, "pending_event", "user", "Pending event", "What waits for an answer."),
  builtIn(7000, "tool_result", "tool", "Tool results", "What has come of this turn so far.")
]

/** The static parts by a name that code can use. */
export const PLACES = {
  systemPrompt: { id: 0, key: "system_prompt" },
  characterContext: { id: 1000, key: "character_context" },
  entityContext: { id: 1500, key: "entity_context" },
  semanticMemories: { id: 2000, key: "semantic_memories" },
  contextBuffer: { id: 3000, key: "context_buffer" },
  goals: { id: 4000, key: "goals" },
  conversationHistory: { id: 5000, key: "conversation_history" },
  pendingEvent: { id: 6000, key: "pending_event" },
  toolResult: { id: 7000, key: "tool_result" }
} as const

/** Before the conversation, for models whose first message must be a user's. */
export const OPENING_PLACE = { id: 4990, key: "opening" } as const

/** Behind everything, where nothing can be plugged in: the form of the answer, which goes to a model beside the messages. */
export const FORM_PLACE = { id: 8000, key: "answer_form" } as const

const reserved = (id: number, key: string, companion: number, role: PromptRole, name: string, description: string) => ({
  ...builtIn(id, key, role, name, description),
  /** It is in a context exactly when this static component is. */
  companion
})

export interface ReservedComponent extends PromptComponent {
  readonly companion: number
}

/**
 * Built-in parts between the static ones. In the order of ids they stand right behind the base instructions: core
 * blocks, working blocks, activity, tool rules (F87); the plan that `plan_execute` asks for comes last (A8).
 */
export const RESERVED_COMPONENTS: ReadonlyArray<ReservedComponent> = [
  reserved(600, "core_blocks", 1000, "system", "Core blocks", "Memory that is always in context."),
  reserved(700, "working_blocks", 1000, "system", "Working blocks", "Memory that is pinned or was referred to."),
  reserved(800, "activity", 3000, "system", "Activity", "What happened around it of late."),
  reserved(900, "tool_rules", 0, "system", "Tool rules", "In which order and how often tools may be called."),
  reserved(950, "plan_first", 0, "system", "Plan first", "Asks for a plan before the first step."),
  reserved(
    OPENING_PLACE.id,
    OPENING_PLACE.key,
    5000,
    "user",
    "Opening",
    "A first user message, for models that must have one."
  )
]

const staticIds: ReadonlyArray<number> = STATIC_COMPONENTS.map(({ id }) => id)
const staticById = new Map(STATIC_COMPONENTS.map((each) => [each.id, each]))
const staticByKey = new Map(STATIC_COMPONENTS.map((each) => [each.key, each]))
const reservedById = new Map(RESERVED_COMPONENTS.map((each) => [each.id, each]))
const reservedByKey = new Map(RESERVED_COMPONENTS.map((each) => [each.key, each]))

export const getStaticComponents = (): ReadonlyArray<PromptComponent> => STATIC_COMPONENTS

export const getStaticComponent = (key: string): PromptComponent | undefined => staticByKey.get(key)

/** `[0, 1000, 1500, ..., 7000]`. */
export const orderedStaticIds = (): ReadonlyArray<number> => staticIds

export const isStaticId = (id: number): boolean => staticById.has(id)

export const isReservedId = (id: number): boolean => reservedById.has(id)

/** A static or reserved component by its key. */
const builtInComponent = (key: string): PromptComponent | undefined => staticByKey.get(key) ?? reservedByKey.get(key)

/** Keys that nothing plugged in may take. */
export const isBuiltInKey = (key: string): boolean => key === FORM_PLACE.key || builtInComponent(key) !== undefined

export const reservedComponent = (id: number): ReservedComponent | undefined => reservedById.get(id)

/** Most ids between two static components. */
const MAX_PLACES = 999

/** The ids behind a static component, first and last inclusive, reserved ones among them. */
export interface PlaceRange {
  readonly first: number
  readonly last: number
}

/** The range behind a static id (A1): up to the next static id, and never more than MAX_PLACES. */
export const pluggableRange = (afterStatic: number): Result.Result<PlaceRange, NoPlaceAfter> => {
  if (!isStaticId(afterStatic)) return Result.fail(new NoPlaceAfter({ afterStatic }))
  const next = staticIds.find((id) => id > afterStatic) ?? Infinity
  return Result.succeed({ first: afterStatic + 1, last: Math.min(next - 1, afterStatic + MAX_PLACES) })
}

/** The static id that an id stands behind; itself when it is one. */
export const staticBefore = (id: number): number => staticIds.findLast((each) => each <= id) ?? 0

/** The lowest free id behind a static component. */
export const allocatePluggableId = (
  existing: Iterable<number>,
  afterStatic: number
): Result.Result<number, NoPlaceAfter | PlacesTaken> => {
  const range = pluggableRange(afterStatic)
  if (Result.isFailure(range)) return Result.fail(range.failure)
  const { first, last } = range.success
  const taken = new Set(existing)
  for (let id = first; id <= last; id++) if (!taken.has(id) && !isReservedId(id)) return Result.succeed(id)
  return Result.fail(new PlacesTaken({ afterStatic, first, last }))
}

/** Why a component of this id can not have this role, or undefined (A3). */
export const roleProblem = (id: number, role: PromptRole): string | undefined =>
  role === "mixed" && id !== PLACES.conversationHistory.id
    ? `the role mixed is that of ${PLACES.conversationHistory.key} alone`
    : undefined
