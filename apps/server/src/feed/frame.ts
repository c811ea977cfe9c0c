// Frame: a notice as it crosses the wire of an event stream.
// Owns its text. Leaves which notices there are to the ledger, and who gets them to subscriber.ts.
// E1  The text of a notice is made once, however many listen.
// E2  Data is one line of JSON: nothing that is said in it ends the event.

import { type Notice, noticesOf } from "@reverie/protocol"
import type { OutboxRow } from "reverie"
import { idOf } from "./place.ts"

/** The notices of one entry. */
export interface EntryFrames {
  readonly seq: number
  readonly tenant: string
  readonly assistant: string
  readonly frames: ReadonlyArray<string>
  readonly chars: number
}

const frameOf = (notice: Notice, id: string | undefined): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${notice.type}\ndata: ${JSON.stringify(notice)}\n\n`

export const framesOf = ({ address, entry, seq }: OutboxRow): EntryFrames => {
  const notices = noticesOf(address, seq, entry)
  const frames = notices.map((notice, index) => frameOf(notice, idOf(seq, index, notices.length - 1 - index)))
  const chars = frames.reduce((sum, frame) => sum + frame.length, 0)
  return { seq, tenant: address.tenant, assistant: address.assistant, frames, chars }
}

/** What is told only while it happens. */
export const passingFrameOf = (notice: Notice): string => frameOf(notice, undefined)

/** Says where the listener stands, and nothing else: whoever comes back with it misses nothing. */
export const standing = (seq: number): string => `: here\nid: ${seq}\n\n`
