// CommitDraft: what one commit is going to write, as a value.
// Owns the contributors and their order: with skip-rules.ts they are all that a commit contains besides the input and the
// decision itself. Leaves the first draft and the entry to turn.ts, each contribution to the module it is from.
// D1  A contributor changes nothing: it returns the fields it has a part in, made of those of the draft before it.
// D2  It reads the session as it was before the commit. Records of the commit itself are in the draft.

import type { Decision } from "@reverie/assistant"
import { type AcceptedEnvelope, defined, type Entry, type Message, type OpenTimer } from "@reverie/protocol"
import { addReplies, recordInFlight } from "./replies.ts"
import type { Session } from "../session/session.ts"
import { addSubAgentSends } from "../sub-agents/sub-agents.ts"
import { addTeamDue } from "../jobs/team-records.ts"
import { addTraces } from "../telemetry/turn-trace.ts"

type Written =
  | "no"
  | "cause"
  | "event"
  | "status"
  | "messages"
  | "step"
  | "settled"
  | "tickEnd"
  | "emitted"
  | "records"
  | "sends"

export interface CommitDraft extends Pick<Entry, Written> {
  /** The timers that are open after it. */
  readonly timers: ReadonlyArray<OpenTimer>
}

/** What a contributor knows besides draft and decision. */
export interface CommitView {
  /** As it was before the commit. */
  readonly session: Session
  /** The envelope that the commit is about. */
  readonly arrival: AcceptedEnvelope | undefined
  /** The statechart has taken the envelope: it was not skipped, ignored or dead-lettered. */
  readonly isTaken: boolean
  /** The newest messages before the commit. */
  readonly tail: ReadonlyArray<Message>
}

type Contributor = (draft: CommitDraft, decision: Decision, view: CommitView) => Partial<CommitDraft>

/** In this order: each one sees what those before it have added. */
const contributors: ReadonlyArray<Contributor> = [recordInFlight, addReplies, addTeamDue, addSubAgentSends, addTraces]

/** The draft with what the contributors add. */
export const contributed = (first: CommitDraft, decision: Decision, view: CommitView): CommitDraft => {
  const draft = { ...first }
  for (const contribute of contributors) Object.assign(draft, defined(contribute(draft, decision, view)))
  return draft
}
