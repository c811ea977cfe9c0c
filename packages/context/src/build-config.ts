// BuildConfig: limits and options of building a prompt out of blocks, messages and tools (F103, F104).
// Owns their defaults and which limits a model has. Leaves using them to `builder.ts`.
// G1  A model named in `modelOverrides` has those limits whole; every other one has the default.

export interface ModelContextLimits {
  /** The whole context window. */
  readonly maxTokens: number
  /** Blocks of memory. */
  readonly memoryTokens: number
  /** Message history. */
  readonly historyTokens: number
  readonly reservedResponseTokens: number
}

/**
 * What happens to history that is over its limits. `truncate` keeps the newest messages. What `recursive-summarization`
 * writes comes with the history; a prompt that is over its limits all the same is truncated.
 */
export type CompressionStrategy =
  | { readonly type: "truncate"; readonly keepRecent: number }
  | { readonly type: "recursive-summarization"; readonly chunkSize: number; readonly summarizationModel: string }

/** What the definition of an assistant says of its prompts; what is left out bounds nothing beyond the window. */
export interface ContextBuild {
  /** By the name of the model; what one leaves out is as it is for every other. */
  readonly modelOverrides?: Readonly<Record<string, Partial<ModelContextLimits>>>
  readonly memoryTokens?: number
  readonly historyTokens?: number
  /** Most messages of history; beyond it `keepRecent` of them stay. */
  readonly maxMessagesCap?: number
  readonly keepRecent?: number
  readonly includeDescriptions?: boolean
  readonly includeSchemas?: boolean
  /** Entries of the activity section; it is left out where this is 0. */
  readonly activityEntriesLimit?: number
  /** The first message that is not the system's must be a user's. Known of Gemini by its name. */
  readonly firstMessageUser?: boolean
}

/** Not the same as the configuration of a kind of context (A34). */
export interface ContextBuildConfig {
  readonly defaultLimits: ModelContextLimits
  /** By the name of the model. */
  readonly modelOverrides: Readonly<Record<string, ModelContextLimits>>
  readonly includeDescriptions: boolean
  readonly includeSchemas: boolean
  /** Most entries of the activity section. */
  readonly activityEntriesLimit: number
  readonly compressionStrategy: CompressionStrategy
  /** Most messages of history, however short. */
  readonly maxMessagesCap: number
}

const LARGE_LIMITS: ModelContextLimits = {
  maxTokens: 200_000,
  memoryTokens: 12_000,
  historyTokens: 80_000,
  reservedResponseTokens: 8_000
}

export const SMALL_LIMITS: ModelContextLimits = {
  maxTokens: 200_000,
  memoryTokens: 6_000,
  historyTokens: 40_000,
  reservedResponseTokens: 4_000
}

export const DEFAULT_BUILD_CONFIG: ContextBuildConfig = {
  defaultLimits: LARGE_LIMITS,
  modelOverrides: {},
  includeDescriptions: true,
  includeSchemas: false,
  activityEntriesLimit: 20,
  compressionStrategy: { type: "truncate", keepRecent: 100 },
  maxMessagesCap: 500
}

export const limitsFor = (
  { defaultLimits, modelOverrides }: Pick<ContextBuildConfig, "defaultLimits" | "modelOverrides">,
  model: string | undefined
): ModelContextLimits =>
  model !== undefined && Object.hasOwn(modelOverrides, model) ? (modelOverrides[model] ?? defaultLimits) : defaultLimits
