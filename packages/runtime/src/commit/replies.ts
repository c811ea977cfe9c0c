// Correspondence: what an assistant owes to those who wrote to it, and how often it wrote to whom.
// Owns the answer that leaves with the end of a tick, and the verdict of the pair rate on what a run sends. Leaves the
// rate to `assistant`, delivery to the relay.
// M1  An assistant that asked for an answer gets exactly one, with the commit that settles its message: what the
//     tick said, that it said nothing, or why it failed.
// M2  An answer asks for none, and what is returned or told by Reverie asks for none: no notice makes another one.
// M3  A message over the pair rate does not leave; the run that wanted it learns when it may.

import { createHash } from "node:crypto"
import {
  callCounted,
  countersOf,
  type Decision,
  type Directory,
  isReflectionDue,
  mayWriteAt,
  pairRateOf,
  rateRefusal,
  reach,
  reflectionOf,
  SESSION_START_KEY,
  sessionBegun,
  SLEEP_ORDER_KEY,
  timesOf,
  written
} from "@reverie/assistant"
import {
  type AcceptedEnvelope,
  type Address,
  addressKey,
  type AnswerOutcome,
  AssistantId,
  assistantSender,
  defined,
  type Entry,
  type Envelope,
  ENVELOPE_VERSION,
  EnvelopeId,
  type Event,
  type Json,
  type Notice,
  noticesOf,
  type RecordChange,
  type ReminderRule,
  sendingAssistant,
  type Settlement,
  type TickEnd,
  type ToolCall
} from "@reverie/protocol"
import type { Post, ToolResult } from "@reverie/tools"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { UNHEARD } from "../intake/skip.ts"
import type { CommitDraft } from "./commit-draft.ts"
import { recordsOf, recordsWith, type ShownRecords } from "../session/own-records.ts"
import { setterOf } from "../session/person.ts"
import type { Session } from "../session/session.ts"
import type { CommitView } from "./commit-view.ts"

/** The message that the tick at hand is about, as far as the statechart does not keep it. */
export interface InHand {
  readonly envelope: string
  readonly from: string
  readonly hops: number
  readonly acceptedAt: number
  readonly wantsAnswer: boolean
  readonly isTimer: boolean
  readonly answers: { readonly envelope: string; readonly outcome: AnswerOutcome } | null
}

const IN_HAND = "in-hand"
const TO = "to:"

const decodeAssistant = Schema.decodeUnknownOption(AssistantId)

/** An envelope id has 256 characters at most; a longer one keeps its identity as a hash. */
export const shortId = (id: string): EnvelopeId =>
  EnvelopeId.make(id.length <= 256 ? id : createHash("sha256").update(id).digest("hex"))

const handOf = ({ acceptedAt, event, from, hops, id }: AcceptedEnvelope): InHand => ({
  envelope: id,
  from,
  hops,
  acceptedAt,
  wantsAnswer: event.type === "message" && event.wantsAnswer === true,
  isTimer: event.type === "timer",
  answers: (event.type === "message" ? event.answers : undefined) ?? null
})

/** What is kept of a message while its tick lasts: nothing, but for who waits for an answer and for a team. */
export const recordInFlight = ({ records = [] }: CommitDraft, _decision: Decision, view: CommitView) => {
  const { arrival, isTaken, session } = view
  if (arrival === undefined || !isTaken) return {}
  const hand = handOf(arrival)
  const isKept =
    session.definition.team !== undefined || (hand.wantsAnswer && sendingAssistant(hand.from) !== undefined)
  if (!isKept) return {}
  const inFlight: RecordChange = { kind: "replies", key: IN_HAND, value: { ...hand } as unknown as Json }
  return { records: [...records, inFlight] }
}

export const inHandOf = ({ own }: { readonly own: ShownRecords }): InHand | undefined =>
  recordsOf(own, "replies").get(IN_HAND) as unknown as InHand | undefined

/** The answer to a message; undefined when no one waits for one. */
export const answerTo = (
  { address }: Session,
  asked: Pick<InHand, "envelope" | "from" | "hops" | "wantsAnswer">,
  outcome: AnswerOutcome,
  text: string
): Envelope | undefined => {
  const asker = decodeAssistant(sendingAssistant(asked.from))
  if (!asked.wantsAnswer || Option.isNone(asker)) return undefined
  return {
    v: ENVELOPE_VERSION,
    id: shortId(`answer:${addressKey(address)}:${asked.envelope}`),
    to: { tenant: address.tenant, assistant: asker.value },
    from: assistantSender(address.assistant),
    event: { type: "message", text, answers: { envelope: asked.envelope, outcome } },
    hops: asked.hops + 1
  }
}

const NOTHING_SAID = "(no answer)"

