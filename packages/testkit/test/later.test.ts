import { later, tidy } from "@reverie/testkit/later"
import { assert, describe, it } from "vitest"

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (failure: unknown) => failure
  )

describe("later", () => {
  it("T2 the last is done first, each once, and one that fails keeps none from being done", async () => {
    const done: Array<string> = []
    later(() => done.push("first"))
    later(async () => {
      await Promise.resolve()
      done.push("second")
    })
    later(() => {
      throw new Error("the port is gone")
    })
    const failure = await failureOf(tidy())
    assert.instanceOf(failure, AggregateError)
    assert.match(String(failure.errors), /the port is gone/)
    assert.deepStrictEqual(done, ["second", "first"])
    assert.isUndefined(await failureOf(tidy()))
    assert.deepStrictEqual(done, ["second", "first"])
  })
})
