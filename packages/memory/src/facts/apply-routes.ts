// ApplyRoutes: what becomes of the known facts when proposed ones join them.
// Owns the decision between ADD, UPDATE and IGNORE, ids, supersession, contradiction and trust.
// L1  No fact is lost: each proposal ends as a fact of its own or as a source of one, and no known fact goes away.
// L2  The same words from a source that a fact names are that fact, whatever became of it: applied again, nothing changes, and a fact
//     that was retired, or a source that was taken back, does not come back when it is read again.
// L3  Ids are unique without chance: `fact_{tick}_{n}`.
// L4  What is believed less by more than TRUST_STEP never takes the place of a fact, nor of one whose place that fact
//     took: it is added beside it, and the two are linked as contradicting each other. So trust does not wear down.
// L5  What is believed less by more than TRUST_STEP does not silence a fact by saying it already: IGNORE becomes UPDATE.
// L6  A superseded fact names one that exists. A target is superseded once; a second update of it is added beside.
// L7  What poses as an instruction, or comes out of such a text, is kept in quarantine and touches no other fact.
// L8  A fact that a person retires keeps its words and its sources (L2), and a fact whose place it took holds again.
// L9  What waits for a person's word (`Review`) is kept as proposed and touches no other fact; accepted, it does then what it would have
//     done at once.
// L10 What was proposed before it in the same batch is a target, too: then it is the fact that says that now.

import { defined } from "@reverie/protocol"
import { type Fact, type FactMoment, heardAgain } from "../fact.ts"
import { admitFact, heldBecause } from "../integrity/as-data.ts"
import type { Proposal } from "./consolidate.ts"
import { byId, changedIn, type Draft, standsFor, tie } from "./link.ts"
import { behindOf, overtakenIn, type Route, wordingOf } from "./routes.ts"

// Review: which of the things that a dream learns and puts away wait for a person's word.

/** none: all is applied. uncertain: what replaces something, comes from someone less believed, or is put away, waits. all: everything waits. */
export const reviews = ["none", "uncertain", "all"] as const
export type Review = (typeof reviews)[number]

/** As much as a person is believed, or a tool. */
const CERTAIN_TRUST = 0.8

const waits = (review: Review, { trust }: Fact, target: string | undefined): boolean =>
  review === "all" || (review === "uncertain" && (target !== undefined || trust < CERTAIN_TRUST))

/** A fact may be renewed by one that is believed this much less, as another assistant's word against a person's. */
const TRUST_STEP = 0.2
/** Decimal fractions are not exact in binary: 0.9 - 0.7 is a little more than 0.2. */
const EXACTNESS = 1e-9

const CONTRADICTS = "contradicts"

/** What became of a proposal. */
export interface Learnt {
  /** New and changed facts, each once, as they stand now. */
  readonly changed: ReadonlyArray<Fact>
  readonly added: ReadonlyArray<string>
  readonly superseded: ReadonlyArray<string>
  readonly quarantined: ReadonlyArray<string>
  /** New facts that wait for a person's word. */
  readonly waiting: ReadonlyArray<string>
  /** New facts that stand beside one that is believed more. */
  readonly contradicting: ReadonlyArray<string>
  /** How many proposals said nothing new. */
  readonly ignored: number
}

const isBelievedLess = (a: number, b: number): boolean => b - a > TRUST_STEP + EXACTNESS

export const nextNumber = (facts: Iterable<string>, prefix: string): number => {
  let next = 0
  for (const id of facts) {
    const number = id.startsWith(prefix) ? Number(id.slice(prefix.length)) : -1
    if (Number.isInteger(number)) next = Math.max(next, number + 1)
  }
  return next
}

class Learning {
  readonly draft: Draft
  readonly added: Array<string> = []
  readonly superseded: Array<string> = []
  readonly quarantined: Array<string> = []
  readonly contradicting: Array<string> = []
  readonly waiting: Array<string> = []
  ignored = 0
  readonly #review: Review
  readonly #moment: FactMoment
  /** Ids by wording, of all states. */
  readonly #worded = new Map<string, Array<string>>()
  /** Ids by the id of what took their place. */
  readonly #before = new Map<string, Array<string>>()
  /** By the id of a proposal, the fact that says it now. */
  readonly #became = new Map<string, string>()
  #number: number

  constructor(known: ReadonlyMap<string, Fact>, moment: FactMoment, review: Review) {
    this.draft = new Map(known)
    this.#review = review
    this.#moment = moment
    this.#number = nextNumber(known.keys(), `fact_${moment.tick}_`)
    for (const fact of known.values()) {
      this.#noteWording(fact)
      if (fact.superseded_by !== undefined) this.#notePlace(fact.superseded_by, fact.id)
    }
  }

