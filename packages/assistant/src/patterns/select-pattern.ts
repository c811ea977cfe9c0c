// SelectPattern: the execution pattern out of three layers, and which of them decided what.
// Owns what a context (layer 2) and an assessment with its signals (layer 3) ask of the static layer, and laying it on the
// static pattern: in one place, so that the statechart and the page can not disagree.
// S1  Adding a layer never widens anything (F32).
// S2  Signals always count; what a model recommends counts only where the settings let it assess (A9).
// S3  Making room is not hindered by the lack of it: in contexts that compact or consolidate neither the pressure of
//     tokens nor the class of the event counts (A11).
// S4  A source is named by the layer that decided: `static`, `context`, `assessment`, or `signal:NAME` (A12). Sources are
//     made where the pattern is, and travel with it: no one finds them out a second time.

import { defined, toolCategories, type ToolCategory } from "@reverie/protocol"
import type { Settings } from "../settings.ts"

// Pattern: what a tick is allowed to do.
// I1  A layer can only restrict: fewer iterations, fewer categories, more confirmation (F32).
// I2  One action means one iteration and one call (A9).
// I3  `plan_execute` runs as a react_loop; that a plan comes first is said in the prompt (A8).

/** From the narrowest to the widest (F3, A8). */
export const executionModes = ["single_action", "react_loop", "plan_execute"] as const
export type ExecutionMode = (typeof executionModes)[number]

export interface ExecutionPattern {
  readonly mode: ExecutionMode
  readonly maxIterations: number
  readonly categories: ReadonlyArray<ToolCategory>
  readonly terminalEndsLoop: boolean
  readonly confirmDangerous: boolean
  readonly multiTool: boolean
  readonly subAgents: boolean
}

/** What a later layer may ask for. Anything wider than the pattern it is laid on has no effect. */
export interface Restriction {
  readonly mode?: ExecutionMode
  readonly maxIterations?: number
  readonly categories?: ReadonlyArray<ToolCategory>
  readonly confirmDangerous?: boolean
  readonly terminalEndsLoop?: boolean
  readonly subAgents?: boolean
  /** Which layer asked for what. */
  readonly sources?: SourceLayers
  /** The class of the event, where a model or the heuristic has told it. */
  readonly eventClass?: string
}

/** The static layer. */
export const patternOf = (settings: Settings): ExecutionPattern => {
  const pattern: ExecutionPattern = {
    mode: "react_loop",
    maxIterations: settings.maxIterations,
    categories: toolCategories,
    terminalEndsLoop: settings.terminalEndsLoop,
    confirmDangerous: settings.confirmDangerous,
    multiTool: true,
    subAgents: settings.subAgents
  }
  return settings.multiAction ? pattern : singleAction(pattern)
}

const singleAction = (pattern: ExecutionPattern): ExecutionPattern => ({
  ...pattern,
  mode: "single_action",
  maxIterations: 1,
  multiTool: false
})

/** A number that is none asks for nothing: a comparison with it would let the loop run for ever. */
const fewer = (limit: number, request: number = limit): number =>
  Number.isNaN(request) ? limit : Math.max(1, Math.min(limit, Math.floor(request)))

/** The narrower of two modes. */
const narrower = (one: ExecutionMode, other: ExecutionMode = one): ExecutionMode =>
  executionModes[Math.min(executionModes.indexOf(one), executionModes.indexOf(other))] ?? one

/** Lays a restriction on a pattern. */
export const restrict = (pattern: ExecutionPattern, restriction: Restriction): ExecutionPattern => {
  const narrowed: ExecutionPattern = {
    ...pattern,
    mode: narrower(pattern.mode, restriction.mode),
    maxIterations: fewer(pattern.maxIterations, restriction.maxIterations),
    categories: pattern.categories.filter((category) => restriction.categories?.includes(category) ?? true),
    confirmDangerous: pattern.confirmDangerous || (restriction.confirmDangerous ?? false),
    terminalEndsLoop: pattern.terminalEndsLoop || (restriction.terminalEndsLoop ?? false),
    subAgents: pattern.subAgents && (restriction.subAgents ?? true)
  }
  return narrowed.mode === "single_action" ? singleAction(narrowed) : narrowed
}