/** What a settled message comes to. A team answers by its own steps; only where it broke, or was stopped, this speaks for it. */
const outcomeOf = (
  { definition }: Session,
  { outcome, reason }: Settlement,
  tickEnd: TickEnd | undefined
): readonly [AnswerOutcome, string] | undefined => {
  if (outcome === "dead") return ["failed", reason ?? "it failed"]
  if (reason === UNHEARD) return ["failed", reason]
  if (tickEnd?.outcome === "stopped") return ["failed", "a person stopped it"]
  if (definition.team !== undefined && tickEnd !== undefined) return undefined
  if (tickEnd?.outcome === "misshapen")
    return ["failed", `its answer has another form than it must have: ${tickEnd.misfit ?? ""}`]
  if (tickEnd?.outcome === "refused") return ["failed", `a hook refused its answer: ${tickEnd.refusal ?? ""}`]
  const reply = tickEnd?.reply ?? ""
  return reply === "" ? ["silent", NOTHING_SAID] : ["answered", reply]
}

/** The answers that a commit owes to those whose messages it settles. */
export const addReplies = (draft: CommitDraft, _decision: Decision, view: CommitView): Partial<CommitDraft> => {
  const { arrival, session } = view
  const { records = [], sends = [], settled = [], tickEnd } = draft
  const hand = inHandOf({ own: recordsWith(session.own, records) })
  const answers = settled.flatMap((each) => {
    const asked = arrival?.id === each.id ? handOf(arrival) : hand?.envelope === each.id ? hand : undefined
    const said = outcomeOf(session, each, tickEnd?.envelope === each.id ? tickEnd : undefined)
    return asked === undefined || said === undefined ? [] : [answerTo(session, asked, ...said) ?? []].flat()
  })
  const isDone = hand !== undefined && settled.some(({ id }) => id === hand.envelope)
  const done: RecordChange = { kind: "replies", key: IN_HAND, value: null }
  return {
    ...(isDone ? { records: [...records, done] } : {}),
    ...(answers.length > 0 ? { sends: [...sends, ...answers] } : {})
  }
}

const timesTo = ({ own }: Session, to: string): ReadonlyArray<number> =>
  timesOf(recordsOf(own, "replies").get(`${TO}${to}`))

const refusalOf = (session: Session, to: string, times: ReadonlyArray<number>, now: number) => {
  const rate = pairRateOf(session.definition.pairRate)
  const retryAt = mayWriteAt(rate, times, now)
  return retryAt <= now ? undefined : { reason: rateRefusal(rate, to, retryAt), retryAt }
}

/** What a run may know of the others: which assistants a target means, and whether a message to one may go. */
export const postOf = (session: Session, directory: Directory, now: number): Post => ({
  reach: (target) => reach(directory, target, session.address.assistant),
  refusal: (to, more) => {
    const rate = pairRateOf(session.definition.pairRate)
    const times = Array.from({ length: more }).reduce<ReadonlyArray<number>>(
      (so) => written(rate, so, now),
      timesTo(session, to)
    )
    return refusalOf(session, to, times, now)
  }
})

export interface Posted {
  readonly sends: ReadonlyArray<Envelope>
  readonly records: ReadonlyArray<RecordChange>
  /** Why some of them do not leave; empty when all do. */
  readonly refusals: ReadonlyArray<string>
}

/**
 * Of what a run wants to send to others, that which may leave. Runs of one iteration that went on side by side each saw
 * room for their own messages only, so it is judged again here, one run after the other.
 */
export const posted = (session: Session, wanted: ReadonlyArray<Envelope>, now: number): Posted => {
  const rate = pairRateOf(session.definition.pairRate)
  const times = new Map<string, ReadonlyArray<number>>()
  const refusals = new Set<string>()
  const sends = wanted.filter(({ event, to }) => {
    if (event.type !== "message" || to.assistant === session.address.assistant) return true
    const before = times.get(to.assistant) ?? timesTo(session, to.assistant)
    const refusal = refusalOf(session, to.assistant, before, now)
    if (refusal !== undefined) refusals.add(`Not sent: ${refusal.reason}.`)
    else times.set(to.assistant, written(rate, before, now))
    return refusal === undefined
  })
  const records = [...times].map(([to, each]): RecordChange => ({
    kind: "replies",
    key: `${TO}${to}`,
    value: { times: each }
  }))
  return { sends, records, refusals: [...refusals] }
}

// NoticeHub: passes notices on to the listeners in this process.
// I1  A listener that throws harms no other listener, and never the commit.
// I2  Without listeners nothing is computed; nor are notices of a type that none of them listens to, where that saves work.

type Listener = (notice: Notice) => void

export class NoticeHub extends Context.Service<
  NoticeHub,
  {
    /** Listens to notices of one type, or of all. Answers how to stop listening. */
    readonly listen: (listener: Listener, type?: Notice["type"]) => () => void
    readonly tell: (notice: Notice) => void
    readonly tellEntry: (address: Address, seq: number, entry: Entry) => void
    /** Whether anyone listens: to notices of this type, or to any. */
    readonly isHeard: (type?: Notice["type"]) => boolean
  }
