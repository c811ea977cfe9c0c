// Layers: in which context a tick is handled, and what that leaves of the static pattern.
// Owns choosing the kind of context and measuring the signals. Leaves composing the layers to `assistant`.
// L1  The statechart learns what the layers leave only where it narrows something, with the layer that decided each part of
//     it: the report of a call repeats that, and finds nothing out anew.
// L2  The window presses only where compaction can relieve it: without compaction the oldest messages make room by
//     themselves, and a full window is the ordinary state of a long life.
// L3  Every event has a class. It narrows where the class was assessed; else its source says that it was allowed.
// L4  Pressure that has risen since a tick began counts from the next model call on; what has fallen counts with the next tick.
// L5  The signal `pre_compaction` chooses the kind of context that an extraction is asked in, with its parts and its tools.

import {
  type Assessment,
  type ContextSignals,
  contextOf,
  goalPriorities,
  type GoalPriority,
  goalsOf,
  patternJson,
  patternOf,
  pressedFurther,
  restrict,
  type Restriction,
  samePattern,
  selectPattern,
  type SourceLayers,
  settingsNow,
  type Settings,
  settingsOf,
  statusOf,
  tokenPressureOf
} from "@reverie/assistant"
import { contextIn, type ContextTypeConfig } from "@reverie/context"
import { defined, type Event, type Json } from "@reverie/protocol"
import { REFLECTION_TIMER } from "../commit/replies.ts"
import { recordsOf } from "../session/own-records.ts"
import { type Session, signalsOf } from "../session/session.ts"

/** The name of the kind of context that an event is handled in: the one it asks for, or the one its timer is for. */
export const contextTypeOf = ({ definition }: Pick<Session, "definition">, event: Event): string => {
  if ((event.type === "message" || event.type === "timer") && event.context !== undefined) return event.context
  if (event.type !== "timer") return "tick_event"
  const own = Object.values(definition.contexts ?? {}).find(({ timers = [] }) => timers.includes(event.name))
  if (own !== undefined) return own.contextType
  return event.name === REFLECTION_TIMER ? "reflection" : "tick_autonomous"
}

/**
 * The configuration of what is being done: while the signal `pre_compaction` stands, that of the extraction, else that of the
 * tick at hand, where a reflection goes on in its own context once tools have answered.
 */
export const contextTypeNow = ({ decoded, definition }: Session): ContextTypeConfig => {
  const { contextType, iteration } = contextOf(decoded)
  if (isExtracting({ decoded })) return contextIn(definition, "pre_compaction")
  const goesOn = contextType === "reflection" && iteration > 1
  const named = contextIn(definition, goesOn ? "reflection_cont" : contextType)
  return named ?? contextIn(definition, "tick_event")
}

const settingsOfDefinition = ({ definition }: Session): Settings => settingsOf(definition.settings)

/** By the records of goals, which are another object after each change. */
const urgencies = new WeakMap<object, { readonly urgency: GoalPriority | undefined }>()

/** The highest priority among the goals that are open (F44). */
const urgencyOf = ({ own }: Session): GoalPriority | undefined => {
  const records = recordsOf(own, "goal")
  const known = urgencies.get(records)
  if (known !== undefined) return known.urgency
  const open = [...goalsOf(records).values()].filter(({ status }) => status === "active")
  const urgency = goalPriorities.find((each) => open.some(({ priority }) => priority === each))
  urgencies.set(records, { urgency })
  return urgency
}

/** The class of an event that no one has assessed (F117). */
const classByKind = (isMessage: boolean): string => (isMessage ? "communication" : "goal_action")

const isMessageInHand = ({ window }: Session): boolean =>
  window.messages.findLast(({ role }) => role === "user")?.name !== "clock"

/** The signals that are measured and not assessed (A9). */
const measured = (session: Session, settings: Settings, ratio: number = signalsOf(session, false).tokenRatio) => ({
  token_pressure: settings.compactEnabled ? tokenPressureOf(ratio) : "normal",
  recent_errors: contextOf(session.decoded).modelFailures + contextOf(session.decoded).toolFailures,
  pre_compaction: isExtracting(session)
})

