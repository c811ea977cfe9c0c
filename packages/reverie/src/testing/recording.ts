// Recording: calls of a model as they were made, to be answered again without asking anybody.
// Owns the form of a recorded call, when two requests are the same, and the models that record. Leaves what a fixture is to
// fixtures.ts.
// R1  Two requests are the same when their messages, tools and limits are, byte for byte, and the model that is asked is the
//     one that answered then. How the calls of the reply are to be named is no part of it.
// R2  Recording changes no answer, and keeps a failure as well as a reply.

import { createHash } from "node:crypto"
import { Model, type Prompt, type Reply } from "@reverie/model"
import { defined } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { type ModelChoice, modelLayer } from "../opening/model-choice.ts"
import { type Purpose, purposeOf } from "./scripted-model.ts"

/** JSON through and through. */
export interface RecordedCall {
  readonly purpose: Purpose
  /** Milliseconds since the epoch, by the clock of the fleet. */
  readonly at: number
  readonly request: Prompt
  /** Absent as long as there is none, and of a call that failed. */
  readonly reply?: Reply
  readonly failure?: string
}

/** What tells requests apart: SHA-256 of the messages, tools and limits as JSON. */
export const requestHash = ({ maxOutputTokens, messages, tools }: Prompt): string =>
  createHash("sha256")
    .update(JSON.stringify([messages, tools, maxOutputTokens ?? null]))
    .digest("hex")

/** True when the model that would be asked is the one that answered: providers put dates behind names. */
export const isSameModel = (answered: string, asked: string | undefined): boolean =>
  asked !== undefined && asked !== "" && answered.startsWith(asked)

/** A model of a choice, open until it is closed. */
export interface OpenModel {
  readonly model: Model["Service"]
  readonly close: () => Promise<void>
}

export const openModel = async (choice: ModelChoice): Promise<OpenModel> => {
  const runtime = ManagedRuntime.make(modelLayer(choice))
  return { model: await runtime.runPromise(Model), close: () => runtime.dispose() }
}

export interface RecordingModel extends Readonly<Model["Service"]> {
  /** Every call so far, in the order in which they began. */
  readonly calls: ReadonlyArray<RecordedCall>
  /** Closes the connections of the model that answers. */
  readonly close: () => Promise<void>
}

/**
 * The same model, with every call kept: a dream and a compaction do not leave the model's answers in their ledger, and can
 * be made fixtures of only where they were recorded. It keeps whole prompts in memory: for the time of a recording.
 * @example
 * const model = await recordingModel({ baseURL: "http://127.0.0.1:8000/v1", model: "gpt-5-mini" })
 * await using fleet = await Fleet.open({ fleet: harbour, model })
 */
export const recordingModel = async (choice: ModelChoice): Promise<RecordingModel> => {
  const calls: Array<RecordedCall> = []
  const { close, model } = await openModel(choice)
  const infer: Model["Service"]["infer"] = (request, options) =>
    Effect.gen(function* () {
      const call: RecordedCall = {
        purpose: purposeOf(request),
        at: yield* Clock.currentTimeMillis,
        request: structuredClone(request)
      }
      const index = calls.push(call) - 1
      const note = (end: Pick<RecordedCall, "reply" | "failure">) =>
        Effect.sync(() => {
          calls[index] = { ...call, ...end }
        })
      return yield* model.infer(request, options).pipe(
        Effect.tap((reply) => note({ reply })),
        Effect.tapError(({ _tag, message }) => note({ failure: `${_tag}: ${message}` }))
      )
    })
  const { circuit, serves } = model
  return { infer, calls, close, ...defined({ circuit, serves }) }
}
