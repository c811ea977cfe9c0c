// Top: the fleet as it lives.
// Owns the screen: states, what waits, and how much happens a second. Leaves the numbers, and what is busy, to the backend.
// T1  Without a terminal, and with --once, it is one table and an end.
// T2  The sums are of the whole fleet, however large; the rows are those first that need a person, then those that work.
// T3  Whatever assistants are called stays on its line.

import type { Notice } from "reverie"
import { paintedResult, sayJson, say } from "../output.ts"
import { onOneLine, counted, table } from "../texts/plain.ts"
import { findBackend } from "../backend/find-backend.ts"
import type { Backend } from "../backend/backend.ts"
import { PAGE } from "../backend/transport.ts"
import type { Stop } from "../running/stop.ts"
import { awayLine, stateText } from "../running/away.ts"
import { assistantTable, useText } from "../texts/report.ts"
import type { LookOptions } from "./agents/agents.ts"

export interface TopOptions extends LookOptions {
  readonly once: boolean
  readonly limit: number
  /** Seconds between two looks. */
  readonly every: number
}

interface Pulse {
  notices: number
  modelCalls: number
  toolCalls: number
}

const heard = (pulse: Pulse, { type }: Notice): void => {
  pulse.notices++
  if (type === "model-replied" || type === "model-failed") pulse.modelCalls++
  if (type === "tool-finished") pulse.toolCalls++
}

/** All of the fleet in sums, and so many of it, those first that need a person. */
const look = async (backend: Backend, limit: number) => {
  const query = { sort: "attention", descending: "true", limit: Math.min(PAGE, limit) } as const
  const { counts, items, outages } = await backend.assistants((api) => api.list({ query }))
  const { accepted = 0, discarded = 0, dead = 0, settled = 0 } = (await backend.totals()) ?? {}
  const { total: usage } = await backend.usage({ limit: 1 })
  const { total: count, waiting, ...states } = counts
  return { usage, assistants: items, count, states, waiting, outages, accepted, settled, dead, discarded }
}

/** Some of a fleet, those first that need a person, then those that work, then those that did last. */
export const foremost = async (backend: Backend, limit: number): Promise<string> => {
  const query = { sort: "attention", descending: "true", limit } as const
  const { counts, items } = await backend.assistants((api) => api.list({ query }))
  const more = counts.total - items.length
  const rest = more > 0 ? [`and ${counted(more, "assistant")} more: reverie agents ls`] : []
  return [assistantTable(items), ...rest].join("\n")
}

type Seen = Awaited<ReturnType<typeof look>>

/** The words of the sums, those first that need a person. */
const stateWords = [
  ["halted", "halted"],
  ["stuck", "stuck"],
  ["awaitingApproval", "awaiting approval"],
  ["thinking", "thinking"],
  ["acting", "acting"],
  ["dreaming", "dreaming"],
  ["compacting", "compacting"],
  ["idle", "idle"],
  ["retired", "retired"]
] as const

const tones = { halted: "red", stuck: "red", awaitingApproval: "yellow" } as const

const statesText = (states: Seen["states"]): string =>
  stateWords
    .filter(([name]) => states[name] > 0)
    .map(([name, words]) => {
      const text = `${states[name]} ${words}`
      return name in tones ? paintedResult(tones[name as keyof typeof tones], text) : text
    })
    .join("  ")

const screenOf = (seen: Seen, pulse: Pulse | undefined, seconds: number, place: string): string => {
  const { accepted, discarded, assistants, count, dead, outages, settled, states, usage, waiting } = seen
  const rate = (value: number) => (value / Math.max(seconds, 0.001)).toFixed(1)
  const rates =
    pulse === undefined || seconds === 0
      ? ""
      : `; a second: ${rate(pulse.modelCalls)} model calls, ${rate(pulse.toolCalls)} tool runs, ${rate(pulse.notices)} notices`
  const rows = assistants.map((row) => [
    onOneLine(row.id, 40),
    stateText(row),
    String(row.waiting),
    String(row.ticks),
    String(row.approvals)
  ])
  const shown = assistants.length < count ? `, the first ${assistants.length} shown` : ""
  return [
    onOneLine(`${counted(count, "assistant")}${shown}, ${place}`),
    `${waiting} queued, ${accepted} received, ${settled} processed, ${dead - discarded} dead${rates}`,
    `last 24 hours: ${useText(usage)}`,
    statesText(states),
    ...outages.map((away) => paintedResult("yellow", awayLine(away))),
    "",
    table([["assistant", "state", "queued", "runs", "approvals"], ...rows])
  ].join("\n")
}

const HOME_AND_CLEAR = "\u001b[H\u001b[J"

export const top = async (options: TopOptions, stop: Stop): Promise<number> => {
  const { every, json, limit, once } = options
  await using backend = await findBackend(options, "look", stop)
  const isScreen = process.stdout.isTTY && !once && !json
  if (!isScreen) {
    const seen = await backend.within(look(backend, limit))
    if (json) sayJson({ ok: true, place: backend.place, ...seen })
    else say(screenOf(seen, undefined, 0, backend.place))
    return 0
  }
  let pulse: Pulse = { notices: 0, modelCalls: 0, toolCalls: 0 }
  const leave = backend.listen((notice) => heard(pulse, notice))
  let since = performance.now()
  let isFirst = true
  try {
    while (true) {
      const seen = await backend.within(look(backend, limit))
      const seconds = isFirst || backend.kind === "store" ? 0 : (performance.now() - since) / 1_000
      // Rows that do not fit would scroll the screen at every look.
      const rows = screenOf(seen, pulse, seconds, backend.place).split("\n")
      process.stdout.write(`${HOME_AND_CLEAR}${rows.slice(0, (process.stdout.rows ?? 24) - 1).join("\n")}\n`)
      pulse = { notices: 0, modelCalls: 0, toolCalls: 0 }
      since = performance.now()
      isFirst = false
      await backend.within(new Promise((resolve) => setTimeout(resolve, every * 1_000)))
    }
  } finally {
    leave()
  }
}