/** The signal `pre_compaction`. It follows from the state, so it can not outlast the extraction, whatever fails (F63). */
export const isExtracting = ({ decoded }: Pick<Session, "decoded">): boolean =>
  statusOf(decoded) === "compacting.extracting"

/** The kind of context that the tick at hand began in: its pattern holds to its end. */
const layerOfTick = ({ decoded, definition }: Session): ContextTypeConfig =>
  contextIn(definition, contextOf(decoded).contextType) ?? contextIn(definition, "tick_event")

/** What the tick at hand is left when its window has filled up since it began; undefined where that takes nothing away. */
export const pressedNow = (session: Session): Restriction | undefined => {
  const settings = settingsOfDefinition(session)
  const context = contextOf(session.decoded)
  if (context.iteration <= 1 || !settings.compactEnabled) return undefined
  const { restriction } = context
  return pressedFurther(
    settings,
    layerOfTick(session),
    restriction,
    tokenPressureOf(signalsOf(session, false).tokenRatio)
  )
}

/** By the settings, which are an assistant's own, then by the kind of context: what the layers say where nothing narrows. */
const unnarrowed = new WeakMap<Settings, WeakMap<ContextTypeConfig, SourceLayers>>()

const sourcesWithin = (settings: Settings, layer: ContextTypeConfig): SourceLayers => {
  const byLayer = unnarrowed.get(settings) ?? new WeakMap<ContextTypeConfig, SourceLayers>()
  unnarrowed.set(settings, byLayer)
  const known = byLayer.get(layer)
  if (known !== undefined) return known
  const sources = { ...selectPattern(settings, layer).pattern.sourceLayers, event_class: "allowed" }
  byLayer.set(layer, sources)
  return sources
}

/** The signals that a pattern was made by, under the names of the wire (F37). */
const signalsShown = (session: Session, restriction: Restriction): ContextSignals => {
  const { iteration, signals } = contextOf(session.decoded)
  const ratio = iteration <= 1 ? signals.tokenRatio : undefined
  return {
    ...measured(session, settingsOfDefinition(session), ratio),
    event_class: restriction.eventClass ?? classByKind(isMessageInHand(session)),
    ...defined({ goal_urgency: urgencyOf(session) })
  }
}

/** The pattern of the tick at hand, with the layer that decided each part of it and the signals it was made by. */
export const patternShown = (session: Session, pressed?: Restriction): Json => {
  const context = contextOf(session.decoded)
  const restriction = pressed ?? context.restriction
  const layer = layerOfTick(session)
  const plans = contextTypeNow(session).executionMode === "plan_execute"
  const settings = settingsOfDefinition(session)
  const now = restrict(patternOf(settingsNow(context)), restriction)
  // The statechart knows one loop; that a plan comes first is a matter of the prompt (A8).
  const mode = plans && now.mode === "react_loop" ? "plan_execute" : now.mode
  const sourceLayers = restriction.sources ?? sourcesWithin(settings, layer)
  const context_signals = signalsShown(session, restriction)
  return { ...patternJson({ ...now, mode, sourceLayers }), context_signals } as unknown as Json
}

/** What layers 2 and 3 leave, at the present share of the window or another one; empty when the static pattern is narrow enough already. */
export const restrictionOf = (
  session: Session,
  layer: ContextTypeConfig,
  assessment: Assessment = {},
  ratio?: number
): Restriction => {
  const settings = settingsOfDefinition(session)
  const { pattern, restriction } = selectPattern(settings, layer, {
    ...assessment,
    context_signals: { ...assessment.context_signals, ...measured(session, settings, ratio) }
  })
  const whole = patternOf(settings)
  const eventClass = assessment.context_signals?.event_class
  if (samePattern(restrict(whole, restriction), whole)) return defined({ eventClass })
  const { sourceLayers } = pattern
  const isByClass = Object.values(sourceLayers).includes("signal:event_class")
  const sources = { ...sourceLayers, event_class: isByClass ? "signal:event_class" : "allowed" }
  return { ...restriction, sources, ...defined({ eventClass }) }
}
