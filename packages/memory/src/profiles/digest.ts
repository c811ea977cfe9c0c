// Digest: observations become attributes.
// Owns carrying out what a model answered, and taking back what turned out not to hold. Leaves asking to
// `profile-ask.ts`.
// D1  An attribute that is renewed keeps its id and, behind it, what it said before; one that is renewed to what another
//     one says becomes a part of that one's past.
// D2  What is said again adds evidence, and nothing else.
// D3  No attribute is believed more than the least of the evidence it was made of, or by which it was said again. What is
//     hardly believed takes no better believed one's place: it is kept beside it.
// D4  Over the bound the attribute with the least evidence gives way, of equal ones the oldest, never one that is new.
// D5  What was asked about is digested, whatever came of it.

import type { ProfileAsk, ProfileOperation } from "./profile-ask.ts"
import {
  type Attribute,
  type EntityProfile,
  gist,
  MAX_ATTRIBUTES,
  MAX_EVIDENCE,
  MAX_SUPERSEDED,
  type Superseded
} from "./profile.ts"

/** Below this a source is not recalled by default either. */
const MIN_TRUST_TO_REPLACE = 0.5

/** Ids of attributes that left, for an index to follow. */
const MAX_GONE = 2 * MAX_ATTRIBUTES

export interface Digested {
  readonly profile: EntityProfile
  /** Ids of attributes that are new, that say something else now, and that were said again. */
  readonly added: ReadonlyArray<string>
  readonly updated: ReadonlyArray<string>
  readonly confirmed: ReadonlyArray<string>
  /** What had to give way. */
  readonly dropped: ReadonlyArray<Attribute>
}

const joined = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set([...before, ...after])].slice(-MAX_EVIDENCE)

const past = ({ at, evidence, text, trust }: Attribute): Superseded => ({ text, at, trust, evidence })

const after = (superseded: ReadonlyArray<Superseded>, ...later: ReadonlyArray<Superseded>): ReadonlyArray<Superseded> =>
  [...superseded, ...later].slice(-MAX_SUPERSEDED)

const confirmed = (attribute: Attribute, evidence: ReadonlyArray<string>, trust: number): Attribute => ({
  ...attribute,
  evidence: joined(attribute.evidence, evidence),
  trust: Math.max(attribute.trust, trust)
})

class Digestion {
  attributes: Array<Attribute>
  made: number
  readonly added = new Set<string>()
  readonly updated = new Set<string>()
  readonly confirmed = new Set<string>()
  /** What became another one's past. */
  readonly absorbed: Array<Attribute> = []
  readonly #now: number
  readonly #trustById: ReadonlyMap<string, number>

  constructor({ attributes, made, observations }: EntityProfile, now: number) {
    this.attributes = [...attributes]
    this.made = made
    this.#now = now
    this.#trustById = new Map(observations.map(({ id, trust }) => [id, trust]))
  }

