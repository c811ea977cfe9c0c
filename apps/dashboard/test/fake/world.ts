// World: the fleet that the fake API speaks of, and what happens in it.
// Owns states, notices and the audit log. Leaves HTTP to fake-api.ts.

import type { Notice } from "@reverie/protocol"
import type { Answer, Route } from "../../src/api/contract.ts"
import { dice } from "./dice.ts"
import { makeRows, modeOf, type Row } from "./fleet.ts"
import { hostile } from "./hostile.ts"

export interface FakeAsked {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | undefined>>
  readonly payload: Readonly<Record<string, unknown>>
}

/** What a route answers; what is thrown is the failure that it answers with. */
export type Handlers = { readonly [Of in Route]?: (world: World, asked: FakeAsked) => Answer<Of> }

export class FakeFailure extends Error {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super("refused")
    this.status = status
    this.body = body
  }
}

type Told = Notice & { readonly id?: string }
type DeadLetter = Answer<"GET /v1/dead-letters">["items"][number]
type AuditLine = Answer<"GET /v1/audit">["items"][number]

export interface World {
  readonly rows: Array<Row>
  readonly dead: Array<DeadLetter>
  readonly audited: Array<AuditLine>
  readonly startedAt: number
  /** The token may only look. */
  readOnly: boolean
  readonly now: () => number
  readonly outboxEnd: () => number
  readonly failure: (status: number, tag: string, message: string, hint?: string) => FakeFailure
  readonly audit: (action: string, target: string) => void
  /** It comes into another state, and everybody learns of it. */
  readonly move: (row: Row, state: string) => void
  readonly order: (row: Row, order: string) => void
  /** It receives something, thinks, and answers piece by piece. */
  readonly talk: (row: Row, text: string) => void
  readonly tell: (row: Row, notice: { readonly type: string; readonly [key: string]: unknown }) => void
  readonly since: (position: number) => ReadonlyArray<Told>
  readonly onNotice: (listener: (notice: Told) => void) => () => void
  /** Something happens to someone now and then, until `stop`. */
  readonly live: (everyMillis: number) => void
  readonly stop: () => void
}

const after: Readonly<Record<string, ReadonlyArray<string>>> = {
  "awake.idle": ["awake.assessing.weighing", "awake.thinking.inferring", "dreaming.consolidating"],
  "awake.assessing.weighing": ["awake.thinking.inferring"],
  "awake.thinking.inferring": ["awake.acting.running", "awake.idle", "awake.thinking.parked"],
  "awake.thinking.parked": ["awake.thinking.inferring"],
  "awake.acting.running": ["awake.thinking.inferring", "awake.idle", "awake.awaitingReports"],
  "awake.awaitingReports": ["awake.acting.running"],
  "dreaming.consolidating": ["dreaming.linking"],
  "dreaming.linking": ["dreaming.profiling"],
  "dreaming.profiling": ["dreaming.reflecting"],
  "dreaming.reflecting": ["dreaming.pruning"],
  "dreaming.pruning": ["dreaming.resting", "compacting.extracting"],
  "dreaming.resting": ["awake.idle"],
  "compacting.extracting": ["compacting.summarizing"],
  "compacting.summarizing": ["compacting.replacing"],
  "compacting.replacing": ["awake.idle"]
}

const ordered: Readonly<Record<string, string>> = {
  wake: "awake.idle",
  sleep: "dreaming.consolidating",
  stop: "awake.idle",
  halt: "halted",
  resume: "awake.idle",
  retire: "retired"
}

const deadLetters = (rows: ReadonlyArray<Row>, now: number): Array<DeadLetter> =>
  rows.slice(20, 26).map(({ id }, n) => ({
    assistant: id,
    envelope: `dead-${n}`,
    reason: n % 2 === 0 ? "ten claims in a row ended without one commit" : `not readable: ${hostile(n)}`,
    at: now - 3_600_000 * (n + 1),
    type: "message",
    from: "user:harbour-master",
    text: hostile(n)
  }))

const ANSWER =
  "The tide turns at half past four, so the pilot should board before four. I have told the tug, and berth four is kept free until seven. "

export const makeWorld = (total: number): World => {
  const now = () => Date.now()
  const rows = makeRows(total, now())
  const chance = dice(11)
  const listeners = new Set<(notice: Told) => void>()
  const ring: Array<Told> = []
  const timers = new Set<ReturnType<typeof setInterval>>()
  let seq = 40_000
  const audited: Array<AuditLine> = []

  const tell: World["tell"] = (row, notice) => {
    const isPart = notice.type === "part"
    if (!isPart) seq += 1
    const address = { tenant: "default", assistant: row.id }
    const base = { address, at: now(), tick: row.ticks, ...(isPart ? {} : { seq }) }
    const told = { ...base, ...notice, ...(isPart ? {} : { id: String(seq) }) } as unknown as Told
    if (!isPart) ring.push(told)
    if (ring.length > 5_000) ring.shift()
    for (const listener of listeners) listener(told)
  }
  const move: World["move"] = (row, state) => {
    row.state = state
    row.mode = modeOf(state)
    row.since = now()
    row.commits += 1
    tell(row, { type: "state-changed", status: state })
  }
  const audit = (action: string, target: string) => {
    audited.unshift({ at: now(), who: "local", tenant: "default", action, target, outcome: "done" })
  }
  const soon = (steps: ReadonlyArray<() => void>, everyMillis: number) => {
    let at = 0
    const timer = setInterval(() => {
      steps[at]?.()
      at += 1
      if (at >= steps.length) {
        clearInterval(timer)
        timers.delete(timer)
      }
    }, everyMillis)
    timers.add(timer)
  }
  const talk: World["talk"] = (row, text) => {
    const envelope = `e-${seq}`
    row.ticks += 1
    tell(row, { type: "tick-started", envelope, from: "you", text })
    move(row, "awake.thinking.inferring")
    const show = (piece: object) => () => tell(row, { type: "part", envelope, iteration: 1, piece })
    const parts = [
      show({ kind: "reasoning", text: "Let me look at the berths." }),
      show({ kind: "call", call: "1.1.0", tool: "look_at_berths" }),
      ...ANSWER.split(/(?<= )/).map((text) => show({ kind: "text", text }))
    ]
    soon(
      [
        ...parts,
        () => tell(row, { type: "model-replied", iteration: 1, text: ANSWER, calls: [] }),
        () => tell(row, { type: "tick-ended", envelope, outcome: "answered", iterations: 1, reply: ANSWER }),
        () => move(row, "awake.idle")
      ],
      90
    )
  }
  return {
    rows,
    dead: deadLetters(rows, now()),
    audited,
    startedAt: now() - 7_200_000,
    readOnly: false,
    now,
    outboxEnd: () => seq,
    failure: (status, tag, message, hint) =>
      new FakeFailure(status, { _tag: tag, message, ...(hint === undefined ? {} : { hint }) }),
    audit,
    move,
    talk,
    tell,
    order: (row, order) => {
      audit("assistants.order", `${order} ${row.id}`)
      const state = ordered[order]
      if (state !== undefined) move(row, state)
    },
    since: (position) => ring.filter(({ id }) => id !== undefined && Number(id) > position),
    onNotice: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    live: (everyMillis) => {
      timers.add(
        setInterval(() => {
          const row = rows[chance.below(Math.min(rows.length, 400))]
          const next = row === undefined ? undefined : after[row.state]
          if (row !== undefined && next !== undefined) move(row, chance.one(next))
        }, everyMillis)
      )
    },
    stop: () => {
      for (const timer of timers) clearInterval(timer)
      timers.clear()
    }
  }
}
