// DefineTeam: how a user describes assistants that answer together.
// Owns the checks of a description and its defaults, and the words for patterns. Leaves the patterns to `assistant`.
// I1  A wrong description throws at once, with one sentence that names the team.
// I2  A team is an assistant: it has an address, a mailbox and a history, and its ticks cost no model call of its own.

import {
  dynamic,
  type Pattern,
  pipeline,
  roundRobin,
  type Selector,
  selectors,
  sleepTime,
  type SleepTimeOptions,
  type Stage,
  supervisor,
  type SupervisorOptions,
  type Team,
  type TeamMember,
  type TeamRole,
  teamRoles,
  tieBreakers,
  voting,
  type VotingOptions
} from "@reverie/assistant"
import { AssistantId, defined } from "@reverie/protocol"
import { noop, toolkitOf } from "@reverie/tools"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type AssistantDefinition, ID_FORM, refuse } from "./define-assistant.ts"
import { flawOfModel, type ModelChoice } from "./models/model-choice.ts"
import { any, flawOfOptions, flawOfShape, listOfShape, oneOf, type Shape, text, texts, whole } from "./options/shape.ts"

/** One member of a team. */
export interface SeatOptions {
  /** The member, or its id. */
  readonly assistant: AssistantDefinition | string
  /** "member" when not said. */
  readonly role?: TeamRole
  /** The model that it answers the team with; its own for everyone else. */
  readonly model?: ModelChoice
  /** What a specialist is for. */
  readonly domain?: string
  /** Words for what it can do, for a pattern that chooses by them. */
  readonly capabilities?: ReadonlyArray<string>
}

/** How a team comes to its answers, or a pattern of one's own. */
export type TeamPattern =
  | "round-robin"
  | { readonly type: "dynamic"; readonly selector?: Selector }
  | ({ readonly type: "supervisor" } & SupervisorOptions)
  | { readonly type: "pipeline"; readonly stages: ReadonlyArray<Stage> }
  | ({ readonly type: "voting" } & VotingOptions)
  | ({ readonly type: "sleep-time" } & SleepTimeOptions)
  | Pattern

/** What `defineTeam` takes. */
export interface TeamOptions {
  /** Its address; others write to `group:<id>` or to the id itself. */
  readonly id: string
  /** In the order in which a pattern asks them; an assistant has one seat. */
  readonly members: ReadonlyArray<SeatOptions>
  /** How it comes to an answer: the name of one of ours with its options, or one of your own. */
  readonly pattern: TeamPattern
  /** How long a member has for an answer; 10 minutes when not said. */
  readonly answerMs?: number
  /** Most asks for one question; 32, or twice the members where that is more, when not said. */
  readonly maxAsks?: number
}

/** What `defineTeam` returns: an assistant among others. */
export interface TeamDefinition extends AssistantDefinition {
  /** Its members, their pattern and its limits. */
  readonly team: Team
}

const ANSWER_MILLIS = 600_000
const MAX_ASKS = 32
/** A team asks no model, so its window only has to hold the message in hand. */
const CONTEXT_TOKENS = 8_000

const patternOf = (pattern: TeamPattern): Pattern => {
  if (pattern === "round-robin") return roundRobin()
  if ("begin" in pattern) return pattern
  switch (pattern.type) {
    case "dynamic":
      return dynamic(pattern)
    case "supervisor":
      return supervisor(pattern)
    case "pipeline":
      return pipeline(pattern)
    case "voting":
      return voting(pattern)
    case "sleep-time":
      return sleepTime(pattern)
  }
}

const memberOf = ({ assistant, capabilities, domain, role = "member" }: SeatOptions): TeamMember => {
  const names = typeof assistant === "string" ? undefined : assistant.listening?.names
  return {
    id: idOf({ assistant }),
    role,
    ...defined({ names, domain, capabilities })
  }
}

const isExpression = (source: string): boolean => {
  try {
    return new RegExp(source, "iu") instanceof RegExp
  } catch {
    return false
  }
}

const flawOfPattern = (pattern: TeamPattern, members: ReadonlyArray<TeamMember>): string | undefined => {
  if (pattern === "round-robin" || "begin" in pattern) return undefined
  switch (pattern.type) {
    case "dynamic": {
      const { selector = "capability" } = pattern
      return selectors.includes(selector) ? undefined : `its selector must be one of ${selectors.join(", ")}`
    }
    case "supervisor":
      return members.some(({ role }) => role === "supervisor") ? undefined : "it has no supervisor"
    case "pipeline":
      return pattern.stages.length === 0 ? "its pipeline has no stages" : undefined
    case "voting": {
      const { choices = ["yes", "no"], decider, tieBreaker = "no_decision" } = pattern
      if (!tieBreakers.includes(tieBreaker)) return `its tieBreaker must be one of ${tieBreakers.join(", ")}`
      if (tieBreaker === "specific_member" && decider === undefined) return "its tie-breaker needs a decider"
      return new Set(choices).size < 2 ? "there is nothing to choose between" : undefined
    }
    case "sleep-time": {
      if (pattern.triggers.length === 0) return "its watcher has no triggers"
      const wrong = pattern.triggers.find((trigger) => trigger.type === "pattern" && !isExpression(trigger.pattern))
      return wrong === undefined ? undefined : "one of its triggers is no regular expression"
    }
  }
}

const memberShape: Shape = { assistant: any, role: any, domain: text, capabilities: texts, model: any }

const type = any

const stageShape: Shape = { member: text, instruction: text, onFailure: any, retries: whole(0), timeoutMs: whole(1) }

