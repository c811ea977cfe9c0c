// Frame: a notice as it crosses the wire of an event stream.
// Owns its text. Leaves which notices there are to the ledger, and who gets them to subscriber.ts.
// E1  The text of a notice is made once, however many listen.
// E2  Data is one line of JSON: nothing that is said in it ends the event.

import { type Notice, noticesOf } from "@reverie/protocol"
import type { OutboxRow } from "reverie"

// Place: how far anyone who listens has come in the outbox.
// P1  The last notice of an entry has the position of the entry as its id: a whole number.
// P2  One before it has a number between the position before and that position, so that anyone who is cut off in the middle
//     of an entry goes on in the middle. Ids only grow.

export interface Place {
  /** Everything up to this position has been told. */
  readonly seq: number
  /** And so many notices of the entry right after it. */
  readonly told: number
}

/** More notices of one entry than this share the last number. */
const STEPS = 1_000

/** The id of a notice; `left` counts those of the same entry that come after it. */
const idOf = (seq: number, index: number, left: number): string =>
  left === 0 ? String(seq) : `${seq - 1}.${String(Math.min(index + 1, STEPS - 1)).padStart(3, "0")}`

/** Undefined for what can be no place. */
export const placeIn = (id: string): Place | undefined => {
  const [, seq, told = "0"] = /^(\d{1,15})(?:\.(\d{3}))?$/.exec(id) ?? []
  return seq === undefined ? undefined : { seq: Number(seq), told: Number(told) }
}

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

/** What is reported only while it happens. */
export const passingFrameOf = (notice: Notice): string => frameOf(notice, undefined)

/** Says where the listener stands, and nothing else: anyone who comes back with it misses nothing. */
export const standing = (seq: number): string => `: here\nid: ${seq}\n\n`