  take(proposal: Proposal, route: Route): void {
    const fact = this.#factOf(proposal)
    const all = this.#sayingTheSame(fact)
    const overtaken = overtakenIn(this.draft)
    const same = all.filter(({ id }) => !overtaken.has(id))
    const isKnown = all.some(({ sources, withdrawn = [] }) => [...sources, ...withdrawn].includes(proposal.source))
    const isSaid = (state: Fact["state"]): boolean =>
      same.some((other) => other.state === state && this.#confirm(other, fact))
    if (isKnown || isSaid(fact.state) || (fact.state === "active" && isSaid("proposed"))) {
      this.ignored++
      const said = same.find(({ state }) => state === "active") ?? all[0]
      if (said !== undefined) this.#became.set(proposal.id, said.id)
      return
    }
    if (fact.state === "quarantined") {
      this.#keep(fact)
      this.quarantined.push(fact.id)
      return
    }
    const target = route.action === "ADD" ? undefined : this.#targetOf(route.target)
    const standing = target === undefined || route.action !== "IGNORE" ? undefined : this.#ignore(fact, target)
    this.#became.set(proposal.id, standing ?? fact.id)
    if (standing !== undefined) return
    const isHeld = all.find(({ id, state }) => state === "active" && overtaken.has(id))
    if (waits(this.#review, fact, target)) this.#propose(fact, target)
    else if (isHeld !== undefined) {
      // It holds until a person accepts what is to take its place.
      this.#confirm(isHeld, fact)
      this.#became.set(proposal.id, isHeld.id)
      this.ignored++
    } else {
      this.#add(fact, target)
      if (target !== undefined) this.#replace(fact, target)
    }
  }

  #factOf({ at, entities, held, importance, origin, source, text, trust }: Proposal): Fact {
    const fact: Fact = {
      id: `fact_${this.#moment.tick}_${this.#number}`,
      text,
      at,
      learnt_at: this.#moment.now,
      sources: [source],
      origin,
      trust,
      importance,
      entities: [...entities],
      links: [],
      state: "active",
      linked: false,
      profiled: false
    }
    const admitted = admitFact(fact)
    return held === undefined ? admitted : { ...admitted, state: "quarantined", reason: heldBecause(held) }
  }

  #sayingTheSame({ text }: Fact): ReadonlyArray<Fact> {
    return (this.#worded.get(wordingOf(text)) ?? []).flatMap((id) => this.draft.get(id) ?? [])
  }

  /** The source joins; the trust and the origin of the one who is believed more, in the same words, count from now on. */
  #confirm(known: Fact, { origin, sources, trust }: Fact): true {
    const believed = trust > known.trust ? { origin, trust } : {}
    this.draft.set(known.id, sources.reduce(heardAgain, { ...known, ...believed }))
    return true
  }

  /** A target is a known fact, or what was proposed before in the same batch and has become one. */
  #targetOf(target: string): string | undefined {
    const id = this.#became.get(target) ?? target
    return this.draft.has(id) ? id : undefined
  }

