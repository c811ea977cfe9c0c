// Beginning: the state in which an assistant was born, as its ledger tells it.
// Owns reading the entry of the birth. Leaves making one to birth.ts.
// B1  What the entry says of settings and commission is what the birth was decided with.
// B2  An entry that says nothing of settings was written before they were recorded: then whoever replays names them.

import { birth, type Commission, type Decoded, type Settings } from "@reverie/assistant"
import { type Entry, isJsonObject } from "@reverie/protocol"

export interface Beginning {
  readonly decoded: Decoded
  /** Whether the entry told the settings. */
  readonly isRecorded: boolean
}

type Born = { readonly settings?: Partial<Settings> } & Partial<Commission>

/** `settings`: for an entry that says nothing of them. */
export const beginningOf = ({ event }: Entry, settings: Partial<Settings> = {}): Beginning => {
  const born: Born = isJsonObject(event) ? (event as unknown as Born) : {}
  const { errand, granted } = born
  const commission = errand === undefined || granted === undefined ? undefined : { errand, granted }
  return {
    decoded: birth(born.settings ?? settings, commission).next,
    isRecorded: born.settings !== undefined
  }
}
