// Night: compactions, dreams and sub-agents of the fake fleet.

import type { Answer } from "../../src/api/contract.ts"
import { hostile } from "./hostile.ts"
import type { Handlers } from "./world.ts"

const HOUR = 3_600_000
const taken = new Set<string>()

type Shown = Answer<"GET /v1/assistants/:id/compactions">["items"][number]

const recordOf = (now: number, n: number): Shown["record"] => {
  const marker = { role: "system", content: hostile(n), at: now, tokens: 40 } as const
  return {
    id: `compact-${n}`,
    at: now - (2 + n * 20) * HOUR,
    trigger: "order",
    strategy: "truncate",
    threshold: 0.8,
    ratio: 0.9,
    model: null,
    pieces: 0,
    extraction: null,
    range: { from: { no: 400, index: 0 }, to: { no: 460, index: 0 }, since: now - HOUR, until: now },
    compacted_count: 40 + n * 3,
    preserved_count: 12,
    before: { messages: 80, tokens: 19_400, start: null },
    after: { messages: 13, tokens: 4_100, from: { no: 461, index: 0 } },
    summary: hostile(n),
    marker,
    journal_entry: "journal_1"
  }
}

const compactionOf = (now: number, n: number): Shown => ({
  id: `compact-${n}`,
  at: now - (2 + n * 20) * HOUR,
  reason: ["emergency", "sleep", "order"][n % 3] ?? "order",
  undone: taken.has(`compact-${n}`) || n === 2,
  messages: 40 + n * 3,
  beforeTokens: 19_400 + n * 100,
  afterTokens: 4_100 + n * 90,
  summary: `The harbour-master asked for berths; berth four was promised until seven. ${hostile(n)} `.repeat(3),
  pairsWhole: true,
  record: recordOf(now, n)
})

const undone = new Map<string, string>()
const takenBack = new Set<string>()
const accepted = new Set<string>()

/** The night of which everything waits for a person. */
const WAITS = 5
const WAITING_DREAM = `dream_${90 - WAITS}`

/** Whether this fact of a dream waits: of the newest the last one, of the one that waits all. */
const isWaiting = (dream: string, n: number): boolean =>
  (dream === WAITING_DREAM || (dream === "dream_90" && n === 2)) && !isSaid(factItem(dream, n))

const factItem = (dream: string, n: number): string => `fact/${dream.replace("dream", "fact")}_${n}`
const isSaid = (item: string): boolean => accepted.has(item) || takenBack.has(item)

/** Of the night of which everything waits, an entry of the journal does, too. */
const WAITING_ENTRY = "episode/entry_2_0"
const entryWaits = (dream: string): boolean => dream === WAITING_DREAM && !isSaid(WAITING_ENTRY)

const waitingIn = (dream: string): number =>
  [0, 1, 2].filter((at) => isWaiting(dream, at)).length + (entryWaits(dream) ? 1 : 0)

const dreamOf = (now: number, n: number) => ({
  id: `dream_${90 - n}`,
  began_at: now - n * 24 * HOUR - 3 * HOUR,
  ended_at: now - n * 24 * HOUR - 3 * HOUR + 412_000,
  waiting: waitingIn(`dream_${90 - n}`),
  isQuiet: n === 3,
  lines: ["consolidating", "linking", "profiling", "reflecting", "pruning"]
    .slice(0, n === 1 ? 3 : 5)
    .map((operation, at) => ({
      operation,
      steps: 1 + at,
      read: 120 - at * 20,
      proposed: 14 - at,
      accepted: at === 4 || n === 3 || n === WAITS ? 0 : 9 - at,
      tokens: 8_200 - at * 900,
      elapsed_ms: 61_000 - at * 9_000,
      ...(n === 2 && at === 3 ? { skipped: "too little has gathered" } : {}),
      ...(n === 1 && at === 2 ? { error: hostile(1) } : {})
    }))
})

type Account = Answer<"GET /v1/assistants/:id/dreams/:dream">
type Learnt = Account["learnt"][number]

const learntOf = (dream: string, n: number): Learnt => {
  const item = factItem(dream, n)
  const reason = undone.get(dream) ?? (takenBack.has(item) ? "declined" : undefined)
  const waits = reason === undefined && isWaiting(dream, n)
  return {
    item,
    fact: item.slice("fact/".length),
    text: `Berth ${n} is free on Mondays. ${hostile(n)}`,
    state: reason === undefined ? (waits ? "proposed" : "active") : "retired",
    ...(waits ? { waits } : {}),
    trust: 0.9,
    ...(reason === undefined ? {} : { reason }),
    sources: [
      { id: "m/3990/0", tick: 120, text: hostile(2) },
      { id: "j/entry_88_0", tick: 88 }
    ]
  }
}

