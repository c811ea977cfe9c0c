// Context: what the fake API says of prompts.

import type { ContextKind } from "@reverie/server/api"
import type { Answer } from "../../src/api/contract.ts"
import { dice } from "./dice.ts"
import { hostile } from "./hostile.ts"
import type { FakeAsked, Handlers } from "./world.ts"

type Report = Answer<"GET /v1/assistants/:id/context">

const TICKS = 180
const LIMIT = 24_000
const WINDOW = 32_000

const reportOf = (now: number, tick: number, iteration: number): Report => {
  const { below } = dice(tick * 7 + iteration)
  const history = 400 + ((tick * 173) % 15_000)
  const parts = [
    { id: 0, key: "system_prompt", messages: 1, tokens: 812 },
    { id: 600, key: "core_memory", messages: 1, tokens: 640 + below(60) },
    { id: 700, key: "working_memory", messages: 1, tokens: 210 + below(200) },
    { id: 1000, key: "character_context", messages: 1, tokens: 330 },
    { id: 1500, key: "entity_context", messages: 1, tokens: tick % 3 === 0 ? 0 : 480 + below(90) },
    { id: 2000, key: "semantic_memories", messages: 2, tokens: 700 + below(500) },
    { id: 5000, key: "conversation_history", messages: 8 + below(60), tokens: history },
    { id: 6000, key: "pending_event", messages: 1, tokens: 64 + below(40) },
    ...(iteration > 1 ? [{ id: 7000, key: "tool_result", messages: 2, tokens: 900 + below(800) }] : [])
  ].filter(({ tokens }) => tokens > 0)
  const toolTokens = 1_420
  const tokens = parts.reduce((sum, part) => sum + part.tokens, toolTokens)
  const input = Math.round(tokens * (0.94 + below(12) / 100))
  return {
    tick,
    iteration,
    at: now - (TICKS - tick) * 240_000,
    ok: tick % 29 !== 0,
    model: "harbour-large-2",
    context: "tick_event",
    parts,
    toolTokens,
    tokens,
    limit: LIMIT,
    share: tokens / WINDOW,
    usage: {
      inputTokens: input,
      outputTokens: 40 + below(300),
      cachedInputTokens: Math.round(input * 0.62),
      source: "provider"
    },
    absent: [
      { key: "nearby_talk", reason: "disabled" },
      { key: "goals", reason: "empty" },
      ...(tick % 3 === 0 ? [{ key: "entity_context", reason: "over-memory" as const }] : []),
      { key: "plan_first", reason: "not-in-context" }
    ],
    leftOut: history > 12_000 ? [{ reason: "over-limit", messages: 14, tokens: 3_210 }] : [],
    cuts: iteration > 1 ? [{ role: "tool", call: `${tick}.1.0`, characters: 4_000, of: 18_220 }] : [],
    interrupted: tick % 31 === 0 ? [`${tick}.1.1`] : [],
    recalled: ["f/fact_3_0", `m/${tick - 4}.0`, "j/journal_12", `f/${hostile(tick)}`],
    pattern: { depth: "full", max_iterations: { value: 8, by: "settings" }, tools: { value: "all", by: "context" } }
  }
}

const askedFor = (now: number, { query }: FakeAsked): Report => {
  const tick = Number(query["tick"] ?? TICKS)
  return reportOf(now, tick, Number(query["iteration"] ?? (tick % 4 === 0 ? 2 : 1)))
}

const words =
  "The tide turns at half past four. Berth four is kept free until seven, and the pilot boards before four. "

const contentOf = (key: string, tick: number, n: number): string =>
  key === "conversation_history"
    ? `${n % 2 === 0 ? "Which berth is free at six?" : "Berth four."} ${hostile(n)} (${tick})`
    : `${words.repeat(key === "system_prompt" ? 8 : 2)}\n${hostile(n + tick)}\nas of run ${tick}`

