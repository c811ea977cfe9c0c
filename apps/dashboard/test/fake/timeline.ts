// Timeline: a life of a hundred thousand ticks, made as it is asked for.

import type { Answer } from "../../src/api/contract.ts"
import { dice } from "./dice.ts"
import { hostile } from "./hostile.ts"
import type { Handlers } from "./world.ts"

type View = Answer<"GET /v1/assistants/:id/ticks/:tick">

/** How far it has come; a test may let it grow. */
export const life = { ticks: 100_000 }
const COMMITS = 5
const SPACE_MILLIS = 95_000

const asks = [
  "Which berth is free at six?",
  "The Ada Lovelace is two hours late.",
  "Please tell the tug.",
  "What did the customs office say?",
  "Wind is up to nine metres a second."
]
const replies = [
  "Berth four is free until seven.",
  "I have told the pilot, and the crane waits.",
  "The tug is on its way.",
  "They ask for the manifest again; I have sent it.",
  "Then the crane rests until it is below eight."
]

const kindOf = (n: number): View["kind"] =>
  n % 53 === 7 ? "order" : n % 31 === 5 ? "compaction" : n % 17 === 3 ? "dream" : "tick"

const night = (n: number, at: number): Pick<View, "models" | "tools" | "steps" | "states" | "iterations"> => ({
  iterations: 0,
  models: [],
  tools: [],
  steps: (kindOf(n) === "dream" ? ["consolidating", "linking", "profiling"] : ["extracting", "summarizing"]).map(
    (name, step) => ({
      name,
      kind: kindOf(n) === "dream" ? "dream" : "compact",
      at: at + 2_000 * (step + 1),
      ok: n % 5 !== 0 || step !== 1,
      elapsedMs: 1_400,
      note: step === 1 ? `the model answered 529: ${hostile(n)}` : "12 read, 3 kept"
    })
  ),
  states: [{ at, state: kindOf(n) === "dream" ? "dreaming.consolidating" : "compacting.extracting" }]
})

const day = (
  n: number,
  at: number,
  isWhole: boolean
): Pick<View, "models" | "tools" | "steps" | "states" | "iterations"> => {
  const { below, next } = dice(n)
  const took = 800 + below(4_000)
  const hasTool = next() < 0.6
  const model = { model: "harbour-large-2", ok: true }
  const usage = (input: number) => ({
    inputTokens: input,
    outputTokens: 30 + below(200),
    cachedInputTokens: Math.round(input * 0.6),
    source: "provider" as const
  })
  return {
    iterations: hasTool ? 2 : 1,
    models: [
      {
        ...model,
        iteration: 1,
        at: at + 200 + took,
        elapsedMs: took,
        ...(n % 2 === 0 ? { firstTokenMs: Math.round(took * 0.3) } : {}),
        usage: usage(4_000 + below(9_000)),
        costMicros: 4_000 + below(40_000),
        finishReason: hasTool ? "tool_calls" : "stop",
        text: hasTool ? "" : hostile(n)
      },
      ...(hasTool
        ? [
            {
              ...model,
              iteration: 2,
              at: at + took * 2.4,
              elapsedMs: took,
              usage: usage(9_000),
              costMicros: 9_000,
              finishReason: "stop"
            }
          ]
        : [])
    ],
    tools: hasTool
      ? [
          {
            call: `${n}.1.0`,
            tool: n % 3 === 0 ? "release_crane" : "list_berths",
            at: at + took * 1.35,
            ok: n % 11 !== 0,
            elapsedMs: Math.round(took * 0.2),
            arguments: JSON.stringify({ at: "06:00", note: hostile(n) }),
            ...(n % 41 === 0
              ? { pending: true }
              : { result: JSON.stringify({ free: ["B4"], note: hostile(n + 2).repeat(isWhole ? 40 : 1) }) })
          }
        ]
      : [],
    steps:
      n % 4 === 0
        ? [{ name: "depth", kind: "assess", at: at + 180, ok: true, elapsedMs: 160, note: "a plain question" }]
        : [],
    states: [
      "awake.assessing.weighing",
      "awake.thinking.inferring",
      ...(hasTool ? ["awake.acting.running"] : []),
      "awake.idle"
    ].map((state, step) => ({ at: at + step * 300, state }))
  }
}