const patternFields = [
  "mode",
  "maxIterations",
  "terminalEndsLoop",
  "confirmDangerous",
  "multiTool",
  "subAgents"
] as const satisfies ReadonlyArray<keyof ExecutionPattern>

/** Whether two patterns allow the same. */
export const samePattern = (one: ExecutionPattern, other: ExecutionPattern): boolean =>
  patternFields.every((name) => one[name] === other[name]) &&
  one.categories.length === other.categories.length &&
  one.categories.every((category, index) => category === other.categories[index])

/** What a kind of context asks for (F2, F13). */
export interface ContextLayer {
  readonly contextType: string
  readonly executionMode: ExecutionMode
  readonly maxIterations: number
  /** Null for all. */
  readonly allowedToolCategories: ReadonlyArray<ToolCategory> | null
  readonly terminalEndsLoop: boolean
  readonly dangerousRequiresConfirm: boolean
  readonly allowsMultiTool: boolean
  readonly allowsSubAgents: boolean
}

export const tokenPressures = ["normal", "high", "critical"] as const
export type TokenPressure = (typeof tokenPressures)[number]

/** What is known of the moment, under the names of the wire (F37). A value that is none of the known ones asks for nothing. */
export interface ContextSignals {
  readonly token_pressure?: string
  /** Failures in a row. */
  readonly recent_errors?: number
  readonly event_class?: string
  /** Carried along; nothing follows from it (F44). */
  readonly goal_urgency?: string
  /** The history is about to be compacted, and what must not be lost is written down (F63). */
  readonly pre_compaction?: boolean
}

/** Layer 3, under the names of the wire (F37). */
export interface Assessment {
  /** Who recommends; a heuristic is no model, and always heard. */
  readonly by?: "model" | "heuristic"
  readonly recommended_iterations?: number
  readonly recommended_mode?: string
  readonly recommend_confirm_dangerous?: boolean
  readonly context_signals?: ContextSignals
}

/** Which layer decided what. The first three are always told, the others where a layer had a say. */
export interface SourceLayers {
  readonly mode: string
  readonly max_iterations: string
  /** `allowed`, or the layer that denied it. */
  readonly multi_tool_enabled: string
  readonly sub_agents_enabled?: string
  readonly allowed_categories?: string
  readonly dangerous_requires_confirm?: string
  readonly terminal_ends_loop?: string
  /** `allowed` where the class of the event narrows nothing. */
  readonly event_class?: string
}

export interface SelectedPattern extends ExecutionPattern {
  readonly sourceLayers: SourceLayers
}

export interface Selection {
  readonly pattern: SelectedPattern
  /** Layers 2 and 3 together: laid on the static pattern, it gives the same. */
  readonly restriction: Restriction
}

/** How full a context window must be for it to press, as a share of it (A10). */
const HIGH_PRESSURE_RATIO = 0.6
const CRITICAL_PRESSURE_RATIO = 0.8

export const tokenPressureOf = (ratio: number): TokenPressure =>
  ratio >= CRITICAL_PRESSURE_RATIO ? "critical" : ratio >= HIGH_PRESSURE_RATIO ? "high" : "normal"

/** Iterations that are left when something presses. */
const PRESSED_ITERATIONS = 2

/** One request of a layer, and its name. */
interface Request {
  readonly source: string
  readonly mode?: ExecutionMode
  readonly maxIterations?: number
  readonly confirm?: boolean
}

const roomMaking = new Set(["pre_compaction", "sleep_consolidate"])

