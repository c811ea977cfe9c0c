// Relationship: how near somebody or something is to an assistant, from how often and how lately it came up.
// Owns strength and its tiers. Leaves what is known of them to the profile.
// R1  Strength is 0 to 1. It never falls by a further contact, and never rises by waiting.
// R2  Hearing of the same contact again changes nothing.
// R3  A nearer tier needs more strength; of many, no tier holds more than its size together with the nearer ones.
//
// The tiers are the layers of a social world that Dunbar describes: about 5, 15, 50 and 150 people, each layer holding
// the nearer ones, and kept up by contact about once a week, a month, half a year and a year. A layer's least strength
// is what an old relation is left with after that time without contact, so that it falls to the next layer when it
// is not renewed at the pace of its own.

import * as Schema from "effect/Schema"

const DAY_MILLIS = 86_400_000

/** What comes up again within this time belongs to the same contact: a talk has breaks, and a fact has neighbours. */
export const CONTACT_GAP_MILLIS = 6 * 3_600_000

/** Without contact half of the strength is left after this time. It spreads the paces of the layers over the scale. */
export const HALF_LIFE_MILLIS = 60 * DAY_MILLIS

/** After so many contacts half of what familiarity can give is reached; a first contact makes no friend. */
export const HALF_FAMILIAR_CONTACTS = 6

/** The nearest first. `size` counts the nearer layers in; `minStrength` is rounded down. */
export const layers = [
  { tier: "intimate", size: 5, paceDays: 7, minStrength: 0.92 },
  { tier: "close", size: 15, paceDays: 30, minStrength: 0.7 },
  { tier: "friend", size: 50, paceDays: 182, minStrength: 0.12 },
  { tier: "acquaintance", size: 150, paceDays: 365, minStrength: 0.014 }
] as const

/** `known`: beyond all layers. */
export const tiers = ["intimate", "close", "friend", "acquaintance", "known"] as const
export type Tier = (typeof tiers)[number]

export const Relationship = Schema.Struct({
  /** Contacts: times at which it came up, CONTACT_GAP_MILLIS or more apart. */
  interactions: Schema.Int,
  /** Milliseconds since the epoch. */
  first_at: Schema.Finite,
  last_at: Schema.Finite,
  /** As of `last_at`; `strengthAt` tells that of another time. */
  strength: Schema.Finite,
  tier: Schema.Literals(tiers)
})
export type Relationship = typeof Relationship.Type

/** Four digits tell more than anybody can feel. */
const rounded = (strength: number): number => Math.round(strength * 10_000) / 10_000

export const strengthOf = (interactions: number, silenceMillis: number): number => {
  const familiarity = 1 - 2 ** (-Math.max(0, interactions) / HALF_FAMILIAR_CONTACTS)
  const recency = 2 ** (-Math.max(0, silenceMillis) / HALF_LIFE_MILLIS)
  return rounded(familiarity * recency)
}

export const tierOf = (strength: number): Tier =>
  layers.find(({ minStrength }) => strength >= minStrength)?.tier ?? "known"

export const strengthAt = ({ interactions, last_at }: Relationship, now: number): number =>
  strengthOf(interactions, now - last_at)

export const tierAt = (relationship: Relationship, now: number): Tier => tierOf(strengthAt(relationship, now))

const relating = (interactions: number, first_at: number, last_at: number): Relationship => {
  const strength = strengthOf(interactions, 0)
  return { interactions, first_at, last_at, strength, tier: tierOf(strength) }
}

export const strangers = (at: number): Relationship => relating(0, at, at)

/** After something was heard of it at that time. */
export const met = (relationship: Relationship, at: number): Relationship => {
  const { first_at, interactions, last_at } = relationship
  if (interactions === 0) return relating(1, at, at)
  const isNew = at >= last_at + CONTACT_GAP_MILLIS || at <= first_at - CONTACT_GAP_MILLIS
  if (!isNew && at >= first_at && at <= last_at) return relationship
  return relating(interactions + (isNew ? 1 : 0), Math.min(first_at, at), Math.max(last_at, at))
}

/** The tier of each of many: its own, or a farther one when those that are stronger fill it. */
export const tiersOf = (
  related: Iterable<{ readonly id: string; readonly relationship: Relationship }>,
  now: number
): ReadonlyMap<string, Tier> => {
  const ranked = [...related]
    .map(({ id, relationship }) => ({ id, strength: strengthAt(relationship, now), last_at: relationship.last_at }))
    .toSorted((a, b) => b.strength - a.strength || b.last_at - a.last_at || (a.id < b.id ? -1 : 1))
  return new Map(
    ranked.map(({ id, strength }, place) => {
      const roomy = layers.find(({ size }) => place < size)?.tier ?? "known"
      return [id, tiers[Math.max(tiers.indexOf(roomy), tiers.indexOf(tierOf(strength)))] ?? "known"] as const
    })
  )
}
