// What the tests of the sleep rules ask, in the form of the protocol.

import type { Prompt, PromptMessage, Reply, ToolOffer } from "@reverie/model"
import { type Json, type Task, taskLine } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { offlineModel } from "../src/index.ts"

const model = offlineModel()

export const infer = (messages: Prompt["messages"], tools: ReadonlyArray<ToolOffer> = []): Reply =>
  Effect.runSync(model.infer({ messages, tools, callPrefix: "3.1" }))

export const instructionsFor = (task: Task): PromptMessage => ({
  role: "system",
  content: `${taskLine(task)}\nAnswer in the form that was agreed.`
})

export const answerTo = (task: Task, ...lines: ReadonlyArray<string>): string =>
  infer([instructionsFor(task), { role: "user", content: lines.join("\n") }]).text

export type Row = { readonly [key: string]: Json }

export const rowsFor = (task: Task, ...lines: ReadonlyArray<string>): ReadonlyArray<Row> =>
  JSON.parse(answerTo(task, ...lines)) as ReadonlyArray<Row>
