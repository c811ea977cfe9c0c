import { assert, describe, it } from "@effect/vitest"
import { factIndex } from "../../src/index.ts"
import { aFact, NOON } from "./facts.ts"
import { MAX_CANDIDATES } from "../../src/facts/consolidate.ts"

const sought = (text: string, ...entities: ReadonlyArray<string>) => ({ text, entities })
const idsOf = (facts: ReadonlyArray<{ readonly id: string }>) => facts.map(({ id }) => id)

describe("factIndex", () => {
  it("N1 finds only facts that hold, and never the excepted one", () => {
    const index = factIndex([
      aFact("a", { text: "Bob sails." }),
      aFact("b", { text: "Bob sails.", state: "retired" }),
      aFact("c", { text: "Bob sails.", state: "quarantined" }),
      aFact("d", { text: "Bob sails.", state: "superseded", superseded_by: "a" })
    ])
    assert.deepStrictEqual(idsOf(index.near(sought("bob sailed"))), ["a"])
    assert.deepStrictEqual(index.near({ ...sought("bob sailed"), except: new Set(["a"]) }), [])
    assert.deepStrictEqual(index.near(sought("the of and")), [])
    assert.deepStrictEqual(index.near(sought("")), [])
  })

  it("N1 of what is equally near the younger comes first, then the smaller id", () => {
    const index = factIndex([
      aFact("b", { text: "Bob sails." }),
      aFact("a", { text: "Bob sails." }),
      aFact("c", { text: "Bob sails.", at: NOON + 1 })
    ])
    assert.deepStrictEqual(idsOf(index.near(sought("Bob"))), ["c", "a", "b"])
  })

  it("N2 a rare word weighs more than a common one, and a name counts as a word", () => {
    const common = Array.from({ length: 20 }, (_, n) => aFact(`c${n}`, { text: `Bob visited place ${n} again.` }))
    const index = factIndex([
      ...common,
      aFact("boat", { text: "The albatross was painted.", entities: ["Zora"] }),
      aFact("long", { text: "The albatross and twelve other ships were in the harbour when the storm began." })
    ])
    assert.strictEqual(index.near(sought("Bob painted the albatross"))[0]?.id, "boat")
    assert.strictEqual(index.near(sought("nothing", "Zora"))[0]?.id, "boat")
    const rows = factIndex([...common, aFact("rare", { text: "Someone visited albatross 3 again." })])
    assert.strictEqual(rows.near(sought("Bob albatross"))[0]?.id, "rare")
    assert.strictEqual(index.near(sought("Bob")).length, MAX_CANDIDATES)
  })

  it("N3 answers twenty questions over five thousand facts from one build", () => {
    const words = Array.from({ length: 400 }, (_, n) => `word${n}x`)
    const wordOf = (n: number): string => words[n % words.length] ?? ""
    const facts = Array.from({ length: 5_000 }, (_, n) =>
      aFact(`f${n}`, { text: `Caroline ${wordOf(n)} ${wordOf(n * 7 + 1)} ${wordOf(n * 13 + 2)} number${n}.` })
    )
    const index = factIndex(facts)
    for (let n = 0; n < 20; n++) {
      const wanted = n * 250
      assert.strictEqual(index.near(sought(`Caroline ${wordOf(wanted)} number${wanted}`))[0]?.id, `f${wanted}`)
    }
  })
})