/** A tick that a person was asked in, and that handed a task on: half a minute of waiting, and some seconds of work. */
const longTick = (at: number): Pick<View, "models" | "tools" | "steps" | "states" | "iterations"> => {
  const call = (iteration: number, ended: number) => ({
    iteration,
    at: at + ended,
    ok: true,
    model: "harbour-large-2",
    elapsedMs: 900,
    ...(iteration === 1 ? { firstTokenMs: 300 } : {}),
    usage: { inputTokens: 9_000, outputTokens: 120, cachedInputTokens: 6_000, source: "provider" as const },
    costMicros: 9_000,
    finishReason: iteration < 3 ? "tool_calls" : "stop"
  })
  const run = (tool: string, ended: number) => ({ call: tool, tool, at: at + ended, ok: true, elapsedMs: 40 })
  return {
    iterations: 3,
    models: [call(1, 950), call(2, 38_200), call(3, 44_400)],
    tools: [
      { ...run("release_crane", 37_100), arguments: '{"crane":"C2"}', result: "released" },
      {
        ...run("delegate_task", 38_300),
        arguments: '{"task":"Count the ships"}',
        result: "Nine.",
        resultAt: at + 43_400
      }
    ],
    steps: [
      {
        name: "child/1",
        kind: "child",
        at: at + 38_400,
        ok: true,
        elapsedMs: 20,
        child: { id: SUB_AGENT, call: "delegate_task" }
      }
    ],
    states: (
      [
        [0, "awake.thinking.inferring"],
        [960, "awake.awaitingApproval"],
        [37_050, "awake.acting.running"],
        [37_110, "awake.thinking.inferring"],
        [38_210, "awake.acting.running"],
        [38_410, "awake.awaitingReports"],
        [43_400, "awake.thinking.inferring"],
        [44_420, "awake.idle"]
      ] as const
    ).map(([after, state]) => ({ at: at + after, state }))
  }
}

const SUB_AGENT = "sub-agent-1"
/** The tick that is long. */
export const LONG_TICK = 99_944

/** What the sub-agent of the long tick did meanwhile. */
const subAgentTick = (at: number): View => ({
  kind: "tick",
  tick: 1,
  from: 1,
  to: 3,
  beganAt: at + 38_500,
  endedAt: at + 43_300,
  outcome: "answered",
  iterations: 1,
  sender: "berth-ada-00004",
  text: "Count the ships",
  waitMs: 30,
  models: [
    {
      iteration: 1,
      at: at + 43_200,
      ok: true,
      model: "harbour-small-1",
      elapsedMs: 4_600,
      firstTokenMs: 1_200,
      usage: { inputTokens: 2_000, outputTokens: 60, source: "provider" },
      costMicros: 700
    }
  ],
  tools: [],
  steps: [],
  states: [{ at: at + 38_500, state: "awake.thinking.inferring" }]
})

const viewOf = (now: number, n: number, isWhole = false): View => {
  const kind = kindOf(n)
  const at = now - 4_000 - (life.ticks - n) * SPACE_MILLIS
  const inside = n === LONG_TICK ? longTick(at) : kind === "tick" ? day(n, at, isWhole) : night(n, at)
  const last = Math.max(at, ...inside.models.map((each) => each.at), ...inside.steps.map((each) => each.at))
  const isUnderWay = n === life.ticks || inside.tools.some(({ pending }) => pending === true)
  const outcome = n % 11 === 0 ? "failed" : n % 23 === 0 ? "max-iterations" : "answered"
  const base = { kind, tick: n, from: (n - 1) * COMMITS + 1, to: n * COMMITS, beganAt: at, ...inside }
  if (kind === "order") {
    // To resume has no words.
    const said = n % 2 === 0 ? { text: "halt" } : {}
    const states = [{ at, state: n % 2 === 0 ? "halted" : "awake.idle" }]
    return { ...base, sender: "user:harbour-master", ...said, endedAt: at, steps: [], states }
  }
  if (kind !== "tick") return { ...base, endedAt: last }
  return {
    ...base,
    sender: n % 3 === 0 ? "user:harbour-master" : n % 7 === 0 ? hostile(n) : "assistant:pilot-ada-00010",
    text: `${asks[n % asks.length] ?? ""} ${n % 5 === 0 ? hostile(n) : ""}`.trim(),
    waitMs: n % 6 === 0 ? 900_000 : n % 50 === 1 ? 12 : 340 + (n % 9) * 700,
    ...(isUnderWay
      ? {}
      : { endedAt: last + 20, outcome, reply: outcome === "answered" ? (replies[n % replies.length] ?? "") : "" })
  }
}

export const timelineHandlers: Handlers = {
  "GET /v1/assistants/:id/ticks": (world, { params, query }) => {
    if (params["id"] === SUB_AGENT) {
      return { items: [subAgentTick(viewOf(world.now(), LONG_TICK).beganAt)], next: null }
    }
    const newest = Math.min(life.ticks, Math.floor((Number(query["before"] ?? life.ticks * COMMITS + 1) - 1) / COMMITS))
    const length = Math.min(newest, Number(query["limit"] ?? 50))
    const items = Array.from({ length }, (_, at) => viewOf(world.now(), newest - at))
    const last = items.at(-1)?.from ?? 1
    return { items, next: last > 1 ? last : null }
  },
  "GET /v1/assistants/:id/modes": (world) => ({
    from: world.now() - 3_600_000,
    millis: { idle: 3_000_000, thinking: 480_000, acting: 120_000 }
  }),
  "GET /v1/assistants/:id/ticks/:tick": (world, { params }) => {
    const n = Number(params["tick"])
    if (!(n >= 1 && n <= life.ticks)) throw world.failure(404, "NotFound", `there is no tick ${n}`)
    return viewOf(world.now(), n, true)
  }
}
