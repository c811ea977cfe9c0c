import { assert, describe, it } from "@effect/vitest"
import { SharedReads } from "../src/views/shared-reads.ts"

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Readings that end when the test says so. */
const rig = (maxAtOnce: number) => {
  const reads = new SharedReads<string, string>(maxAtOnce)
  const begun: Array<{ readonly key: string; readonly signal: AbortSignal; readonly end: (value: string) => void }> = []
  const ask = (key: string, leaving = new AbortController().signal) =>
    reads.ask(
      key,
      (signal) => {
        const { promise, resolve } = Promise.withResolvers<string>()
        begun.push({ key, signal, end: resolve })
        return promise
      },
      leaving
    )
  return { reads, begun, ask, keys: () => begun.map(({ key }) => key) }
}

describe("shared reads", () => {
  it("R1 clients that ask before a reading begins share it", async () => {
    const { ask, begun, keys, reads } = rig(1)
    const all = [ask("a"), ask("a"), ask("a")]
    await turn()
    assert.deepStrictEqual(keys(), ["a"])
    begun[0]?.end("one")
    assert.deepStrictEqual(await Promise.all(all), ["one", "one", "one"])
    await turn()
    assert.strictEqual(reads.size, 0)
  })

  it("R2 a client that asks after a reading has begun gets a later one", async () => {
    const { ask, begun, keys } = rig(2)
    const first = ask("a")
    await turn()
    const second = ask("a")
    await turn()
    assert.deepStrictEqual(keys(), ["a", "a"])
    begun[0]?.end("old")
    begun[1]?.end("new")
    assert.deepStrictEqual([await first, await second], ["old", "new"])
  })

  it("R3 no more run at once than the bound says, in the order of asking", async () => {
    const { ask, begun, keys, reads } = rig(2)
    const all = ["a", "b", "c", "d"].map((key) => ask(key))
    await turn()
    assert.deepStrictEqual(keys(), ["a", "b"])
    assert.strictEqual(reads.size, 4)
    begun[1]?.end("b")
    await turn()
    assert.deepStrictEqual(keys(), ["a", "b", "c"])
    begun[0]?.end("a")
    begun[2]?.end("c")
    await turn()
    begun[3]?.end("d")
    assert.deepStrictEqual(await Promise.all(all), ["a", "b", "c", "d"])
  })

  it("R4 what every client has left is not begun, and one that runs learns of it", async () => {
    const { ask, begun, keys, reads } = rig(1)
    const [one, two, three] = [new AbortController(), new AbortController(), new AbortController()]
    const running = ask("a", one.signal)
    await turn()
    const waiting = [ask("b", two.signal), ask("b", three.signal)]
    two.abort()
    assert.strictEqual(reads.size, 2, "one client of it is left")
    three.abort()
    assert.strictEqual(reads.size, 1)
    assert.isFalse(begun[0]?.signal.aborted)
    one.abort()
    assert.isTrue(begun[0]?.signal.aborted)
    assert.deepStrictEqual(await Promise.all([running, ...waiting]), [undefined, undefined, undefined])
    begun[0]?.end("late")
    await turn()
    assert.deepStrictEqual(keys(), ["a"])
    assert.isUndefined(await ask("c", one.signal))
    assert.strictEqual(reads.size, 0)
  })

  it("a reading that fails reaches its clients, and the next one begins", async () => {
    const reads = new SharedReads<string, string>(1)
    const { signal } = new AbortController()
    const failing = reads.ask("a", () => Promise.reject(new Error("away")), signal)
    const next = reads.ask("b", async () => "b", signal)
    assert.strictEqual(await failing.catch((error: unknown) => String(error)), "Error: away")
    assert.strictEqual(await next, "b")
  })
})
