// Settings: the numbers and switches an assistant's statechart works with.
// Owns their defaults and limits. Leaves where they come from to the SDK's definition.
// I1  A setting outside its range is brought into it, never refused at run time: what a user writes is refused where it is
//     written, by the same ranges.
// I2  What was chosen is filled in once for each object that holds it; such an object is never changed.

/** The outermost layer of the execution pattern (F33), and the limits of waiting. Durations in milliseconds. */
export interface Settings {
  /** More than one tool call a tick, and more than one iteration (F33, F35). */
  readonly multiAction: boolean
  /** Model calls a tick may make, 1 to 100 (F33). */
  readonly maxIterations: number
  /** A dangerous tool waits for a person's approval. */
  readonly confirmDangerous: boolean
  /** A terminal tool ends the loop. */
  readonly terminalEndsLoop: boolean
  /** A job weighs the task before the first model call. */
  readonly assessTask: boolean
  /** Work may be handed to sub-agents (F33, F36), and to how many at once. */
  readonly subAgents: boolean
  /** How many sub-agents may be open at once. */
  readonly subAgentBudget: number
  /** Levels of sub-agents below this assistant; with 1, sub-agents have none of their own. */
  readonly subAgentDepth: number
  /** Most that one sub-agent is granted; money in millionths of a unit, 0 for no bound. */
  readonly subAgentTokens: number
  /** Model calls. */
  readonly subAgentCalls: number
  /** Money, in millionths of a unit. */
  readonly subAgentCostMicros: number
  /** Its hard deadline, in milliseconds after it was sent. */
  readonly subAgentMs: number
  /** How long a sub-agent that was ordered to end may take to report what it spent. */
  readonly subAgentGraceMs: number
  /** How often a task is handed on again after a sub-agent failed. */
  readonly subAgentRetries: number
  /** The model reads that a failed task is given up, in place of why it failed. */
  readonly subAgentGiveUp: boolean
  /** What the ticks of an assistant may spend in its whole life, sub-agents included; 0 for no bound. */
  readonly budgetTokens: number
  /** Model calls. */
  readonly budgetCalls: number
  /** Money, in millionths of a unit. */
  readonly budgetCostMicros: number
  /** Prices in millionths of a unit for a million tokens. */
  readonly inputPriceMicros: number
  /** For output; `inputPriceMicros` is for input. */
  readonly outputPriceMicros: number
  /**
   * Tries of one model call before its tick fails, and ticks in a row that failed before the assistant halts. An outage of
   * the model counts as neither.
   */
  readonly maxErrors: number
  /** How long an approval is waited for. */
  readonly approvalMs: number
  /** How long the report of an ASYNC_REQUIRED call is waited for. */
  readonly reportMs: number
  /** Shortest and longest pause after a failed model call; in an outage the success of others ends it. */
  readonly parkMinMs: number
  /** The longest pause; the shortest is `parkMinMs`. */
  readonly parkMaxMs: number
  /** How long a sleep lasts that names no end. */
  readonly sleepMs: number
  /** Pause between two steps of a dream; 0 for none. */
  readonly sleepTickMs: number
  /** Compaction happens at all (F47). */
  readonly compactEnabled: boolean
  /** Share of the context window at which a dreaming assistant compacts, 0 to 1 (F47). */
  readonly compactSleepRatio: number
  /** Share of the context window at which an awake assistant compacts before anything else, 0 to 1 (F47). */
  readonly compactEmergencyRatio: number
}

const MINUTE_MILLIS = 60_000

/** What holds where nothing was chosen. */
export const DEFAULT_SETTINGS: Settings = {
  multiAction: true,
  maxIterations: 5,
  confirmDangerous: true,
  terminalEndsLoop: true,
  assessTask: false,
  subAgents: false,
  subAgentBudget: 3,
  subAgentDepth: 1,
  subAgentTokens: 50_000,
  subAgentCalls: 20,
  subAgentCostMicros: 0,
  subAgentMs: 5 * MINUTE_MILLIS,
  subAgentGraceMs: MINUTE_MILLIS,
  subAgentRetries: 0,
  subAgentGiveUp: false,
  budgetTokens: 0,
  budgetCalls: 0,
  budgetCostMicros: 0,
  inputPriceMicros: 0,
  outputPriceMicros: 0,
  maxErrors: 5,
  approvalMs: 24 * 60 * MINUTE_MILLIS,
  reportMs: 60 * MINUTE_MILLIS,
  parkMinMs: 1_000,
  parkMaxMs: 5 * MINUTE_MILLIS,
  sleepMs: 4 * 60 * MINUTE_MILLIS,
  sleepTickMs: 0,
  compactEnabled: true,
  compactSleepRatio: 0.7,
  compactEmergencyRatio: 0.8
}

