// B1 to B5 over lives of several nights: what one of them made is taken back, right away or after others.

import { isDeepStrictEqual } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  applyLinks,
  applyRoutes,
  type Fact,
  isFact,
  itemOf,
  linkItemOf,
  mendLinks,
  type NightChange,
  type Proposal,
  retiredByPerson,
  type Route,
  takeBack
} from "../../src/index.ts"
import { factRecordChanges } from "../../src/indexing/indexing.ts"
import { aProposal, NOON } from "./facts.ts"

const RUNS = { seed: 4_712, numRuns: 600 }
const words = ["Bob", "Anna", "sails", "boat", "berlin", "paris"]
const aText = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 2 }).map((some) => some.join(" "))

const aNight = fc.record({
  heard: fc.array(
    fc.record({
      text: aText,
      source: fc.nat(40).map((n) => `m/${n}/0`),
      trust: fc.constantFrom(0.3, 0.7, 0.9),
      action: fc.constantFrom("ADD" as const, "UPDATE" as const, "IGNORE" as const),
      pick: fc.nat(9)
    }),
    { maxLength: 5 }
  ),
  ties: fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 4 }),
  putAway: fc.array(fc.nat(20), { maxLength: 2 })
})
type Night = typeof aNight extends fc.Arbitrary<infer A> ? A : never

type Facts = ReadonlyMap<string, Fact>

const withAll = (facts: Facts, changed: Iterable<Fact>): Facts =>
  new Map([...facts, ...[...changed].map((fact) => [fact.id, fact] as const)])

const mended = (facts: Facts): Facts => withAll(facts, mendLinks(facts.values()).changed)

/** A night as a dream has it: learning, linking, mending, putting away. */
const dreamt = (facts: Facts, { heard, putAway, ties }: Night, tick: number): Facts => {
  const ids = [...facts.keys()]
  const proposed = heard.map(({ source, text, trust }, n): Proposal => aProposal(`new_${n}`, { source, text, trust }))
  const routes = heard.map(({ action, pick }, n): Route => {
    const target = ids[pick % Math.max(1, ids.length)]
    return action === "ADD" || target === undefined
      ? { fact: `new_${n}`, action: "ADD" }
      : { fact: `new_${n}`, action, target }
  })
  const learnt = withAll(facts, applyRoutes(facts.values(), proposed, routes, { tick, now: NOON }).changed)
  const all = [...learnt.keys()]
  const at = (place: number): string => all[place % Math.max(1, all.length)] ?? ""
  const links = ties.map(([a, b]) => ({ fact: at(a), to: at(b), why: "x" }))
  const questions = all.slice(0, 3).map((id) => ({ id, text: "", near: [] }))
  const linked = withAll(learnt, applyLinks(learnt.values(), questions, links).changed)
  const clean = mended(linked)
  const old = putAway.flatMap((place): ReadonlyArray<Fact> => {
    const fact = clean.get(at(place))
    return fact?.state === "active" && !fact.kept ? [{ ...fact, state: "retired", reason: "old" }] : []
  })
  return withAll(clean, old)
}

const changesOf = (before: Facts, after: Facts): ReadonlyArray<NightChange> =>
  [...after.values()]
    .filter((fact) => !isDeepStrictEqual(fact, before.get(fact.id)))
    .map((fact) => ({
      kind: "fact",
      key: fact.id,
      before: before.get(fact.id) as unknown as Json | undefined,
      after: fact as unknown as Json
    }))

const back = (night: ReadonlyArray<NightChange>, facts: Facts, items?: ReadonlyArray<string>): Facts =>
  withAll(
    facts,
    takeBack({
      night,
      facts,
      profiles: new Map(),
      standing: () => undefined,
      reason: "undone",
      now: NOON,
      ...(items === undefined ? {} : { items })
    }).flatMap(({ value }) => (isFact(value) ? [value] : []))
  )

