// Trial: what is suspect is begun after a durable note, or is not begun any more.
// Owns the notes of one stay, the turn of each trial, and how a convicted job ends. Leaves the rule to suspicion.ts.
// T1  What is tried is noted before it begins, under the claim it runs under. Without suspicion nothing is written.
// T2  A tool that must not run twice is suspect by its tick: when two of its calls there were cut off by a crash, the next
//     one is tried alone, and after a conviction none runs.

import { Mailbox } from "@reverie/mailbox"
import { addressKey, type OpenJob } from "@reverie/protocol"
import type { Tool } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Context from "effect/Context"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import type { JobEnd } from "../jobs/job-end.ts"
import { failedJob } from "../jobs/jobs.ts"
import { beginTrial, crashesOfTick, endTrial, noteTries, type Session } from "../session/session.ts"
import { calledBy, convictedTool, type Conviction } from "../jobs/tool-job.ts"
import {
  beside,
  endsWith,
  type JobKind,
  noteOf,
  reasonOf,
  SUSPECT_AFTER,
  tried,
  type Tries,
  type Verdict,
  verdictOnEvent,
  verdictOnJob
} from "./suspicion.ts"

// Court: which tools run beside others in this process, and which runs alone.
// C1  One run at a time is tried alone. While it is, no other tool begins, and none of those that ran before it runs on.
// C2  No one waits for ever: a trial waits PATIENCE_MILLIS for those that run, and others wait as long for the trial. Then
//     it goes on in company, and no longer counts as alone.
// C3  Between two trials anyone who waits at the door comes in.

/** As long as a tool may run that names no limit of its own. */
export const PATIENCE_MILLIS = 30_000

interface Trial<A, E, R, R2> {
  /** Done when it is alone, before the work. */
  readonly before: Effect.Effect<void, never, R2>
  readonly work: Effect.Effect<A, E, R>
  /** Done when it begins in company, or others are let in while it still runs. */
  readonly crowded: Effect.Effect<void, never, R2>
}

export interface Court {
  readonly beside: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly alone: <A, E, R, R2>(trial: Trial<A, E, R, R2>) => Effect.Effect<A, E, R | R2>
}

export const openCourt = (): Court => {
  const seat = Semaphore.makeUnsafe(1)
  /** Open: others may begin. */
  const door = Latch.makeUnsafe(true)
  /** Open: no other runs. */
  const quiet = Latch.makeUnsafe(true)
  let isTrial = false
  let running = 0

  const left = Effect.suspend(() => (--running === 0 ? quiet.open : Effect.void))
  const opened = Effect.suspend(() => {
    isTrial = false
    return door.open
  })
  const closed = Effect.suspend(() => {
    isTrial = true
    return door.close
  })

  const beside = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        while (isTrial) yield* restore(door.await)
        if (running++ === 0) yield* quiet.close
        return yield* Effect.ensuring(restore(work), left)
      })
    )

  const alone = <A, E, R, R2>({ before, crowded, work }: Trial<A, E, R, R2>): Effect.Effect<A, E, R | R2> => {
    const patient = Effect.andThen(Effect.sleep(PATIENCE_MILLIS), Effect.andThen(crowded, opened))
    const trial = Effect.gen(function* () {
      yield* closed
      const isAlone = Option.isSome(yield* Effect.timeoutOption(quiet.await, PATIENCE_MILLIS))
      if (!isAlone) {
        yield* crowded
        yield* opened
        return yield* work
      }
      yield* before
      return yield* Effect.raceFirst(work, Effect.andThen(patient, Effect.never))
    })
    return Semaphore.withPermits(seat, 1)(Effect.ensuring(trial, opened))
  }

  return { beside, alone }
}

/** One for each worker, which provides it. */
export const CourtOfProcess = Context.Reference<Court>("@reverie/runtime/Court", { defaultValue: openCourt })

/** Without a note it is tried all the same: what can not be written down ends the lease session elsewhere. */
const keep = Effect.fnUntraced(function* (session: Session, tries: Tries) {
  noteTries(session, tries)
  yield* Effect.ignore((yield* Mailbox).note(session.claim, noteOf(tries)))
})

const noteTry = (session: Session, subject: string) =>
  Effect.suspend(() => keep(session, tried(session.suspicion.tries, subject)))

/** Notes once more what a commit has made the store forget while it still runs. */
export const noteAgain = (session: Session) =>
  session.underTrial.size === 0 ? Effect.void : keep(session, session.suspicion.tries)

