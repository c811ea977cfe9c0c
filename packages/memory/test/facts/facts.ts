// Facts: facts and lived items for tests, with what does not matter filled in.

import type { Fact, Lived, Proposal } from "../../src/index.ts"

export const DAY = 86_400_000
export const NOON = Date.UTC(2023, 4, 8, 12)

export const aFact = (id: string, some: Partial<Fact> = {}): Fact => ({
  id,
  text: `About ${id}.`,
  at: NOON,
  learnt_at: NOON,
  sources: ["m/1/0"],
  origin: { type: "person", name: "Caroline" },
  trust: 0.9,
  importance: 5,
  entities: [],
  links: [],
  state: "active",
  linked: false,
  profiled: false,
  ...some
})

export const lived = (id: string, text: string, some: Partial<Lived> = {}): Lived => ({
  id,
  at: NOON,
  speaker: "Caroline",
  text,
  origin: { type: "person", name: "Caroline" },
  importance: 5,
  ...some
})

export const aProposal = (id: string, some: Partial<Proposal> = {}): Proposal => ({
  id,
  text: `About ${id}.`,
  source: "m/2/0",
  entities: [],
  at: NOON,
  origin: { type: "person", name: "Caroline" },
  trust: 0.9,
  importance: 5,
  ...some
})
