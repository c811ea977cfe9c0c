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

  test("X3 on a full disk room is what helps, whichever verb met it", () => {
    const sqlite = Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 })
    const full = [
      tagged("StoreUnopenable", { cause: sqlite }),
      tagged("StoreUnopenable", { cause: { code: "EDQUOT" } }),
      tagged("LedgerUnavailable", { cause: sqlite }),
      tagged("MailboxUnavailable", { message: "no space is left; free some and try again" }),
      tagged("PromptStoreUnavailable", { cause: sqlite }),
      tagged("RecallUnavailable", { message: "database or disk is full" }),
      tagged("BackupRefused", { message: "backups/monday: database or disk is full" }),
      tagged("Unavailable", { message: "the server's disk is full; free some space" }),
      Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", errno: -28 })
    ]
    for (const error of full) {
      const { exit, hint, retryable } = failureOf(error)
      assert.deepStrictEqual([exit, retryable], [6, true], error.message)
      assert.include(hint, "free space on the disk", error.message)
      assert.notMatch(hint, /may be written|REVERIE_DEBUG|start the database|QDRANT/)
    }
  })

  test("X3 of what is damaged a backup is what helps, and doctor names it; no room and no second try does", () => {
    const sqlite = Object.assign(new Error("malformed"), { code: "ERR_SQLITE_ERROR", errcode: 267 })
    const damaged = [
      tagged("LedgerUnavailable", { isDamaged: true }),
      tagged("MailboxUnavailable", { isDamaged: true }),
      tagged("BlockStoreUnavailable", { cause: sqlite }),
      tagged("BackupRefused", { message: "reverie.db: its copy is damaged: Tree 11 page 72" }),
      tagged("Unavailable", { message: "the file is damaged or no database (database disk image is malformed)" })
    ]
    for (const error of damaged) {
      const { code, exit, hint, retryable } = failureOf(error)
      assert.deepStrictEqual([code, exit, retryable], ["data-damaged", 5, false], error.message)
      assert.match(hint, /^reverie doctor --deep names .* reverie restore /)
      assert.notInclude(hint, "free space")
    }
    const index = failureOf(tagged("RecallUnavailable", { cause: sqlite }))
    assert.include(index.hint, "the index is made anew")
    const { exit, hint } = failureOf(tagged("RecallUnavailable", { operation: "forget" }))
    assert.strictEqual(exit, 6)
    assert.include(hint, "run it again when the server answers")
    assert.strictEqual(failureOf(tagged("AnswerFailed", { message: "he says no space is left" })).exit, 1)
    assert.include(failureOf(tagged("LedgerUnavailable", { message: "no connection" })).hint, "start the database")
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
