import { cachedDataVersionTag } from "node:v8"
import { assert, describe, it } from "@effect/vitest"
import { IdleCollection } from "../src/commands/running/serve.ts"

const MB = 1_024 * 1_024

/** A process whose figures the test says. */
const rig = () => {
  const at = { now: 0, cpu: 0, heap: 50 * MB }
  let collections = 0
  const collection = new IdleCollection(
    () => ({ ...at }),
    () => {
      collections++
      at.cpu += 500
      at.heap = 80 * MB
    }
  )
  const look = (cpu: number, heap = at.heap / MB): number => {
    at.now += 5_000
    at.cpu += cpu
    at.heap = heap * MB
    collection.look()
    return collections
  }
  return { look }
}

describe("idle collection", () => {
  it("leaves the flags of V8 as they were: under others, code that Node keeps compiled is refused", () => {
    const before = cachedDataVersionTag()
    const collection = IdleCollection.start()
    collection[Symbol.dispose]()
    assert.strictEqual(cachedDataVersionTag(), before)
  })

  it("I1 a process that works is left alone, one that rests is collected", () => {
    const { look } = rig()
    assert.strictEqual(look(5_000, 400), 0)
    assert.strictEqual(look(260, 400), 0)
    assert.strictEqual(look(240, 400), 1)
  })

  it("I2 the same garbage is not collected twice, and a little is left", () => {
    const { look } = rig()
    assert.strictEqual(look(0, 60), 0)
    assert.strictEqual(look(0, 300), 1)
    assert.strictEqual(look(0), 1)
    assert.strictEqual(look(0, 140), 1)
    assert.strictEqual(look(0, 145), 2)
  })
})
