// ContextReport: what a model was shown with one call, and when that was.
// Owns reading it out of a ledger entry. Leaves its making and the comparison of two to `context`, finding the entry to
// history.ts.
// C1  A report that was written with fewer fields reads as one in which nothing was left out, cut or missing.

import { callId } from "@reverie/assistant"
import type { Report } from "@reverie/context"
import { type Entry, isJsonObject, type Json, type Usage, defined } from "@reverie/protocol"

export interface ContextReport extends Report {
  /** The tick that asked. */
  readonly tick: number
  /** The model call of the tick, from 1 on. */
  readonly iteration: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Whether the model answered. */
  readonly ok: boolean
  /** The model that answered; absent where none did. */
  readonly model?: string
  /** What the tick was allowed, and which layer said so, under the names of the wire. */
  readonly pattern?: { readonly [key: string]: Json }
  /** Tokens of the call, as they were told or counted. */
  readonly usage?: Usage
  /** Ids of the memories that were retrieved; not there when none were. */
  readonly recalled?: ReadonlyArray<string>
  /** How well each of them fits the event, by its id; those that were not searched for have none. */
  readonly scores?: { readonly [id: string]: number }
}

const NOTHING: Report = {
  parts: [],
  toolTokens: 0,
  tokens: 0,
  limit: 0,
  share: 0,
  absent: [],
  leftOut: [],
  cuts: [],
  interrupted: []
}

/**
 * The iteration that a model call began. An entry tells the iteration after it, which is the next one already when every
 * call was refused; the ids of the calls still tell the right one.
 */
export const iterationOf = ({ iteration, messages, tick }: Entry): number => {
  const asked = messages.find(({ calls = [], role }) => role === "assistant" && calls.length > 0)?.calls?.[0]?.id
  return asked === callId(tick, iteration - 1, 0) ? iteration - 1 : iteration
}

/** The report in an entry; undefined when the entry holds no model call that left one. */
export const contextReportOf = (entry: Entry): ContextReport | undefined => {
  const { at, step, tick } = entry
  const context = step?.kind === "infer" ? step.detail?.["context"] : undefined
  if (step === undefined || !isJsonObject(context)) return undefined
  const model = step.detail?.["model"]
  const pattern = step.detail?.["pattern"]
  const recalled = step.detail?.["recalled"]
  const scores = step.detail?.["scores"]
  return {
    tick,
    iteration: iterationOf(entry),
    at,
    ok: step.ok,
    ...defined({ model: typeof model === "string" ? model : undefined }),
    ...NOTHING,
    // Our own ledger: what stands there is the JSON of a report.
    ...(context as unknown as Partial<Report>),
    ...defined({
      pattern: isJsonObject(pattern) ? pattern : undefined,
      usage: step.usage,
      recalled: Array.isArray(recalled) ? recalled.map(String) : undefined,
      scores: isJsonObject(scores) ? (scores as { readonly [id: string]: number }) : undefined
    })
  }
}
