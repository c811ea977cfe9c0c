import { assert, describe, it } from "@effect/vitest"
import { admit } from "../src/events.ts"
import { patternOf } from "../src/patterns/select-pattern.ts"
import { DEFAULT_SETTINGS } from "../src/settings.ts"

const pattern = patternOf({ ...DEFAULT_SETTINGS, confirmDangerous: false })
const edit = { tool: "block_edit", category: "dangerous", approval: "apr_1", askedIn: 1 } as const

const phases = (...requests: Parameters<typeof admit>[0]) => admit(requests, pattern, 0).calls.map(({ phase }) => phase)

describe("calls", () => {
  it("F90 I3 a call that asks waits for a person, also where dangerous calls need no approval", () => {
    assert.deepStrictEqual(phases(edit), ["ready"])
    assert.deepStrictEqual(phases({ ...edit, asks: true }), ["asking"])
  })

  it("I1 it is one of the dangerous calls of its tick", () => {
    assert.deepStrictEqual(phases({ ...edit, asks: true }, edit), ["asking", "refused"])
    const tame = { ...pattern, categories: pattern.categories.filter((category) => category !== "dangerous") }
    assert.deepStrictEqual(
      admit([{ ...edit, asks: true }], tame, 0).calls.map(({ phase }) => phase),
      ["refused"]
    )
  })
})