/** The table of signals (F38-F43), in its order. */
const signalRequests = (signals: ContextSignals, contextType: string | undefined): ReadonlyArray<Request> => {
  const { event_class, recent_errors = 0, token_pressure } = signals
  const requests: Array<Request> = []
  const isMakingRoom = contextType !== undefined && roomMaking.has(contextType)
  if (!isMakingRoom) {
    const source = "signal:token_pressure"
    if (token_pressure === "critical") requests.push({ source, mode: "single_action" })
    if (token_pressure === "high") requests.push({ source, maxIterations: PRESSED_ITERATIONS })
  }
  const source = "signal:recent_errors"
  if (recent_errors >= 3) requests.push({ source, mode: "single_action", confirm: true })
  else if (recent_errors >= 2) requests.push({ source, maxIterations: PRESSED_ITERATIONS })
  if (!isMakingRoom) {
    const source = "signal:event_class"
    if (event_class === "communication") requests.push({ source, mode: "single_action" })
    if (event_class === "building") requests.push({ source, confirm: true })
  }
  return requests
}

const isMode = (mode: string | undefined): mode is ExecutionMode => executionModes.some((each) => each === mode)

const recommendation = (assessment: Assessment, settings: Settings): ReadonlyArray<Request> => {
  const { by = "model", recommend_confirm_dangerous, recommended_iterations, recommended_mode } = assessment
  if (by === "model" && !settings.assessTask) return []
  return [
    {
      source: "assessment",
      ...defined({
        mode: isMode(recommended_mode) ? recommended_mode : undefined,
        maxIterations: recommended_iterations,
        confirm: recommend_confirm_dangerous === true ? true : undefined
      })
    }
  ]
}

/** The pattern that the layers leave, with the layer that decided each part of it. */
export const selectPattern = (settings: Settings, layer?: ContextLayer, assessment: Assessment = {}): Selection => {
  const requests = [
    ...recommendation(assessment, settings),
    ...signalRequests(assessment.context_signals ?? {}, layer?.contextType)
  ]
  const restriction = requests.reduce<Restriction>(
    (sum, request) => both(sum, request),
    layer === undefined ? {} : layerRestriction(layer)
  )
  const pattern = restrict(outermost(settings, layer), restriction)
  return { restriction, pattern: { ...pattern, sourceLayers: sourcesOf(settings, layer, requests) } }
}

/**
 * What the pressure of tokens leaves of a restriction when it has risen inside a tick; undefined where it takes nothing away.
 * Only what it narrows changes its source.
 */
export const pressedFurther = (
  settings: Settings,
  layer: ContextLayer,
  restriction: Restriction,
  token_pressure: TokenPressure
): Restriction | undefined => {
  const [request] = signalRequests({ token_pressure }, layer.contextType)
  if (request === undefined) return undefined
  const whole = patternOf(settings)
  const before = restrict(whole, restriction)
  const next = both(restriction, request)
  const after = restrict(whole, next)
  if (samePattern(before, after)) return undefined
  const { source } = request
  const sources = restriction.sources ?? sourcesOf(settings, layer, [])
  const narrowed: SourceLayers = {
    ...sources,
    mode: after.mode === before.mode ? sources.mode : source,
    max_iterations: after.maxIterations === before.maxIterations ? sources.max_iterations : source,
    multi_tool_enabled: after.multiTool === before.multiTool ? sources.multi_tool_enabled : source
  }
  return { ...next, sources: narrowed }
}

/** The static layer has a master switch and no mode: a context may plan where the switch is on. */
const outermost = (settings: Settings, layer: ContextLayer | undefined): ExecutionPattern => {
  const pattern = patternOf(settings)
  return layer?.executionMode === "plan_execute" && pattern.multiTool ? { ...pattern, mode: "plan_execute" } : pattern
}

const modeOf = ({ allowsMultiTool, executionMode }: ContextLayer): ExecutionMode =>
  allowsMultiTool ? executionMode : "single_action"

const layerRestriction = (layer: ContextLayer): Restriction => ({
  mode: modeOf(layer),
  ...iterations(layer.maxIterations),
  ...defined({
    categories: layer.allowedToolCategories === null ? undefined : layer.allowedToolCategories,
    confirmDangerous: layer.dangerousRequiresConfirm ? true : undefined,
    terminalEndsLoop: layer.terminalEndsLoop ? true : undefined,
    subAgents: layer.allowsSubAgents ? undefined : false
  })
})

