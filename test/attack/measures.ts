// Measures: what a server costs, and how long it holds its event loop, as someone outside can measure it.
// Owns reading /proc and /metrics, and requests timed to their first byte. The verdict is in the attacks.

import { readFileSync } from "node:fs"
import { connect } from "node:net"
import type { Client } from "./client.ts"
import { pause } from "./judge.ts"

const TICKS_A_SECOND = 100

/** CPU seconds of a process since it began. */
export const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

/** Resident memory of a process. */
export const residentMegabytes = (pid: number): number => {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return Math.round(Number(kilobytes) / 1_024)
}

/** One figure of `/metrics` by its name and labels, as it is written there; 0 when there is none. */
export const figure = async (client: Client, name: string): Promise<number> => {
  const text = await (await client.fetch("/metrics")).text()
  const line = text.split("\n").find((each) => each.startsWith(`${name} `))
  return line === undefined ? 0 : Number(line.slice(name.length + 1))
}

/** How often the event loop was held in one piece, by what the server itself computed in it. */
export interface Holds {
  readonly over25: number
  readonly over50: number
  readonly over100: number
  readonly over250: number
  readonly all: number
}

export const holdsOf = async (client: Client): Promise<Holds> => {
  const text = await (await client.fetch("/metrics")).text()
  const upTo = (bound: string): number => {
    const found = new RegExp(
      String.raw`^reverie_event_loop_hold_seconds_bucket\{clock="cpu",le="${bound}"\} (\d+)$`,
      "m"
    ).exec(text)
    if (found === null) throw new Error("the server does not tell how long its event loop is held")
    return Number(found[1])
  }
  const all = upTo(String.raw`\+Inf`)
  return {
    all,
    over25: all - upTo("0.025"),
    over50: all - upTo("0.05"),
    over100: all - upTo("0.1"),
    over250: all - upTo("0.25")
  }
}

export const holdsSince = (before: Holds, after: Holds): Holds => ({
  all: after.all - before.all,
  over25: after.over25 - before.over25,
  over50: after.over50 - before.over50,
  over100: after.over100 - before.over100,
  over250: after.over250 - before.over250
})

export const saidOf = ({ over25, over50, over100, over250 }: Holds): string =>
  `${over25} over 25 ms, ${over50} over 50 ms, ${over100} over 100 ms, ${over250} over 250 ms`

/** An answer that is being read. */
export interface Listening {
  /** Resolves with the time from now on until it holds what is looked for; with `withinMs` when that did not come. */
  readonly until: (wanted: string, withinMs?: number) => Promise<number>
  readonly leave: () => void
}

const LOOK_MILLIS = 2

export const listening = (server: { readonly url: string }, path: string): Listening => {
  const { host, hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  let heard = ""
  socket.on("error", () => {})
  socket.on("connect", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`))
  socket.on("data", (chunk) => (heard += chunk.toString("latin1")))
  const until = async (wanted: string, withinMs = 20_000): Promise<number> => {
    const begun = performance.now()
    const passed = (): number => Math.round(performance.now() - begun)
    while (!heard.includes(wanted)) {
      if (passed() > withinMs || socket.destroyed) return withinMs
      await pause(LOOK_MILLIS)
    }
    return passed()
  }
  return { until, leave: () => void socket.destroy() }
}

/** Milliseconds until the answer of a connection of its own holds what is looked for. */
export const millisUntil = async (server: { readonly url: string }, path: string, wanted: string): Promise<number> => {
  const answer = listening(server, path)
  const millis = await answer.until(wanted)
  answer.leave()
  return millis
}

interface Row {
  readonly id: string
  readonly state: string
  readonly waiting: number
}

/** Everybody who has not come to rest, by a walk over all pages. */
const busy = async (client: Client): Promise<ReadonlyArray<Row>> => {
  const found: Array<Row> = []
  let cursor: string | null = null
  do {
    const more: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`
    const page = (await client.json(`/v1/assistants?limit=200${more}`)) as {
      readonly items: ReadonlyArray<Row>
      readonly next: string | null
    }
    found.push(...page.items.filter(({ state, waiting }) => waiting > 0 || state !== "awake.idle"))
    cursor = page.next
  } while (cursor !== null)
  return found
}

/** Waits until all are at rest; the time that it took, or undefined when it did not happen. */
export const untilRest = async (client: Client, withinMs: number): Promise<number | undefined> => {
  const begun = performance.now()
  while (performance.now() - begun < withinMs) {
    const left = await busy(client).catch(() => undefined)
    if (left?.length === 0) return performance.now() - begun
    await pause(100)
  }
  return undefined
}

interface Entry {
  readonly epoch: number
  readonly tick: number
}

/** Ticks whose commits have more than one epoch: their lease was lost in the middle. */
export const tornTicks = async (client: Client, assistant: string): Promise<number> => {
  const { items } = (await client.json(`/v1/assistants/${assistant}/entries?from=1&limit=200`)) as {
    readonly items: ReadonlyArray<Partial<Entry> & { readonly entry?: Entry }>
  }
  const epochs = new Map<number, Set<number>>()
  for (const item of items) {
    const { epoch = 0, tick = 0 } = item.entry ?? item
    epochs.set(tick, (epochs.get(tick) ?? new Set()).add(epoch))
  }
  return [...epochs.values()].filter((each) => each.size > 1).length
}
