// Layers: in which context a tick is handled, and what that leaves of the static pattern.
// Owns choosing the kind of context and measuring the signals. Leaves composing the layers to `assistant`.
// L1  What the layers leave is reported to the statechart only where it narrows something.
// L2  The window presses only where compaction can relieve it: without compaction the oldest messages make room by
//     themselves, and a full window is the ordinary state of a long life.

import {
  type Assessment,
  contextOf,
  patternJson,
  patternNow,
  patternOf,
  restrict,
  type Restriction,
  samePattern,
  selectPattern,
  type Settings,
  settingsOf,
  statusOf,
  tokenPressureOf
} from "@reverie/assistant"
import { contextIn, type ContextTypeConfig, getContextType } from "@reverie/context"
import type { Event, Json } from "@reverie/protocol"
import { REFLECTION_TIMER } from "../commit/replies.ts"
import { type Session, signalsOf } from "../session/session.ts"

/** The name of the kind of context that an event is handled in: the one it asks for, or the one its timer is for. */
export const contextTypeOf = ({ definition }: Pick<Session, "definition">, event: Event): string => {
  if ((event.type === "message" || event.type === "timer") && event.context !== undefined) return event.context
  if (event.type !== "timer") return "tick_event"
  const own = Object.values(definition.contexts ?? {}).find(({ timers = [] }) => timers.includes(event.name))
  if (own !== undefined) return own.contextType
  return event.name === REFLECTION_TIMER ? "reflection" : "tick_autonomous"
}

/** The configuration of the tick at hand: a reflection goes on in its own context once tools have answered. */
export const contextTypeNow = ({ decoded, definition }: Session): ContextTypeConfig => {
  const { contextType, iteration } = contextOf(decoded)
  const goesOn = contextType === "reflection" && iteration > 1
  const named = contextIn(definition, goesOn ? "reflection_cont" : contextType)
  return named ?? contextIn(definition, "tick_event") ?? getContextType("tick_event")
}

const settingsOfDefinition = ({ definition }: Session): Settings => settingsOf(definition.settings)

/** The signals that are measured and not assessed (A9). */
const measured = (session: Session, settings: Settings, ratio: number = signalsOf(session, false).tokenRatio) => ({
  token_pressure: settings.compactEnabled ? tokenPressureOf(ratio) : "normal",
  recent_errors: contextOf(session.decoded).errors + contextOf(session.decoded).tries,
  pre_compaction: isExtracting(session)
})

/** The signal of the extraction follows from the state, so it can not outlast it, whatever fails (F63). */
const isExtracting = ({ decoded }: Session): boolean => statusOf(decoded) === "compacting.extracting"

/** The pattern of the tick at hand with the layers that made it, where they narrowed anything. */
export const patternShown = (session: Session): Json | undefined => {
  const { restriction } = contextOf(session.decoded)
  const context = contextTypeNow(session)
  const plans = context.executionMode === "plan_execute"
  if (Object.keys(restriction).length === 0 && !plans) return undefined
  const settings = settingsOfDefinition(session)
  const { pattern } = selectPattern(settings, context, { context_signals: measured(session, settings) })
  const now = patternNow(contextOf(session.decoded))
  // The statechart knows one loop; that a plan comes first is a matter of the prompt (A8).
  const mode = plans && now.mode === "react_loop" ? "plan_execute" : now.mode
  return patternJson({ ...pattern, ...now, mode }) as unknown as Json
}

/** What layers 2 and 3 leave, at the present share of the window or another one; empty when the static pattern is narrow enough already. */
export const restrictionOf = (
  session: Session,
  layer: ContextTypeConfig,
  assessment: Assessment = {},
  ratio?: number
): Restriction => {
  const settings = settingsOfDefinition(session)
  const { restriction } = selectPattern(settings, layer, {
    ...assessment,
    context_signals: { ...assessment.context_signals, ...measured(session, settings, ratio) }
  })
  const whole = patternOf(settings)
  return samePattern(restrict(whole, restriction), whole) ? {} : restriction
}
