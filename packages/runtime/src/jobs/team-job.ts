// TeamJob: one step of a team, in the place of a model call.
// Owns the way from the message in hand to the team's step, and from the step to what is written. Leaves the step itself to
// `assistant`, which decides it purely.
// T1  The state, what is sent and what is answered are in one commit: a step that a crash cut off is made again, from the
//     same state, and sends the same envelopes.
// T2  How its members stand is looked up once a step; the step's record says what was seen.

import {
  contextOf,
  coordinate,
  jobDone,
  type Standing,
  type Surroundings,
  type Team,
  type TeamEvent,
  type TeamSend,
  type TeamStep
} from "@reverie/assistant"
import { Ledger } from "@reverie/ledger"
import {
  type Address,
  addressKey,
  AssistantId,
  assistantSender,
  ENVELOPE_VERSION,
  type Envelope,
  type Json,
  type OpenJob,
  sendingAssistant,
  textWithParts
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { answerTo, type InHand, inHandOf, shortId } from "../commit/replies.ts"
import type { JobEnd } from "./job-end.ts"
import { noteRun, type Session } from "../session/session.ts"
import { teamChanges, teamStateOn } from "./team-records.ts"

/** The channel in which observers overhear their team. */
const teamChannel = (team: string): string => `team:${team}`.slice(0, 128)

const standingOf = Effect.fnUntraced(function* (address: Address) {
  const record = yield* (yield* Ledger).inspect(address)
  const standing: Standing =
    record === undefined
      ? { availability: "missing", waiting: 0 }
      : { availability: availabilityIn(record.state.status), waiting: record.waiting }
  return standing
})

const availabilityIn = (status: string): Standing["availability"] =>
  status === "halted" || status === "retired" ? status : "available"

const standingsOf = Effect.fnUntraced(function* ({ address }: Session, { members }: Team) {
  const standings = new Map<string, Standing>()
  for (const { id } of members) {
    standings.set(id, yield* standingOf({ tenant: address.tenant, assistant: AssistantId.make(id) }))
  }
  return standings
})

/** What the message in hand is to the team; undefined when it is nothing that a team receives. */
const eventOf = (session: Session, hand: InHand): TeamEvent | undefined => {
  const { acceptedAt: at, answers, envelope: id, from, hops, isTimer, wantsAnswer } = hand
  if (isTimer) return { type: "due", id, at }
  const said = session.window.messages.findLast(({ role }) => role === "user")
  const text = textWithParts(said?.content ?? "", said?.parts)
  if (answers === null) return { type: "asked", id, text, from, hops, wantsAnswer, at }
  const { envelope: ask, outcome } = answers
  return { type: "answered", ask, from: sendingAssistant(from) ?? from, outcome, text, at }
}

const envelopeOf = ({ address }: Session, { hops, id, kind, text, to }: TeamSend): Envelope => ({
  v: ENVELOPE_VERSION,
  id: shortId(id),
  to: { tenant: address.tenant, assistant: AssistantId.make(to) },
  from: assistantSender(address.assistant),
  event: {
    type: "message",
    text,
    ...(kind === "ask" ? { wantsAnswer: true } : { channel: teamChannel(address.assistant) })
  },
  hops
})

const answersIn = (session: Session, { answers }: TeamStep): ReadonlyArray<Envelope> =>
  answers.flatMap(({ outcome, question, text }) => {
    const { from, hops, id, wantsAnswer } = question
    return [answerTo(session, { envelope: id, from, hops, wantsAnswer }, outcome, text) ?? []].flat()
  })

const stepEnd = (
  session: Session,
  job: OpenJob,
  step: TeamStep | undefined,
  detail: Json,
  startedAt: number,
  now: number
) => {
  const records = step === undefined ? [] : teamChanges(teamStateOn(session.own), step.state)
  noteRun(session, job, records)
  const note = step?.note ?? ""
  const end: JobEnd = {
    job,
    event: jobDone("infer", { calls: [] }),
    messages: note === "" ? [] : [{ role: "assistant", content: note, at: now }],
    step: {
      id: job.id,
      kind: "coordinate",
      name: "coordinate",
      ok: true,
      elapsedMs: now - startedAt,
      detail: { standings: detail }
    },
    records,
    sends:
      step === undefined ? [] : [...step.sends.map((send) => envelopeOf(session, send)), ...answersIn(session, step)],
    emitted: (step?.answers ?? []).map(({ outcome, question, text }) => ({
      type: "answered",
      envelope: question.id,
      outcome,
      text
    }))
  }
  return end
}

export const coordinateTeam = Effect.fnUntraced(function* (session: Session, job: OpenJob, team: Team) {
  const startedAt = yield* Clock.currentTimeMillis
  const { envelope, tick } = contextOf(session.decoded)
  const hand = inHandOf(session)
  const event = hand === undefined || hand.envelope !== envelope ? undefined : eventOf(session, hand)
  if (event === undefined) return stepEnd(session, job, undefined, null, startedAt, startedAt)
  const standings = yield* standingsOf(session, team)
  const around: Surroundings = {
    standings,
    nameSend: (index) => shortId(`${addressKey(session.address)}/t${tick}.${index}`)
  }
  const step = coordinate(team, teamStateOn(session.own), event, around)
  const seen = Object.fromEntries([...standings].map(([id, standing]) => [id, { ...standing }]))
  return stepEnd(session, job, step, seen, startedAt, yield* Clock.currentTimeMillis)
})