>()("@reverie/runtime/NoticeHub") {
  static readonly layer = Layer.sync(NoticeHub, () => {
    /** By a key of their own: one function may listen twice. */
    const listeners = new Map<symbol, { readonly listener: Listener; readonly type: Notice["type"] | undefined }>()
    const tell = (notice: Notice) => {
      for (const { listener, type } of listeners.values()) {
        if (type !== undefined && type !== notice.type) continue
        try {
          listener(notice)
        } catch {
          // I1: a screen's mistake is the screen's.
          continue
        }
      }
    }
    return {
      listen: (listener, type) => {
        const key = Symbol()
        listeners.set(key, { listener, type })
        return () => {
          listeners.delete(key)
        }
      },
      tell,
      tellEntry: (address, seq, entry) => {
        if (listeners.size > 0) for (const notice of noticesOf(address, seq, entry)) tell(notice)
      },
      isHeard: (wanted) =>
        wanted === undefined
          ? listeners.size > 0
          : listeners.values().some(({ type }) => type === undefined || type === wanted)
    }
  })
}

// Consequences: what a finished run brings about besides its result.
// I1  Their ids follow from the key of the run: a run repeated after a crash brings about the same ones.

/** The timer that begins a reflection. */
export const REFLECTION_TIMER = "reflection"
/** Who sends it when the journal has gathered enough. */
const JOURNAL_SENDER = "journal"

/** True of the timer by which a journal asks to be looked back upon; anyone else who sends one has reasons of their own. */
export const isJournalsReflection = ({ event, from }: Pick<Envelope, "event" | "from">): boolean =>
  event.type === "timer" && event.name === REFLECTION_TIMER && from === JOURNAL_SENDER

interface SideEffects {
  readonly sends: ReadonlyArray<Envelope>
  readonly records: ReadonlyArray<RecordChange>
}

const toItself = (to: Address, id: string, from: string, hops: number, event: Event): Envelope => ({
  v: ENVELOPE_VERSION,
  id: EnvelopeId.make(id.slice(0, 256)),
  to,
  from,
  event,
  hops
})

const reportOf = (session: Session, call: ToolCall, key: string, hops: number, { report }: ToolResult) =>
  report === undefined
    ? []
    : [
        toItself(session.address, `${key}#report`, call.tool, hops, {
          type: "report",
          call: call.id,
          outcome: "reported",
          content: report
        })
      ]

/** Enough has gathered since the last reflection, and this run is what made it enough. */
const reflectionAfter = (session: Session, key: string, hops: number, { records = [] }: ToolResult) => {
  const before = recordsOf(session.own, "reflection")
  const after = new Map(before)
  for (const { key: name, kind, value } of records) if (kind === "reflection" && value !== null) after.set(name, value)
  return isReflectionDue(reflectionOf(after)) && !isReflectionDue(reflectionOf(before))
    ? [toItself(session.address, `${key}#reflection`, JOURNAL_SENDER, hops, { type: "timer", name: REFLECTION_TIMER })]
    : []
}

/** Reminders that a run set or cancelled: each is an order to itself, heard as one of a person is. */
const remindOrdersOf = (session: Session, key: string, hops: number, { records = [] }: ToolResult) =>
  records.filter(isReminderOrder).map(({ key: reminder, value }) =>
    toItself(session.address, `${key}#remind-${reminder}`, setterOf(session), hops, {
      type: "remind",
      reminder,
      ...defined({ rule: value === null ? undefined : (value as unknown as ReminderRule) })
    })
  )

const isReminderOrder = ({ kind }: RecordChange): boolean => kind === "reminder"

const isSleepOrder = ({ key, kind }: RecordChange): boolean => kind === "state" && key === SLEEP_ORDER_KEY

/** The order that `go_to_sleep` has put among the records. */
const sleepOrderOf = (session: Session, key: string, hops: number, { records = [] }: ToolResult) => {
  const order = records.find(isSleepOrder)?.value as { readonly forMs?: number } | undefined
  return order === undefined
    ? []
    : [toItself(session.address, `${key}#sleep`, "itself", hops, { type: "sleep", ...order })]
}

/** Counted only for assistants that can ask for the count. */
const counted = (session: Session, ok: boolean, now: number): ReadonlyArray<RecordChange> => {
  if (session.definition.toolkit.get("get_system_status") === undefined) return []
  const own = recordsOf(session.own, "state")
  return [...(own.has(SESSION_START_KEY) ? [] : sessionBegun(now)), callCounted(countersOf(own), ok)]
}

export const sideEffectsOf = (
  session: Session,
  call: ToolCall,
  run: { readonly key: string; readonly hops: number; readonly now: number },
  result: ToolResult
): SideEffects => ({
  sends: [
    ...result.sends,
    ...sleepOrderOf(session, run.key, run.hops, result),
    ...remindOrdersOf(session, run.key, run.hops, result),
    ...reportOf(session, call, run.key, run.hops, result),
    ...reflectionAfter(session, run.key, run.hops, result)
  ],
  records: [
    ...(result.records ?? []).filter((change) => !isSleepOrder(change) && !isReminderOrder(change)),
    ...counted(session, result.ok, run.now)
  ]
})