const waitingAccountOf = (now: number, id: string): Account => {
  const learnt = [0, 1, 2].map((n) => learntOf(id, n))
  const waiting = waitingIn(id)
  const headline = waiting === 0 ? "learnt 2 facts, 365 ms, $0.03" : `${waiting} waiting for a person, 365 ms, $0.03`
  const entry = {
    item: WAITING_ENTRY,
    what: "journal" as const,
    id: "entry_2_0",
    text: "The gulls are loud.",
    reason: "of little importance, and old",
    sources: [],
    waits: true
  }
  const forgotten = entryWaits(id) ? [entry] : []
  return { ...accountOf(now, id), headline, learnt, linked: [], changed: [], forgotten }
}

const accountOf = (now: number, id: string): Account => {
  return {
    id,
    headline: "learnt 3 facts, linked 1, changed 1 profile, forgot 1, 365 ms, $0.03",
    isQuiet: false,
    beganAt: now - 3 * HOUR,
    endedAt: now - 3 * HOUR + 412_000,
    tookMillis: 365,
    tokens: 8_200,
    costMicros: 30_000,
    learnt: [0, 1, 2].map((n) => learntOf(id, n)),
    linked: [
      {
        item: "link/fact_7_0/fact_90_0",
        from: "fact_90_0",
        to: "fact_7_0",
        fromText: "Berth 0 is free.",
        toText: hostile(3),
        why: "same berth"
      }
    ],
    changed: [
      {
        item: "entity/ines",
        ...(takenBack.has("entity/ines") ? { undone: true } : {}),
        what: "profile",
        id: "ines",
        name: "Ines",
        before: ["Answers all day."],
        after: ["Answers in the morning."],
        sources: [{ id: "f/fact_90_1" }]
      }
    ],
    forgotten: [
      {
        item: "episode/entry_3_0",
        what: "journal",
        id: "entry_3_0",
        text: hostile(4),
        reason: "of little importance, and it has become memory",
        sources: []
      }
    ]
  }
}

type Outcome = Answer<"GET /v1/assistants/:id/compactions/:compaction">["outcome"]

const outcomeOf = (n: number): Outcome => {
  const detail = (at: number, text: string, memory?: string) => ({
    kind: (["fact", "name", "number", "date"] as const)[at % 4] ?? "fact",
    text,
    message: `m/${400 + at}/0`,
    ...(memory === undefined ? {} : { memory })
  })
  const lost = Array.from({ length: 11 }, (_, at) =>
    detail(at, `${at === 3 ? hostile(3) : "Berth four until seven"}, ${at}`)
  )
  return {
    lost: n === 1 ? { count: 0, items: [] } : { count: 14, items: lost },
    inMemory: {
      count: 2,
      items: [detail(0, "Ines answers in the morning", "f/fact_7_0"), detail(1, "Ines", "e/ines/a1")]
    },
    inSummary: { count: 1, items: [detail(2, "19:00")] },
    parts: [
      { part: "summary", messages: 1, before: 0, after: 40 },
      { part: "left", role: "user", messages: 20, before: 8_000, after: 0 },
      { part: "left", role: "tool", messages: 20, before: 7_300, after: 0 },
      { part: "kept", messages: 12, before: 4_060, after: 4_060 }
    ]
  }
}

const bound = (tokens: number) => ({ tokens, costMicros: tokens * 4, calls: Math.round(tokens / 1_000) })

const subAgentTree = (id: string): Answer<"GET /v1/assistants/:id/subagents"> => ({
  id,
  state: "awake.awaitingReports",
  granted: bound(200_000),
  spent: bound(61_000),
  reserved: bound(40_000),
  sub_agents_enabled: true,
  sub_agent_budget: 3,
  sub_agents_open: 2,
  tools: ["delegate_task", "send_message", "release_crane", "list_berths"],
  subAgents: [
    {
      id: `${id}.1`,
      state: "awake.thinking.inferring",
      phase: "working",
      task: `Find out which berth is free. ${hostile(1)}`,
      until: Date.now() + HOUR,
      granted: bound(30_000),
      spent: bound(12_000),
      reserved: bound(4_000),
      tools: ["list_berths", "send_message"],
      subAgents: [
        {
          id: `${id}.1.1`,
          state: "retired",
          phase: "reported",
          task: "Ask the tug.",
          granted: bound(8_000),
          spent: bound(2_000),
          reserved: bound(0),
          returned: bound(6_000),
          tools: ["list_berths"],
          subAgents: []
        }
      ]
    },
    {
      id: `${id}.2`,
      state: "halted",
      task: hostile(6),
      granted: bound(10_000),
      spent: bound(9_900),
      reserved: bound(0),
      tools: ["list_berths", "release_crane"],
      subAgents: []
    }
  ]
})

