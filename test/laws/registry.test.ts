import { assert, test } from "@effect/vitest"
import { adaptersNamed, registry } from "./registry.ts"

test("R1 an unknown adapter is refused with the names that there are", () => {
  assert.throws(() => adaptersNamed(["memory", "oracle"]), /no adapter is called oracle; there are memory, /)
  assert.throws(() => adaptersNamed([""]), /no adapter is called/)
})

test("no name means every adapter, and each has laws to keep", () => {
  assert.deepStrictEqual(adaptersNamed([]), Object.keys(registry))
  assert.deepStrictEqual(adaptersNamed(["memory"]), ["memory"])
  for (const [adapter, suites] of Object.entries(registry)) assert.isAbove(suites.length, 0, adapter)
})
