// Memories: what is kept of the kinds of memory, for whoever only reads.
// Owns reading records back as what they are. Leaves keeping them to the rooms whose kinds they are.
// M1  A record that does not fit its kind is left out: one damaged memory hides no other.

import {
  type EntityProfile,
  type Fact,
  isEntityProfile,
  isFact,
  isPassage,
  type Passage,
  Recall,
  RecallUnavailable
} from "@reverie/memory"
import type { RecordRow } from "@reverie/protocol"
import { rebuildIndex } from "@reverie/runtime"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

const fitting =
  <A>(isOne: (value: unknown) => value is A) =>
  (rows: ReadonlyArray<RecordRow>): ReadonlyArray<A> =>
    rows.flatMap(({ value }) => (isOne(value) ? [value] : []))

export const factsIn: (rows: ReadonlyArray<RecordRow>) => ReadonlyArray<Fact> = fitting(isFact)
export const profilesIn: (rows: ReadonlyArray<RecordRow>) => ReadonlyArray<EntityProfile> = fitting(isEntityProfile)
export const passagesIn: (rows: ReadonlyArray<RecordRow>) => ReadonlyArray<Passage> = fitting(isPassage)

export interface Rebuilt {
  readonly assistant: string
  /** Ledger entries gone through. */
  readonly entries: number
  /** What the index holds of it now. */
  readonly memories: number
}

/** Makes the index of an assistant anew from its ledger. */
export const rebuilt = Effect.fnUntraced(function* (address: Address) {
  const found = yield* Effect.serviceOption(Recall)
  if (Option.isNone(found)) {
    return yield* new RecallUnavailable({ operation: "rebuild", message: "there is no index of memories here" })
  }
  const recall = found.value
  const { entries } = yield* Effect.provideService(rebuildIndex(address), Recall, recall)
  const memories = yield* recall.count(address)
  return { assistant: address.assistant, entries, memories } satisfies Rebuilt
})
