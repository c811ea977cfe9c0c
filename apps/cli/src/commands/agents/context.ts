// Context: what an assistant's model was shown at a tick, and what has changed since another.
// Owns finding the two, and the sentence when there is none. Leaves the reports to the SDK, their form to context-text.ts.
// C1  It reads beside a running fleet and disturbs nobody.

import { defined } from "@reverie/protocol"
import { compareReports, type ContextReport } from "reverie"
import { contextText, differenceText } from "../../texts/context-text.ts"
import { CommandFailed } from "../../failure.ts"
import { named } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { Backend } from "../../backend/backend.ts"
import type { Stop } from "../../running/stop.ts"
import type { LookOptions } from "./agents.ts"

export interface ContextOptions extends LookOptions {
  readonly tick?: number
  readonly iteration?: number
  readonly diff?: number
}

interface Whose {
  readonly id: string
  /** Ticks begun since creation. */
  readonly ticks: number
}

type Question = Pick<ContextOptions, "tick" | "iteration">

/** Why there is no such report; `last` is the last iteration of the tick that has one, 0 when none has. */
const absence = ({ id, ticks }: Whose, { iteration, tick }: Question, last: number): string => {
  if (ticks === 0) return `${id} has had no tick yet`
  const there = `ticks 1 to ${ticks} exist`
  if (tick !== undefined && (tick < 1 || tick > ticks)) return `${id} has no tick ${tick}, ${there}`
  if (last > 0 && iteration !== undefined) {
    const where = tick === undefined ? "the newest tick" : `tick ${tick}`
    return `${where} of ${id} has no iteration ${iteration}, 1 to ${last} exist`
  }
  return tick === undefined
    ? `no tick of ${id} keeps the report of a prompt`
    : `tick ${tick} of ${id} asked no model, ${there}`
}

const reportAt = async (backend: Backend, whose: Whose, question: Question): Promise<ContextReport> => {
  const report = await backend.contextReport(whose.id, question)
  if (report !== undefined) return report
  const { tick } = question
  const last = await backend.contextReport(whose.id, tick === undefined ? {} : { tick })
  throw new CommandFailed("unknown-tick", absence(whose, question, last?.iteration ?? 0))
}

export const context = async (name: string, options: ContextOptions, stop: Stop): Promise<number> => {
  const { diff, iteration, json, tick } = options
  await using backend = await findBackend(options, "look", stop)
  const whose = await named(backend, name)
  const report = await reportAt(backend, whose, defined({ tick, iteration }))
  const answer = { ok: true, assistant: whose.id, context: report }
  if (diff === undefined) {
    if (json) sayJson(answer)
    else say(contextText(whose.id, report))
    return 0
  }
  const before = await reportAt(backend, whose, { tick: diff })
  const difference = compareReports(before, report)
  if (json) sayJson({ ...answer, before, difference })
  else say(differenceText(whose.id, before, report, difference))
  return 0
}
