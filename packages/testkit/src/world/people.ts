// People: who sends to the assistants of a simulated world, and who answers what they ask.
// Owns what is sent and the record of what was acknowledged. Leaves handling to the assistants.
// L1  A sender has one message under way at a time and repeats it, under the same id, until it is acknowledged.

import type { Mailbox, WakeQueue } from "@reverie/mailbox"
import { AssistantId, DEFAULT_TENANT, ENVELOPE_VERSION, type Envelope, EnvelopeId, type Event } from "@reverie/protocol"
import { arrive } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { MemoryDisk, Resident } from "../memory-disk.ts"
import type { Fate } from "./fate.ts"

export interface Sent {
  readonly sender: string
  readonly envelope: Envelope
}

/** Runs an effect inside some process that is alive at the moment. */
export type Door = <A, E>(effect: Effect.Effect<A, E, Mailbox | WakeQueue>) => Effect.Effect<A, E>

export interface People {
  readonly fate: Fate
  readonly door: Door
  readonly assistants: ReadonlyArray<string>
  /** In the order in which the acknowledgements came. */
  readonly acknowledged: Array<Sent>
  /** The one they were for had retired before the acknowledgement; an earlier attempt may have arrived. */
  readonly tooLate: Array<Sent>
  readonly isHealed: () => boolean
}

const ANSWER_MILLIS = 5_000

const envelopeOf = (id: string, from: string, to: string, event: Event): Envelope => ({
  v: ENVELOPE_VERSION,
  id: EnvelopeId.make(id),
  to: { tenant: DEFAULT_TENANT, assistant: AssistantId.make(to) },
  from,
  event,
  hops: 0
})

/** Repeats until acknowledged; now and then sends twice at once. */
const insist = Effect.fnUntraced(function* (people: People, sent: Sent) {
  const { door, fate } = people
  const once = door(arrive(sent.envelope)).pipe(
    Effect.map(() => "acknowledged"),
    Effect.catchTag("UnknownAssistant", () => Effect.succeed("gone")),
    Effect.timeoutOption(ANSWER_MILLIS),
    Effect.catch(() => Effect.succeed(Option.none()))
  )
  while (true) {
    const twice = !people.isHealed() && fate.chance(0.1)
    const answers = yield* Effect.all(twice ? [once, once] : [once], { concurrency: "unbounded" })
    const heard = new Set(answers.flatMap((answer) => (Option.isSome(answer) ? [answer.value] : [])))
    if (heard.has("acknowledged")) break
    if (heard.has("gone")) return void people.tooLate.push(sent)
    yield* Effect.sleep(fate.between(50, 1_000))
  }
  people.acknowledged.push(sent)
  // A producer that did not trust its acknowledgement sends again.
  if (fate.chance(0.1)) yield* once
})

/** Most say something; some send to sleep, some have the history compacted. */
const eventBy = ({ fate }: People, text: string): Event => {
  if (fate.chance(0.07)) return { type: "sleep", forMs: fate.between(1_000, 60_000) }
  return fate.chance(0.05) ? { type: "compact" } : { type: "message", text }
}

/** Sends `count` events, one after the other. */
export const sender = Effect.fnUntraced(function* (people: People, name: string, count: number) {
  const { fate } = people
  for (let index = 0; index < count; index++) {
    const to = fate.pick(people.assistants)
    const event = eventBy(people, `${name} ${index}`)
    yield* insist(people, { sender: name, envelope: envelopeOf(`${name}-${index}`, name, to, event) })
    yield* Effect.sleep(fate.between(0, 3_000))
  }
})

