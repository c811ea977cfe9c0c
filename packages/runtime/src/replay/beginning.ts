// Beginning: the state in which an assistant was created, as its ledger tells it.
// Owns reading the entry of the creation. Leaves making one to creation.ts.
// B1  What the entry says of settings and commission is what the creation was decided with.
// B2  An entry that says nothing of settings was written before they were recorded: then whoever replays names them.

import { creation, type SubAgentStart, type Decoded, type Settings } from "@reverie/assistant"
import { type Entry, isJsonObject } from "@reverie/protocol"

export interface Beginning {
  readonly decoded: Decoded
  /** Whether the entry told the settings. */
  readonly isRecorded: boolean
}

type Created = { readonly settings?: Partial<Settings> } & Partial<SubAgentStart>

/** `settings`: for an entry that says nothing of them. */
export const beginningOf = ({ event }: Entry, settings: Partial<Settings> = {}): Beginning => {
  const created: Created = isJsonObject(event) ? (event as unknown as Created) : {}
  const { assignment, granted } = created
  const subAgentStart = assignment === undefined || granted === undefined ? undefined : { assignment, granted }
  return {
    decoded: creation(created.settings ?? settings, subAgentStart).next,
    isRecorded: created.settings !== undefined
  }
}
