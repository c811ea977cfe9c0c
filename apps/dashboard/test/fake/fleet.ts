// Fleet: ten thousand assistants that are not there.
// Owns their rows, the filter, the order and the cursor of a list. Leaves HTTP to fake-api.ts.

import type { AssistantDetail, AssistantRow, Counts, Outage } from "@reverie/server/api"
import { dice } from "./dice.ts"
import { hostile } from "./hostile.ts"

type Row = { -readonly [Key in keyof AssistantRow]: AssistantRow[Key] }
export type { Row }

const roles = ["pilot", "berth", "tug", "customs", "weather", "cargo", "medic", "crane", "ledger", "radio"] as const
const names = [
  "ada",
  "bo",
  "cleo",
  "dag",
  "edda",
  "finn",
  "gro",
  "hal",
  "ines",
  "jan",
  "kaia",
  "lars",
  "mo",
  "nils"
] as const

const spread: ReadonlyArray<readonly [number, string]> = [
  [0.56, "awake.idle"],
  [0.66, "awake.thinking.inferring"],
  [0.68, "awake.thinking.parked"],
  [0.69, "awake.assessing.weighing"],
  [0.76, "awake.acting.running"],
  [0.768, "awake.awaitingApproval"],
  [0.78, "awake.awaitingReports"],
  [0.85, "dreaming.consolidating"],
  [0.92, "dreaming.resting"],
  [0.94, "compacting.summarizing"],
  [0.952, "halted"],
  [1, "retired"]
]

export const modeOf = (state: string): AssistantRow["mode"] => state.split(".")[0] as AssistantRow["mode"]

const errors = [
  "the model answered 529 three times; it is tried again in 40 s",
  "tool send_tide_report: the port office does not answer",
  "the reply had no room in the budget"
]

/** Two servers, one of them with words of its own. */
const outageOf = (n: number, now: number): NonNullable<AssistantRow["outage"]> => ({
  server: n % 5 === 0 ? "models.example:8443" : "127.0.0.1:8080",
  since: now - 600_000 + (n % 60) * 1_000,
  reason: n % 2 === 0 ? "ModelUnavailable: ECONNREFUSED" : hostile(n),
  tries: 1 + (n % 9),
  ...(n % 7 === 0 ? {} : { nextTry: now + 60_000 + (n % 240) * 1_000 })
})

/** Those that wait, by server. */
const outagesIn = (rows: ReadonlyArray<Row>): ReadonlyArray<Outage> => {
  const servers = [...new Set(rows.flatMap(({ outage }) => outage?.server ?? []))]
  return servers.map((server) => {
    const waits = rows.flatMap(({ outage }) => (outage?.server === server ? [outage] : []))
    return {
      server,
      since: Math.min(...waits.map(({ since }) => since)),
      reason: waits[0]?.reason ?? "",
      assistants: waits.length,
      nextTry: Math.min(...waits.map(({ nextTry = Infinity }) => nextTry))
    }
  })
}

export const makeRows = (total: number, now: number): Array<Row> => {
  const { below, next, one } = dice(7)
  return Array.from({ length: total }, (_, n): Row => {
    const roll = next()
    const state = n === 3 ? "awake.awaitingApproval" : (spread.find(([share]) => roll < share)?.[1] ?? "awake.idle")
    const isStuck = state === "awake.thinking.inferring" && next() < 0.012
    const waiting = next() < 0.3 ? below(12) : 0
    const spent = state === "retired" ? 0 : below(90_000)
    return {
      id: `${roles[n % roles.length]}-${one(names)}-${String(n).padStart(5, "0")}`,
      definition: roles[n % roles.length] ?? "pilot",
      state,
      mode: modeOf(state),
      since: now - (isStuck ? 3_600_000 + below(9_000_000) : state === "retired" ? below(9e8) : below(600_000)),
      ticks: below(4_000),
      commits: below(40_000),
      waiting,
      ...(waiting === 0 ? {} : { oldestWaitingAt: now - below(900_000) }),
      ...(state === "retired" ? {} : { contextShare: Math.min(0.98, next() ** 1.6) }),
      day: { tokens: spent * 9, costMicros: spent * 31, calls: below(300), unpricedCalls: 0 },
      ...(n % 3 === 0 ? { left: { tokens: below(900_000), costMicros: below(5_000_000), calls: null } } : {}),
      approvals: state === "awake.awaitingApproval" ? 1 : 0,
      ...(state === "halted" || n % 97 === 5
        ? { lastError: { at: now - below(3_600_000), message: n % 2 === 0 ? one(errors) : hostile(n) } }
        : {}),
      ...(state === "halted" ? { haltReason: n % 2 === 0 ? "its budget of today is spent" : hostile(n + 1) } : {}),
      ...(state === "awake.thinking.parked" ? { outage: outageOf(n, now) } : {}),
      subAgents: next() < 0.08 ? 1 + below(4) : 0,
      epoch: 1 + below(30)
    }
  })
}

