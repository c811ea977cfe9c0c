// Groups: the handlers of the whole contract.
// Owns their list. Leaves each to its file.

import * as Layer from "effect/Layer"
import { approvalsLive } from "./approvals.ts"
import { assistantsLive } from "./assistants.ts"
import { contextLive } from "./assistant/context.ts"
import { subAgentsLive } from "./assistant/subagents.ts"
import { machineLive, promptsLive } from "./prompts.ts"
import { memoryLive } from "./assistant/memory.ts"
import { messagesLive } from "./assistant/messages.ts"
import { nightLive } from "./assistant/night.ts"
import { queuesLive } from "./queues.ts"
import { replayLive } from "./assistant/replay.ts"
import { systemLive } from "./system.ts"
import { timelineLive } from "./assistant/timeline.ts"

export const groupsLive = Layer.mergeAll(
  assistantsLive,
  messagesLive,
  contextLive,
  timelineLive,
  memoryLive,
  nightLive,
  approvalsLive,
  subAgentsLive,
  queuesLive,
  replayLive,
  machineLive,
  promptsLive,
  systemLive
)
