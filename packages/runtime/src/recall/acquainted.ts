// Acquainted: the profiles of those an assistant deals with in the tick at hand: who speaks, and whom he speaks of.
// Owns reading them. Leaves how they are shown to remembered.ts.
// A1  Of many profiles only those are read that the words at hand name: who has met thousands pays for those in the room.
//     Few are read at once, and found by their other names too.
// A2  That there are many is remembered while the process runs. When they become few again, some are found by one name only.

import { entityIdOf, idsIn, namedIn, profileNamed } from "@reverie/memory"
import { Ledger } from "@reverie/ledger"
import { addressKey } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Session } from "../session/session.ts"
import { profilesIn } from "./recollection.ts"
import { knownOf } from "./remembered.ts"

/** So many are few. */
const FEW_PROFILES = 16
/** Of those that are dealt with, and of what is said, looked through for their names, in UTF-16 units. */
const MAX_PROFILES = 3
const MAX_NAMED_CHARS = 4_000

/** Assistants of which it is remembered that they have many profiles. */
const MAX_KEPT = 1_024
const haveMany = new WeakMap<Ledger["Service"], Set<string>>()

const manyIn = (ledger: Ledger["Service"]): Set<string> => {
  const known = haveMany.get(ledger) ?? new Set<string>()
  haveMany.set(ledger, known)
  return known
}

/** All profiles, where they are few; undefined where they are many. */
const fewProfiles = Effect.fnUntraced(function* ({ address, recollection }: Session) {
  const ledger = yield* Ledger
  const many = manyIn(ledger)
  const key = addressKey(address)
  if (recollection.known === undefined && many.has(key)) recollection.known = "many"
  if (recollection.known === undefined) {
    const rows = yield* ledger.records(address, ["entity"], { limit: FEW_PROFILES + 1 })
    recollection.known = rows.length > FEW_PROFILES ? "many" : profilesIn(rows)
    if (rows.length > FEW_PROFILES) {
      if (many.size >= MAX_KEPT) many.clear()
      many.add(key)
    }
  }
  return recollection.known === "many" ? undefined : recollection.known
})

const namedAmongMany = Effect.fnUntraced(function* ({ address }: Session, speaker: string, said: string) {
  const own = entityIdOf(speaker)
  const ids = [...(own === undefined ? [] : [own]), ...idsIn(said)]
  const found = profilesIn(yield* (yield* Ledger).records(address, ["entity"], { keys: ids }))
  return ids.map((id) => found.get(id))
})

/** What is known of who speaks, and of whom he speaks. */
export const profilesOf = Effect.fnUntraced(function* (session: Session, question: string) {
  const speaker = session.window.messages.findLast(({ role }) => role === "user")?.name
  if (speaker === undefined) return undefined
  const said = question.slice(0, MAX_NAMED_CHARS)
  const known = yield* fewProfiles(session)
  if (known?.size === 0) return undefined
  const named =
    known === undefined
      ? yield* namedAmongMany(session, speaker, said)
      : [profileNamed(known, speaker), ...namedIn(said, known.values())]
  const profiles = [...new Set(named.filter((profile) => profile !== undefined))].slice(0, MAX_PROFILES)
  return knownOf(profiles, yield* Clock.currentTimeMillis)
})
