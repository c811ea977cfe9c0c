import { assert, test } from "@effect/vitest"
import { later } from "@reverie/testkit/later"
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

test("a server that the environment names only after this was loaded is the one that is judged", () => {
  const before = process.env["QDRANT_URL"]
  later(() => {
    if (before === undefined) delete process.env["QDRANT_URL"]
    else process.env["QDRANT_URL"] = before
  })
  const ports = () => (registry["recall-qdrant"] ?? []).map(({ port }) => port)
  process.env["QDRANT_URL"] = "http://127.0.0.1:6333"
  assert.deepStrictEqual(ports(), ["recall on Qdrant at http://127.0.0.1:6333"])
  delete process.env["QDRANT_URL"]
  assert.deepStrictEqual(ports(), ["recall on a double of Qdrant"])
})
