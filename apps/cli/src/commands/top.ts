// Top: the fleet as it lives.
// Owns the screen: states, what waits, and how much happens a second. Leaves the numbers, and what is busy, to the backend.
// T1  Without a terminal, and with --once, it is one table and an end.
// T2  Whatever assistants are called stays on its line.

import type { Notice } from "reverie"
import { painted, sayJson, say } from "../output.ts"
import { onOneLine, counted, table } from "../texts/plain.ts"
import { findBackend } from "../backend/find-backend.ts"
import type { Backend, View } from "../backend/backend.ts"
import type { Stop } from "../running/stop.ts"
import { outageLines, stateText } from "../running/away.ts"
import { useText } from "../texts/report.ts"
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

const isBusy = ({ tags, waiting }: View): boolean =>
  waiting > 0 || !(tags.includes("atRest") || tags.includes("retired"))

const heard = (pulse: Pulse, { type }: Notice): void => {
  pulse.notices++
  if (type === "model-replied" || type === "model-failed") pulse.modelCalls++
  if (type === "tool-finished") pulse.toolCalls++
}

const look = async (backend: Backend, limit: number) => {
  const { items, next } = await backend.page({ limit: 500 })
  const { accepted = 0, discarded = 0, dead = 0, settled = 0 } = (await backend.totals()) ?? {}
  const shown = [...items.filter(isBusy), ...items.filter((view) => !isBusy(view))].slice(0, limit)
  const states: Record<string, number> = {}
  for (const { state } of items) {
    const mode = state.split(".").slice(0, 2).join(".")
    states[mode] = (states[mode] ?? 0) + 1
  }
  const waiting = items.reduce((sum, view) => sum + view.waiting, 0)
  const total = { accepted, settled, dead, discarded }
  const outages = outageLines(items)
  const { total: usage } = await backend.usage({ limit: 1 })
  return { usage, assistants: shown, count: items.length, more: next !== null, states, waiting, outages, ...total }
}

type Seen = Awaited<ReturnType<typeof look>>

const screenOf = (seen: Seen, pulse: Pulse | undefined, seconds: number, place: string): string => {
  const { accepted, discarded, assistants, count, dead, more, outages, settled, states, usage, waiting } = seen
  const rate = (value: number) => (value / Math.max(seconds, 0.001)).toFixed(1)
  const rates =
    pulse === undefined || seconds === 0
      ? ""
      : `; a second: ${rate(pulse.modelCalls)} model calls, ${rate(pulse.toolCalls)} tool runs, ${rate(pulse.notices)} notices`
  const rows = assistants.map((view) => [
    onOneLine(view.id, 40),
    stateText(view),
    String(view.waiting),
    String(view.ticks),
    String(view.approvals.length)
  ])
  return [
    onOneLine(`${counted(count, "assistant")}${more ? " and more" : ""}, ${place}`),
    `${waiting} waiting, ${accepted} accepted, ${settled} committed, ${dead - discarded} dead${rates}`,
    `last 24 hours: ${useText(usage)}`,
    Object.entries(states)
      .map(([state, many]) => `${state} ${many}`)
      .join("  "),
    ...outages.map((line) => painted("yellow", line)),
    "",
    table([["assistant", "state", "waiting", "ticks", "asks"], ...rows])
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