/** What may stand in each pattern that has a name. */
const patternShapes: Readonly<Record<string, Shape>> = {
  dynamic: { type, selector: any },
  supervisor: { type, maxRounds: whole(1), fallback: oneOf("fail", "member") },
  pipeline: {
    type,
    stages: listOfShape("stages", () => stageShape)
  },
  voting: { type, choices: texts, quorum: any, deadlineMs: whole(1), tieBreaker: any, decider: text },
  "sleep-time": {
    type,
    watcher: text,
    triggers: listOfShape("triggers", (trigger) => triggerShapes[String(Reflect.get(Object(trigger), "type"))]),
    instruction: text
  }
}

const triggerShapes: Readonly<Record<string, Shape>> = {
  elapsed: { type, millis: whole(1) },
  messages: { type, count: whole(1) },
  pattern: { type, pattern: text }
}

const teamShape: Shape = {
  id: text,
  members: listOfShape("members", () => memberShape),
  pattern: (pattern) => {
    if (typeof pattern !== "object" || pattern === null || "begin" in pattern) return undefined
    const shape = patternShapes[String(Reflect.get(pattern, "type"))]
    return shape === undefined
      ? `must be of the type ${Object.keys(patternShapes).join(", ")}, or round-robin`
      : flawOfShape("pattern", pattern, shape)
  },
  answerMs: any,
  maxAsks: any
}

const isCount = (count: number | undefined): boolean =>
  count === undefined || (Number.isSafeInteger(count) && count > 0)

const flawOf = (options: TeamOptions, members: ReadonlyArray<TeamMember>): string | undefined => {
  const ids = members.map(({ id }) => id)
  const heard = members.filter(({ role }) => role !== "observer").map(({ id }) => id)
  if (heard.length === 0) return "no member can answer"
  if (new Set(ids).size < ids.length) return "a member is in it twice"
  const strange = members.find(({ role }) => !teamRoles.includes(role))
  if (strange !== undefined) return `the role of ${strange.id} must be one of ${teamRoles.join(", ")}`
  if (!isCount(options.answerMs) || !isCount(options.maxAsks)) {
    return "answerMs and maxAsks must be whole numbers of at least 1"
  }
  const flaw = flawOfPattern(options.pattern, members)
  if (flaw !== undefined) return flaw
  const absent = patternOf(options.pattern).needs?.find((id) => !heard.includes(id))
  return absent === undefined ? undefined : `its pattern needs "${absent}", who is no member that answers`
}

const idOf = ({ assistant }: SeatOptions): string => (typeof assistant === "string" ? assistant : assistant.id)

const seatModelsOf = (team: string, members: ReadonlyArray<SeatOptions>): Readonly<Record<string, ModelChoice>> =>
  Object.fromEntries(
    members.flatMap((seat) => {
      const flaw = flawOfModel(seat.model)
      if (flaw !== undefined) refuse(`team "${team}"`, `the model of ${idOf(seat)} ${flaw}`)
      return seat.model === undefined ? [] : [[idOf(seat), seat.model]]
    })
  )

const decodeId = Schema.decodeUnknownOption(AssistantId)

/**
 * @example
 * const council = defineTeam({
 *   id: "council",
 *   members: [{ assistant: ada }, { assistant: bo }, { assistant: clerk, role: "observer" }],
 *   pattern: { type: "voting", tieBreaker: "first_vote" }
 * })
 */
export const defineTeam = (options: TeamOptions): TeamDefinition => {
  const id = Option.getOrElse(decodeId(options.id), () =>
    refuse(`team ${JSON.stringify(options.id)}`, `its id must have ${ID_FORM}`)
  )
  const misshapen = flawOfOptions("defineTeam", options, teamShape)
  if (misshapen !== undefined) refuse(`team "${id}"`, misshapen)
  const members = options.members.map(memberOf)
  const flaw = flawOf(options, members)
  if (flaw !== undefined) refuse(`team "${id}"`, flaw)
  const seatModels = seatModelsOf(id, options.members)
  const { answerMs = ANSWER_MILLIS, maxAsks = Math.max(MAX_ASKS, 2 * members.length) } = options
  return Object.freeze({
    id,
    name: id,
    systemPrompt: `The team ${id}.`,
    settings: { compactEnabled: false },
    rules: [],
    toolkit: toolkitOf([noop]),
    maxContextTokens: CONTEXT_TOKENS,
    reservedResponseTokens: 1,
    memory: { recall: "off" as const },
    ...defined({ seatModels: Object.keys(seatModels).length === 0 ? undefined : seatModels }),
    team: { id, members, pattern: patternOf(options.pattern), answerMs, maxAsks }
  })
}

/** What is wrong with the teams of a fleet; undefined when nothing is. */
export const flawOfTeams = (assistants: ReadonlyArray<AssistantDefinition>): string | undefined => {
  const byId = new Map(assistants.map((assistant) => [assistant.id as string, assistant]))
  const isAround = (id: string, above: ReadonlyArray<string>): boolean =>
    above.includes(id) || (byId.get(id)?.team?.members ?? []).some((member) => isAround(member.id, [...above, id]))
  for (const { id, team } of assistants) {
    const stranger = team?.members.find((member) => !byId.has(member.id))
    if (stranger !== undefined) return `team "${id}" has the member "${stranger.id}", who is none of its assistants`
    if (isAround(id, [])) return `team "${id}" is, in the end, a member of itself`
  }
  return undefined
}
