import { assert, test } from "@effect/vitest"
import { defined } from "@reverie/protocol"
import * as fc from "fast-check"

test("D1 what is undefined is left out, everything else stays in its order", () => {
  const value = fc.oneof(fc.constant(undefined), fc.constant(null), fc.boolean(), fc.integer(), fc.string())
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), (properties) => {
      assert.deepStrictEqual(
        Object.entries(defined(properties)),
        Object.entries(properties).filter(([, each]) => each !== undefined)
      )
    })
  )
})

test("D1 types: what may be undefined becomes optional, everything else stays required", () => {
  const reason: string | undefined = undefined as string | undefined
  const view: { readonly id: string; readonly reason?: string } = { id: "a", ...defined({ reason }) }
  assert.deepStrictEqual(view, { id: "a" })
})
