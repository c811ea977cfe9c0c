// CommitView: what a contributor knows besides draft and decision.

import type { AcceptedEnvelope, Message } from "@reverie/protocol"
import type { Session } from "../session/session.ts"

/** What a contributor knows besides draft and decision. */
export interface CommitView {
  /** As it was before the commit. */
  readonly session: Session
  /** The envelope that the commit is about. */
  readonly arrival: AcceptedEnvelope | undefined
  /** When the commit is made. */
  readonly now: number
  /** The statechart has taken the envelope: it was not skipped, ignored or dead-lettered. */
  readonly isTaken: boolean
  /** The newest messages before the commit. */
  readonly tail: ReadonlyArray<Message>
}
