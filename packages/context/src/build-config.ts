// ContextBuild: what the definition of an assistant says of its prompts (F103, F104).
// Owns the names. Leaves their ranges to the SDK, using them to the prompt of the runtime.
// Not the same as the configuration of a kind of context (A34).

export interface ModelContextLimits {
  /** The whole context window. */
  readonly maxTokens: number
  /** Blocks of memory. */
  readonly memoryTokens: number
  /** Message history. */
  readonly historyTokens: number
  readonly reservedResponseTokens: number
}

/** What is left out bounds nothing beyond the window. */
export interface ContextBuild {
  /** By the name of the model; what one leaves out is as it is for every other. */
  readonly modelOverrides?: Readonly<Record<string, Partial<ModelContextLimits>>>
  readonly memoryTokens?: number
  readonly historyTokens?: number
  /** Most messages of history; beyond it `keepRecent` of them stay. */
  readonly maxMessagesCap?: number
  readonly keepRecent?: number
  /** True when left out. */
  readonly includeDescriptions?: boolean
  /** False when left out. */
  readonly includeSchemas?: boolean
  /** Entries of the activity section; it is left out where this is 0. */
  readonly activityEntriesLimit?: number
  /** The first message that is not the system's must be a user's. Known of Gemini by its name. */
  readonly firstMessageUser?: boolean
}
