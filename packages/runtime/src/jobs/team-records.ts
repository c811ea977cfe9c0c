// TeamRecords: the state of a team as records of its assistant.
// Owns the way from records to state and back, and the timer of what is due next. Leaves the state's meaning to `assistant`.
// T1  Only what a step has changed is written; the records alone give the state again, byte for byte.
// T2  The timer is set anew by every step. When it fires, the team is told by an envelope of its own, which takes its place
//     behind the answers that were accepted before it.

import { type Decision, NEW_TEAM, nextDue, type Question, type TeamState } from "@reverie/assistant"
import {
  type Address,
  ENVELOPE_VERSION,
  type Envelope,
  type Json,
  type OpenTimer,
  type RecordChange
} from "@reverie/protocol"
import type { CommitDraft, TurnInput } from "../commit/commit-draft.ts"
import { shortId } from "../commit/replies.ts"
import { recordsOf, recordsWith, type ShownRecords } from "../session/own-records.ts"
import type { CommitView } from "../commit/commit-view.ts"

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

/** What makes one state of the other. */
export const teamChanges = (before: TeamState, after: TeamState): ReadonlyArray<RecordChange> => {
  const gone = [...before.questions.keys()].filter((id) => !after.questions.has(id))
  const changed = [...after.questions].filter(([id, question]) => before.questions.get(id) !== question)
  const change = (key: string, value: unknown): RecordChange => ({ kind: "team", key, value: value as Json })
  return [
    ...(JSON.stringify(generalOf(before)) === JSON.stringify(generalOf(after))
      ? []
      : [change(GENERAL, generalOf(after))]),
    ...gone.map((id) => change(`${QUESTION}${id}`, null)),
    ...changed.map(([id, question]) => change(`${QUESTION}${id}`, question))
  ]
}

/** The timer of what is due next, when a step of the team is in the commit. */
export const addTeamDue = (draft: CommitDraft, _decision: Decision, { session }: CommitView): Partial<CommitDraft> => {
  const { records = [], status, step } = draft
  if (step?.kind !== "coordinate" || !step.ok) return {}
  const due = nextDue(teamStateOn(recordsWith(session.own, records)))
  const others = draft.timers.filter(({ name }) => name !== TEAM_DUE)
  const timers: ReadonlyArray<OpenTimer> =
    due === undefined || status === "retired"
      ? others
      : [...others, { name: TEAM_DUE, dueAt: due, event: { type: TEAM_DUE } }]
  return { timers }
}

/** What is written when the timer fires: the team is told, behind what waits for it already. */
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
