// Write: a fact that a person writes, in the place of one that is wrong, or beside all others.
// P1  Its origin is the person, it is believed as a person is, and no dream puts it away.
// P2  The fact that it corrects is superseded by it, or retired where it did not hold yet; where a person retires the new one, the
//     superseded one holds again, and profiles learn of it anew.
// P3  Words that are known already make no second fact: the one that says them becomes the person's.
// P4  What an operator adds is everybody's, also where one person said it before or repeats it; a correction is for those who could read
//     what it corrects.
// P5  What poses as an instruction is held back, and takes no place (L7).

import { defined } from "@reverie/protocol"
import { type Fact, type FactMoment, heardAgain, trustOf } from "../fact.ts"
import { threadOf } from "../indexing/indexing.ts"
import { namesIn, OF_NO_ONE } from "../indexing/messages.ts"
import { admitFact } from "../integrity/as-data.ts"
import { entityIdOf, namedIn } from "../profiles/name.ts"
import { nextNumber } from "./apply-routes.ts"
import { wordingOf } from "./routes.ts"

export interface Writing {
  readonly text: string
  /** Who writes it. */
  readonly by: string
  /** What names the act among its sources. */
  readonly source: string
  /** The fact whose place it takes. */
  readonly corrects?: string
  readonly moment: FactMoment
}

export type Written =
  | { readonly success: true; readonly fact: Fact; readonly changed: ReadonlyArray<Fact> }
  | { readonly success: false; readonly error: string }

/** What a person found important enough to write. */
const IMPORTANCE = 6
const MAX_ENTITIES = 12

/** Names in the text: those that facts know, and those that look like one; each meant once. */
const entitiesIn = (text: string, facts: ReadonlyMap<string, Fact>): ReadonlyArray<string> => {
  const known = new Set([...facts.values()].flatMap(({ entities }) => entities))
  const named = namedIn(
    text,
    [...known].map((name) => ({ name, aliases: [] }))
  )
  const byId = new Map<string, string>()
  for (const name of [...named.map((each) => each.name), ...namesIn(text)]) {
    const id = entityIdOf(name)
    if (id !== undefined && !byId.has(id)) byId.set(id, name)
  }
  return [...byId.values()].slice(0, MAX_ENTITIES)
}

/** Whose it is then, where that can be told. */
const threadNow = (old: Fact | undefined): Pick<Fact, "thread"> =>
  defined({ thread: old === undefined ? OF_NO_ONE : threadOf(old) })

const factOf = (
  facts: ReadonlyMap<string, Fact>,
  { by, moment, source, text }: Writing,
  old: Fact | undefined
): Fact => {
  const { now, tick } = moment
  return admitFact({
    // Not `fact_{tick}_{n}`: those are a night's own.
    id: `fact_p${tick}_${nextNumber(facts.keys(), `fact_p${tick}_`)}`,
    text,
    at: now,
    learnt_at: now,
    // Who finds the message that was misunderstood finds what is right.
    sources: [source, ...(old?.sources ?? [])],
    origin: { type: "person", name: by },
    ...threadNow(old),
    trust: trustOf.person,
    importance: Math.max(IMPORTANCE, old?.importance ?? 0),
    entities: entitiesIn(text, facts),
    links: [],
    state: "active",
    kept: true,
    linked: false,
    profiled: false
  })
}

/** A known fact in a person's own words. */
const asPersons = (fact: Fact, { by, corrects, source }: Writing): Fact => ({
  ...heardAgain(fact, source),
  origin: { type: "person", name: by },
  ...threadNow(corrects === undefined ? undefined : fact),
  trust: trustOf.person,
  kept: true
})

/** The corrected one, as it stands then. */
const corrected = (old: Fact, by: Fact, now: number): Fact =>
  old.state === "active"
    ? { ...old, state: "superseded", superseded_by: by.id, until: Math.max(old.at, now), profiled: false }
    : { ...old, state: "retired", reason: `corrected by a person: ${by.id}` }

/** Why a fact can not be corrected: it holds no more. */
export const flawOfCorrected = ({ id, state, superseded_by }: Fact): string | undefined => {
  if (state === "retired") return `${id} is retired: add what is right`
  if (state !== "superseded") return undefined
  return `${id} is superseded: correct ${superseded_by ?? "what took its place"}, or add what is right`
}

const flawOf = ({ corrects, text }: Writing, old: Fact | undefined): string | undefined => {
  if (wordingOf(text) === "") return "there is nothing to read in the text"
  if (corrects === undefined) return undefined
  if (old === undefined) return `there is no fact ${corrects}`
  return flawOfCorrected(old) ?? (wordingOf(old.text) === wordingOf(text) ? `${corrects} says that already` : undefined)
}

/** Writes a fact: the facts that change, as they stand then, the written one first; or why nothing does. */
export const writtenByPerson = (facts: ReadonlyMap<string, Fact>, writing: Writing): Written => {
  const old = writing.corrects === undefined ? undefined : facts.get(writing.corrects)
  const error = flawOf(writing, old)
  if (error !== undefined) return { success: false, error }
  const wording = wordingOf(writing.text)
  const known = [...facts.values()].find(({ state, text }) => state === "active" && wordingOf(text) === wording)
  const fact = known === undefined ? factOf(facts, writing, old) : asPersons(known, writing)
  const isHeld = old === undefined || fact.state !== "active"
  return { success: true, fact, changed: isHeld ? [fact] : [fact, corrected(old, fact, writing.moment.now)] }
}
