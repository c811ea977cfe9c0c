// Search: what stands behind the question mark, read with types.
// Owns the readers that a page's `search.ts` is made of, and the searches that are too small for a file of their own. All view
// state is in the URL; what does not fit is dropped.

import { defined } from "../api/defined.ts"

export type Raw = Readonly<Record<string, unknown>>

export const text = (value: unknown, maxChars = 200): string | undefined => {
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return typeof value === "string" && value !== "" ? value.slice(0, maxChars) : undefined
}

export const oneOf = <const Each extends string>(value: unknown, all: ReadonlyArray<Each>): Each | undefined =>
  all.find((each) => each === value)

export const whole = (value: unknown): number | undefined => {
  const number = typeof value === "string" ? Number(value) : value
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

export const flag = (value: unknown): true | undefined =>
  value === true || value === "true" || value === 1 ? true : undefined

// Search of Overview: how far back.

export interface OverviewSearch {
  readonly span?: "day" | undefined
}

export const overviewSearch = ({ span }: Raw): OverviewSearch => ({ span: oneOf(span, ["day"]) })

// Search of Usage: how far back, and of whom.

/** Hours. */
export const usageRanges = { day: 24, week: 168, month: 720 } as const
export type UsageRange = keyof typeof usageRanges

/** What a bar is divided by, and what it measures. */
export const usageKinds = ["assistant", "model", "purpose"] as const
export type UsageKind = (typeof usageKinds)[number]
export const usageMeasures = ["costMicros", "tokens", "calls"] as const
export type UsageMeasure = (typeof usageMeasures)[number]
const usagePurposes = ["answer", "assess", "dream", "profile", "compact"] as const

export interface UsageSearch {
  readonly range?: UsageRange
  readonly by?: UsageKind
  readonly measure?: UsageMeasure
  /** Only what it, that model, that purpose used. */
  readonly assistant?: string
  readonly model?: string
  readonly purpose?: (typeof usagePurposes)[number]
}

export const usageSearch = (raw: Raw): UsageSearch =>
  defined({
    range: oneOf(raw["range"], Object.keys(usageRanges) as ReadonlyArray<UsageRange>),
    by: oneOf(raw["by"], usageKinds),
    measure: oneOf(raw["measure"], usageMeasures),
    assistant: text(raw["assistant"], 128),
    model: text(raw["model"]),
    purpose: oneOf(raw["purpose"], usagePurposes)
  })

// Search of Approvals.

export interface ApprovalsSearch {
  /** Only those of this assistant. */
  readonly of?: string | undefined
  /** Only calls of this tool. */
  readonly tool?: string | undefined
}

export const approvalsSearch = (raw: Raw): ApprovalsSearch => ({
  of: text(raw["of"], 128),
  tool: text(raw["tool"], 128)
})

// Search of Compactions.

export interface CompactionsSearch {
  /** The compaction that is open; the newest one when not said. */
  readonly open?: string | undefined
}

export const compactionsSearch = (raw: Raw): CompactionsSearch => ({ open: text(raw["open"], 128) })

// Search of Dreams.

export interface DreamsSearch {}

export const dreamsSearch = (_raw: Raw): DreamsSearch => ({})

// Search of Live.

export interface LiveSearch {
  /** The whole chart, where it does not follow the state. */
  readonly view?: "whole" | "all" | undefined
}

export const liveSearch = (raw: Raw): LiveSearch => ({ view: oneOf(raw["view"], ["whole", "all"]) })

// Search of Queues.

export interface QueuesSearch {
  /** Dead letters in whose assistant, event, reason or text it stands. */
  readonly q?: string | undefined
}

export const queuesSearch = (raw: Raw): QueuesSearch => ({ q: text(raw["q"]) })

// Search of Prompts.

export interface PromptsSearch {
  /** The key of the template that is open. */
  readonly open?: string | undefined
}

export const promptsSearch = (raw: Raw): PromptsSearch => ({ open: text(raw["open"]) })

// Search of System.

export interface SystemSearch {}

export const systemSearch = (_raw: Raw): SystemSearch => ({})

// Search of Sub-agents & budget.

/** What a budget is counted in. */
export const measures = ["tokens", "costMicros", "calls"] as const
export type Measure = (typeof measures)[number]

export interface SubAgentTreeSearch {
  readonly in?: Measure | undefined
}

export const subAgentTreeSearch = (raw: Raw): SubAgentTreeSearch => ({ in: oneOf(raw["in"], measures) })

// Search of Fleet.

const sorts = ["attention", "id", "since", "waiting", "context", "cost", "ticks", "errors"] as const

export interface FleetSearch {
  readonly q?: string | undefined
  /** A mode, a path of the statechart, or the beginning of one. */
  readonly state?: string | undefined
  readonly definition?: string | undefined
  /** A label of the definition. */
  readonly tag?: string | undefined
  readonly sort?: (typeof sorts)[number] | undefined
  readonly desc?: true | undefined
  /** Sums of groups stand in the place of the rows. */
  readonly group?: Grouping | undefined
  /** The dialog that creates one is open. */
  readonly create?: true | undefined
}

export const groupings = ["definition", "state", "tag"] as const
export type Grouping = (typeof groupings)[number]

export const sortOf = (value: unknown) => oneOf(value, sorts)

export const fleetSearch = (raw: Raw): FleetSearch => ({
  q: text(raw["q"]),
  state: text(raw["state"]),
  definition: text(raw["definition"], 128),
  tag: text(raw["tag"], 64),
  sort: sortOf(raw["sort"]),
  desc: flag(raw["desc"]),
  group: oneOf(raw["group"], groupings),
  create: flag(raw["create"])
})

// Search of Context.

export interface ContextSearch {
  /** The model call that is looked at; the newest one when not said. */
  readonly tick?: number | undefined
  readonly iteration?: number | undefined
  /** The tick that it is held against. */
  readonly with?: number | undefined
  /** The part whose words are open. */
  readonly open?: string | undefined
  /** The slider ends before this commit. */
  readonly before?: number | undefined
  /** What chart and stack show: the part that is used, or the whole window; what is more than half full is shown whole. */
  readonly scale?: "used" | "window" | undefined
}

export const contextSearch = (raw: Raw): ContextSearch => ({
  tick: whole(raw["tick"]),
  iteration: whole(raw["iteration"]),
  with: whole(raw["with"]),
  open: text(raw["open"], 128),
  before: whole(raw["before"]),
  scale: oneOf(raw["scale"], ["used", "window"])
})

// Search of Replay.

export interface ReplaySearch {
  /** The first frame of the range. */
  readonly from?: number | undefined
  /** How many frames are asked for. */
  readonly limit?: number | undefined
  /** The frame that is open. */
  readonly at?: number | undefined
  /** It stops at the first frame that comes into this state, or is caused by this event. */
  readonly state?: string | undefined
  readonly event?: string | undefined
  /** Of older links: the tick whose playground is meant. */
  readonly fork?: number | undefined
}

export const replaySearch = (raw: Raw): ReplaySearch => ({
  from: whole(raw["from"]),
  limit: whole(raw["limit"]),
  at: whole(raw["at"]),
  state: text(raw["state"]),
  event: text(raw["event"]),
  fork: whole(raw["fork"])
})
