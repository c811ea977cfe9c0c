// Queues: the group about what waits to be worked on, and dead letters.
// Owns joining what the mailboxes hold with what the servers behind them count. Leaves both to the fleet.
// K1  A tenant sees its own mailboxes; figures of the whole store only the tenant that the process is opened for.
// K2  Who works is said as far as the queue knows: where it can not say, nothing is said, never that no one works. What
//     each holds is known of a process that works alone.
// K3  Figures and dead letters of one answer are of one moment: who asks for both sees them agree.

import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { FleetRole } from "reverie"
import { Api } from "../api/index.ts"
import { asking, changing, Gateway, type ReadFleet } from "../gateway.ts"
import { Live } from "../live.ts"

// QueueFigures: what a server of queues counts, read out of the measurements.
// Q1  A line that is not understood is left out.

interface QueueFigures {
  readonly name: string
  readonly waiting: number
  readonly active: number
  readonly delayed: number
  readonly failed: number
  readonly completed?: number
  readonly paused: boolean
}

/** States in which a job waits for a worker. */
const waitingStates = new Set(["waiting", "prioritized", "wait", "waiting-children"])

const queuesIn = (metrics: string): ReadonlyArray<QueueFigures> => {
  const queues = new Map<string, Map<string, number>>()
  for (const [, labels = "", value] of metrics.matchAll(/^bullmq_job_count\{([^}]*)\} (\d+)/gm)) {
    const name = /queue="([^"]*)"/.exec(labels)?.[1]
    const state = /state="([^"]*)"/.exec(labels)?.[1]
    if (name === undefined || state === undefined) continue
    const states = queues.get(name) ?? new Map<string, number>()
    states.set(state, Number(value))
    queues.set(name, states)
  }
  return [...queues].map(([name, states]) => ({
    name,
    waiting: [...states].reduce((sum, [state, count]) => (waitingStates.has(state) ? sum + count : sum), 0),
    active: states.get("active") ?? 0,
    delayed: states.get("delayed") ?? 0,
    failed: states.get("failed") ?? 0,
    completed: states.get("completed") ?? 0,
    paused: (states.get("paused") ?? 0) > 0
  }))
}

const MAX_NAMED = 100
const MAX_WORKERS = 1_000
const MAX_DEAD = 10_000

type Letter = Awaited<ReturnType<ReadFleet["deadLetters"]["list"]>>[number]

const letterOf = ({ address, at, envelope, from, isRetired, reason, text, type }: Letter) => ({
  assistant: address.assistant,
  envelope,
  reason,
  at,
  ...defined({ type, from, text, isRetired })
})

const LOOKS = 3

/** Dead letters and totals of one moment (K3): when a total changed while the list was read, both are read again. */
const figuresOf = async (fleet: ReadFleet, withTotals: boolean) => {
  const totalsNow = () => (withTotals ? fleet.monitor.totals() : Promise.resolve(undefined))
  let totals = await totalsNow()
  for (let look = 1; ; look++) {
    const dead = await fleet.deadLetters.list(MAX_DEAD)
    const after = await totalsNow()
    if (look === LOOKS || (after?.dead === totals?.dead && after?.discarded === totals?.discarded))
      return { dead, totals: after }
    totals = after
  }
}

interface Working {
  readonly name: string
  readonly role: string
  readonly holds?: ReadonlyArray<string>
}

/** This process, unless it leaves the work to others, and those that the queue knows. */
export const workersOf = (
  role: FleetRole,
  others: ReadonlyArray<string> | undefined,
  busy: ReadonlyArray<string>
): ReadonlyArray<Working> | undefined => {
  const isAlone = others?.length === 0
  const own = role === "api" ? [] : [{ name: "this process", role, ...defined({ holds: isAlone ? busy : undefined }) }]
  if (others === undefined) return own.length === 0 ? undefined : own
  return [...own, ...others.slice(0, MAX_WORKERS).map((name) => ({ name, role: "worker" }))]
}

export const queuesLive = HttpApiBuilder.group(
  Api,
  "queues",
  Effect.fnUntraced(function* (handlers) {
    const { boards, ownTenant } = yield* Live
    const { role } = yield* Gateway
    const queuesOf = async (fleet: ReadFleet, letters: number | undefined) => {
      const board = await boards.of(fleet.tenant)
      const { busy, delayed, waiting } = await board.work(Date.now())
      const isOwn = fleet.tenant === ownTenant
      const { dead, totals } = await figuresOf(fleet, isOwn)
      const mailboxes: QueueFigures = {
        name: "mailboxes",
        waiting,
        active: busy.length,
        delayed,
        failed: dead.length,
        paused: false
      }
      const listed = letters === undefined ? undefined : dead.slice(0, letters).map(letterOf)
      const own = { backend: fleet.profile, ...defined({ deadLetters: listed }) }
      if (!isOwn) return { ...own, queues: [mailboxes] }
      const [metrics, others] = await Promise.all([fleet.monitor.metrics(), fleet.monitor.otherWorkers()])
      const workers = workersOf(role, others, busy.slice(0, MAX_NAMED))
      return {
        ...own,
        queues: [mailboxes, ...queuesIn(metrics)],
        ...defined({ totals, workers })
      }
    }
    return handlers.handleAll({
      queues: ({ query: { letters } }) => asking((fleet) => queuesOf(fleet, letters)),
      dead: ({ query: { limit } }) =>
        asking(async (fleet) => ({ items: (await fleet.deadLetters.list(limit)).map(letterOf) })),
      letter: ({ params: { id }, query: { envelope } }) =>
        asking(async (fleet) => {
          const { acceptedAt, event, tick, ...letter } = await fleet.deadLetters.inspect(id, envelope)
          return { ...letterOf(letter), ...defined({ acceptedAt, event, tick }) }
        }),
      retry: ({ params: { id }, payload: { envelope } }) =>
        changing("queues.retry", `${id} ${envelope}`, async (fleet) => {
          const receipt = await fleet.deadLetters.retry(id, envelope)
          boards.touch(fleet.tenant, id)
          return receipt
        }),
      discard: ({ params: { id }, payload: { envelope } }) =>
        changing("queues.discard", `${id} ${envelope}`, async (fleet) => ({
          outcome: await fleet.deadLetters.discard(id, envelope)
        }))
    })
  })
)
