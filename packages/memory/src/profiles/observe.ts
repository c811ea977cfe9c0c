// Observe: something is heard of somebody or something.
// Owns what becomes an observation of whom. Leaves making attributes of it to `digest.ts`.
// O1  The same thing is observed once, whatever its id, its case, its spaces and its last stop.
// O2  Over the bound the oldest that is digested gives way, then the oldest; whatever came last stays.
// O3  What poses as an instruction to the model is not observed: a profile stands in the prompt.
// O4  Only facts that hold are heard; an assistant keeps no profile of itself (that is what its journal is for).

import { sendingAssistant } from "@reverie/protocol"
import type { Fact, Origin } from "../fact.ts"
import { entryId } from "../entry.ts"
import { instructionIn } from "../integrity/instruction.ts"
import { cleanLine } from "../integrity/clean-text.ts"
import { entityIdOf } from "./name.ts"
import type { PendingObservation } from "./pending.ts"
import {
  cut,
  type EntityProfile,
  type EntityType,
  gist,
  MAX_OBSERVATION_CHARS,
  MAX_OBSERVATIONS,
  newProfile,
  type Observation,
  profileNamed,
  type Profiles,
  type NewObservation
} from "./profile.ts"
import { met } from "./relationship.ts"

export interface Observed {
  readonly profile: EntityProfile
  /** False when it was known, says nothing, or poses as an instruction. */
  readonly added: boolean
  /** What had to give way. */
  readonly dropped: ReadonlyArray<Observation>
}

/** The one that has to go, among all but the last. */
const surplus = (observations: ReadonlyArray<Observation>): Observation | undefined => {
  const byAge = observations.slice(0, -1).toSorted((a, b) => a.at - b.at)
  return byAge.find(({ digested }) => digested) ?? byAge[0]
}

const bounded = (observations: ReadonlyArray<Observation>) => {
  let kept = observations
  const dropped: Array<Observation> = []
  while (kept.length > MAX_OBSERVATIONS) {
    const gone = surplus(kept)
    if (gone === undefined) break
    dropped.push(gone)
    kept = kept.filter((each) => each !== gone)
  }
  return { kept, dropped }
}

/** Who speaks under this very name is a person, or an assistant. */
const typeBySpeaking = ({ aliases, id, name }: EntityProfile, origin: Origin): EntityType => {
  if (origin.type !== "person" && origin.type !== "assistant") return "unknown"
  const speaker = entityIdOf(sendingAssistant(origin.name) ?? origin.name)
  const isSpeaker = speaker === id || [name, ...aliases].some((each) => entityIdOf(each) === speaker)
  return isSpeaker ? origin.type : "unknown"
}

/** A type that is known stays; one that is not is learnt from what is said of it, or from its speaking for itself. */
const typed = (profile: EntityProfile, origin: Origin, type: EntityType): EntityProfile => {
  if (profile.type !== "unknown") return profile
  const learnt = type === "unknown" ? typeBySpeaking(profile, origin) : type
  return learnt === "unknown" ? profile : { ...profile, type: learnt }
}

export const observe = (
  profile: EntityProfile,
  observation: NewObservation,
  type: EntityType = "unknown"
): Observed => {
  const text = cut(cleanLine(observation.text), MAX_OBSERVATION_CHARS)
  if (gist(text) === "" || instructionIn(observation.text) !== undefined) return { profile, added: false, dropped: [] }
  const relationship = met(profile.relationship, observation.at)
  const known = typed(profile, observation.origin, type)
  const heard = relationship === profile.relationship ? known : { ...known, relationship }
  const isKnown = profile.observations.some((each) => each.id === observation.id || gist(each.text) === gist(text))
  if (isKnown) return { profile: heard, added: false, dropped: [] }
  const { dropped, kept } = bounded([...profile.observations, { ...observation, text, digested: false }])
  return { profile: { ...heard, observations: kept }, added: true, dropped }
}

export const factObservation = ({ at, id, origin, text, trust }: Fact): NewObservation => ({
  id,
  text,
  at,
  source: entryId("fact", id),
  origin,
  trust
})

/** What a night has to tell the profiles. */
export interface News {
  readonly facts: ReadonlyArray<Fact>
  readonly pending: ReadonlyArray<PendingObservation>
  /** Names of the assistant itself. */
  readonly self: ReadonlyArray<string>
}

export interface Gathered {
  /** All of them, the changed ones changed. */
  readonly profiles: Profiles
  /** Ids of the profiles that are not what they were. */
  readonly changed: ReadonlyArray<string>
  /** Ids of the facts that were heard: those that hold. */
  readonly heard: ReadonlyArray<string>
  /** Observations that became none: nobody is named, or they pose as instructions. */
  readonly refused: ReadonlyArray<string>
}

/** Tells every profile what was heard of it, in the order of time. */
export const gather = (profiles: Profiles, { facts, pending, self }: News): Gathered => {
  const selves = new Set(self.map(entityIdOf))
  const after = new Map(profiles)
  const refused: Array<string> = []
  const tell = (name: string, observation: NewObservation, type?: EntityType): void => {
    if (selves.has(entityIdOf(name))) return
    const profile = profileNamed(after, name) ?? newProfile(name, observation.at, type)
    if (profile === undefined || instructionIn(observation.text) !== undefined) {
      refused.push(observation.id)
      return
    }
    after.set(profile.id, observe(profile, observation, type).profile)
  }
  const holding = facts.filter(({ state }) => state === "active")
  const told = [
    ...holding.map((fact) => ({ at: fact.at, tell: () => tellFact(fact) })),
    ...pending.map((each) => ({ at: each.at, tell: () => tell(each.entity, each.observation, each.type) }))
  ]
  const tellFact = (fact: Fact): void => {
    for (const name of new Set(fact.entities)) tell(name, factObservation(fact))
  }
  for (const each of told.toSorted((a, b) => a.at - b.at)) each.tell()
  return {
    profiles: after,
    changed: [...after.keys()].filter((id) => after.get(id) !== profiles.get(id)),
    heard: holding.map(({ id }) => id),
    refused: [...new Set(refused)]
  }
}
