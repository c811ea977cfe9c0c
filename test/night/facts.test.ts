import { evalDreams } from "reverie/testing"
import { assert, describe, it } from "@effect/vitest"

const PRECISION = 0.9
const RECALL = 0.7

describe("the facts of labelled conversations, by a dream of the offline model", () => {
  it("nine in ten facts are right and seven in ten labels are learnt, also of those held out", async () => {
    const { development, failures, heldOut } = await evalDreams()
    for (const [name, figures] of Object.entries({ development, heldOut })) {
      assert.isDefined(figures)
      const { cases, precision, recall } = figures
      console.info(`${name}: ${cases} cases, precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`)
      // Of those held out no one looks at which fail.
      const why = figures === development ? failures.join("\n") : name
      assert.isAbove(cases, 10)
      assert.isAtLeast(precision, PRECISION, why)
      assert.isAtLeast(recall, RECALL, why)
    }
  }, 240_000)

  it("J4 a model that answers nothing is measured by no figure: what it fails with is thrown", async () => {
    const said = [["Ann", "I live in Oslo."]] as const
    const learn = [["Ann", "Oslo"]] as const
    const cases = [{ kind: "one", said, learn }]
    for (const message of ["the key is wrong", "this is filtered"]) {
      const model = { infer: () => Promise.reject(new Error(message)) }
      const failure: unknown = await evalDreams({ cases, model }).catch((error: unknown) => error)
      assert.instanceOf(failure, Error)
      assert.include(failure.message, message)
    }
    const { development } = await evalDreams({ cases })
    assert.strictEqual(development.recall, 1)
  })
})