/** What an index holds after so many changes of facts, one after another. */
const indexOf = (...states: ReadonlyArray<Facts>) => {
  const held = new Map<string, unknown>()
  let before: Facts = new Map()
  for (const after of states) {
    for (const { after: value, key } of changesOf(before, after)) {
      for (const change of factRecordChanges({ kind: "fact", key, value })) {
        if (change.type === "put") held.set(change.entry.id, change.entry)
        else if (change.type === "remove") held.delete(change.id)
        else if (change.text === null) held.delete(`${change.of} ${change.fact}`)
        else held.set(`${change.of} ${change.fact}`, change.text)
      }
    }
    before = after
  }
  return Object.fromEntries([...held].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const lives = fc.record({ first: fc.array(aNight, { maxLength: 3 }), night: aNight, later: aNight })
const lifeOf = (nights: ReadonlyArray<Night>): Facts =>
  nights.reduce<Facts>((facts, night, tick) => dreamt(facts, night, tick), new Map())

describe("takeBack", () => {
  it("B1 right after its night, all is found as before, and known as before but for what was taken back", () => {
    fc.assert(
      fc.property(lives, ({ first, night }) => {
        const before = mended(lifeOf(first))
        const after = dreamt(before, night, 9)
        const undone = back(changesOf(before, after), after)
        assert.deepStrictEqual(indexOf(before, after, undone), indexOf(before))
        for (const [id, fact] of undone) {
          const was = before.get(id)
          const { kept: _, withdrawn: __, ...rest } = fact
          if (was === undefined) assert.strictEqual(fact.state, "retired")
          else assert.deepStrictEqual(rest, (({ kept: _k, withdrawn: _w, ...known }) => known)(was))
        }
      }),
      RUNS
    )
  })

  it("B5 taken back twice, nothing changes", () => {
    fc.assert(
      fc.property(lives, ({ first, later, night }) => {
        const before = lifeOf(first)
        const after = dreamt(before, night, 9)
        const changes = changesOf(before, after)
        const now = dreamt(after, later, 10)
        const undone = back(changes, now)
        assert.deepStrictEqual([...back(changes, undone).values()], [...undone.values()])
      }),
      RUNS
    )
  })

  it("B2 B3 after a later night, nothing is found of it alone, and what that one learnt stays", () => {
    fc.assert(
      fc.property(lives, ({ first, later, night }) => {
        const before = lifeOf(first)
        const after = dreamt(before, night, 9)
        const now = dreamt(after, later, 10)
        const undone = back(changesOf(before, after), now)
        for (const [id, fact] of undone) {
          const [was, made, is] = [before.get(id), after.get(id), now.get(id)]
          assert.isAtLeast(fact.sources.length, 1)
          if (made === undefined) {
            // Of the later night: as it was, but for links to what holds no more.
            assert.deepStrictEqual({ ...fact, links: [] }, { ...is, links: [] })
            continue
          }
          const alone = new Set(made.sources).difference(new Set(was?.sources))
          const since = is?.sources.filter((source) => !made.sources.includes(source)) ?? []
          if (fact.state === "active") {
            assert.deepStrictEqual(
              fact.sources.filter((source) => alone.has(source)),
              []
            )
            for (const source of since) assert.include(fact.sources, source)
          }
          if (was === undefined && since.length === 0) assert.strictEqual(fact.state, "retired")
        }
        const holding = [...undone.values()].filter(({ state }) => state === "active")
        for (const { links } of holding) for (const { to } of links) assert.strictEqual(undone.get(to)?.state, "active")
        for (const { superseded_by } of undone.values())
          if (superseded_by !== undefined) assert.isTrue(undone.has(superseded_by))
      }),
      RUNS
    )
  })

  it("B4 what was taken back is not learnt again from the same source in the same words", () => {
    fc.assert(
      fc.property(lives, ({ first, night }) => {
        const before = lifeOf(first)
        const after = dreamt(before, night, 9)
        const undone = back(changesOf(before, after), after)
        const known = new Set(
          [...undone.values()].flatMap(({ sources, text, withdrawn = [] }) =>
            [...sources, ...withdrawn].map((source) => `${source} ${text}`)
          )
        )
        const again = night.heard.filter(({ source, text }) => known.has(`${source} ${text}`))
        const proposed = again.map(({ source, text, trust }, n) => aProposal(`new_${n}`, { source, text, trust }))
        assert.deepStrictEqual(applyRoutes(undone.values(), proposed, [], { tick: 11, now: NOON }).changed, [])
      }),
      RUNS
    )
  })

  it("one item, one link: nothing else of the night is touched", () => {
    fc.assert(
      fc.property(lives, fc.nat(9), ({ first, night }, pick) => {
        const before = lifeOf(first)
        const after = dreamt(before, night, 9)
        const made = changesOf(before, after).filter((change) => change.before === undefined)
        const one = made[pick % Math.max(1, made.length)]
        fc.pre(one !== undefined)
        const undone = back(changesOf(before, after), after, [itemOf(one)])
        const person = withAll(after, retiredByPerson(after, one.key, "undone"))
        assert.deepStrictEqual(undone, mended(person))
        const linked = [...after.values()].find(({ links, state }) => state === "active" && links.length > 0)
        fc.pre(linked !== undefined)
        const to = linked.links[0]?.to ?? ""
        const untied = back(changesOf(before, after), after, [linkItemOf(linked.id, to)])
        assert.isFalse(untied.get(linked.id)?.links.some((link) => link.to === to))
        assert.isFalse(untied.get(to)?.links.some((link) => link.to === linked.id))
      }),
      RUNS
    )
  })
})
