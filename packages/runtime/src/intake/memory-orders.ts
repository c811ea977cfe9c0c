// MemoryOrders: what a person orders about a memory.
// Owns reading what the order is about, and the records that follow of it. Leaves what becomes of facts, profiles and nights to `memory`
// and `dream/`.
// M1  An order starts no tick: one commit settles it, with all that it changes, or with the reason why it changes nothing.
// M2  What was forgotten before it was heard writes nothing.

import { contextOf } from "@reverie/assistant"
import {
  acceptedByPerson,
  profileWrittenByPerson,
  releaseFact,
  retiredByPerson,
  withdraw,
  writtenByPerson
} from "@reverie/memory"
import { type AcceptedEnvelope, defined, FORGOTTEN } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { factChange, factsOf, profileChange, profilesOf } from "../dream/consolidating.ts"
import { acceptedDream, undoneDream } from "../dream/night.ts"
import { hasPassage } from "../prompt/past.ts"
import type { Session } from "../session/session.ts"
import { skip } from "./skip.ts"

/** What someone ordered to be written, and what was forgotten before it was heard. */
const skipForgotten = (_: Session, envelope: AcceptedEnvelope) => {
  const { event } = envelope
  const isGone =
    (event.type === "writeFact" && event.text === FORGOTTEN) ||
    (event.type === "writeProfile" && event.entity === FORGOTTEN)
  return isGone ? Effect.succeed(skip(envelope, "ignored", "it was forgotten before it was heard")) : undefined
}

/** An order to delete a passage: the record goes, and with this commit the index learns of it. */
const skipDeletedPassage = (session: Session, envelope: AcceptedEnvelope) => {
  const { event } = envelope
  if (event.type !== "deletePassage") return undefined
  const { passage } = event
  return Effect.map(hasPassage(session.address, passage), (isThere) =>
    isThere
      ? skip(envelope, "handled", `deleted: ${passage}`, [{ kind: "passage", key: passage, value: null }])
      : skip(envelope, "ignored", `there is no passage ${passage}`)
  )
}

/** A person's word that a fact in quarantine, or a proposed one, may be used: with this commit it holds, and the index learns of it. */
const skipReleasedFact = (session: Session, envelope: AcceptedEnvelope) => {
  const { event } = envelope
  if (event.type !== "releaseFact") return undefined
  return Effect.map(factsOf(session), (facts) => {
    const fact = facts.get(event.fact)
    if (fact === undefined) return skip(envelope, "ignored", `there is no fact ${event.fact}`)
    const released = releaseFact(fact)
    const changed = released === undefined ? acceptedByPerson(facts, [fact.id]) : [released]
    return changed.length === 0
      ? skip(envelope, "ignored", `${fact.id} is not in quarantine: it is ${fact.state}`)
      : skip(envelope, "handled", `released: ${fact.id}`, changed.map(factChange))
  })
}

/** Profiles that lose what came of these facts, as they stand then. */
const profilesWithout = Effect.fnUntraced(function* (session: Session, facts: ReadonlyArray<string>) {
  return [...(yield* profilesOf(session)).values()].flatMap((profile) => {
    const after = withdraw(profile, facts)
    return after === profile ? [] : [after]
  })
})

const NO_REASON = "retired by a person"

/** A person's word that a fact does not hold: with this commit it is retired, and neither the index nor a profile knows it. */
const skipRetiredFact = (session: Session, envelope: AcceptedEnvelope) => {
  const { event } = envelope
  if (event.type !== "retireFact") return undefined
  return Effect.gen(function* () {
    const facts = yield* factsOf(session)
    const changed = retiredByPerson(facts, event.fact, event.reason ?? NO_REASON)
    if (changed.length === 0) {
      const why = facts.has(event.fact) ? `${event.fact} is retired already` : `there is no fact ${event.fact}`
      return skip(envelope, "ignored", why)
    }
    const profiles = yield* profilesWithout(session, [event.fact])
    return skip(envelope, "handled", `retired: ${event.fact}`, [
      ...changed.map(factChange),
      ...profiles.map(profileChange)
    ])
  })
}

/** A fact that a person writes: with this commit it holds, and what it corrects holds no more. */
const skipWrittenFact = (session: Session, envelope: AcceptedEnvelope, now: number) => {
  const { event, from, id } = envelope
  if (event.type !== "writeFact") return undefined
  return Effect.gen(function* () {
    const moment = { tick: contextOf(session.decoded).tick, now }
    const writing = { text: event.text, by: from, source: `w/${id}`, moment, ...defined({ corrects: event.fact }) }
    const written = writtenByPerson(yield* factsOf(session), writing)
    if (!written.success) return skip(envelope, "ignored", written.error)
    const { changed, fact } = written
    const gone = changed.slice(1).map((each) => each.id)
    const profiles = yield* profilesWithout(session, gone)
    const held = fact.state === "active" ? "" : `, held back: ${fact.reason ?? fact.state}`
    const told = gone.length === 0 ? `written: ${fact.id}${held}` : `corrected: ${gone.join(", ")} by ${fact.id}`
    return skip(envelope, "handled", told, [...changed.map(factChange), ...profiles.map(profileChange)])
  })
}

/** What a person writes into a profile: with this commit it stands there, and the index and the next prompt have it. */
const skipWrittenProfile = (session: Session, envelope: AcceptedEnvelope, now: number) => {
  const { event, from, id } = envelope
  if (event.type !== "writeProfile") return undefined
  const { attribute, entity, text, undo } = event
  const writing = { entity, by: from, source: `w/${id}`, now, ...defined({ attribute, text, undo }) }
  return Effect.map(profilesOf(session), (profiles) => {
    const written = profileWrittenByPerson(profiles, writing)
    return written.success
      ? skip(envelope, "handled", written.told, [profileChange(written.profile)])
      : skip(envelope, "ignored", written.error)
  })
}

/** A person's word that a night, or some of what it made, does not hold: one commit takes it back. */
const skipUndoneDream = (session: Session, envelope: AcceptedEnvelope, now: number) =>
  envelope.event.type === "undoDream"
    ? Effect.map(undoneDream(session, envelope.event, now), ({ records, told }) =>
        skip(envelope, records.length === 0 ? "ignored" : "handled", told, records)
      )
    : undefined

/** A person's word that what waits of a night holds. */
const skipAcceptedDream = (session: Session, envelope: AcceptedEnvelope, now: number) =>
  envelope.event.type === "acceptDream"
    ? Effect.map(acceptedDream(session, envelope.event, now), ({ records, told }) =>
        skip(envelope, records.length === 0 ? "ignored" : "handled", told, records)
      )
    : undefined

/** In this order. */
export const memoryOrders = [
  skipForgotten,
  skipDeletedPassage,
  skipReleasedFact,
  skipRetiredFact,
  skipWrittenFact,
  skipWrittenProfile,
  skipUndoneDream,
  skipAcceptedDream
] as const
