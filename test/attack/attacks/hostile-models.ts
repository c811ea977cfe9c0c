// Every way in which a model server can misbehave, over each of the four wires: Chat Completions, Responses, an object of the AI
// SDK and one with an async `infer`. Each assistant has one such server, and answers once it has become a good one.
// H1  A tick ends or waits in bounded time, after a bounded number of requests for each call of its model. A machine that is busy
//     with other work may take longer, in proportion to what a neighbour with a good model takes meanwhile, or to what most modes take:
//     one that hangs does so alone. No machine is so busy that a tick may take longer than objects may.
// H2  The table names each mode on each wire: what came of its tick, after how long, and what it cost.

import {
  type HostileModeName,
  hostileModeNames,
  hostileModes,
  type ModelServer,
  startModelServer
} from "@reverie/testkit/model-server"
import { postTo, untilAnswered } from "../answers.ts"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Client, Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { NEIGHBOURS } from "../neighbours.ts"
import { rowsUntil } from "../outage-views.ts"
import type { Scene } from "../scene.ts"
import { spokenScript } from "../spoken.ts"

/** How long a tick may take: servers have a deadline of 3 s in this fleet, objects the one of every object. */
const wires = { chat: 20, responses: 20, "ai-sdk": 150, promise: 150 } as const
type Wire = keyof typeof wires

const isObject = (wire: Wire): boolean => wires[wire] > 100

/** So many times what a neighbour takes, where that is more: on a machine with nothing else to do it takes a second. */
const TIMES_A_NEIGHBOUR = 10

/** So many times what half of the modes take. */
const TIMES_THE_MEDIAN = 3
const MOST_SECONDS = 150
const allowedBeside = (medianSeconds: number = MOST_SECONDS): number =>
  Math.min(MOST_SECONDS, Math.round(TIMES_THE_MEDIAN * medianSeconds))

/** Two rounds of three attempts. */
const REQUESTS_PER_CALL = 6
/** As many as a tick may make, and one for each pause of one that waits, which doubles. */
const MOST_CALLS = 12
/** So many, and no more is waited for. */
const FAR_TOO_MANY = 200

const ANSWER_MILLIS = 60_000
const NEIGHBOURS_MILLIS = 30_000
const LOOK_MILLIS = 500
/** Of a short run: each so many. */
const EVERY = 6

/** Of an object these last as long as its deadline, which is that of every object. */
const isSlow = (mode: HostileModeName): boolean => {
  const { leadsTo } = hostileModes[mode]
  return ("kind" in leadsTo && ["timeout", "idle"].includes(leadsTo.kind)) || slowOfObjects.has(mode)
}

const slowOfObjects: ReadonlySet<HostileModeName> = new Set([
  "error-body-hangs",
  "stream-error-data",
  "stream-after-finish-hangs",
  "stream-error-event",
  // Not their deadline, but the reading of megabytes that programs do.
  "body-oversize",
  "stream-one-line"
])

interface Entry {
  readonly at: number
  readonly step?: { readonly kind: string; readonly ok: boolean }
  readonly tickEnd?: { readonly outcome: string }
}

/** What came of one tick, by the ledger and by its server. */
interface Outcome {
  readonly end: string
  readonly seconds: number
  readonly requests: number
  readonly calls: number
}

/** Asked once more where a kept connection was closed at that moment. */
const patiently = <A>(ask: () => Promise<A>): Promise<A> => ask().catch(() => pause(LOOK_MILLIS).then(ask))

const entriesOf = async (client: Client, id: string): Promise<ReadonlyArray<Entry>> => {
  const { items } = (await patiently(() => client.json(`/v1/assistants/${id}/entries?from=1&limit=200`))) as {
    readonly items: ReadonlyArray<Entry & { readonly entry?: Entry }>
  }
  return items.map((item) => item.entry ?? item)
}

const outcomeOf = async (
  client: Client,
  id: string,
  { requests: { length: requests } }: ModelServer
): Promise<Outcome | undefined> => {
  const entries = await entriesOf(client, id)
  const isInfer = ({ step }: Entry): boolean => step?.kind === "infer"
  const last = entries.find((entry) => entry.tickEnd !== undefined || (isInfer(entry) && entry.step?.ok === false))
  if (last === undefined) return undefined
  const seconds = Math.round((last.at - (entries[0]?.at ?? last.at)) / 100) / 10
  return { end: last.tickEnd?.outcome ?? "waits", seconds, requests, calls: entries.filter(isInfer).length }
}

