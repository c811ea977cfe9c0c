// One process of the fleet's crash lane: a worker, or a producer that posts events. It lives until it is asked to end, is
// killed, or has lost the one who started it.
// H1  An acknowledgement is in the diary only after `post` returned. A producer posts each event again until that, and
//     the events of one assistant one after the other.
// H2  A wrong clock is wrong for everything in this process but its diary.

import { setTimeout as sleep } from "node:timers/promises"
import type { FaultPoint } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import { type Deployment, Fleet } from "reverie"
import { openDiary, readDiaries } from "./fleet-diary.ts"
import { laneFleet, laneModel, letterOf, producerOf } from "./fleet-scene.ts"

export interface ChildLife {
  readonly role: "worker" | "producer"
  /** `<what>-<nth>.<life>`. */
  readonly name: string
  readonly nth: number
  readonly diaries: string
  readonly deployment: Deployment
  readonly assistants: number
  readonly producers: number
  readonly events: number
  readonly clockShiftMillis: number
  /** Undefined: as often as workers do it. */
  readonly sweepMillis?: number
}

/** What a child learns. */
export type Order =
  | { readonly do: "arm"; readonly point: FaultPoint; readonly passing: number }
  /** Events below this number may be posted. */
  | { readonly do: "release"; readonly below: number }
  | { readonly do: "end" }

/** What a child tells. */
export type Word = { readonly is: "ready" } | { readonly is: "acked"; readonly id: string } | { readonly is: "ended" }

const AGAIN_MILLIS = 100
const MOST_CHARS = 300

const shiftClock = (millis: number): void => {
  if (millis === 0) return
  const now = Date.now
  Date.now = () => now() + millis
}

const life = JSON.parse(process.argv[2] ?? "{}") as ChildLife
const { assistants, diaries, events, name, nth, producers, role } = life
/** The lives of one place differ in what stands behind the last dot. */
const place = name.slice(0, name.lastIndexOf("."))
const known = new Set(
  readDiaries(diaries)
    .filter((diary) => diary.name.startsWith(`${place}.`))
    .flatMap(({ lines }) => lines.flatMap((line) => (line.is === "ack" ? [line.id] : [])))
)
const diary = openDiary(diaries, name)
const tell = (word: Word): void => void process.send?.(word)

let armed: { readonly point: FaultPoint; left: number } | undefined
let released = 0
let orderedEnd = false
let wakeAll = Promise.withResolvers<void>()

const heard = (order: Order): void => {
  if (order.do === "arm") armed = { point: order.point, left: order.passing }
  else if (order.do === "release") released = order.below
  else orderedEnd = true
  wakeAll.resolve()
  wakeAll = Promise.withResolvers()
}
process.on("message", heard)
// The one who started it is gone: there is nothing to live for.
process.on("disconnect", () => process.exit(0))

const passing = (point: FaultPoint): void => {
  if (armed?.point !== point || --armed.left > 0) return
  diary.write({ is: "end", point })
  process.kill(process.pid, "SIGKILL")
}

const open = () =>
  Fleet.open({
    deployment: life.deployment,
    role: role === "worker" ? "worker" : "api",
    fleet: laneFleet(assistants, (tool, assistant, key) => diary.write({ is: "run", tool, assistant, key })),
    model: laneModel(),
    worker: { worker: name, ...(life.sweepMillis === undefined ? {} : { sweepMs: life.sweepMillis }) },
    faults: { at: (point) => Effect.sync(() => passing(point)) },
    onError: ({ assistant }, { _tag: what, message }) =>
      diary.write({ is: "trouble", assistant, what, detail: message.slice(0, MOST_CHARS) })
  })

/** A server that is just being killed is waited for. */
const openAtLast = async (): Promise<Fleet> => {
  for (;;) {
    try {
      return await open()
    } catch (failure) {
      if (orderedEnd) throw failure
      diary.write({ is: "trouble", assistant: "", what: "Closed", detail: String(failure).slice(0, MOST_CHARS) })
      await sleep(AGAIN_MILLIS)
    }
  }
}

const postAtLast = async (fleet: Fleet, index: number): Promise<void> => {
  const { event, from, id, to } = letterOf(index, assistants, producers)
  if (known.has(id)) return
  for (;;) {
    try {
      await fleet.post(to, event, { id, from })
      diary.write({ is: "ack", id })
      return tell({ is: "acked", id })
    } catch {
      await sleep(AGAIN_MILLIS)
    }
  }
}

/** Posts what is for one assistant, in its order, as far as it is released. */
const lane = async (fleet: Fleet, first: number): Promise<void> => {
  for (let index = first; index < events; index += assistants) {
    while (index >= released) await wakeAll.promise
    await postAtLast(fleet, index)
  }
}

shiftClock(life.clockShiftMillis)
const fleet = await openAtLast()
tell({ is: "ready" })
if (role === "producer") {
  const firsts = Array.from({ length: assistants }, (_, index) => index)
  for (const first of firsts.filter((each) => producerOf(each, assistants, producers) === nth)) void lane(fleet, first)
}
while (!orderedEnd) await wakeAll.promise
await fleet.close()
diary.close()
tell({ is: "ended" })
process.exit(0)
