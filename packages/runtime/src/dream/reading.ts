// Reading: a batch is read in the context `sleep_consolidate`, an answer of the model a step (F7, F11, F13).
// K1  Until it says what it has read, or the context allows no further answer, it may call tools; what they come to leaves
//     with the commit of their step, and the next answer goes by it. A model that calls none is asked once.
// K2  What the model refuses for itself, and what it answers in no form, waits for another night (lived-again.ts), and the report says so.

import { allowedTools, contextIn } from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import { consolidateAsk, keyOfId, wholeId } from "@reverie/memory"
import { type Ask, defined, type OpenJob, type RecordChange, rowsIn, type Usage } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { numberOf } from "../jobs/job-end.ts"
import { recordsOf } from "../session/own-records.ts"
import type { Session } from "../session/session.ts"
import { type Answered, askModel, consolidated, type DreamStep, nothingToDo } from "./consolidating.ts"
import { type Batch, nextBatch, NOTHING_READ } from "./lived.ts"
import { dreamId } from "./profiling.ts"
import {
  keptLoop,
  type Loop,
  LOOP_KEY,
  loopChange,
  MAX_CALLS,
  runRound,
  shownRounds,
  sleepOffers,
  toolsText
} from "./sleep-tools.ts"

/** The asks over a batch so far. */
const loopOver = (session: Session, { items }: Batch): Loop => {
  const of = items.map(({ id }) => id).join(" ")
  const kept = recordsOf(session.own, "state").get(LOOP_KEY)
  const fresh: Loop = { of, answers: 0, calls: 0, text: "", rounds: [] }
  return kept === undefined ? fresh : (keptLoop(kept, of) ?? fresh)
}

/** True when dreams have written all of it: entries of the ticks that are at hand as nights. */
const isConcludedOnly = Effect.fnUntraced(function* ({ address }: Session, { items }: Batch) {
  const dreams = items.map(({ id }) => /^entry_(\d+)_/.exec(keyOfId(wholeId(id)) ?? "")?.[1])
  if (dreams.some((tick) => tick === undefined)) return false
  const nights = new Set((yield* (yield* Ledger).records(address, ["dream"])).map(({ key }) => key))
  return dreams.every((tick) => nights.has(dreamId(Number(tick))))
})

/** One answer of the model over a batch. */
const answered = (session: Session, job: OpenJob, loop: Loop, ask: Ask, isConcluded: boolean) => {
  const context = contextIn(session.definition, "sleep_consolidate")
  const isLast = loop.answers + 1 >= context.maxIterations || loop.calls >= MAX_CALLS
  const offers = isLast || !context.allowsMultiTool ? [] : allowedTools(context, sleepOffers(isConcluded))
  const instructions = offers.length === 0 ? ask.instructions : `${ask.instructions}\n${toolsText(isConcluded)}`
  const rounds = (room: number) => (loop.rounds.length === 0 ? [] : shownRounds(loop.rounds, room))
  const inLoop = { offers, rounds, no: numberOf(job) }
  return askModel(session, { ...ask, instructions }, ask.task, inLoop).pipe(
    Effect.map(({ calls, reasoning, text, usage }) => {
      return { text, usage, calls: isLast ? [] : calls, ...defined({ reasoning }) }
    }),
    Effect.catchTag("ModelRefused", ({ message }) => Effect.succeed({ refused: message }))
  )
}

/** A list, if one with nothing in it. */
const isAnswer = (text: string): boolean => rowsIn(text, "id").length > 0 || /\[\s*\]/.test(text)

const leftFor = (batch: Batch, why: string, usage: ReadonlyArray<Usage>): DreamStep => {
  const { lost, records } = batch.postponed()
  const count = new Set(batch.items.map(({ id }) => wholeId(id))).size
  const error = lost > 0 ? `${lost} of what was said is not read: ${why}` : `${count} left for another night: ${why}`
  return { read: 0, proposed: 0, accepted: 0, records, usage, more: batch.more, error }
}

export const consolidating = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const batch = yield* nextBatch(session)
  const isUnderWay = recordsOf(session.own, "state").has(LOOP_KEY)
  const over: ReadonlyArray<RecordChange> = isUnderWay ? [loopChange(null)] : []
  const withoutLoop = (step: DreamStep): DreamStep => ({ ...step, records: [...step.records, ...over] })
  if (batch.items.length === 0) {
    const nothing = nothingToDo("nothing has been lived through since the last dream", batch.marks(NOTHING_READ))
    const { skipped: _, ...gone } = nothing
    return withoutLoop(batch.more ? { ...gone, more: true } : nothing)
  }
  const ask = consolidateAsk(batch.items)
  const finish = (answer: Answered) => Effect.map(consolidated(session, batch, answer), withoutLoop)
  if (ask === undefined) return yield* finish({ text: "", usage: [] })
  const loop = loopOver(session, batch)
  const isConcluded = yield* isConcludedOnly(session, batch)
  const reply = yield* answered(session, job, loop, ask, isConcluded)
  if ("refused" in reply) return withoutLoop(leftFor(batch, `the model refused it: ${reply.refused}`, []))
  const text = rowsIn(reply.text, "id").length === 0 && loop.text !== "" ? loop.text : reply.text
  if (reply.calls.length === 0) {
    if (isAnswer(text)) return yield* finish({ text, usage: [reply.usage] })
    return withoutLoop(leftFor(batch, "the model's answer is not in the form that was asked for", [reply.usage]))
  }
  const ran = yield* runRound(session, job, loop, reply, isConcluded)
  const isDone = reply.calls.some(({ tool }) => tool === "noop")
  const last = isDone ? yield* finish({ text, usage: [reply.usage] }) : undefined
  const next = loopChange({ ...ran.loop, answers: loop.answers + 1, text })
  const step: DreamStep = {
    read: 0,
    proposed: ran.calls.length,
    accepted: ran.done,
    usage: [reply.usage],
    more: true,
    note: `called ${ran.calls.map(({ tool }) => tool).join(", ")}`,
    ...last,
    records: [...ran.records, ...(last?.records ?? [next])],
    sends: ran.sends
  }
  return step
})