export const nightHandlers: Handlers = {
  "GET /v1/assistants/:id/compactions": (world) => ({
    items: Array.from({ length: 8 }, (_, n) => compactionOf(world.now(), n)),
    current: "compact-0",
    hold: null,
    next: null
  }),
  "GET /v1/assistants/:id/compactions/:compaction": (world, { params }) => {
    const n = Number(params["compaction"]?.split("-")[1] ?? 0)
    return {
      compaction: compactionOf(world.now(), n),
      messages: [],
      outcome: outcomeOf(n),
      compacted: Array.from({ length: 40 }, (_, at) => ({
        no: 400 + at,
        index: 0,
        role: at % 4 === 2 ? ("tool" as const) : at % 2 === 0 ? ("user" as const) : ("assistant" as const),
        content: at % 4 === 1 ? "" : `Which berth is free at six? ${hostile(at)}`,
        at: world.now() - at * 60_000,
        tokens: 20,
        ...(at % 4 === 1 ? { calls: [{ id: "c", tool: "list_berths", arguments: `{"at":"06:00"}` }] } : {})
      }))
    }
  },
  "POST /v1/assistants/:id/compactions/:compaction/undo": (world, { params }) => {
    taken.add(String(params["compaction"]))
    world.audit("night.undo-compaction", String(params["compaction"]))
    return { outcome: "accepted", envelope: "e-4" }
  },
  "GET /v1/assistants/:id/dreams": (world) => ({
    items: Array.from({ length: 6 }, (_, n) => (n === 4 ? ({ odd: hostile(1) } as never) : dreamOf(world.now(), n))),
    schedule: { enabled: true, sleepStartHour: 2, sleepDurationHours: 4, timeZone: "Europe/Berlin" },
    nextAt: world.now() + 5 * HOUR
  }),
  "GET /v1/assistants/:id/dreams/:dream": (world, { params }) => {
    const id = String(params["dream"])
    return (id === WAITING_DREAM ? waitingAccountOf : accountOf)(world.now(), id)
  },
  "POST /v1/assistants/:id/dreams/:dream/accept": (_world, { payload }) => {
    for (const item of (payload as { readonly items?: ReadonlyArray<string> }).items ?? []) accepted.add(item)
    return { outcome: "accepted", envelope: "e-8" }
  },
  "POST /v1/assistants/:id/dreams/:dream/undo": (_world, { params, payload }) => {
    const { items } = payload as { readonly items?: ReadonlyArray<string> }
    if (items === undefined) undone.set(String(params["dream"]), String(payload["reason"]))
    for (const item of items ?? []) takenBack.add(item)
    return { outcome: "accepted", envelope: "e-7" }
  },
  "GET /v1/assistants/:id/reminders": (world) => ({
    items: [
      {
        id: "tea",
        note: "Pour the tea.",
        state: "active",
        timeZone: "Europe/Berlin",
        cron: "0 15 * * *",
        catchUp: "once",
        setBy: "person",
        setAt: world.now() - 5 * HOUR,
        nextAt: world.now() + HOUR,
        sent: 3,
        skipped: 1,
        log: [{ due: world.now() - HOUR, count: 1, outcome: "skipped", reason: "quiet hours", at: world.now() - HOUR }]
      }
    ]
  }),
  "PUT /v1/assistants/:id/reminders/:reminder": (world, { params }) => {
    world.audit("messages.set-reminder", `${String(params["id"])}/${String(params["reminder"])}`)
    return { outcome: "accepted", envelope: "e-5" }
  },
  "DELETE /v1/assistants/:id/reminders/:reminder": (world, { params }) => {
    world.audit("messages.cancel-reminder", `${String(params["id"])}/${String(params["reminder"])}`)
    return { outcome: "accepted", envelope: "e-6" }
  },
  "GET /v1/assistants/:id/subagents": (_world, { params }) => subAgentTree(params["id"] ?? ""),
  "POST /v1/assistants/:id/sub-agents": (world, { params }) => {
    world.audit("sub-agent-tree.delegate", String(params["id"]))
    return { child: `${String(params["id"])}.3`, call: "c-3" }
  },
  "POST /v1/assistants/:id/cancel": (world, { params }) => {
    world.audit("sub-agent-tree.cancel", String(params["id"]))
    return { outcome: "accepted", envelope: "e-5" }
  }
}
