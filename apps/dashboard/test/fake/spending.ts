// Spending: what the fake API says of use and of budgets.

import type { Answer } from "../../src/api/contract.ts"
import { hostile } from "./hostile.ts"
import type { FakeAsked, Handlers, World } from "./world.ts"

const HOUR = 3_600_000

const keysBy = {
  assistant: ({ rows }: World) => rows.slice(0, 40).map(({ id }) => id),
  model: () => ["gpt-5-mini", "qwen3:8b", hostile(2)],
  purpose: () => ["answer", "compact", "dream"],
  hour: ({ now }: World) => [2, 1, 0].map((ago) => new Date(now() - ago * HOUR).toISOString())
}

const amounts = ["calls", "tokens", "costMicros", "unpricedCalls"] as const
type Point = NonNullable<Answer<"GET /v1/usage">["series"]>["points"][number]

const pointOf = (at: number, n: number): Point => ({
  at,
  calls: 3 + n,
  tokens: 12_400 + 7 * n,
  costMicros: n % 3 === 1 ? 0 : 4_100 * (n + 1),
  unpricedCalls: n % 3 === 1 ? 3 + n : n % 3
})

const added = (points: ReadonlyArray<Point>, at: number): Point =>
  points.reduce(
    (sum, point) => ({ at, ...Object.fromEntries(amounts.map((name) => [name, sum[name] + point[name]])) }) as Point,
    { at, calls: 0, tokens: 0, costMicros: 0, unpricedCalls: 0 }
  )

const useOf = (points: ReadonlyArray<Point>) => {
  const { at: _, ...sum } = added(points, 0)
  return {
    ...sum,
    inputTokens: sum.tokens,
    cachedTokens: Math.floor(sum.tokens * 0.6),
    outputTokens: 0,
    reasoningTokens: 0
  }
}

const usage = (world: World, { query }: FakeAsked): Answer<"GET /v1/usage"> => {
  const by = (query["by"] ?? "assistant") as keyof typeof keysBy
  const filter = by === "hour" ? undefined : query[by]
  const keys = filter === undefined ? keysBy[by](world) : [filter]
  const step = (query["step"] ?? "hour") as "hour" | "day"
  const millis = step === "day" ? 24 * HOUR : HOUR
  const last = Math.floor(world.now() / millis) * millis
  const items = keys.map((key, n) => {
    const points = [5, 1, 0].map((ago) => pointOf(last - ago * millis, n))
    return { key, ...useOf(points), points }
  })
  const places = [5, 1, 0].map((ago) => last - ago * millis)
  const series = places.map((at) =>
    added(
      items.flatMap(({ points }) => points.filter((point) => point.at === at)),
      at
    )
  )
  // Two pages, where nothing is asked over time.
  const isPaged = query["step"] === undefined && keys.length > 10
  const shown = isPaged ? (query["cursor"] === undefined ? items.slice(0, 10) : items.slice(10)) : items
  return {
    from: Number(query["from"] ?? world.now() - 24 * HOUR),
    to: null,
    by,
    items: shown,
    total: useOf(series),
    next: isPaged && query["cursor"] === undefined ? (keys[9] ?? null) : null,
    ...(query["step"] === undefined ? {} : { series: { step, points: series } })
  }
}

type TenantLimits = Answer<"GET /v1/budgets">["tenant"]
const DEFINED = { tokensPerDay: 4_000_000, concurrentCalls: 8 } as const
const limitsSet = new WeakMap<World, TenantLimits["set"]>()

const limitsOf = (world: World): TenantLimits => {
  const set = limitsSet.get(world) ?? {}
  return {
    limits: { ...DEFINED, ...set },
    set,
    defined: DEFINED,
    inMinute: { tokens: 900, costMicros: 0, calls: 2 },
    inDay: { tokens: 1_250_000, costMicros: 0, calls: 90 },
    underWay: 2
  }
}

type Bound = Answer<"GET /v1/budgets">["items"][number]["granted"]
const set = new WeakMap<World, Map<string, Bound>>()

const budgets = (world: World): Answer<"GET /v1/budgets"> => {
  const known = set.get(world) ?? new Map<string, Bound>()
  const first = world.rows
    .slice(0, 3)
    .map(({ id }, n) => [id, { tokens: 50_000 * (n + 1), costMicros: null, calls: n }] as const)
  const items = [...new Map<string, Bound>([...first, ...known])].map(([assistant, granted]) => {
    const spent = { tokens: 41_000, costMicros: 90_000, calls: 0 }
    const share = granted.tokens === null ? 0 : Math.min(1, spent.tokens / granted.tokens)
    const day = { tokens: 8_000, costMicros: 12_000, calls: 4, unpricedCalls: 0 }
    const reserved = { tokens: 0, costMicros: 0, calls: 0 }
    return { assistant, granted, spent, reserved, share, day, endsAt: world.now() + 30 * HOUR }
  })
  return {
    items,
    matched: items.length,
    tenant: limitsOf(world)
  }
}

export const spendingHandlers: Handlers = {
  "GET /v1/usage": usage,
  "GET /v1/budgets": budgets,
  "PUT /v1/limits": (world, { payload }) => {
    const all = Object.entries({ ...limitsSet.get(world), ...payload })
    limitsSet.set(world, Object.fromEntries(all.filter(([, most]) => most !== null)))
    return limitsOf(world)
  },
  "PUT /v1/assistants/:id/budget": (world, { params, payload }) => {
    const { id: _, ...bound } = payload
    const known = set.get(world) ?? new Map<string, Bound>()
    set.set(world, known.set(String(params["id"]), bound as unknown as Bound))
    return { outcome: "accepted", envelope: "e-9" }
  }
}
