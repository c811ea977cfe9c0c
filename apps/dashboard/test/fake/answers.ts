// Answers: what the fake API says to the pages of the fleet and to Live.
// Owns its canned words. Pages of their own say theirs in inside.ts.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { ApprovalAsked, Machine } from "@reverie/server/api"
import type { Handlers, World } from "./world.ts"
import { kinds } from "./context.ts"
import { detailOf, groupsOf, listOf, meant, createdRow } from "./fleet.ts"
import { hostile } from "./hostile.ts"
import { spendingHandlers } from "./spending.ts"
import { life } from "./timeline.ts"

const pictureIn = (file: string): Machine =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../fixtures", file), "utf8")) as Machine
const machine = pictureIn("machine.json")
const overview = pictureIn("machine-overview.json")

export const approvalsOf = ({ now, rows }: World): ReadonlyArray<ApprovalAsked> =>
  rows
    .filter(({ approvals }) => approvals > 0)
    .slice(0, 14)
    .map((row, n): ApprovalAsked => ({
      assistant: row.id,
      approval: `${row.id}-approval`,
      tool: n % 3 === 0 ? "transfer_funds" : n % 3 === 1 ? "release_crane" : "send_notice_to_all_ships",
      call: `${row.ticks}.1.0`,
      arguments: JSON.stringify(
        n % 3 === 0
          ? { to: n === 0 ? hostile(6) : "harbour office", amountCents: 125_000, memo: hostile(n) }
          : {
              crane: `C-${n}`,
              load: { tons: 42.5, dangerous: true, classes: ["3", "8"] },
              note: "wind is 9 m/s"
            }
      ),
      category: n % 3 === 0 ? "payment" : "physical",
      description: n % 3 === 0 ? "Moves money out of the harbour's account." : "Lets a crane move its load.",
      askedAt: now() - 40_000 * (n + 1),
      expiresAt: now() + 95_000 * (n + 1),
      tick: row.ticks,
      epoch: row.epoch,
      chain: [
        { who: row.id, text: "The invoice of berth 4 is due today." },
        { who: "customs-ines-00012", text: hostile(n + 1) },
        { who: "user:harbour-master" }
      ],
      invisible: n === 0
    }))

const found = (world: World, id = "") => {
  const row = world.rows.find((each) => each.id === id)
  if (row === undefined)
    throw world.failure(404, "NotFound", `there is no assistant ${id}`, "look at the list of assistants")
  return row
}

const system = ({ now, outboxEnd, readOnly, startedAt }: World) => ({
  version: "0.1.0",
  node: "v24.21.0",
  role: "all",
  profile: "postgres://reverie:***@db/reverie",
  tenant: "default",
  principal: "local",
  readOnly,
  startedAt,
  now: now(),
  outboxEnd: outboxEnd(),
  machine: machine.hash,
  checks: [
    { name: "store", ok: true, says: `position ${outboxEnd()}` },
    { name: "queue", ok: true, says: "3 workers, 0 stalled" },
    {
      name: "index",
      ok: false,
      says: "does not answer since 4 minutes",
      hint: "recall ranks what the store holds until it is back"
    }
  ],
  config: [
    { name: "store", value: "postgres", origin: "REVERIE_STORE" },
    { name: "model", value: "offline", origin: "fleet.ts" },
    { name: "token", value: "••••••", origin: "REVERIE_TOKENS" },
    { name: "page", value: "apps/dashboard/dist", origin: "default" }
  ],
  definitions: ["pilot", "berth", "tug", "customs"].map((name) => ({
    name,
    isTeam: false,
    systemPrompt: `You work for the harbour.\nSay what you know, and what you do not.\n${hostile(2)}`,
    models: { model: "offline", dream: "offline-small" },
    maxContextTokens: 100_000,
    reservedResponseTokens: 4_000,
    sleep: {
      enabled: true,
      sleepStartHour: 22,
      sleepDurationHours: 4.5,
      tickRateSleepSeconds: 60,
      timeZone: "Europe/Berlin"
    },
    settings: { maxErrors: 3, subAgentBudget: 2 },
    blocks: ["notes"],
    tools: ["send_message", "read_history", "release_crane"].map((tool) => ({
      name: tool,
      category: "communication",
      description: hostile(4),
      parameters: {},
      idempotent: tool === "read_history",
      timeoutMs: 30_000
    })),
    persona: hostile(1),
    contexts: kinds
  }))
})

