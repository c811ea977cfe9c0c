// Search of Replay: what of the view stands in the URL.

import { type Raw, text, whole } from "../../shell/search.ts"

export interface ReplaySearch {
  /** The first frame of the range. */
  readonly from?: number | undefined
  /** How many frames are asked for. */
  readonly limit?: number | undefined
  /** The frame that is open. */
  readonly at?: number | undefined
  /** It stops at the first frame that comes into this state, or is caused by this event. */
  readonly state?: string | undefined
  readonly event?: string | undefined
  /** The tick that is to be lived again. */
  readonly fork?: number | undefined
}

export const replaySearch = (raw: Raw): ReplaySearch => ({
  from: whole(raw["from"]),
  limit: whole(raw["limit"]),
  at: whole(raw["at"]),
  state: text(raw["state"]),
  event: text(raw["event"]),
  fork: whole(raw["fork"])
})
