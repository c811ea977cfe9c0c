// DelegateTools: delegate_task, cancel_task, task_status.
// Owns what the model is offered. Leaves who may hand on what to the statechart, bearing sub-agents to the runtime.
// D1  delegate_task is ASYNC_REQUIRED: the report of the sub-agent answers it, or a refusal that says what to do instead.
// D2  A task that is written to the records is asked to be handed on; one that is taken away there is asked to be ended.
// D3  Limits can only narrow what would be granted without them.

import { AssignmentRequest } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { selfTool, text } from "../self/self-tool.ts"

/** Tools that are of no use where no sub-agents are allowed. */
export const delegateToolNames: ReadonlySet<string> = new Set(["delegate_task", "cancel_task", "task_status"])

const { calls, insulation, specialist, task, tokens, seconds } = AssignmentRequest.fields

const delegateTaskTool = selfTool({
  name: "delegate_task",
  description:
    "Hands a self-contained task to a sub-agent, which has your tools at most and a budget out of yours. Its report " +
    "answers this call. Hand on several tasks at once by calling this several times in one reply.",
  category: "async_required",
  input: Schema.Struct({
    task: task.annotate({
      description: "Everything the sub-agent has to know: it sees nothing else unless insulation says so"
    }),
    specialist,
    insulation,
    tokens,
    calls,
    seconds
  }),
  run: (request, { call, records }) => {
    records.write("assignment", call, request)
    return `Handed on as ${call}; its report answers this call`
  }
})

const unknownCall = (call: string, known: Iterable<string>) => ({
  success: false,
  error: `there is no open task ${call}`,
  open: [...known]
})

const cancelTaskTool = selfTool({
  name: "cancel_task",
  description: "Ends a task that was handed on, and everything below it. What it did not spend is yours again.",
  input: Schema.Struct({ call: text(64, "The call that handed it on, as task_status names it") }),
  run: ({ call }, { records }) => {
    const assignments = records.read("assignment")
    if (!assignments.has(call)) return unknownCall(call, assignments.keys())
    records.write("assignment", call, null)
    return { success: true, call }
  }
})

const taskStatusTool = selfTool({
  name: "task_status",
  description: "Tells which tasks you have handed on that are open, and what is left of your budget.",
  run: (_, { records }) => records.loop.subAgents ?? { sub_agents: [], left: null }
})

/** Whoever may have sub-agents has these. */
export const delegateTools = [delegateTaskTool, cancelTaskTool, taskStatusTool]