const kindOf = (name: string, isOwn: boolean): ContextKind => ({
  name,
  description: isOwn ? `A kind of its own. ${hostile(3)}` : "Something arrived and is dealt with.",
  isOwn,
  mode: isOwn ? "plan_execute" : "react_loop",
  maxSteps: isOwn ? 2 : 5,
  components: ["system_prompt", "conversation_history", "pending_event", "tool_result"],
  overrides: isOwn ? { system_prompt: `You plan before you act. ${hostile(4)}` } : {},
  tools: isOwn ? ["release_crane"] : null,
  toolCategories: null,
  tokenBudget: isOwn ? 4_000 : null,
  requireApproval: true,
  stopOnFinal: true,
  multiStep: true,
  subAgents: !isOwn,
  timers: isOwn ? ["tide"] : []
})

export const kinds: ReadonlyArray<ContextKind> = [
  kindOf("tick_event", false),
  kindOf("reflection", false),
  kindOf("planning", true)
]

export const contextHandlers: Handlers = {
  "GET /v1/assistants/:id/context-kinds": () => ({ definition: "pilot", items: kinds }),
  "GET /v1/assistants/:id/context": (world, asked) => askedFor(world.now(), asked),
  "GET /v1/assistants/:id/window": () => ({
    tokens: 9_000,
    messages: 40,
    maxTokens: WINDOW,
    share: 9_000 / WINDOW,
    sleepShare: 0.7,
    emergencyShare: 0.8,
    would: { compact: 40, keep: 12 }
  }),
  "GET /v1/assistants/:id/context/memories": (world, asked) => {
    const { recalled, tick } = askedFor(world.now(), asked)
    const owner = asked.params["id"] ?? ""
    return {
      items: recalled.map((id, n) =>
        id.startsWith("m/")
          ? {
              id,
              owner,
              kind: "message" as const,
              tick: tick - 4,
              text: `Berth four is free. ${hostile(n)}`,
              score: 0.81
            }
          : id.startsWith("j/")
            ? { id, owner: "berth-ada-00001", kind: "episode" as const, score: 0.44 }
            : { id, owner, kind: "fact" as const, text: `The pilot boards before four. ${hostile(tick)}`, score: 0.93 }
      )
    }
  },
  "GET /v1/assistants/:id/contexts": (world, { query }) => {
    const before = Number(query["before"] ?? TICKS * 10 + 1)
    const newest = Math.min(TICKS, Math.floor((before - 1) / 10))
    const ticks = Array.from({ length: Math.min(newest, 120) }, (_, n) => newest - n)
    const items = ticks.flatMap((tick) =>
      (tick % 4 === 0 ? [2, 1] : [1]).map((iteration) => {
        const { at, parts, share, tokens } = reportOf(world.now(), tick, iteration)
        const conversationTokens = parts.find(({ key }) => key === "conversation_history")?.tokens ?? 0
        const broken = tick % 6 === 0 ? { broken: { key: "core_memory", how: "changed" } } : {}
        const known = Math.round(tokens * (tick % 6 === 0 ? 0.3 : 0.97))
        const prefix = { tokens: known, share: known / tokens, ...broken }
        return { tick, iteration, at, share, tokens, conversationTokens, context: "tick_event", prefix }
      })
    )
    const last = ticks.at(-1) ?? 1
    return { items, next: last > 1 ? last * 10 : null }
  },
  "GET /v1/assistants/:id/context/compare": (world, { query }) => {
    const of = (tick: string | undefined) => askedFor(world.now(), { params: {}, payload: {}, query: { tick } })
    const [one, other] = [of(query["tick"]), of(query["with"])]
    return { one, other, comparison: { tokensMore: other.tokens - one.tokens } }
  },
  "GET /v1/assistants/:id/prompt": (world, asked) => {
    const { iteration, parts, tick } = askedFor(world.now(), asked)
    return {
      tick,
      iteration,
      parts: parts.map(({ id, key, messages }) => ({
        id,
        key,
        exact: key !== "semantic_memories",
        messages: Array.from({ length: messages }, (_, n) => ({
          role: key === "conversation_history" ? (n % 2 === 0 ? "user" : "assistant") : "system",
          content: contentOf(key, tick, n)
        }))
      })),
      tools: ["send_message", "release_crane", hostile(1)].map((name) => ({
        name,
        description: `Does what it says: ${hostile(2)}`,
        schema: { type: "object", properties: { to: { type: "string" }, text: { type: "string" } }, required: ["to"] }
      }))
    }
  }
}