type Servers = ReadonlyMap<HostileModeName, ModelServer>

const isFarTooMany = ({ requests }: ModelServer): boolean => requests.length > FAR_TOO_MANY

/** Waits until all ticks have ended or wait; then tells what came of each. */
const settled = async (client: Client, servers: Servers, allowedSeconds: () => number) => {
  const begun = performance.now()
  const left = new Set(servers.keys())
  const secondsNow = () => (performance.now() - begun) / 1_000
  let median: number | undefined
  const isInTime = () => secondsNow() < Math.max(allowedSeconds(), allowedBeside(median))
  while (left.size > 0 && isInTime() && ![...servers.values()].some(isFarTooMany)) {
    await pause(LOOK_MILLIS)
    for (const { id, state } of await patiently(() => rowsUntil(client, 0, () => true))) {
      const mode = id as HostileModeName
      const server = left.has(mode) && !state.endsWith("inferring") ? servers.get(mode) : undefined
      if (server !== undefined && (await outcomeOf(client, id, server)) !== undefined) left.delete(mode)
    }
    if (left.size < servers.size / 2) median ??= secondsNow()
  }
  const outcomes = new Map<HostileModeName, Outcome>()
  for (const [mode, server] of servers) {
    const outcome = await outcomeOf(client, mode, server)
    if (outcome !== undefined) outcomes.set(mode, outcome)
  }
  return outcomes
}

/** A person sees to those that are halted or wait, whatever time their server had named. */
const resumed = async (client: Client): Promise<void> => {
  const order = (id: string, name: string) =>
    client.status(`/v1/assistants/${id}/orders`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ order: name })
    })
  const rows = await patiently(() => rowsUntil(client, 0, () => true))
  for (const { id, state } of rows.filter((row) => row.state !== "awake.idle")) {
    if (state !== "halted") await order(id, "halt")
    await order(id, "resume")
  }
}

interface Usage {
  readonly key: string
  readonly [figure: string]: unknown
}

const unboundFigures = async (client: Client): Promise<ReadonlyArray<string>> => {
  const { items } = (await client.json("/v1/usage?by=assistant&limit=200")) as { readonly items: ReadonlyArray<Usage> }
  return items.flatMap(({ key, ...figures }) =>
    Object.entries(figures)
      .filter(([, value]) => !Number.isSafeInteger(value) || Number(value) < 0 || Number(value) > 1e12)
      .map(([name, value]) => `${key}.${name} = ${String(value)}`)
  )
}

const told = (found: ReadonlyArray<string>, all: number): string =>
  found.length === 0 ? `all ${all}` : `not ${found.slice(0, 8).join(", ")}`

interface Lived {
  readonly wire: Wire
  readonly outcomes: ReadonlyMap<HostileModeName, Outcome>
  readonly checks: ReadonlyArray<Check>
  readonly judged: Omit<Finding, "checks">
}

const checksOf = (
  wire: Wire,
  allowedSeconds: number,
  servers: Servers,
  outcomes: Lived["outcomes"]
): ReadonlyArray<Check> => {
  const modes = [...servers.keys()]
  const seconds = modes.map((mode) => outcomes.get(mode)?.seconds ?? Infinity).toSorted((one, other) => one - other)
  const median = seconds[Math.floor(seconds.length / 2)] ?? Infinity
  const allowed = Math.max(allowedSeconds, allowedBeside(median))
  const late = modes.filter((mode) => (outcomes.get(mode)?.seconds ?? Infinity) > allowed)
  const costly = [...servers].flatMap(([mode, server]) => {
    const { calls = 0, requests = server.requests.length } = outcomes.get(mode) ?? {}
    // One more may be under way.
    const isBounded = requests <= REQUESTS_PER_CALL * (calls + 1) && calls <= MOST_CALLS
    return isBounded ? [] : [`${mode}: ${requests} for ${calls} calls`]
  })
  const most = Math.max(...[...outcomes.values()].map(({ requests }) => requests))
  return [
    {
      says: `${wire}: each tick ends or waits within ${allowed} s`,
      ok: late.length === 0,
      seen: told(late, modes.length)
    },
    {
      says: `${wire}: at most ${REQUESTS_PER_CALL} requests a call and ${MOST_CALLS} calls a tick`,
      ok: costly.length === 0,
      seen: `${told(costly, modes.length)}; at most ${most} requests`
    }
  ]
}

