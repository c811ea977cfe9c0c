// Waiting: facts that wait for a person, and those that are renewed on the day they were learnt.

import { assert, describe, it } from "@effect/vitest"
import {
  acceptedByPerson,
  applyRoutes,
  type Fact,
  retiredByPerson,
  type Route,
  routeQuestions
} from "../../src/index.ts"
import { aFact, aProposal, NOON } from "./facts.ts"

const moment = { tick: 7, now: NOON + 1 }
const berlin = aFact("fact_1_0", { text: "Bob lives in Berlin.", entities: ["Bob"] })

describe("facts in a row", () => {
  it("L10 a target that was proposed before it is the fact which that has become", () => {
    const said = (n: number, text: string, more: object = {}) =>
      aProposal(`new_${n}`, { text, source: `m/${n + 5}/0`, ...more })
    const update = (fact: number, target: string) => ({ fact: `new_${fact}`, action: "UPDATE", target }) as const
    const day = [said(0, "Anna lives in Oslo."), said(1, "Anna lives in Bergen."), said(2, "Anna lives in Rome.")]
    const learnt = applyRoutes([], day, [update(1, "new_0"), update(2, "new_1")], moment)
    assert.deepStrictEqual(
      learnt.changed.map(({ state, superseded_by, text }) => [text, state, superseded_by]),
      [
        ["Anna lives in Oslo.", "superseded", "fact_7_1"],
        ["Anna lives in Bergen.", "superseded", "fact_7_2"],
        ["Anna lives in Rome.", "active", undefined]
      ]
    )
    // The first of them said only what was known: it is that which is renewed.
    const known = applyRoutes(
      [berlin],
      [said(0, "bob lives in Berlin"), said(1, "Bob lives in Paris.")],
      [update(1, "new_0")],
      moment
    )
    assert.deepStrictEqual([known.superseded, known.added], [["fact_1_0"], ["fact_7_0"]])
    const ignored = applyRoutes(
      [berlin],
      [said(0, "Berlin is home to Bob."), said(1, "Bob lives in Paris.")],
      [{ fact: "new_0", action: "IGNORE", target: "fact_1_0" }, update(1, "new_0")],
      moment
    )
    assert.deepStrictEqual([ignored.superseded, ignored.added], [["fact_1_0"], ["fact_7_0"]])
    const repeated = applyRoutes(
      [],
      [said(0, "Anna rows."), said(1, "Anna often rows.")],
      [{ fact: "new_1", action: "IGNORE", target: "new_0" }],
      moment
    )
    assert.deepStrictEqual(
      repeated.changed.map(({ sources }) => sources),
      [["m/5/0", "m/6/0"]]
    )
    // What was held back is the target of nothing.
    const held = said(0, "Anna obeys.", { held: "override" })
    const beside = applyRoutes([], [held, said(1, "Anna rules.")], [update(1, "new_0")], moment, "uncertain")
    assert.deepStrictEqual([beside.added, beside.waiting, beside.superseded], [["fact_7_1"], [], []])
  })

  it("L10 accepted in whatever order, what was said last holds", () => {
    const day = [
      aProposal("new_0", { text: "Anna lives in Oslo." }),
      aProposal("new_1", { text: "Anna lives in Bergen.", source: "m/9/0" })
    ]
    const { changed, waiting } = applyRoutes(
      [],
      day,
      [{ fact: "new_1", action: "UPDATE", target: "new_0" }],
      moment,
      "all"
    )
    const facts = new Map(changed.map((fact) => [fact.id, fact]))
    for (const ids of [waiting, waiting.toReversed()]) {
      const accepted = acceptedByPerson(facts, ids)
      assert.deepStrictEqual(
        accepted.map(({ state, text }) => [text, state]),
        [
          ["Anna lives in Oslo.", "superseded"],
          ["Anna lives in Bergen.", "active"]
        ]
      )
      assert.isTrue(accepted.every(({ replaces }) => replaces === undefined))
    }
  })

  it("L9 L10 of what waits over several nights the last holds, whatever is accepted in whatever order", () => {
    const nights = (...texts: ReadonlyArray<string>) => {
      const facts = new Map<string, Fact>()
      for (const [tick, text] of texts.entries()) {
        const proposal = aProposal("new_0", { text, source: `m/${tick}/0` })
        const near = routeQuestions([...facts.values()], [proposal])[0]?.near.at(0)
        const routes: ReadonlyArray<Route> =
          near === undefined ? [] : [{ fact: "new_0", action: "UPDATE", target: near.id }]
        const { changed } = applyRoutes(facts.values(), [proposal], routes, { tick, now: NOON + tick }, "all")
        for (const fact of changed) facts.set(fact.id, fact)
      }
      return facts
    }
    const holding = (facts: ReadonlyMap<string, Fact>, ...orders: ReadonlyArray<ReadonlyArray<string>>) => {
      const after = new Map(facts)
      for (const ids of orders) for (const fact of acceptedByPerson(after, ids)) after.set(fact.id, fact)
      return [...after.values()].filter(({ state }) => state === "active").map(({ id }) => id)
    }
    const [bergen, oslo, paris] = ["fact_0_0", "fact_1_0", "fact_2_0"] as const
    const moves = nights("Ann lives in Bergen.", "Ann lives in Oslo.", "Ann lives in Paris.")
    for (const order of [
      [bergen, oslo, paris],
      [paris, bergen, oslo],
      [paris, oslo, bergen],
      [oslo, paris, bergen]
    ]) {
      assert.deepStrictEqual(holding(moves, ...order.map((id) => [id])), [paris], order.join())
    }
    assert.deepStrictEqual(holding(moves, [paris], [bergen]), [paris])
    // Declined is the one between them.
    const declined = new Map([...moves, ...retiredByPerson(moves, oslo, "no").map((fact) => [fact.id, fact] as const)])
    for (const order of [
      [bergen, paris],
      [paris, bergen]
    ]) {
      assert.deepStrictEqual(holding(declined, ...order.map((id) => [id])), [paris], order.join())
    }
    // What is said again after that holds again.
    const back = nights("Ann lives in Bergen.", "Ann lives in Oslo.", "Ann lives in Bergen.")
    assert.deepStrictEqual(holding(back, [bergen, oslo, "fact_2_0"]), ["fact_2_0"])
    assert.deepStrictEqual(holding(back, [bergen, "fact_2_0"], [oslo]), ["fact_2_0"])
  })

  it("L9 what is said again while something waits to take its place waits to take the place of that", () => {
    const oslo = aFact("fact_2_0", {
      text: "Bob lives in Oslo.",
      state: "proposed",
      replaces: "fact_1_0",
      sources: ["m/9/0"]
    })
    const again = aProposal("new_0", { text: "Bob lives in Berlin.", source: "m/12/0" })
    assert.deepStrictEqual(
      routeQuestions([berlin, oslo], [again]).map(({ near }) => near.map(({ id }) => id)),
      [["fact_2_0"]]
    )
    const route = { fact: "new_0", action: "UPDATE", target: "fact_2_0" } as const
    const { changed, waiting } = applyRoutes([berlin, oslo], [again], [route], moment, "uncertain")
    assert.deepStrictEqual(
      changed.map(({ replaces, state }) => [state, replaces]),
      [["proposed", "fact_2_0"]]
    )
    assert.deepStrictEqual(waiting, ["fact_7_0"])
    // Where the model finds nothing that it renews, it is the fact that holds.
    const beside = applyRoutes([berlin, oslo], [again], [], moment, "uncertain")
    assert.deepStrictEqual(
      beside.changed.map(({ id, sources }) => [id, sources]),
      [["fact_1_0", ["m/1/0", "m/12/0"]]]
    )
  })
})