  carryOut({ action, attribute: text, evidence, target }: ProfileOperation): void {
    const trust = Math.min(...evidence.map((id) => this.#trustById.get(id) ?? 0))
    const aim = this.attributes.find(({ id }) => id === target)
    const same = action === "IGNORE" ? aim : this.attributes.find((each) => gist(each.text) === gist(text))
    const isReplacing =
      action === "UPDATE" && aim !== undefined && (trust >= MIN_TRUST_TO_REPLACE || aim.trust < MIN_TRUST_TO_REPLACE)
    if (same !== undefined) {
      const heard = confirmed(same, evidence, trust)
      this.confirmed.add(same.id)
      if (isReplacing && aim !== same) this.#absorb(aim, heard)
      else this.#put(heard)
    } else if (isReplacing) {
      this.updated.add(aim.id)
      this.#put({ ...this.#made(aim.id, text, evidence, trust), superseded: after(aim.superseded, past(aim)) })
    } else if (action !== "IGNORE") {
      const id = `a${++this.made}`
      this.added.add(id)
      this.attributes.push(this.#made(id, text, evidence, trust))
    }
  }

  /** Lets go of what is too much. */
  bound(): ReadonlyArray<Attribute> {
    const excess = this.attributes.length - MAX_ATTRIBUTES
    if (excess <= 0) return []
    const isNew = ({ id }: Attribute): number => (this.added.has(id) || this.updated.has(id) ? 1 : 0)
    const dropped = this.attributes
      .toSorted((a, b) => isNew(a) - isNew(b) || a.evidence.length - b.evidence.length || a.at - b.at)
      .slice(0, excess)
    this.attributes = this.attributes.filter((each) => !dropped.includes(each))
    return dropped
  }

  #made(id: string, text: string, evidence: ReadonlyArray<string>, trust: number): Attribute {
    return { id, text, at: this.#now, evidence: joined([], evidence), trust, superseded: [] }
  }

  #absorb(outdated: Attribute, by: Attribute): void {
    this.absorbed.push(outdated)
    this.attributes = this.attributes.filter(({ id }) => id !== outdated.id)
    this.#put({ ...by, superseded: after(by.superseded, ...outdated.superseded, past(outdated)) })
  }

  #put(attribute: Attribute): void {
    this.attributes = this.attributes.map((each) => (each.id === attribute.id ? attribute : each))
  }
}

const goneAfter = ({ gone }: EntityProfile, dropped: ReadonlyArray<Attribute>): ReadonlyArray<string> =>
  dropped.length === 0 ? gone : [...gone, ...dropped.map(({ id }) => id)].slice(-MAX_GONE)

/** Carries out an answer, in its order. */
export const digest = (
  profile: EntityProfile,
  { asked }: Pick<ProfileAsk, "asked">,
  operations: ReadonlyArray<ProfileOperation>,
  now: number
): Digested => {
  const draft = new Digestion(profile, now)
  for (const operation of operations) draft.carryOut(operation)
  const dropped = draft.bound()
  const isDigested = new Set(asked)
  const away = [...draft.absorbed, ...dropped]
  const left = new Set(away.map(({ id }) => id))
  const staying = (ids: ReadonlySet<string>): ReadonlyArray<string> => [...ids].filter((id) => !left.has(id))
  return {
    profile: {
      ...profile,
      observations: profile.observations.map((each) =>
        isDigested.has(each.id) && !each.digested ? { ...each, digested: true } : each
      ),
      attributes: draft.attributes,
      gone: goneAfter(profile, away),
      made: draft.made
    },
    added: staying(draft.added),
    updated: staying(draft.updated),
    confirmed: staying(draft.confirmed),
    dropped
  }
}

/** An attribute without some of its evidence: what it said before if it has none left for what it says. */
const without = (attribute: Attribute, withdrawn: ReadonlySet<string>): Attribute | undefined => {
  const left = (evidence: ReadonlyArray<string>) => evidence.filter((id) => !withdrawn.has(id))
  const superseded = attribute.superseded
    .map((each) => ({ ...each, evidence: left(each.evidence) }))
    .filter(({ evidence }) => evidence.length > 0)
  const evidence = left(attribute.evidence)
  if (evidence.length > 0) return { ...attribute, evidence, superseded }
  const before = superseded.at(-1)
  return before === undefined ? undefined : { id: attribute.id, ...before, superseded: superseded.slice(0, -1) }
}

/** Takes back observations that do not hold, and what was made of them alone. The same profile when it has none. */
export const withdraw = (profile: EntityProfile, ids: Iterable<string>): EntityProfile => {
  const withdrawn = new Set(ids)
  const isConcerned = ({ evidence }: { readonly evidence: ReadonlyArray<string> }): boolean =>
    evidence.some((id) => withdrawn.has(id))
  const concerned = profile.attributes.filter((each) => isConcerned(each) || each.superseded.some(isConcerned))
  const observations = profile.observations.filter(({ id }) => !withdrawn.has(id))
  if (concerned.length === 0 && observations.length === profile.observations.length) return profile
  const attributes = profile.attributes.flatMap((each) =>
    concerned.includes(each) ? (without(each, withdrawn) ?? []) : [each]
  )
  const dropped = concerned.filter(({ id }) => attributes.every((each) => each.id !== id))
  return { ...profile, observations, attributes, gone: goneAfter(profile, dropped) }
}
