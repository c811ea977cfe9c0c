// DecisionNotes: what a person wrote to a decision about a tool call, on its way to the model.
// Owns keeping it until the call is answered. Leaves how it is shown to `memory`, what a decision does to the statechart.
// N1  The note stands with the message that answers the call, whatever that says: a refusal, a result, that it was cut off.
// N2  From the approval to that message it is a record, so that a crash in between loses nothing of it.
// N3  It is no part of the content: a result, and a reply that is made of one, hold nothing that a person wrote beside it.

import { callId, callOfApproval, contextOf } from "@reverie/assistant"
import { type DecisionNote, defined, type Json, type Message, type RecordChange } from "@reverie/protocol"
import { recordsOf } from "../session/own-records.ts"
import type { CommitDraft } from "./commit-draft.ts"
import type { CommitView } from "./commit-view.ts"

const MAX_NOTE_CHARS = 1_000

const clipped = (text: string): string =>
  text.length <= MAX_NOTE_CHARS ? text : `${text.slice(0, MAX_NOTE_CHARS - 1).toWellFormed()}…`

/** The note that comes with a decision, and the call that it is about. */
const noteIn = ({
  arrival,
  isTaken,
  session
}: CommitView): { readonly call: string; readonly note: DecisionNote } | undefined => {
  if (!isTaken || arrival?.event.type !== "approval") return undefined
  const { approval, decision, note = "" } = arrival.event
  const context = contextOf(session.decoded)
  const index = callOfApproval(context, { type: "approval", decision, ...defined({ approval }) })
  if (index === undefined || note.trim() === "") return undefined
  const call = callId(context.tick, context.iteration, index)
  return { call, note: { by: arrival.from, decision, text: clipped(note) } }
}

const written = (call: string, note: DecisionNote | null): RecordChange => ({
  kind: "decision",
  key: call,
  value: note as unknown as Json
})

/** Notes stand with the answers of their calls; one whose call has none yet is kept for it. */
export const addDecisionNotes = (
  { messages, records = [], tickEnd }: CommitDraft,
  view: CommitView
): Pick<Partial<CommitDraft>, "messages" | "records"> => {
  const heard = noteIn(view)
  const isAnswering = messages.some(({ role }) => role === "tool")
  if (heard === undefined && !isAnswering && tickEnd === undefined) return {}
  const kept = recordsOf(view.session.own, "decision") as unknown as ReadonlyMap<string, DecisionNote>
  const known = heard === undefined ? kept : new Map([...kept, [heard.call, heard.note]])
  if (known.size === 0) return {}
  const answered = new Set(
    messages.flatMap(({ call = "", role }) => (role === "tool" && known.has(call) ? [call] : []))
  )
  const isOver = (call: string) => answered.has(call) || tickEnd !== undefined
  const fresh = heard !== undefined && !isOver(heard.call) ? [written(heard.call, heard.note)] : []
  const gone = [...kept.keys()].filter(isOver).map((call) => written(call, null))
  const withNote = (message: Message): Message => {
    const note = message.role === "tool" ? known.get(message.call ?? "") : undefined
    return note === undefined ? message : counted(view, { ...message, note })
  }
  return {
    messages: answered.size === 0 ? messages : messages.map(withNote),
    ...defined({ records: fresh.length + gone.length === 0 ? undefined : [...records, ...fresh, ...gone] })
  }
}

const counted = ({ session }: CommitView, { tokens: _, ...message }: Message): Message => ({
  ...message,
  tokens: session.count(message)
})
