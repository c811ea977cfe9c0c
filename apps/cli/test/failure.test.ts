import { assert, describe, test, vi } from "vitest"
import { later } from "@reverie/testkit/later"
import { CommandFailed, failureOf } from "../src/failure.ts"
import { Stop } from "../src/running/stop.ts"
import { onStderr } from "./on-stderr.ts"

const tagged = (tag: string, fields: object = {}) =>
  Object.assign(new Error(`${tag} happened`), { _tag: tag, ...fields })

describe("X2 whatever is thrown becomes one failure", () => {
  const exits = {
    StoreBusy: 5,
    DatabaseUnreleased: 5,
    DatabaseFormatNewer: 5,
    StoreUnreleased: 5,
    StoreFormatNewer: 5,
    StoreDamaged: 5,
    MailboxUnavailable: 6,
    LedgerUnavailable: 6,
    UnknownAssistant: 4,
    EnvelopeInvalid: 2,
    FleetDefinitionInvalid: 2,
    ModelDenied: 3,
    ModelUnavailable: 6,
    SomethingElse: 1
  }
  for (const [tag, exit] of Object.entries(exits)) {
    test(`${tag} ends with ${exit}`, () => assert.strictEqual(failureOf(tagged(tag)).exit, exit))
  }

  test("a fleet that closed because its disk is full says so", () => {
    const cause = tagged("LedgerUnavailable", { message: "no space is left" })
    const failure = failureOf(tagged("FleetClosed", { cause }))
    assert.deepStrictEqual([failure.exit, failure.message, failure.retryable], [6, "no space is left", true])
  })

  test("a directory that can not be opened ends by its reason", () => {
    const unopenable = (code: string) => failureOf(tagged("StoreUnopenable", { cause: { code } })).exit
    assert.deepStrictEqual(["EACCES", "ENOTDIR", "ENOSPC"].map(unopenable), [3, 2, 6])
    assert.strictEqual(failureOf(tagged("StoreUnopenable")).exit, 4)
  })

  test("anything at all, without a stack", () => {
    for (const thrown of ["text", undefined, null, 7, {}, new Error("two\nlines")]) {
      const { exit, message } = failureOf(thrown)
      assert.strictEqual(exit, 1)
      assert.notInclude(message, "\n")
    }
  })
})

describe("Stop", () => {
  test("S1 S3 the first interruption ends every wait, the second the process", async () => {
    const exit = vi.spyOn(process, "exit").mockImplementation(() => undefined as never)
    const stop = new Stop()
    const waiting = stop.orAsked(new Promise<never>(() => {}))
    stop.interrupt()
    const failure: unknown = await waiting.catch((error: unknown) => error)
    assert.instanceOf(failure, CommandFailed)
    assert.strictEqual(failureOf(failure).exit, 130)
    assert.strictEqual(exit.mock.calls.length, 0)
    stop.interrupt()
    assert.deepStrictEqual(exit.mock.calls, [[130]])
    exit.mockRestore()
  })

  test("S2 who waits may take the first one, and lets go", () => {
    const stop = new Stop()
    let taken = 0
    const release = stop.intercept(() => ++taken > 0)
    stop.interrupt()
    assert.deepStrictEqual([taken, stop.isAsked], [1, false])
    release()
    stop.interrupt()
    assert.deepStrictEqual([taken, stop.isAsked], [1, true])
  })
})

test("who ends it himself reads so in another colour than a failure", async () => {
  vi.stubEnv("FORCE_COLOR", "1")
  vi.stubEnv("NO_COLOR", "")
  // Whether there are colours is asked once, as a module is loaded.
  vi.resetModules()
  const said = onStderr()
  later(() => vi.unstubAllEnvs())
  const { tellFailure } = await import("../src/output.ts")
  const { CommandFailed: Failed } = await import("../src/failure.ts")
  tellFailure(new Failed("interrupted", "stopped by Ctrl-C"), false)
  tellFailure(new Failed("usage", "no such option"), false)
  const [stopped = "", failed = ""] = said().split("\n")
  assert.isTrue(stopped.startsWith("\u001b[33mreverie:"), stopped)
  assert.isTrue(failed.startsWith("\u001b[31mreverie:"), failed)
})
