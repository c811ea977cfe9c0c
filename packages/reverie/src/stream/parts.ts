// Part: one piece of what comes back for a message.
// Owns the closed union of parts, their one shape of an error, and which notices end an answer. Leaves the way from notices to
// parts to part-writer.ts.
// I1  The answer of a team is what it tells when its members have answered; the end of the tick that took the question up is not
//     yet an end.
// I2  What ran out of steps or budget, has another form than it must, or was refused by a hook, has an outcome of its own.

import {
  type ContentPart,
  type EnvelopeId,
  type Json,
  type Notice,
  type TickOutcome,
  type Used
} from "@reverie/protocol"

/** What went wrong, in the one shape that it has everywhere. */
export interface AnswerError {
  /** The name of the error class where there is one (`ModelDenied`), else `Failed` or `Halted`. */
  readonly code: string
  /** One sentence for a person. */
  readonly message: string
  /**
   * Who acts next. `retry`: it is tried again by itself, or asking again may help. `park`: it goes on by itself when the server
   * answers. `stop`: a person must act, and then it goes on. `tell-owner`: the same message would come to the same.
   */
  readonly recovery: "retry" | "park" | "stop" | "tell-owner"
}

/** One piece of what comes back for a message; `done`, `stopped`, `failed` and `halted` are the last. */
export type Part<Output = undefined> =
  /** A piece of the answer as the model writes it. */
  | { readonly type: "text"; readonly text: string }
  /** A piece of what the model thinks before it speaks. */
  | { readonly type: "reasoning"; readonly text: string }
  /** The model begins a tool call. */
  | { readonly type: "tool-start"; readonly call: string; readonly tool: string }
  /** A piece of the JSON text of its arguments. */
  | { readonly type: "tool-arguments"; readonly call: string; readonly text: string }
  /** A tool call as a whole. `malformed`: why its arguments could not be read. */
  | {
      readonly type: "tool-call"
      readonly call: string
      readonly tool: string
      readonly arguments: Json
      readonly malformed?: string
    }
  /** The texts, reasoning and calls since the last `usage` are not what the model has said: it is asked again, or another one is. */
  | { readonly type: "discarded" }
  /** A model call has ended, and this is what it took; `costMicros` is in millionths, without `unpricedCalls`. */
  | ({ readonly type: "usage"; readonly iteration: number; readonly model: string } & Used)
  /** A tool call has ended: `content` is what the model reads of it; it is empty where its report comes later. */
  | {
      readonly type: "tool-result"
      readonly tool: string
      readonly call: string
      readonly ok: boolean
      readonly content: string
    }
  /** A tool call does not run: a hook, a person, a rule, or the time that a person had is over. */
  | {
      readonly type: "tool-refused"
      readonly tool: string
      readonly call: string
      readonly by: "hook" | "person" | "time" | "rule"
      readonly reason: string
    }
  /** A model call failed, or the model does not answer; it is tried again. */
  | { readonly type: "retry"; readonly error: AnswerError }
  /** A person must decide first; the answer comes after `fleet.approve` or `fleet.deny`. */
  | { readonly type: "approval"; readonly approval: string; readonly tool: string; readonly call: string }
  | {
      readonly type: "approval-decided"
      readonly approval: string
      readonly call: string
      readonly decision: "approved" | "denied"
    }
  /** A task was handed to a new assistant. */
  | { readonly type: "sub-agent-start"; readonly id: string; readonly call: string; readonly task: string }
  /** It has reported: `completed`, `cut`, `failed` or `cancelled`. */
  | { readonly type: "sub-agent-end"; readonly id: string; readonly call: string; readonly end: string }
  /** The end: the whole answer. */
  | Done<Output>
  /**
   * The end: it ran out of steps (`max-iterations`) or of budget (`cut`), its answer has not the form it must have (`misshapen`),
   * a hook let none pass (`refused`), or a person stopped it (`stopped`); `reply` is what it had said until then.
   */
  | ({
      readonly type: "stopped"
      readonly outcome: "max-iterations" | "cut" | "misshapen" | "refused" | "stopped"
      readonly reply: string
      readonly error: AnswerError
    } & Sum)
  /** The end: there is no answer. */
  | ({ readonly type: "failed"; readonly error: AnswerError } & Sum)
  /** The assistant is halted: the answer comes after `fleet.resume`. */
  | { readonly type: "halted"; readonly error: AnswerError }

/** What all model calls of it took together, where they were told; sub-agents have accounts of their own. */
interface Sum {
  readonly usage?: Used
}

/** The end of an answer that is whole. */
export type Done<Output> = {
  readonly type: "done"
  readonly outcome: TickOutcome
  readonly reply: string
  /** Images, files and audio of the answer; `fleet.blob(digest)` reads their bytes. */
  readonly parts?: ReadonlyArray<ContentPart>
} & Sum &
  ([Output] extends [undefined]
    ? /** The reply as JSON, where the assistant answers in a form by itself. */
      { readonly output?: Json }
    : /** What the form makes of the reply. */
      { readonly output: Output })

type Recovery = AnswerError["recovery"]

/** Of errors that end an answer, who acts next; `tell-owner` for all others. */
const recoveries: Readonly<Record<string, Recovery>> = {
  ModelUnavailable: "retry",
  ReplyUnusable: "retry",
  ModelParked: "park",
  CallWithheld: "park",
  CallLimited: "park",
  ModelDenied: "stop"
}

/** The name of an error class before its words becomes the code. */
export const errorOf = (reason: string, otherwise: string, recovery?: Recovery): AnswerError => {
  const [, named, words] = /^([A-Z][A-Za-z]+): (.+)$/s.exec(reason) ?? []
  const [code, message] = named === undefined || words === undefined ? [otherwise, reason] : [named, words]
  return { code, message, recovery: recovery ?? recoveries[code] ?? "tell-owner" }
}

export const failedBy = (reason: string): Part => ({ type: "failed", error: errorOf(reason, "Failed") })

export const haltedBy = (reason: string): Part => ({ type: "halted", error: errorOf(reason, "Halted", "stop") })

export const spent: Readonly<Record<"max-iterations" | "cut", readonly [code: string, message: string]>> = {
  "max-iterations": [
    "StepsSpent",
    "it made as many model calls as one tick may, and was not done; maxSteps allows more"
  ],
  cut: ["BudgetSpent", "its budget was used up before it was done"]
}

type Stopped = Extract<Part, { readonly type: "stopped" }>

export const stopped = (outcome: Stopped["outcome"], reply: string, code: string, message: string): Stopped => {
  return { type: "stopped", outcome, reply, error: { code, message, recovery: "tell-owner" } }
}

export const misshapen = (reply: string, misfit: string): Stopped =>
  stopped("misshapen", reply, "AnswerMisshapen", `its answer has another form than it must have: ${misfit}`)

export type Of<Type extends Notice["type"]> = Extract<Notice, { readonly type: Type }>

const textIn = (value: Json | undefined): string => (typeof value === "string" ? value : "")

/** It waits for its model, and goes on by itself. */
export const awayIn = ({ others, reason, server }: { readonly [key: string]: Json }): Part => {
  const servers = [server, ...(Array.isArray(others) ? others : [])].map(textIn).join(" or ")
  const message = `it waits for the model at ${servers}, which does not answer: ${textIn(reason)}`
  return { type: "retry", error: { code: "ModelUnavailable", message, recovery: "park" } }
}

/** What the writer is about. */
export interface About {
  readonly envelope: EnvelopeId | string
  readonly isTeam: boolean
}
