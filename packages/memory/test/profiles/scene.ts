// What the tests of profiles share: a day, an observation, a profile that has heard something.

import type { Fact } from "../../src/index.ts"
import { type EntityProfile, newProfile, observe } from "../../src/index.ts"
import type { NewObservation } from "../../src/profiles/profile.ts"

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const NOW = Date.UTC(2023, 4, 8, 12)

export const aProfile = (name = "Nora", at = NOW): EntityProfile => {
  const profile = newProfile(name, at)
  if (profile === undefined) throw new Error(`no profile for ${name}`)
  return profile
}

export const anObservation = (over: Partial<NewObservation> = {}): NewObservation => ({
  id: "fact_1_0",
  text: "Nora works at the harbour.",
  at: NOW,
  source: "f/fact_1_0",
  origin: { type: "person", name: "Olga" },
  trust: 0.9,
  ...over
})

/** A profile that has heard these texts, an hour after one another, as facts `f0`, `f1` and so on. */
export const messageFilter = (texts: ReadonlyArray<string>, profile = aProfile()): EntityProfile => {
  let heard = profile
  for (const [index, text] of texts.entries()) {
    heard = observe(
      heard,
      anObservation({ id: `f${index}`, source: `f/f${index}`, text, at: NOW + index * HOUR })
    ).profile
  }
  return heard
}

export const aFact = (over: Partial<Fact> & Pick<Fact, "id" | "text">): Fact => ({
  at: NOW,
  learnt_at: NOW + DAY,
  sources: ["m/1/0"],
  origin: { type: "person", name: "Olga" },
  trust: 0.9,
  importance: 5,
  entities: ["Nora"],
  links: [],
  state: "active",
  linked: false,
  profiled: false,
  ...over
})
