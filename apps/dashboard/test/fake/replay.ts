// Replay: frames of the fake life, a verdict, forks, and the prompt registry that a tried prompt goes into.

import type { Frame } from "@reverie/server/api"
import { hostile } from "./hostile.ts"
import type { Handlers } from "./world.ts"

const COMMITS = 39_000

const PROMPT_KEY = "instructions.berth"
/** What was written into the registry, the oldest first. */
/** A template that is built in, and what was written over it. */
const FOOTER = "footer"
const footers: Array<string> = []
const footerNow = () => ({
  key: FOOTER,
  name: "Footer",
  category: "layout",
  description: `What stands last. ${hostile(4)}`,
  text: footers.at(-1) ?? "Answer in one sentence.",
  builtin: footers.length === 0,
  version: footers.length
})

const written: Array<string> = []

const cycle = [
  ["message", "awake.idle", "awake.assessing.weighing"],
  ["assessed", "awake.assessing.weighing", "awake.thinking.inferring"],
  ["inferred", "awake.thinking.inferring", "awake.acting.running"],
  ["executed", "awake.acting.running", "awake.thinking.inferring"],
  ["inferred", "awake.thinking.inferring", "awake.idle"]
] as const

const snapshotOf = (no: number, state: string) => ({
  value: state,
  context: {
    tick: Math.ceil(no / cycle.length),
    iteration: no % cycle.length,
    spent: { tokens: no * 311, calls: Math.ceil(no / 2) },
    note: hostile(Math.ceil(no / 4)),
    approvals: []
  }
})

const frameOf = (now: number, no: number, snapshots: boolean): Frame => {
  const [event, before, after] = cycle[(no - 1) % cycle.length] ?? cycle[0]
  const isStep = event !== "message"
  return {
    no,
    tick: Math.ceil(no / cycle.length),
    iteration: no % cycle.length < 4 ? 1 : 2,
    at: now - (COMMITS - no) * 20_000,
    cause: isStep ? `job ${no - 1}/${event}` : `envelope e-${no}`,
    event: no % 97 === 0 ? hostile(1) : event,
    before,
    after,
    commands:
      event === "message"
        ? ["StartJob assess", "SetTimer patience"]
        : after === "awake.idle"
          ? []
          : [`StartJob ${hostile(no % 9)}`],
    ...(isStep
      ? {
          step: {
            name: event === "executed" ? "release_crane" : "harbour-large-2",
            kind: event === "executed" ? "tool" : "infer",
            ok: no % 13 !== 0
          }
        }
      : {}),
    bytes: 2_048 + (no % 700),
    hash: (no * 2_654_435_761).toString(16).padStart(64, "0"),
    ...(snapshots ? { snapshot: snapshotOf(no, after) } : {})
  }
}

const digest = (reply: string, tokens: number) => ({
  tick: 12,
  envelope: "e-12",
  outcome: "answered",
  reply,
  iterations: 2,
  models: ["harbour-large-2"],
  modelCalls: 2,
  failures: [],
  calls: [
    {
      id: "12.1.0",
      tool: "release_crane",
      arguments: `{"crane":"C-1"}`,
      result: hostile(1),
      answeredBy: tokens > 9_000 ? "stub" : "record"
    }
  ],
  tokens: { input: tokens, output: 210 },
  costMicros: tokens * 3,
  unpricedCalls: 0,
  sends: [{ to: "tug-bo-00002", type: "message", text: hostile(2) }],
  contexts: [
    {
      iteration: 1,
      tokens,
      parts: [
        { key: "system_prompt", tokens: tokens > 9_000 ? 1_204 : 812, messages: 1, id: 0 },
        { key: "conversation_history", tokens: 5_200, messages: 30, id: 5000 }
      ]
    }
  ]
})

export const replayHandlers: Handlers = {
  "GET /v1/assistants/:id/replay": (world, { query }) => {
    const from = Math.max(1, Number(query["from"] ?? 1))
    const limit = Number(query["limit"] ?? 50)
    const { untilEvent, untilState } = query
    const items: Array<Frame> = []
    for (let no = from; no <= COMMITS && items.length < limit; no += 1) {
      const frame = frameOf(world.now(), no, query["snapshots"] === "true")
      items.push(frame)
      const isThere =
        untilState !== undefined && (frame.after === untilState || frame.after.startsWith(`${untilState}.`))
      if (isThere || (untilEvent !== undefined && frame.event === untilEvent)) break
    }
    const last = items.at(-1)?.no ?? COMMITS
    return { items, next: last < COMMITS ? last + 1 : null }
  },
  "GET /v1/assistants/:id/replay/verify": (_world, { params }) =>
    params["id"]?.startsWith("tug") === true
      ? {
          commits: COMMITS,
          equal: false,
          modelCalls: 0,
          toolCalls: 0,
          differsAt: 412,
          difference: `context.spent: ${hostile(1)}`
        }
      : { commits: COMMITS, equal: true, modelCalls: 0, toolCalls: 0 },
  "POST /v1/assistants/:id/forks": (world, { payload }) => {
    const { model, prompt, results, stubs, tick } = payload
    if (model === "away") throw world.failure(400, "Malformed", `no model away is here ${hostile(1)}`)
    if (Number(tick) > 90_000 && Number(tick) % 11 === 0)
      throw world.failure(409, "Conflict", `tick ${String(tick)} is a team's: ${hostile(2)}`)
    const original = digest("Berth four is free until seven.", 8_412)
    return prompt === undefined && stubs === undefined && results === undefined
      ? { original, forked: original, differs: [] }
      : {
          original,
          forked: digest(`Berth four is taken until seven. ${hostile(0)}`, 9_604 + (Number(tick) % 3)),
          differs: ["reply", "tokens", "cost", "context"]
        }
  },
  "GET /v1/assistants/:id/forks/:tick": (world, { params }) => {
    const tick = Number(params["tick"])
    if (tick > 200_000) throw world.failure(404, "NotFound", `there is no tick ${tick}`)
    const instructions = `You look after the berths {of} the harbour.\n${hostile(3)}`
    return { tick, definition: "berth", instructions, promptKey: PROMPT_KEY }
  },
  "POST /v1/assistants/:id/eval-cases": (_world, { payload }) => {
    const { expected, expectedTools, name, ...rest } = payload
    const lists = { expected, expectedTools } as { readonly expected?: ReadonlyArray<string> }
    return { name: String(name), input: JSON.stringify({ v: 1, kind: "tick", ...rest }), ...lists }
  },
  "GET /v1/prompts": () => {
    const text = written.at(-1)
    const template = { key: PROMPT_KEY, name: "Instructions of berth", builtin: false, version: written.length }
    return { items: [...(text === undefined ? [] : [{ ...template, text }]), footerNow()] }
  },
  "PUT /v1/prompts/:key": (world, { params, payload }) => {
    if (params["key"] === FOOTER) return { version: footers.push(String(payload["text"])) }
    if (payload["expected"] !== written.length) throw world.failure(409, "Conflict", "a newer version is there")
    return { version: written.push(String(payload["text"])) }
  },
  "GET /v1/prompts/:key/history": (world, { params }) => ({
    items: (params["key"] === FOOTER ? footers : written)
      .map((content, at) => ({
        version: at + 1,
        at: world.now() - 60_000,
        change: "written" as const,
        definition: { content }
      }))
      .toReversed()
  }),
  "POST /v1/prompts/:key/undo": (_world, { params }) => {
    if (params["key"] === FOOTER) footers.pop()
    else written.pop()
    return {}
  }
}
