// Contributors: what a commit contains besides the input and the decision itself, with skip-rules.ts.
// Owns their order. Leaves the first draft and the entry to turn.ts, each contribution to the module it is from.
// D1  A contributor changes nothing: it returns the fields it has a part in, made of those of the draft before it.
// D2  It reads the session as it was before the commit. Records of the commit itself are in the draft.

import type { Decision } from "@reverie/assistant"
import { defined } from "@reverie/protocol"
import type { CommitDraft } from "./commit-draft.ts"
import type { CommitView } from "./commit-view.ts"
import { addReplies, recordInFlight } from "./replies.ts"
import { addSubAgentSends } from "../sub-agents/sub-agents.ts"
import { addTeamDue } from "../jobs/team-records.ts"
import { addTraces } from "../telemetry/turn-trace.ts"

type Contributor = (draft: CommitDraft, decision: Decision, view: CommitView) => Partial<CommitDraft>

/** In this order: each one sees what those before it have added. */
const contributors: ReadonlyArray<Contributor> = [recordInFlight, addReplies, addTeamDue, addSubAgentSends, addTraces]

/** The draft with what the contributors add. */
export const contributed = (first: CommitDraft, decision: Decision, view: CommitView): CommitDraft => {
  const draft = { ...first }
  for (const contribute of contributors) Object.assign(draft, defined(contribute(draft, decision, view)))
  return draft
}