/** Dead letters that there ever were. */
const EVER_DEAD_LETTERED = 60

const queues = (world: World) => ({
  backend: "bullmq",
  deadLetters: world.dead,
  queues: [
    {
      name: "wake",
      waiting: 42,
      active: 8,
      delayed: 3,
      failed: 0,
      completed: 120_331,
      oldestMs: 1_240,
      paused: false
    },
    {
      name: "dream",
      waiting: 610,
      active: 2,
      delayed: 0,
      failed: 4,
      completed: 9_120,
      oldestMs: 612_000,
      paused: true
    }
  ],
  totals: {
    accepted: 131_204,
    settled: 130_991,
    dead: EVER_DEAD_LETTERED,
    discarded: EVER_DEAD_LETTERED - world.dead.length
  },
  workers: [
    { name: "worker-a1", role: "all", holds: world.rows.slice(0, 3).map(({ id }) => id) },
    { name: "worker-b7", role: "dream", holds: [] }
  ]
})

const TONES = ["heard", "tool", "said", "warn", "bad", "note"] as const

const pulseOf = (world: World) => {
  const now = world.now()
  const points = (count: number, stepMillis: number) =>
    Array.from({ length: count }, (_, n) => ({
      at: (Math.floor(now / stepMillis) - count + 1 + n) * stepMillis,
      messages: (n * 7) % 13,
      runs: (n * 7) % 13,
      runP95Ms: n % 9 === 0 ? null : 400 + ((n * 37) % 900),
      modelCalls: (n * 11) % 29,
      modelFailed: n % 17 === 3 ? 2 : 0,
      modelP95Ms: n % 9 === 0 ? null : 300 + ((n * 31) % 700),
      tokens: ((n * 11) % 29) * 1_400,
      costMicros: ((n * 11) % 29) * 2_100,
      unpricedCalls: 0
    }))
  return {
    now,
    since: now - 26 * 3_600_000,
    hour: points(60, 60_000),
    day: points(96, 900_000),
    feed: Array.from({ length: 24 }, (_, n) => {
      const tone = TONES[n % TONES.length] ?? "note"
      return {
        seq: 9_000 - n,
        at: now - n * 4_000,
        assistant: world.rows[n % 7]?.id ?? "",
        tone,
        lead: { heard: "<", tool: "tool", said: "", warn: "model failed:", bad: "dead letter:", note: "ignored:" }[
          tone
        ],
        ...(tone === "heard" || tone === "tool" ? { subject: hostile(n) } : {}),
        text: hostile(n + 1)
      }
    })
  }
}