/** Each has a line in the snapshot, which every commit writes. */
export const MAX_SUB_AGENTS = 100

/** A tick that needs more model calls is a job for several ticks. */
export const MAX_ITERATIONS = 100

/** Sums and products of such numbers are still exact. */
const MAX_AMOUNT = 1_000_000_000_000

const ANY = Number.MAX_SAFE_INTEGER

type Range = readonly [minimum: number, maximum: number]

/** Whole numbers, each with its least and its most. */
export const settingRanges = {
  maxIterations: [1, MAX_ITERATIONS],
  subAgentBudget: [0, MAX_SUB_AGENTS],
  subAgentDepth: [0, 8],
  subAgentTokens: [1, MAX_AMOUNT],
  subAgentCalls: [1, MAX_AMOUNT],
  subAgentCostMicros: [0, MAX_AMOUNT],
  subAgentMs: [1, MAX_AMOUNT],
  subAgentGraceMs: [1, MAX_AMOUNT],
  subAgentRetries: [0, 10],
  budgetTokens: [0, MAX_AMOUNT],
  budgetCalls: [0, MAX_AMOUNT],
  budgetCostMicros: [0, MAX_AMOUNT],
  inputPriceMicros: [0, MAX_AMOUNT],
  outputPriceMicros: [0, MAX_AMOUNT],
  maxErrors: [1, 100],
  approvalMs: [1, ANY],
  reportMs: [1, ANY],
  parkMinMs: [1, ANY],
  parkMaxMs: [1, ANY],
  sleepMs: [1, ANY],
  sleepTickMs: [0, ANY]
} as const satisfies Partial<Record<keyof Settings, Range>>

const ranges = Object.entries(settingRanges) as ReadonlyArray<[keyof typeof settingRanges, Range]>

const within = (value: number, minimum: number, maximum: number): number =>
  Number.isNaN(value) ? minimum : Math.min(maximum, Math.max(minimum, Math.round(value)))

const ratio = (value: number): number => (Number.isNaN(value) ? 1 : Math.min(1, Math.max(0, value)))

const filled = (chosen: Partial<Settings>): Settings => {
  const all = { ...DEFAULT_SETTINGS, ...chosen }
  return {
    ...all,
    ...Object.fromEntries(ranges.map(([name, [least, most]]) => [name, within(all[name], least, most)])),
    compactSleepRatio: ratio(all.compactSleepRatio),
    compactEmergencyRatio: ratio(all.compactEmergencyRatio)
  }
}

const UNCHANGED = filled({})

/** Most assistants have the defaults, and each snapshot that is read has an object of its own for them. */
const filledIn = (chosen: Partial<Settings>): Settings =>
  Object.keys(chosen).length === 0 ? UNCHANGED : filled(chosen)

/** Of an object made once, remembered with it. */
const once = <A extends object, B>(make: (of: A) => B): ((of: A) => B) => {
  const made = new WeakMap<A, B>()
  return (of) => {
    const before = made.get(of)
    if (before !== undefined) return before
    const now = make(of)
    made.set(of, now)
    return now
  }
}

/** Fills in defaults and brings every number into its range. */
export const settingsOf = once(filledIn)

const names = Object.keys(DEFAULT_SETTINGS) as ReadonlyArray<keyof Settings>

/** The settings that differ from the defaults: what a snapshot needs to hold. */
export const changedSettings = (settings: Settings): Partial<Settings> =>
  Object.fromEntries(
    names.flatMap((name) => (settings[name] === DEFAULT_SETTINGS[name] ? [] : [[name, settings[name]]]))
  )

/** What a snapshot holds of what was chosen. */
const heldOf = once((chosen: Partial<Settings>) => changedSettings(settingsOf(chosen)))

/** Whether a snapshot with these settings holds what was chosen. */
export const holdsSettings = (snapshot: Partial<Settings>, chosen: Partial<Settings>): boolean => {
  const held = heldOf(chosen)
  return snapshot === held || names.every((name) => snapshot[name] === held[name])
}
