import { assert, describe, it } from "@effect/vitest"
import { type EntityProfile, isEntityProfile } from "@reverie/memory"
import type { Prompt } from "@reverie/model"
import { selfTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import {
  dataOf,
  DAY,
  daysLater,
  dreamer,
  echoed,
  facts,
  idsIn,
  journal,
  report,
  rowsOf,
  sleep,
  wake
} from "./dreamer.ts"
import { type Life, live } from "./rig.ts"

/** What was learnt of someone out of these words, active or not. */
const fact = (life: Life, words: string) => facts(life).find(({ text }) => text.includes(words))

const profile = (life: Life, name: string): EntityProfile | undefined =>
  rowsOf(life, "entity")
    .filter(isEntityProfile)
    .find((each) => each.name === name)

/** A fact and those near it, by their first lines. */
const groupsIn = (data: string) =>
  data.split(/^(?=\[)/m).map((group) => {
    const [id = "", ...near] = Array.from(group.matchAll(/^ *\[([^\]]+)\]/gm), ([, found = ""]) => found)
    return { id, near, text: group.split("\n")[0] ?? "" }
  })

const said = (life: Life, ...texts: ReadonlyArray<string>): Life => {
  for (const text of texts) life.say(text, { from: "Ann", id: `${life.time.now}-${text}` })
  life.rest()
  return life
}

const json = (value: unknown) => ({ text: JSON.stringify(value) })

describe("pruning, as a dream does it", () => {
  it("F49: a link to a fact that was superseded leads to what took its place", () => {
    const linkAll = (prompt: Prompt) =>
      json(
        groupsIn(dataOf(prompt)).map(({ id, near }) => ({ fact: id, links: near.map((to) => ({ to, why: "boats" })) }))
      )
    const supersede = (prompt: Prompt) =>
      json(
        groupsIn(dataOf(prompt)).flatMap(({ id, near, text }) =>
          text.includes("Borealis") ? [{ fact: id, action: "UPDATE", target: near[0] ?? null }] : []
        )
      )
    let night = 0
    const model = dreamer({ link: (prompt) => (night === 1 ? linkAll(prompt) : json([])), route: supersede })
    const life = said(live({ model }), "Ann sails the boat Aurora.", "A boat needs a berth of six metres.")
    night = 1
    wake(sleep(life))
    const [aurora, berth] = [fact(life, "Aurora"), fact(life, "berth")]
    assert.deepStrictEqual(
      berth?.links.map(({ to }) => to),
      [aurora?.id]
    )
    said(life, "Ann sails the boat Borealis.")
    night = 2
    sleep(life)
    const borealis = fact(life, "Borealis")
    assert.notStrictEqual(fact(life, "Aurora")?.state, "active")
    assert.deepStrictEqual(
      fact(life, "berth")?.links.map(({ to }) => to),
      [borealis?.id]
    )
    assert.include(borealis?.links.map(({ to }) => to) ?? [], berth?.id)
  })

  it("F49: a fact that matters little retires after 90 days, and what a profile was made of by it goes the night after", () => {
    const model = dreamer({
      consolidate: (prompt) => json(echoed(dataOf(prompt), 2)),
      profile: (prompt) =>
        json([{ action: "ADD", target: null, attribute: "Ann likes tea.", evidence: idsIn(dataOf(prompt)).slice(-1) }])
    })
    const first = said(live({ model }), "Tea is fine.")
    wake(sleep(first))
    assert.lengthOf(profile(first, "Ann")?.attributes ?? [], 1)
    assert.strictEqual(fact(first, "Tea")?.state, "active")
    const early = daysLater(first, 60, { model })
    wake(sleep(early))
    assert.strictEqual(fact(early, "Tea")?.state, "active")
    const late = daysLater(early, 60, { model })
    wake(sleep(late))
    assert.strictEqual(fact(late, "Tea")?.state, "retired")
    // What leads nowhere is mended before anything is pruned: what this night has retired is the next one's.
    assert.lengthOf(profile(late, "Ann")?.attributes ?? [], 1)
    sleep(late)
    assert.deepStrictEqual(profile(late, "Ann")?.attributes, [])
  })

  /** A life in which a fact that matters little is old enough to be put away, the night before. */
  const withOldTea = (review?: "all") => {
    const model = dreamer({ consolidate: (prompt) => json(echoed(dataOf(prompt), 2)) })
    const definition = review === undefined ? {} : { definition: { review } }
    const first = said(live({ model }), "Tea is fine.")
    wake(sleep(first))
    return daysLater(first, 120, { model, ...definition })
  }

  const ordered = (life: Life, type: "undoDream" | "acceptDream", items?: ReadonlyArray<string>): Life => {
    const dreams = rowsOf(life, "dream") as unknown as ReadonlyArray<{ id: string; began_at: number }>
    const dream = dreams.toSorted((a, b) => b.began_at - a.began_at)[0]?.id ?? ""
    life.post({ type, dream, ...(items === undefined ? {} : { items }) }, { id: `${type}-${life.time.now}` })
    life.rest()
    return life
  }

  it("B4: what was taken back from being put away is not put away a second time", () => {
    const life = wake(sleep(withOldTea()))
    const tea = fact(life, "Tea")
    assert.strictEqual(tea?.state, "retired")
    ordered(life, "undoDream", [`fact/${tea?.id}`])
    assert.deepInclude(fact(life, "Tea"), { state: "active", kept: true })
    wake(sleep(life))
    assert.strictEqual(fact(life, "Tea")?.state, "active")
  })

  it("L9: under review nothing is put away; accepted, it is, and declined, it waits no more", () => {
    const wouldGo = (life: Life): ReadonlyArray<unknown> =>
      (rowsOf(life, "dream") as unknown as ReadonlyArray<{ began_at: number; would_forget?: ReadonlyArray<string> }>)
        .toSorted((a, b) => b.began_at - a.began_at)
        .map(({ would_forget = [] }) => would_forget)[0] ?? []
    for (const isAccepted of [true, false]) {
      const life = wake(sleep(withOldTea("all")))
      const item = `fact/${fact(life, "Tea")?.id}`
      assert.strictEqual(fact(life, "Tea")?.state, "active")
      assert.deepStrictEqual(wouldGo(life), [item])
      assert.deepInclude(report(life).get("pruning"), { accepted: 0 })
      ordered(life, isAccepted ? "acceptDream" : "undoDream", [item])
      assert.strictEqual(fact(life, "Tea")?.state, isAccepted ? "retired" : "active")
      wake(sleep(life))
      assert.deepStrictEqual(wouldGo(life), [])
    }
  })

  it("L9 B4: an entry of the journal that was declined stays at hand, and is not asked about again; accepted, it goes", () => {
    const note = { tool: "add_journal_entry", arguments: { content: "The gulls are loud.", importance: 2 } }
    const model = dreamer({ consolidate: (prompt) => json(echoed(dataOf(prompt), 2)) }, ({ messages }) =>
      Effect.succeed(messages.at(-1)?.role === "user" ? { calls: [note] } : { text: "Noted." })
    )
    const wouldGo = (life: Life): ReadonlyArray<unknown> =>
      (rowsOf(life, "dream") as unknown as ReadonlyArray<{ began_at: number; would_forget?: ReadonlyArray<string> }>)
        .toSorted((a, b) => b.began_at - a.began_at)
        .map(({ would_forget = [] }) => would_forget)[0] ?? []
    for (const isAccepted of [true, false]) {
      const options = { model, tools: selfTools, definition: { review: "all" as const } }
      const first = wake(sleep(said(live(options), "Listen to the gulls.")))
      const life = wake(sleep(daysLater(first, 20, options)))
      const [entry] = journal(life)
      const item = `episode/${entry?.id}`
      assert.deepStrictEqual(wouldGo(life), [item])
      ordered(life, isAccepted ? "acceptDream" : "undoDream", [item])
      if (!isAccepted) ordered(life, "acceptDream")
      assert.deepStrictEqual(
        journal(life).map(({ id, kept }) => [id, kept]),
        isAccepted ? [] : [[entry?.id, true]]
      )
      wake(sleep(life))
      assert.deepStrictEqual(wouldGo(life), [])
      assert.lengthOf(journal(life), isAccepted ? 0 : 1)
    }
  })

  it("L9: accepting all that waits puts away nothing that was declined, alone or with its dream", () => {
    for (const isAlone of [true, false]) {
      const life = wake(sleep(withOldTea("all")))
      ordered(life, "undoDream", isAlone ? [`fact/${fact(life, "Tea")?.id}`] : undefined)
      ordered(life, "acceptDream", undefined)
      assert.strictEqual(fact(life, "Tea")?.state, "active")
    }
  })

  it("E5 B1 B4: a profile of what was named in passing goes after 30 days, comes back with its night, and goes no more", () => {
    const model = dreamer({
      consolidate: (prompt) =>
        json(
          idsIn(dataOf(prompt)).map((id) => ({
            id,
            importance: 8,
            facts: [{ text: "The ferry Aurora was late.", entities: ["Aurora"] }]
          }))
        )
    })
    const first = wake(sleep(said(live({ model }), "The Aurora was late.")))
    const before = profile(first, "Aurora")
    assert.deepInclude(before, { attributes: [], made: 0 })
    const early = wake(sleep(daysLater(first, 20, { model })))
    assert.deepStrictEqual(profile(early, "Aurora"), before)
    const late = wake(sleep(daysLater(early, 20, { model })))
    assert.isUndefined(profile(late, "Aurora"))
    assert.strictEqual(fact(late, "Aurora")?.state, "active")
    ordered(late, "undoDream")
    assert.deepStrictEqual(profile(late, "Aurora"), before && { ...before, kept: true })
    wake(sleep(late))
    assert.isDefined(profile(late, "Aurora"))
  })

  it("E5: one of whom anything is known stays", () => {
    const model = dreamer({
      profile: (prompt) =>
        json([{ action: "ADD", target: null, attribute: "Talks of tea.", evidence: idsIn(dataOf(prompt)).slice(-1) }])
    })
    const first = wake(sleep(said(live({ model }), "Tea is fine.")))
    const late = wake(sleep(daysLater(first, 80, { model })))
    assert.lengthOf(profile(late, "Ann")?.attributes ?? [], 1)
  })

  it("F49 F83: a conversation that is over leaves working memory, and its line in the report", () => {
    const life = said(live({ model: dreamer({ consolidate: () => ({ text: "[]" }) }) }), "The ferry is late.")
    wake(sleep(life))
    assert.deepInclude(report(life).get("pruning"), { read: 1, accepted: 0 })
    // The same process two days later: another one would have forgotten it anyway.
    life.time.now += 2 * DAY
    wake(sleep(life))
    assert.deepInclude(report(life).get("pruning"), { read: 1, accepted: 1 })
    sleep(life)
    assert.deepInclude(report(life).get("pruning"), { read: 0, accepted: 0 })
  })
})

describe("the persona check of a consolidation", () => {
  it("F77: what speaks of the assistant becomes no fact, no matter who says it", () => {
    const proposals = [
      "I helped Ann with the ropes.",
      "ada tied the ferry up.",
      "The assistant is kind.",
      "Ann owns a dog."
    ]
    const model = dreamer({
      consolidate: (prompt) =>
        json(idsIn(dataOf(prompt)).map((id) => ({ id, importance: 8, facts: proposals.map((text) => ({ text })) })))
    })
    const life = sleep(said(live({ model }), "Thank you for everything."))
    assert.deepStrictEqual(
      facts(life).map(({ text }) => text),
      ["Ann owns a dog."]
    )
    assert.deepInclude(report(life).get("consolidating"), { read: 1, proposed: 4, accepted: 1 })
  })
})