/** One that was created a moment ago. */
export const createdRow = (now: number): Row => ({
  id: "",
  definition: "",
  state: "awake.idle",
  mode: "awake",
  since: now,
  ticks: 0,
  commits: 1,
  waiting: 0,
  day: { tokens: 0, costMicros: 0, calls: 0, unpricedCalls: 0 },
  approvals: 0,
  subAgents: 0,
  epoch: 1
})

const STUCK_MILLIS = 15 * 60_000

const countsOf = (rows: ReadonlyArray<Row>, now: number): Counts => {
  const begins = (path: string) => rows.filter(({ state }) => state === path || state.startsWith(`${path}.`)).length
  return {
    total: rows.length,
    idle: begins("awake.idle") + begins("awake.awaitingReports"),
    thinking: begins("awake.thinking") + begins("awake.assessing"),
    acting: begins("awake.acting"),
    awaitingApproval: begins("awake.awaitingApproval"),
    dreaming: begins("dreaming"),
    compacting: begins("compacting"),
    halted: begins("halted"),
    retired: begins("retired"),
    stuck: rows.filter(({ since, state }) => state === "awake.thinking.inferring" && now - since > STUCK_MILLIS).length,
    nearlyFull: rows.filter(({ contextShare = 0 }) => contextShare >= 0.8).length,
    // As the budgets of the fake say, in spending.ts.
    nearlySpent: Math.min(1, rows.length),
    waiting: rows.reduce((sum, { waiting }) => sum + waiting, 0)
  }
}

const rankOf = ({ approvals, contextShare = 0, outage, state, waiting }: Row): number => {
  if (state === "retired") return 0
  if (state === "halted") return 7
  if (approvals > 0) return 5
  if (outage !== undefined) return 4
  if (contextShare >= 0.8) return 3
  return waiting > 0 || state !== "awake.idle" ? 2 : 1
}

const valueOf: Readonly<Record<string, (row: Row) => number | string>> = {
  attention: (row) => rankOf(row) * 1e14 + row.since,
  id: ({ id }) => id,
  since: ({ since }) => since,
  waiting: ({ waiting }) => waiting,
  context: ({ contextShare = -1 }) => contextShare,
  cost: ({ day }) => day.costMicros,
  ticks: ({ ticks }) => ticks,
  errors: ({ lastError }) => lastError?.at ?? 0
}

export type Query = Readonly<Record<string, string | undefined>>

/** Every second definition is one of those that are out on the water. */
const tagsOf = ({ definition }: Row): ReadonlyArray<string> => [
  "harbour",
  ...(roles.findIndex((role) => role === definition) % 2 === 0 ? ["afloat"] : [])
]

export const meant = (
  rows: ReadonlyArray<Row>,
  { definition = "", q = "", state = "", tag = "" }: Query
): ReadonlyArray<Row> => {
  const words = q.toLowerCase()
  return rows.filter(
    (row) =>
      (definition === "" || row.definition === definition) &&
      (tag === "" || tagsOf(row).includes(tag)) &&
      (state === "" || row.state === state || row.state.startsWith(`${state}.`)) &&
      (words === "" || `${row.id} ${row.definition} ${row.haltReason ?? ""}`.toLowerCase().includes(words))
  )
}

