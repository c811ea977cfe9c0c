// What becomes of errors that no one has handled and that belong to no tool.

import { assert, describe, test } from "vitest"
import { begin, fixture, temporary } from "./command-line.ts"

const fleet = ["--fleet", fixture("straying-fleet.ts")]

describe.concurrent("strays of no one", () => {
  test("S2 a rejected promise is one line, and the server goes on until it is asked to end", async () => {
    await using directory = await temporary()
    const { child, ended, saying } = begin(["serve", ...fleet, "--data", directory.path, "--port", "0", "--no-page"])
    await saying("no one asked for this")
    await saying("Ctrl-C ends it")
    child.kill("SIGTERM")
    const { code, stderr } = await ended
    assert.strictEqual(code, 143)
    const lines = stderr.split("\n").filter((line) => line.includes("no one asked for this"))
    assert.deepStrictEqual(lines, [
      "reverie: a promise of no tool was rejected and had no handler: no one asked for this"
    ])
  })

  test("S1 an exception ends it with a code that is not 0, in one line", async () => {
    await using directory = await temporary()
    const args = ["serve", ...fleet, "--data", directory.path, "--port", "0", "--no-page"]
    const { code, stderr } = await begin(args, { env: { STRAY: "exception" } }).ended
    assert.strictEqual(code, 1)
    assert.match(stderr, /^reverie: no one asked for this \(REVERIE_DEBUG=1 shows where it happened\)$/m)
  })
})