  /** The fact that says it; undefined when the target is not to be believed so much that it could stand for the fact. */
  #ignore({ sources, trust }: Fact, target: string): string | undefined {
    const wanted = this.draft.get(target)
    const standing = wanted?.state === "proposed" ? wanted : standsFor(this.draft, target)
    if (wanted === undefined || standing === undefined || isBelievedLess(standing.trust, trust)) return undefined
    const has = (fact: Fact): boolean => sources.every((source) => fact.sources.includes(source))
    if (!has(wanted) && !has(standing)) {
      this.draft.set(standing.id, sources.reduce(heardAgain, standing))
    }
    this.ignored++
    return standing.id
  }

  #propose(fact: Fact, target: string | undefined): void {
    this.#keep({ ...fact, state: "proposed", ...defined({ replaces: target }) })
    this.waiting.push(fact.id)
  }

  /** A person's word: it holds, but for what came after it. */
  accept({ replaces, ...fact }: Fact): void {
    const replaced = this.draft.get(behindOf(this.draft, replaces).at(-1) ?? "")
    const later = [...this.draft.values()].filter(
      (each) =>
        (each.state === "active" || each.state === "superseded") &&
        behindOf(this.draft, each.replaces).includes(fact.id)
    )
    this.#add({ ...fact, state: "active" }, replaces)
    if (replaced !== undefined && !later.some(({ id }) => id === replaced.id)) this.#replace(fact, replaced.id)
    for (const { replaces: target, ...each } of later) {
      const after = { ...each, ...defined({ replaces: this.#isWaitingBehind(target) ? target : undefined }) }
      this.draft.set(each.id, after)
      this.#replace(after, fact.id)
    }
  }

  /** It names what it is to take the place of as long as something of that waits. */
  #add(fact: Fact, target: string | undefined): void {
    this.#keep({ ...fact, ...defined({ replaces: this.#isWaitingBehind(target) ? target : undefined }) })
    this.added.push(fact.id)
  }

  #isWaitingBehind(target: string | undefined): boolean {
    return behindOf(this.draft, target).some((id) => this.draft.get(id)?.state === "proposed")
  }

  #replace(fact: Fact, target: string): void {
    const replaced = this.draft.get(target)
    if (replaced?.state !== "active") return
    if (isBelievedLess(fact.trust, this.#standingOf(replaced.id))) {
      tie(this.draft, fact.id, replaced.id, CONTRADICTS, true)
      this.contradicting.push(fact.id)
      return
    }
    this.#supersede(replaced, fact)
  }

  #supersede(fact: Fact, by: Fact): void {
    const until = Math.max(fact.at, by.at)
    this.draft.set(fact.id, { ...fact, state: "superseded", superseded_by: by.id, until })
    this.#notePlace(by.id, fact.id)
    this.superseded.push(fact.id)
  }

  /** The most trust among a fact and all those whose place it took. */
  #standingOf(id: string): number {
    const seen = new Set([id])
    for (const each of seen) for (const before of this.#before.get(each) ?? []) seen.add(before)
    return Math.max(...[...seen].map((each) => this.draft.get(each)?.trust ?? 0))
  }

  #keep(fact: Fact): void {
    this.draft.set(fact.id, fact)
    this.#noteWording(fact)
    this.#number++
  }

  #noteWording({ id, text }: Fact): void {
    const wording = wordingOf(text)
    this.#worded.set(wording, [...(this.#worded.get(wording) ?? []), id])
  }

  #notePlace(id: string, before: string): void {
    this.#before.set(id, [...(this.#before.get(id) ?? []), before])
  }
}

/**
 * What a person finds wrong: the fact is retired with the reason, and what it took the place of holds again, or is led to what took its own
 * place. The facts that change, as they stand then; none when there is no such fact, or it is retired already.
 */
export const retiredByPerson = (facts: ReadonlyMap<string, Fact>, id: string, reason: string): ReadonlyArray<Fact> => {
  const fact = facts.get(id)
  if (fact === undefined || fact.state === "retired") return []
  const { superseded_by: successor, until, ...known } = fact
  const before = [...facts.values()].filter((each) => each.state === "superseded" && each.superseded_by === id)
  return [
    { ...known, state: "retired", reason },
    ...before.map(({ superseded_by: _, until: __, ...each }): Fact =>
      successor === undefined
        ? { ...each, state: "active", linked: false }
        : { ...each, superseded_by: successor, ...defined({ until }) }
    )
  ]
}

/** What a person accepts of the proposed facts: the facts that change, as they stand then; none where none of them is proposed. */
export const acceptedByPerson = (facts: ReadonlyMap<string, Fact>, ids: ReadonlyArray<string>): ReadonlyArray<Fact> => {
  const learning = new Learning(facts, { tick: 0, now: 0 }, "none")
  for (const id of ids) {
    const fact = learning.draft.get(id)
    if (fact?.state === "proposed") learning.accept(fact)
  }
  return changedIn(learning.draft, facts)
}

/** Applies the routes to the proposals; one without a route is added. What waits for a person's word, `review` says. */
export const applyRoutes = (
  existing: Iterable<Fact>,
  proposed: ReadonlyArray<Proposal>,
  routes: ReadonlyArray<Route>,
  moment: FactMoment,
  review: Review = "none"
): Learnt => {
  const known = byId(existing)
  const learning = new Learning(known, moment, review)
  const byProposal = new Map(routes.map((route) => [route.fact, route]))
  for (const proposal of proposed) {
    learning.take(proposal, byProposal.get(proposal.id) ?? { fact: proposal.id, action: "ADD" })
  }
  const { added, contradicting, draft, ignored, quarantined, superseded, waiting } = learning
  return { changed: changedIn(draft, known), added, superseded, quarantined, waiting, contradicting, ignored }
}
