// Groups: the handlers of the whole contract.
// Owns their list. Leaves each to its file.

import * as Layer from "effect/Layer"
import { approvalsLive } from "./approvals.ts"
import { assistantsLive } from "./assistants.ts"
import { contextLive } from "./context.ts"
import { subAgentsLive } from "./subagents.ts"
import { machineLive } from "./machine.ts"
import { memoryLive } from "./memory.ts"
import { messagesLive } from "./messages.ts"
import { nightLive } from "./night.ts"
import { promptsLive } from "./prompts.ts"
import { queuesLive } from "./queues.ts"
import { replayLive } from "./replay.ts"
import { systemLive } from "./system.ts"
import { timelineLive } from "./timeline.ts"

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