const live = async (
  scene: Scene,
  wire: Wire,
  modes: ReadonlyArray<HostileModeName>,
  servers: Servers
): Promise<Lived> => {
  const urls = Object.fromEntries([...servers].map(([mode, { url }]) => [mode, url]))
  const server = await scene.serve({
    fleet: "hostile.ts",
    data: `${scene.data}-${wire}`,
    env: { REVERIE_ATTACK_WIRE: wire, REVERIE_ATTACK_MODES: JSON.stringify(urls) }
  })
  const { client } = server
  const first = await postTo(server, "hostile", modes)
  const beside = await postTo(server, "beside", NEIGHBOURS)
  let allowedSeconds: number = wires[wire]
  const calm = untilAnswered(client, beside, NEIGHBOURS_MILLIS).then((waited) => {
    allowedSeconds = Math.max(allowedSeconds, Math.round(TIMES_A_NEIGHBOUR * waited.seconds))
    return waited
  })
  const [outcomes, neighbours] = await Promise.all([settled(client, servers, () => allowedSeconds), calm])
  for (const each of servers.values()) each.become({ script: spokenScript })
  await resumed(client)
  const next: ReadonlyArray<Posted> = await postTo(server, "good", modes)
  const { left } = await untilAnswered(client, next, ANSWER_MILLIS)
  const posted = [...first, ...beside, ...next]
  const judged = await judge(client, posted, { guilty: new Set(first.map(({ id }) => id)) })
  const unbound = await patiently(() => unboundFigures(client))
  const hasEnded = server.hasEnded()
  await server.stop()
  return {
    wire,
    outcomes,
    judged,
    checks: [
      { says: `${wire}: the process lives on`, ok: !hasEnded },
      ...checksOf(wire, allowedSeconds, servers, outcomes),
      {
        says: `${wire}: neighbours are answered meanwhile within ${NEIGHBOURS_MILLIS / 1_000} s`,
        ok: neighbours.left.length === 0 && beside.length === NEIGHBOURS.length,
        seen: `${neighbours.seconds} s`
      },
      {
        says: `${wire}: the next good message is answered`,
        ok: left.length === 0 && next.length === modes.length,
        seen: told(
          left.map(({ assistant }) => assistant),
          next.length
        )
      },
      {
        says: `${wire}: each figure of usage is a bounded whole number`,
        ok: unbound.length === 0,
        seen: unbound.join()
      }
    ]
  }
}

const onWire = async (scene: Scene, wire: Wire, isShort: boolean): Promise<Lived> => {
  const whole = hostileModeNames.filter((mode) => !isShort || !isObject(wire) || !isSlow(mode))
  const modes = whole.filter((_, at) => !isShort || at % EVERY === 0)
  const servers = new Map<HostileModeName, ModelServer>()
  try {
    for (const mode of modes) servers.set(mode, await startModelServer({ mode }))
    return await live(scene, wire, modes, servers)
  } finally {
    await Promise.all([...servers.values()].map((each) => each.close()))
  }
}

const tableOf = (lives: ReadonlyArray<Lived>): NonNullable<Finding["table"]> =>
  Object.fromEntries(
    hostileModeNames.map((mode) => [
      mode,
      Object.fromEntries(
        lives.flatMap(({ outcomes, wire }) => {
          const { calls, end, requests, seconds } = outcomes.get(mode) ?? {}
          return end === undefined ? [] : [[wire, `${end}, ${seconds} s, ${requests} requests, ${calls} calls`]]
        })
      )
    ])
  )

const sum = (lives: ReadonlyArray<Lived>, figure: "acknowledged" | "lost" | "duplicated" | "innocents"): number =>
  lives.reduce((all, { judged }) => all + judged[figure], 0)

const askAll = async (scene: Scene, { isShort }: { readonly isShort: boolean }): Promise<Finding> => {
  const lives = await Promise.all(
    (Object.keys(wires) as ReadonlyArray<Wire>).map((wire) => onWire(scene, wire, isShort))
  )
  return {
    acknowledged: sum(lives, "acknowledged"),
    lost: sum(lives, "lost"),
    duplicated: sum(lives, "duplicated"),
    innocents: sum(lives, "innocents"),
    checks: [
      { says: "there are 40 modes at least", ok: hostileModeNames.length >= 40, seen: `${hostileModeNames.length}` },
      ...lives.flatMap(({ checks }) => checks)
    ],
    table: tableOf(lives)
  }
}

export const hostileModels: ReadonlyArray<Attack> = [
  {
    name: "hostile-models",
    item: 16,
    says: `${hostileModeNames.length} ways in which a model server misbehaves, over each of four wires`,
    isShort: true,
    run: askAll
  }
]