/** A restriction goes through JSON, which knows no infinity. */
const iterations = (request: number): Pick<Restriction, "maxIterations"> =>
  Number.isFinite(fewer(Infinity, request)) ? { maxIterations: fewer(Infinity, request) } : {}

const both = (restriction: Restriction, { confirm, maxIterations, mode }: Request): Restriction => ({
  ...restriction,
  ...defined({ mode: mode === undefined ? undefined : narrower(restriction.mode ?? mode, mode) }),
  ...iterations(Math.min(fewer(Infinity, restriction.maxIterations), fewer(Infinity, maxIterations))),
  ...defined({ confirmDangerous: confirm === true ? true : undefined })
})

const sourcesOf = (
  settings: Settings,
  layer: ContextLayer | undefined,
  requests: ReadonlyArray<Request>
): SourceLayers => {
  const steps = layer === undefined ? requests : [contextRequest(layer), ...requests]
  const { maxIterations, mode } = steps.reduce(decided, startOf(settings, layer))
  const allowed = layer?.allowedToolCategories ?? null
  const confirming = settings.confirmDangerous ? undefined : steps.find(({ confirm }) => confirm === true)?.source
  return {
    mode: mode.source,
    max_iterations: maxIterations.source,
    multi_tool_enabled: mode.value === "single_action" ? denierOf(settings, layer, mode.source) : "allowed",
    ...defined({
      sub_agents_enabled:
        settings.subAgents && layer !== undefined ? (layer.allowsSubAgents ? "allowed" : "context") : undefined,
      allowed_categories:
        allowed !== null && toolCategories.some((each) => !allowed.includes(each)) ? "context" : undefined,
      dangerous_requires_confirm: confirming,
      terminal_ends_loop: layer?.terminalEndsLoop === true && !settings.terminalEndsLoop ? "context" : undefined
    })
  }
}

interface Sourced<Value> {
  readonly value: Value
  readonly source: string
}

interface Standing {
  readonly mode: Sourced<ExecutionMode>
  readonly maxIterations: Sourced<number>
}

/** The context is named for the mode even where it agrees with the static layer; for numbers the static one is (A12). */
const startOf = (settings: Settings, layer: ContextLayer | undefined): Standing => {
  const pattern = outermost(settings, layer)
  const isContexts = layer !== undefined && narrower(pattern.mode, modeOf(layer)) === modeOf(layer)
  return {
    mode: { value: pattern.mode, source: isContexts ? "context" : "static" },
    maxIterations: { value: pattern.maxIterations, source: "static" }
  }
}

const contextRequest = (layer: ContextLayer): Request => ({
  source: "context",
  mode: modeOf(layer),
  maxIterations: layer.maxIterations,
  confirm: layer.dangerousRequiresConfirm
})

const decided = ({ maxIterations, mode }: Standing, request: Request): Standing => {
  const nextMode = narrower(mode.value, request.mode)
  const wished = fewer(maxIterations.value, request.maxIterations)
  const next = nextMode === "single_action" ? 1 : wished
  return {
    mode: nextMode === mode.value ? mode : { value: nextMode, source: request.source },
    maxIterations: next < maxIterations.value ? { value: next, source: request.source } : maxIterations
  }
}

const denierOf = (settings: Settings, layer: ContextLayer | undefined, modeSource: string): string => {
  if (!settings.multiAction) return "static"
  return layer !== undefined && modeOf(layer) === "single_action" ? "context" : modeSource
}

/** The pattern under the names of the wire (F45). */
export const patternJson = (pattern: SelectedPattern) => ({
  mode: pattern.mode,
  max_iterations: pattern.maxIterations,
  allowed_categories: pattern.categories.length === toolCategories.length ? null : pattern.categories,
  terminal_ends_loop: pattern.terminalEndsLoop,
  dangerous_requires_confirm: pattern.confirmDangerous,
  multi_tool_enabled: pattern.multiTool,
  sub_agents_enabled: pattern.subAgents,
  source_layers: pattern.sourceLayers
})
