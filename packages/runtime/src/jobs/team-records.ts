// TeamRecords: the state of a team as records of its assistant.
// Owns the way from records to state and back, and the timer of what is due next. Leaves the state's meaning to `assistant`.
// T1  Only what a step has changed is written; the records alone give the state again, byte for byte.
// T2  The timer is set anew by every step. When it fires, the team learns it by an envelope of its own, which takes its place
//     behind the answers that were accepted before it.

import {
  type Call,
  callId,
  contextOf,
  type Decision,
  isTagged,
  NEW_TEAM,
  nextDue,
  patternNow,
  type Question,
  type SleepBlockers,
  statusOf,
  type TeamState
} from "@reverie/assistant"
import {
  type Address,
  AssistantId,
  defined,
  type Envelope,
  ENVELOPE_VERSION,
  type Json,
  type OpenTimer,
  type RecordChange
} from "@reverie/protocol"
import { contextIn } from "@reverie/context"
import type { Ledger } from "@reverie/ledger"
import type { RecallOptions } from "@reverie/memory"
import { Model } from "@reverie/model"
import type { RecordAccess } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { CommitDraft, TurnInput } from "../commit/commit-draft.ts"
import { shortId } from "../commit/replies.ts"
import { recordsOf, recordsWith, type ShownRecords } from "../session/own-records.ts"
import type { CommitView } from "../commit/commit-view.ts"
import { lentBlocks } from "../prompt/blocks.ts"
import { hasPassage, readCompacted, readEpisodes, readPast } from "../prompt/past.ts"
import { questionOf } from "../prompt/prompt.ts"
import { RecallRefused } from "../errors.ts"
import { mayRecall, scopeOf, scopesOf } from "../recall/scopes.ts"
import { recallFor } from "../recall/recaller.ts"
import { personOf, readFor, threadsNow } from "../session/person.ts"
import { type Session, toolsOfTick } from "../session/session.ts"
import { subAgentsOf } from "../sub-agents/assignments.ts"

// OwnRecall: a question that an assistant asks its own memory.
// Owns keeping it within what its definition grants. Leaves asking to recaller.ts.
// W1  A scope that is not granted is refused in words; without one the widest of what others share is meant.
// W2  What a question does not say is as the definition has it; its least trust holds for every question.
// W3  Where people are kept apart, one person's tick finds what belongs to that person or to no one, whatever a question says.
// W4  A sub-agent reads the memory of whom it works for, and can change nothing of it.

const ownRecall = Effect.fnUntraced(function* (
  session: Pick<Session, "address" | "decoded" | "definition" | "window">,
  question: string,
  options: RecallOptions = {}
) {
  const { address, decoded, definition } = session
  const scope = options.scope ?? scopeOf(definition)
  if (!mayRecall(definition, scope)) {
    const granted = scopesOf(definition).join(", ")
    const message = `${address.assistant} may not recall in the scope "${scope}"; granted: ${granted}`
    return yield* new RecallRefused({ scope, message })
  }
  const { kinds, minTrust, mode } = definition.memory ?? {}
  const { assignment } = contextOf(decoded)
  const viewer = assignment === null ? address : { ...address, assistant: AssistantId.make(assignment.owner) }
  const trusts = [minTrust, options.minTrust].filter((trust) => trust !== undefined)
  return yield* recallFor(viewer, question, {
    ...defined({ kinds, mode }),
    ...options,
    ...defined({ minTrust: trusts.length === 0 ? undefined : Math.max(...trusts), thread: threadsNow(session) }),
    scope
  })
})

// SleepBlockers: what speaks against an assistant going to sleep in the middle of a tick.
// I1  Who spoke waits for an answer until a call that speaks has been made; a timer waits for nothing.

const isOpen = ({ category, phase }: Call): boolean =>
  phase === "asking" || phase === "waiting" || (category === "dangerous" && (phase === "ready" || phase === "running"))

const speaks = ({ category, phase }: Call): boolean =>
  category === "terminal" && (phase === "ready" || phase === "running" || phase === "done")

const speakerOf = ({ window }: Session): string | undefined => {
  const asked = window.messages.findLast(({ role }) => role === "user")
  return asked === undefined || asked.name === "clock" ? undefined : (asked.name ?? "somebody")
}

/** Seen from the call with this index. */
const sleepBlockersOf = (session: Session, index: number): SleepBlockers => {
  const { calls } = contextOf(session.decoded)
  const others = calls.filter((_, at) => at !== index)
  const waitsForAnswer = others.some(speaks) ? undefined : speakerOf(session)
  return {
    isAsleep: isTagged(statusOf(session.decoded), "maintaining"),
    ...defined({ waitsForAnswer }),
    unfinished: others.filter(isOpen).map(({ tool }) => tool)
  }
}

/** The timer of a team, and the timer event that it becomes. */
export const TEAM_DUE = "team-due"

const GENERAL = "general"
const QUESTION = "question:"

type General = Pick<TeamState, "memory" | "wakeAt"> & { readonly order: ReadonlyArray<string> }

