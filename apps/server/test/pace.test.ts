import { assert, describe, it } from "@effect/vitest"
import { Pace } from "../src/feed/subscriber.ts"

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe("pace", () => {
  it("P1 P2 eight go on in a turn, in the order of asking, and all of them in the end", async () => {
    const pace = new Pace()
    const { signal } = new AbortController()
    const gone: Array<number> = []
    for (let index = 0; index < 20; index++) void pace.turn(signal).then(() => gone.push(index))
    await Promise.resolve()
    await Promise.resolve()
    assert.lengthOf(gone, 8)
    await turn()
    assert.lengthOf(gone, 16)
    await turn()
    assert.deepStrictEqual(
      gone,
      Array.from({ length: 20 }, (_, index) => index)
    )
    assert.strictEqual(pace.size, 0)
  })

  it("P2 a stream that has ended leaves the line", async () => {
    const pace = new Pace()
    const [stays, leaves] = [new AbortController(), new AbortController()]
    const full = Array.from({ length: 8 }, () => pace.turn(stays.signal))
    const waiting = [pace.turn(leaves.signal), pace.turn(stays.signal)]
    assert.strictEqual(pace.size, 2)
    leaves.abort()
    assert.strictEqual(pace.size, 1)
    await Promise.all([...full, ...waiting, pace.turn(leaves.signal)])
    assert.strictEqual(pace.size, 0)
  })
})
