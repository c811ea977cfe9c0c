// DefineAssistant: how a user describes an assistant, and a fleet of them.
// Owns the checks of a description and its defaults. Leaves living to the runtime.
// I1  A wrong description throws at once, with one sentence that names the assistant.

import { changedSettings, type Listening, type Settings, settingsOf } from "@reverie/assistant"
import { AssistantId, type ToolRule } from "@reverie/protocol"
import type { Definition } from "@reverie/runtime"
import { flawOfRules, noop, type Tool, toolkitOf } from "@reverie/tools"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { FleetDefinitionInvalid } from "./errors.ts"

export interface AssistantOptions {
  /** Its address: letters, digits and `. _ : @ # + -`, at most 128 characters. */
  readonly id: string
  /** What it is told about itself and its work. */
  readonly prompt: string
  /** Who it is: manner, voice. */
  readonly persona?: string
  readonly tools?: ReadonlyArray<Tool>
  /** Who weighs a task where `settings.assessTask` asks for it; a heuristic when not said. */
  readonly assessWith?: "heuristic" | "model"
  /** How it listens to what is said in rooms and channels; a message without a channel is always for it. */
  readonly listening?: Partial<Listening>
  /** Constraints on the order and number of tool calls in a tick; the model is told of them. */
  readonly rules?: ReadonlyArray<ToolRule>
  /** Size of the model's context window, in tokens. 100,000 when not said. */
  readonly maxContextTokens?: number
  /** Part of the window kept free for the answer, in tokens. 4,000 when not said. */
  readonly reservedResponseTokens?: number
  /** Limits and switches; see `Settings`. */
  readonly settings?: Partial<Settings>
}

export interface AssistantDefinition extends Definition {
  readonly id: AssistantId
}

export interface FleetDefinition {
  readonly assistants: ReadonlyArray<AssistantDefinition>
  /** Who gets what is addressed to nobody: the first assistant when not said. */
  readonly reception: AssistantId
}

const DEFAULT_CONTEXT_TOKENS = 100_000
const DEFAULT_RESPONSE_TOKENS = 4_000

const refuse = (subject: string, problem: string): never => {
  throw new FleetDefinitionInvalid({ subject, message: `${subject}: ${problem}` })
}

/** What an id of an assistant or a tenant looks like, for whoever gave another one. */
export const ID_FORM = "1 to 128 letters, digits and . _ : @ # + -"

const decodeId = Schema.decodeUnknownOption(AssistantId)

/**
 * @example
 * const clerk = defineAssistant({ id: "clerk", prompt: "You keep the list of ships.", tools: [listShips] })
 */
export const defineAssistant = (options: AssistantOptions): AssistantDefinition => {
  const id = Option.getOrElse(decodeId(options.id), () =>
    refuse(`assistant ${JSON.stringify(options.id)}`, `its id must have ${ID_FORM}`)
  )
  if (options.prompt.trim() === "") refuse(`assistant "${id}"`, "its prompt is empty")
  const maxContextTokens = Math.round(options.maxContextTokens ?? DEFAULT_CONTEXT_TOKENS)
  const reservedResponseTokens = Math.round(
    options.reservedResponseTokens ?? Math.min(DEFAULT_RESPONSE_TOKENS, maxContextTokens / 4)
  )
  if (!(reservedResponseTokens > 0 && reservedResponseTokens < maxContextTokens)) {
    refuse(`assistant "${id}"`, "the answer's share of the context window leaves nothing for the question")
  }
  const flaw = flawOfRules(options.rules ?? [])
  if (flaw !== undefined) refuse(`assistant "${id}"`, flaw)
  return Object.freeze({
    id,
    name: id,
    systemPrompt: options.prompt,
    ...(options.persona === undefined ? {} : { persona: options.persona }),
    settings: changedSettings(settingsOf(options.settings ?? {})),
    rules: options.rules ?? [],
    ...(options.assessWith === undefined ? {} : { assessWith: options.assessWith }),
    ...(options.listening === undefined ? {} : { listening: options.listening }),
    toolkit: toolkitOf([...(options.tools ?? []), noop]),
    maxContextTokens,
    reservedResponseTokens
  })
}

export const defineFleet = (options: {
  readonly assistants: ReadonlyArray<AssistantDefinition>
  readonly reception?: string
}): FleetDefinition => {
  const [first] = options.assistants
  if (first === undefined) return refuse("fleet", "it has no assistants")
  const ids = new Set(options.assistants.map((assistant) => assistant.id))
  if (ids.size < options.assistants.length) refuse("fleet", "two assistants have the same id")
  const reception = options.assistants.find((assistant) => assistant.id === (options.reception ?? first.id))
  if (reception === undefined) return refuse("fleet", `its reception "${options.reception}" is none of its assistants`)
  return Object.freeze({ assistants: options.assistants, reception: reception.id })
}
