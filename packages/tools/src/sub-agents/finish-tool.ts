// FinishTool: finish_task, by which a sub-agent ends its task.
// Owns what the model is offered and how its report is read again. Leaves sending it home to the runtime.
// R1  A sub-agent that does not call it is understood all the same: its last reply is the summary.

import { MAX_TASK_CHARS } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { defineTool } from "../define.ts"

const text = Schema.String.check(Schema.isMaxLength(MAX_TASK_CHARS))
const texts = Schema.Array(text).check(Schema.isMaxLength(32))

const Finished = Schema.Struct({
  summary: text.annotate({ description: "What was found or done, in a few sentences" }),
  output: Schema.optionalKey(text.annotate({ description: "The result itself, where it is more than the summary" })),
  artefacts: Schema.optionalKey(texts.annotate({ description: "What was made: names, places, ids" })),
  follow_up: Schema.optionalKey(texts.annotate({ description: "What should be done next" }))
})
export type Finished = typeof Finished.Type

export const FINISH_TASK = "finish_task"

export const finishTaskTool = defineTool({
  name: FINISH_TASK,
  description: "Ends your task with a report to the one who sent you. Call it once, when you are done.",
  final: true,
  idempotent: true,
  input: Finished,
  run: (finished) => JSON.stringify(finished)
})

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Finished))

/** What finish_task has answered; none for any other text. */
export const finishedIn = (content: string) => decode(content)
