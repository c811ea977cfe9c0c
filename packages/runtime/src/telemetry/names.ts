// Names: what spans, their attributes and metrics are called, in the words of the GenAI conventions of OpenTelemetry.
// Owns every one of them. Leaves the verbs of the walk to spans.ts.
// The conventions are still in development: a name that changes there changes here and nowhere else.

/** Spans of Reverie besides the verbs of the walk. */
export const SEARCH_MEMORY = "search_memory"
export const DREAM = "reverie.dream"
export const COMPACTION = "reverie.compaction"

export const attributes = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agentId: "gen_ai.agent.id",
  agentName: "gen_ai.agent.name",
  requestModel: "gen_ai.request.model",
  requestMaxTokens: "gen_ai.request.max_tokens",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cachedInputTokens: "gen_ai.usage.cache_read.input_tokens",
  tokenType: "gen_ai.token.type",
  toolName: "gen_ai.tool.name",
  toolCall: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
  errorType: "error.type",
  status: "http.response.status_code",
  /** Content: written only where someone has asked for it. */
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  /** Of Reverie. */
  tenant: "reverie.tenant",
  verb: "reverie.verb",
  envelope: "reverie.envelope",
  event: "reverie.event",
  tick: "reverie.tick",
  iteration: "reverie.iteration",
  outcome: "reverie.outcome",
  dreamOperation: "reverie.dream.operation",
  compactionPhase: "reverie.compaction.phase",
  memoryHits: "reverie.memory.hits",
  memoryDegraded: "reverie.memory.degraded"
} as const

export const metrics = {
  chatDuration: "gen_ai.client.operation.duration",
  tokenUsage: "gen_ai.client.token.usage",
  toolDuration: "gen_ai.execute_tool.duration",
  turnDuration: "reverie.turn.duration",
  queueAge: "reverie.queue.age"
} as const