export const teamStateOn = (own: ShownRecords): TeamState => {
  const records = recordsOf(own, "team")
  const general = records.get(GENERAL) as unknown as General | undefined
  if (general === undefined) return NEW_TEAM
  const { memory, order, wakeAt } = general
  const questions = order.flatMap((id) => {
    const question = records.get(`${QUESTION}${id}`) as unknown as Question | undefined
    return question === undefined ? [] : [[id, question] as const]
  })
  return { memory, wakeAt, questions: new Map(questions) }
}

const generalOf = ({ memory, questions, wakeAt }: TeamState): General => ({
  memory,
  wakeAt,
  order: [...questions.keys()]
})

/** Nearly every step keeps the order and the time; the memory is compared as it is written, byte for byte (T1). */
const isSameGeneral = (one: General, other: General): boolean =>
  one.wakeAt === other.wakeAt &&
  one.order.length === other.order.length &&
  one.order.every((id, index) => id === other.order[index]) &&
  (one.memory === other.memory || JSON.stringify(one.memory) === JSON.stringify(other.memory))

/** What makes one state of the other. */
export const teamChanges = (before: TeamState, after: TeamState): ReadonlyArray<RecordChange> => {
  const gone = [...before.questions.keys()].filter((id) => !after.questions.has(id))
  const changed = [...after.questions].filter(([id, question]) => before.questions.get(id) !== question)
  const change = (key: string, value: unknown): RecordChange => ({ kind: "team", key, value: value as Json })
  return [
    ...(isSameGeneral(generalOf(before), generalOf(after)) ? [] : [change(GENERAL, generalOf(after))]),
    ...gone.map((id) => change(`${QUESTION}${id}`, null)),
    ...changed.map(([id, question]) => change(`${QUESTION}${id}`, question))
  ]
}

/** The timer of what is due next, for a commit with a step of the team. */
export const addTeamDue = (draft: CommitDraft, _decision: Decision, { session }: CommitView): Partial<CommitDraft> => {
  const { records = [], status } = draft
  const due = nextDue(teamStateOn(recordsWith(session.own, records)))
  const others = draft.timers.filter(({ name }) => name !== TEAM_DUE)
  const timers: ReadonlyArray<OpenTimer> =
    due === undefined || status === "retired"
      ? others
      : [...others, { name: TEAM_DUE, dueAt: due, event: { type: TEAM_DUE } }]
  return { timers }
}

/** What is written when the timer fires: a message to the team, behind the mail that already waits. */
export const teamDueOf = (to: Address, no: number): TurnInput => {
  const order: Envelope = {
    v: ENVELOPE_VERSION,
    id: shortId(`${TEAM_DUE}:${no}`),
    to,
    from: "clock",
    event: { type: "timer", name: TEAM_DUE },
    hops: 0
  }
  return { cause: { kind: "timer", name: TEAM_DUE }, event: null, messages: [], sends: [order] }
}

// RecordAccess: what a run is lent of its assistant.
// I1  A question to the model is part of the run that asks it: it is repeated with it and recorded with it.

/** Seen from the call with this index; from no call of the tick when it is negative. */
export const recordAccess = Effect.fnUntraced(function* (session: Session, index: number) {
  const model = yield* Model
  const services = yield* Effect.context<Ledger>()
  const { definition } = session
  const context = contextOf(session.decoded)
  const now = yield* Clock.currentTimeMillis
  const access: RecordAccess = {
    read: (kind) => readFor(session, kind),
    consult: (question, text) =>
      Effect.runPromiseWith(services)(
        Effect.gen(function* () {
          const kind = contextIn(definition, question)
          const asked = yield* session.inSlices(() => questionOf(session, kind, text))
          const { messages } = yield* Effect.fromResult(asked)
          const callPrefix = `${callId(context.tick, context.iteration, index)}.${question}`
          return (yield* model.infer({ messages, tools: [], callPrefix })).text
        })
      ),
    history: {
      read: (from, limit) =>
        Effect.runPromiseWith(services)(readPast(session.address, from, { limit, person: personOf(session) })),
      compacted: (compaction) => Effect.runPromiseWith(services)(readCompacted(session.address, compaction))
    },
    hasPassage: (id) => Effect.runPromiseWith(services)(hasPassage(session.address, id, threadsNow(session))),
    episodes: () => Effect.runPromiseWith(services)(readEpisodes(session.address)),
    recall: (question, options) => Effect.runPromiseWith(services)(ownRecall(session, question, options)),
    ...(yield* lentBlocks(session, context.calls[index]?.asks === true)),
    get loop() {
      return {
        tick: context.tick,
        iteration: context.iteration,
        maxIterations: patternNow(context).maxIterations,
        tokensUsed: session.promptTokens,
        maxContextTokens: definition.maxContextTokens,
        reservedResponseTokens: definition.reservedResponseTokens,
        toolsThisTick: toolsOfTick(session),
        sleepBlockers: sleepBlockersOf(session, index),
        subAgents: subAgentsOf(session, now),
        pendingTools: context.calls.flatMap((call, at) =>
          at !== index && (call.phase === "ready" || call.phase === "running") ? [call.tool] : []
        )
      }
    }
  }
  return access
})