export const fleetHandlers: Handlers = {
  "GET /v1/pulse": (world) => pulseOf(world),
  "GET /v1/assistants": (world, { query }) => listOf(world.rows, query, world.now()),
  "GET /v1/activity": ({ now, rows }, { query }) => ({
    from: (Math.floor(now() / 3_600_000) - 23) * 3_600_000,
    items: (query["ids"] ?? "").split(",").map((id) => {
      const used = rows.find((row) => row.id === id)?.day.tokens ?? 0
      const weights = Array.from({ length: 24 }, (_, hour) => (hour * 7 + id.length * 5 + used) % 11)
      const all = weights.reduce((sum, each) => sum + each, 0)
      return { id, tokens: weights.map((weight) => Math.round((used * weight) / all)) }
    })
  }),
  "GET /v1/groups": ({ rows }, { query }) => groupsOf(rows, query),
  "GET /v1/assistants/:id": (world, { params }) => detailOf(found(world, params["id"]), world.now()),
  "POST /v1/assistants": (world, { payload }) => {
    const [id, definition] = [String(payload["id"]), String(payload["definition"])]
    const outcome = world.rows.some((row) => row.id === id) ? "exists" : "created"
    if (outcome === "created") world.rows.push({ ...createdRow(world.now()), id, definition })
    return { outcome, id }
  },
  "POST /v1/assistants/:id/orders": (world, { params, payload }) => {
    const row = found(world, params["id"])
    world.order(row, String(payload["order"]))
    return { outcome: "accepted", envelope: "e-1" }
  },
  "POST /v1/orders": (world, { payload }) => {
    const wanted = payload["ids"] as ReadonlyArray<string> | undefined
    const rows = meant(world.rows, payload as never).filter(({ id }) => wanted?.includes(id) ?? true)
    if (payload["dryRun"] !== true) for (const row of rows) world.order(row, String(payload["order"]))
    return {
      matched: rows.length,
      told: payload["dryRun"] === true ? 0 : rows.length,
      ids: rows.slice(0, 100).map(({ id }) => id)
    }
  },
  "GET /v1/assistants/:id/mailbox": (world, { params }) => ({
    items: Array.from({ length: found(world, params["id"]).waiting }, (_, n) => ({
      id: `m-${n}`,
      lane: n === 0 ? "control" : "mail",
      seq: 800 + n,
      type: n === 0 ? "refresh" : "message",
      from: n % 2 === 0 ? "assistant:pilot-ada-00011" : hostile(n),
      text: n === 0 ? "" : hostile(n + 3),
      acceptedAt: world.now() - 9_000 * (n + 1),
      hops: n % 3
    }))
  }),
  "GET /v1/assistants/:id/messages": (world, { params }) => {
    const { id } = found(world, params["id"])
    const at = world.now() - 60_000
    // All of the last tick that has ended, but for the first: a dead letter that was sent again has no words.
    const last = (life.ticks - 2) * 5
    return {
      items: [
        { no: last - 5, index: 0, role: "user", name: "harbour-master", content: "", at: at - 9_000, tokens: 0 },
        {
          no: last - 3,
          index: 0,
          role: "user",
          name: "assistant:pilot-ada-00010",
          content: "Which berth is free at six?",
          at,
          tokens: 9
        },
        {
          no: last - 2,
          index: 0,
          role: "assistant",
          content: "",
          calls: [{ id: "c1", tool: "list_berths", arguments: `{"at":"06:00"}` }],
          at: at + 2_000,
          tokens: 20
        },
        {
          no: last - 1,
          index: 0,
          role: "tool",
          name: "list_berths",
          call: "c1",
          content: `{"free":["B4"],"note":"${hostile(1).replaceAll(`"`, "'")}"}`,
          at: at + 2_400,
          tokens: 30
        },
        {
          no: last,
          index: 0,
          role: "assistant",
          content: `Berth B4 is free at six. I am ${id}. ${hostile(6)}`,
          at: at + 5_000,
          tokens: 14
        }
      ],
      next: null
    }
  },
  "POST /v1/assistants/:id/messages": (world, { params, payload }) => {
    world.talk(found(world, params["id"]), String(payload["text"]))
    return { outcome: "accepted", envelope: `e-${world.outboxEnd()}` }
  },
  "GET /v1/machine": (_, { query }) => (query["view"] === "overview" ? overview : machine),
  "GET /v1/approvals": (world) => ({ items: approvalsOf(world) }),
  "POST /v1/approvals/:id/:approval": (world, { params, payload }) => {
    const row = found(world, params["id"])
    if (row.approvals === 0) throw world.failure(409, "Conflict", "this was decided already")
    world.audit("approvals.decide", `${row.id} ${String(params["approval"])} ${String(payload["decision"])}`)
    row.approvals = 0
    world.move(row, "awake.acting.running")
    return { outcome: "accepted", envelope: "e-2" }
  },
  "GET /v1/queues": queues,
  ...spendingHandlers,
  "GET /v1/dead-letters": ({ dead }) => ({ items: dead }),
  "GET /v1/dead-letters/:id/letter": ({ dead, failure }, { query }) => {
    const letter = dead.find(({ envelope }) => envelope === query["envelope"])
    if (letter === undefined) throw failure(404, "NotFound", "there is no such dead letter")
    const event = { type: letter.type ?? "message", text: letter.text ?? "", channel: "quay" }
    return { ...letter, acceptedAt: letter.at - 4_000, event, tick: 7 }
  },
  "POST /v1/dead-letters/:id/retry": (world, { params, payload }) => {
    world.audit("queues.retry", String(params["id"]))
    const at = world.dead.findIndex(({ envelope }) => envelope === payload["envelope"])
    if (at < 0) throw world.failure(404, "NotFound", "there is no such dead letter")
    world.dead.splice(at, 1)
    return { outcome: "accepted", envelope: "e-3" }
  },
  "POST /v1/dead-letters/:id/discard": (world, { params, payload }) => {
    world.audit("queues.discard", String(params["id"]))
    const at = world.dead.findIndex(({ envelope }) => envelope === payload["envelope"])
    if (at < 0) throw world.failure(404, "NotFound", "there is no such dead letter")
    world.dead.splice(at, 1)
    return { outcome: "discarded" }
  },
  "GET /v1/system": system,
  "GET /v1/audit": ({ audited }) => ({ items: audited })
}
