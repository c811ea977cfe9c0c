// Known: what memory holds, read for a step of a dream.
// Owns reading records and telling which have changed. Leaves their meaning to `memory`.
// K1  A record that does not fit is left alone: neither used nor overwritten nor taken away.

import { Ledger } from "@reverie/ledger"
import { type EntityProfile, type Fact, isEntityProfile, isFact, type Profiles } from "@reverie/memory"
import type { Json, RecordChange } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Session } from "../session/session.ts"

/** Every fact of whatever state, by its id. */
export const factsOf = Effect.fnUntraced(function* ({ address }: Session) {
  const rows = yield* (yield* Ledger).records(address, ["fact"])
  return new Map(rows.flatMap(({ value }) => (isFact(value) ? [[value.id, value] as const] : [])))
})

export const profilesOf = Effect.fnUntraced(function* ({ address }: Session) {
  const rows = yield* (yield* Ledger).records(address, ["entity"])
  const profiles: Profiles = new Map(
    rows.flatMap(({ value }) => (isEntityProfile(value) ? [[value.id, value] as const] : []))
  )
  return profiles
})

export const factChange = (fact: Fact): RecordChange => ({
  kind: "fact",
  key: fact.id,
  value: fact as unknown as Json
})

export const profileChange = (profile: EntityProfile): RecordChange => ({
  kind: "entity",
  key: profile.id,
  value: profile as unknown as Json
})