/** Sends everybody to sleep, some with the order to compact the history, and leaves them some time for it. */
export const lullaby = Effect.fnUntraced(function* (people: People) {
  const { assistants, fate } = people
  const send = (id: string, to: string, event: Event) =>
    insist(people, { sender: "lullaby", envelope: envelopeOf(`${id}-${to}`, "lullaby", to, event) })
  for (const to of assistants) {
    if (fate.chance(0.4)) yield* send("tidy", to, { type: "compact" })
    yield* send("lullaby", to, { type: "sleep", forMs: fate.between(60_000, 300_000) })
  }
  yield* Effect.sleep(fate.between(10_000, 90_000))
})

/** Someone retires at the end of the day, with everybody below. */
export const sunset = Effect.fnUntraced(function* (people: People) {
  const { assistants, fate } = people
  if (fate.chance(0.3)) return
  const to = fate.pick(assistants)
  yield* insist(people, {
    sender: "sunset",
    envelope: envelopeOf(`sunset-${to}`, "sunset", to, { type: "retire", reason: "the day is over" })
  })
})

interface Asking {
  readonly context: {
    readonly calls: ReadonlyArray<{ readonly phase: string; readonly approval?: string }>
    /** What the tick in hand is about. */
    readonly envelope: string | null
    readonly tick: number
  }
}

/** An assistant waits for the answer of the tick in hand. */
const isAwaited = ({ records }: Resident): boolean =>
  [...records.values()].some(({ key, kind }) => kind === "replies" && key === "in-hand")

/** Stops a tick in hand, more often one that is waited for, and now and then one that is over. */
const stopping = ({ fate, isHealed }: People, resident: Resident): Event | undefined => {
  if (isHealed()) return undefined
  const { envelope, tick } = (resident.state.snapshot as unknown as Asking).context
  if (envelope !== null && fate.chance(isAwaited(resident) ? 0.3 : 0.05)) return { type: "stop", tick, reason: "drill" }
  return tick > 1 && fate.chance(0.01) ? { type: "stop", tick: fate.between(1, tick - 1) } : undefined
}

/** Decides what is asked, resumes what is halted, and reports what is waited for, until interrupted. */
export const attendant = Effect.fnUntraced(function* (
  people: People,
  disk: MemoryDisk,
  asked: Array<{ readonly assistant: string; readonly call: string }>
) {
  const { fate } = people
  const done = new Set<string>()
  let sequence = 0
  const send = (to: string, event: Event) =>
    insist(people, { sender: "attendant", envelope: envelopeOf(`attendant-${sequence++}`, "attendant", to, event) })
  while (true) {
    yield* Effect.sleep(fate.between(500, 3_000))
    for (const resident of disk.residents.values()) {
      const { address, state } = resident
      if (state.status === "halted") yield* send(address.assistant, { type: "resume" })
      const stop = stopping(people, resident)
      if (stop !== undefined) yield* send(address.assistant, stop)
      for (const call of (state.snapshot as unknown as Asking).context.calls) {
        if (call.phase !== "asking" || call.approval === undefined || done.has(call.approval)) continue
        done.add(call.approval)
        const decision = fate.chance(0.7) ? "approved" : "denied"
        yield* send(address.assistant, { type: "approval", approval: call.approval, decision })
      }
    }
    for (const { assistant, call } of asked.splice(0)) {
      const key = `${assistant} ${call}`
      if (done.has(key)) continue
      done.add(key)
      yield* send(assistant, { type: "report", call, outcome: "reported", content: `report on ${call}` })
    }
    const sent = [...disk.residents.keys()].filter((key) => key.includes("+"))
    if (!people.isHealed() && sent.length > 0 && fate.chance(0.04)) {
      // Ids of assistants have no slash.
      yield* send(fate.pick(sent).split("/")[1] ?? "", { type: "retire", reason: "called back" })
    }
    if (!people.isHealed() && fate.chance(0.05)) {
      yield* send(fate.pick(people.assistants), { type: "delegate", task: `assignment ${1_000_000 + sequence}` })
    }
    if (!people.isHealed() && fate.chance(0.02)) {
      yield* send(fate.pick(people.assistants), { type: "halt", reason: "drill" })
    }
  }
})