/** A job under trial, from its note to its end. */
const underTrial = <A, E, R>(session: Session, { id }: OpenJob, run: Effect.Effect<A, E, R>) => ({
  before: Effect.suspend(() => {
    beginTrial(session, id)
    return noteTry(session, id)
  }),
  work: Effect.ensuring(
    run,
    Effect.sync(() => endTrial(session, id, beside(id)))
  ),
  /** It does not run alone after all. */
  crowded: Effect.suspend(() => {
    endTrial(session, id)
    beginTrial(session, beside(id))
    const others = new Map([...session.suspicion.tries].filter(([each]) => each !== id))
    return keep(session, tried(others, beside(id)))
  })
})

const toolOf = (session: Session, job: OpenJob): Tool | undefined =>
  session.definition.toolkit.get(calledBy(session, job).call?.tool ?? "")

const kindOf = ({ src }: OpenJob, tool: Tool | undefined): JobKind => {
  if (src === "infer") return "model"
  if (src !== "tool") return "step"
  return tool === undefined || tool.isolated !== undefined ? "safe" : "tool"
}

const NOTHING_CRASHED = { cutOff: 0, isCause: false }

/** What becomes of a job, and how often the process ended with it or with its like. */
const judged = (session: Session, job: OpenJob, recovered: boolean) => {
  const tool = job.src === "tool" ? toolOf(session, job) : undefined
  const kind = kindOf(job, tool)
  const crashes = kind === "tool" && tool !== undefined ? crashesOfTick(session, tool.name) : NOTHING_CRASHED
  const verdict = verdictOnJob(job, kind)
  const by: Conviction = { times: endsWith(job) + crashes.cutOff, isAlone: (job.tried ?? 0) > 0 }
  const as = (changed: Verdict, runsBeside = false) => ({ verdict: changed, by, runsBeside })
  if (kind !== "tool" || tool === undefined || verdict === "convict") return as(verdict)
  // It is not begun: the model learns that it was cut off.
  if (recovered && !tool.idempotent) return as("go")
  if (crashes.isCause)
    return { verdict: "convict" as const, by: { times: undefined, isAlone: false }, runsBeside: false }
  return verdict === "alone" || crashes.cutOff >= SUSPECT_AFTER ? as("alone") : as("go", true)
}

const convictedJob = Effect.fnUntraced(function* (session: Session, job: OpenJob, by: Conviction) {
  const now = yield* Clock.currentTimeMillis
  if (job.src === "tool") {
    const end = convictedTool(session, job, by, now)
    yield* Effect.logWarning(`${addressKey(session.address)}: ${end.messages[0]?.content ?? job.name}`)
    return end
  }
  const reason = reasonOf(by.times ?? 0, `the step ${job.name} ran`)
  yield* Effect.logWarning(`${addressKey(session.address)}: ${reason}`)
  return failedJob(session, job, { recovery: "tell-owner", reason }, now)
})

/** Runs a job beside others, alone, or not at all. */
export const tryJob = <E, R>(
  session: Session,
  job: OpenJob,
  recovered: boolean,
  run: Effect.Effect<JobEnd, E, R>
): Effect.Effect<JobEnd, E, R | Mailbox> =>
  Effect.suspend(() => {
    const { by, runsBeside, verdict } = judged(session, job, recovered)
    switch (verdict) {
      case "go":
        return runsBeside ? Effect.flatMap(CourtOfProcess, (court) => court.beside(run)) : run
      case "note": {
        const { before, work } = underTrial(session, job, run)
        return Effect.andThen(before, work)
      }
      case "alone":
        return Effect.flatMap(CourtOfProcess, (court) => court.alone(underTrial(session, job, run)))
      case "convict":
        return convictedJob(session, job, by)
    }
  })

/** Handles an event, or ends it with the reason. `what` completes "the process ended while ...". */
export const tryEvent = <A, E, R, E2, R2>(
  session: Session,
  subject: string,
  what: string,
  handle: Effect.Effect<A, E, R>,
  end: (reason: string) => Effect.Effect<A, E2, R2>
): Effect.Effect<A, E | E2, R | R2 | Mailbox> => {
  const verdict = verdictOnEvent(subject, session.suspicion)
  if (verdict === "go") return handle
  if (verdict !== "convict") return Effect.andThen(noteTry(session, subject), handle)
  const reason = reasonOf(session.suspicion.lost, what)
  return Effect.andThen(Effect.logWarning(`${addressKey(session.address)}: ${reason}`), end(reason))
}