export const listOf = (rows: ReadonlyArray<Row>, query: Query, now: number) => {
  const found = meant(rows, query)
  const value = valueOf[query["sort"] ?? "id"] ?? (({ id }: Row) => id)
  const sign = query["descending"] === "true" ? -1 : 1
  const sorted = found.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)]
    return sign * (a < b ? -1 : a > b ? 1 : one.id < other.id ? -1 : 1)
  })
  const from = Number(query["cursor"] ?? 0)
  const to = from + Number(query["limit"] ?? 50)
  return {
    items: sorted.slice(from, to),
    next: to < sorted.length ? String(to) : null,
    matched: sorted.length,
    counts: countsOf(rows, now),
    outages: outagesIn(rows)
  }
}

export const groupsOf = (rows: ReadonlyArray<Row>, query: Query) => {
  const by = (["state", "tag"] as const).find((each) => each === query["by"]) ?? ("definition" as const)
  const keysOf = (row: Row): ReadonlyArray<string> => {
    if (by === "tag") return tagsOf(row)
    if (by === "definition") return [row.definition]
    return [row.state.startsWith("awake.") ? row.state.split(".").slice(0, 2).join(".") : modeOf(row.state)]
  }
  const keyed = meant(rows, query).flatMap((row) => keysOf(row).map((key) => [key, row] as const))
  const groups = [...Map.groupBy(keyed, ([key]) => key)]
    .map(([key, pairs]) => [key, pairs.map(([, row]) => row)] as const)
    .map(([key, of]) => ({
      key,
      assistants: of.length,
      working: of.filter(({ state }) => state.endsWith("ing") && !state.startsWith("dreaming")).length,
      needPerson: of.filter((row) => rankOf(row) >= 5).length,
      halted: of.filter(({ mode }) => mode === "halted").length,
      approvals: of.reduce((sum, { approvals }) => sum + approvals, 0),
      waiting: of.reduce((sum, { waiting }) => sum + waiting, 0),
      day: of.reduce(
        (sum, { day }) => ({
          tokens: sum.tokens + day.tokens,
          costMicros: sum.costMicros + day.costMicros,
          calls: sum.calls + day.calls,
          unpricedCalls: 0
        }),
        { tokens: 0, costMicros: 0, calls: 0, unpricedCalls: 0 }
      )
    }))
  const items = groups.toSorted((one, other) => other.assistants - one.assistants)
  return { by, items, matched: items.length }
}

const acceptsOf = (state: string): ReadonlyArray<string> => {
  switch (modeOf(state)) {
    case "halted":
      return ["resume", "retire", "delegate"]
    case "retired":
      return []
    case "dreaming":
      return [
        "wake",
        "halt",
        "retire",
        "refresh",
        ...(state.endsWith("resting") ? ["message", "timer", "compact"] : [])
      ]
    default: {
      const rest = state === "awake.idle" ? ["message", "timer", "sleep", "compact", "undoCompaction"] : []
      const approval = state === "awake.awaitingApproval" ? ["approval"] : []
      const inTick = state === "awake.idle" ? [] : ["stop"]
      return [...inTick, "halt", "retire", "refresh", "delegate", ...rest, ...approval]
    }
  }
}

export const detailOf = (row: Row, now: number): AssistantDetail => ({
  ...row,
  accepts: acceptsOf(row.state),
  receives: row.state === "awake.idle" ? ["control", "reply", "mail"] : ["control", "reply"],
  jobs: row.state === "awake.thinking.inferring" ? [`${row.commits}/infer`] : [],
  timers: [{ name: "xstate.after.sleep.assistant.dreaming", dueAt: now + 3_600_000 * 6 }],
  approvalsAsked:
    row.approvals === 0 ? [] : [{ approval: `${row.id}-approval`, tool: "release_crane", call: `${row.ticks}.1.0` }],
  tick: row.ticks,
  iteration: row.state.startsWith("awake.idle") ? 0 : 2
})
