import { assert, describe, it } from "@effect/vitest"
import { personaRejection } from "../src/index.ts"
import { accepted, named, rejected } from "./persona-corpus.ts"

describe("persona protection", () => {
  it("F77 A26: the corpus has at least 60 sentences of each kind, each once", () => {
    assert.isAtLeast(accepted.length, 60)
    assert.isAtLeast(rejected.length, 60)
    assert.strictEqual(
      new Set([...accepted, ...rejected, ...named]).size,
      accepted.length + rejected.length + named.length
    )
  })

  for (const sentence of accepted) {
    it(`F77 takes: ${sentence}`, () => assert.isUndefined(personaRejection(sentence)))
  }

  for (const sentence of rejected) {
    it(`F77 refuses: ${sentence}`, () => assert.isDefined(personaRejection(sentence)))
  }

  for (const sentence of named) {
    it(`F77 A26 refuses by name: ${sentence}`, () => {
      assert.isDefined(personaRejection(sentence, ["Wren"]))
      assert.isUndefined(personaRejection(sentence), "without the name it is a sentence about someone else")
    })
  }

  it("A26: a name that is a common word means the thing after a determiner", () => {
    assert.isUndefined(personaRejection("The desk is open until six", ["desk"]))
    assert.isUndefined(personaRejection("A desk-lamp stands in the hall", ["desk"]))
    assert.isDefined(personaRejection("desk promised a berth", ["desk"]))
    assert.isDefined(personaRejection("The harbor-master.2 promised a berth", ["harbor-master.2"]))
    assert.isUndefined(personaRejection("The harbor-masterX2 promised a berth", ["harbor-master.2"]))
    assert.isUndefined(personaRejection("Nothing is named here", ["", "  "]))
  })

  it("F78: the rejection is exactly the documented one", () => {
    assert.deepStrictEqual(personaRejection("I helped the player"), {
      success: false,
      error: "Content appears to reference assistant actions or identity",
      suggestion:
        "Session memory should contain facts about the WORLD, PLAYERS, or EVENTS - not what you did. Rephrase in third-person."
    })
  })
})
