import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, test } from "vitest"

const PROGRAM = fileURLToPath(new URL("./children/guarded.ts", import.meta.url))

const guarded = (...args: ReadonlyArray<string>) => {
  const { signal, status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", PROGRAM, ...args],
    { encoding: "utf8" }
  )
  return { code: status, signal, said: stdout.trim().split("\n"), logged: stderr }
}

const ALIVE = "alive, taken down"
const REJECTED = "a promise that it left without a handler was rejected"
const THREW = "it threw in a timer or a callback"
const NOT_DONE = "which would end the process for everyone and was not done"

describe("guard", () => {
  test.each([
    ["reject", `${REJECTED}: stray`],
    ["reject-later", `${REJECTED}: stray`],
    ["reject-text", `${REJECTED}: a text`],
    ["timer", `${THREW}: stray`],
    ["immediate", `${THREW}: stray`],
    ["tick", `${THREW}: stray`],
    ["microtask", `${THREW}: stray`],
    ["emitter", `${THREW}: stray`],
    ["fetch", `${REJECTED}: fetch failed`]
  ])("G1 what a run leaves behind by %s is reported to it, and the process lives on", (deed, problem) => {
    const { code, logged, said } = guarded(deed)
    assert.deepStrictEqual([said, code, logged], [[`told: ${problem}`, ALIVE], 0, ""])
  })

  test.each([
    ["exit", "process.exit(0)"],
    ["exit-by-name", "process.exit(3)"],
    ["exit-kept", "process.exit(0)"],
    ["abort", "process.abort()"],
    ["kill", 'process.kill(process.pid, "SIGKILL")'],
    ["kill-group", 'process.kill(process.pid, "SIGTERM")']
  ])("G2 a run that calls %s learns of it and is thrown at, and nothing ends", (deed, called) => {
    const { code, said } = guarded(deed)
    assert.deepStrictEqual(
      [said, code],
      [[`told: it called ${called}, ${NOT_DONE}`, `thrown: Error: ${called} does nothing in a tool`, ALIVE], 0]
    )
  })

  test("G2 the same in a timer of the run is reported once", () => {
    assert.deepStrictEqual(guarded("exit-in-timer").said, [`told: it called process.exit(0), ${NOT_DONE}`, ALIVE])
  })

  test("G2 signals that end nothing are sent, and a program from outside can not be held back", () => {
    assert.deepStrictEqual(guarded("harmless").said, [ALIVE])
    assert.strictEqual(guarded("kill-from-outside").signal, "SIGKILL")
  })

  test("G1 without a run everything ends as without a guard", () => {
    for (const deed of ["reject", "timer"]) {
      const { code, logged, said } = guarded(deed, "unowned")
      assert.deepStrictEqual([said, code], [[""], 1])
      assert.match(logged, /Error: stray\n {4}at /)
    }
    assert.deepStrictEqual([guarded("exit", "unowned").code, guarded("exit-by-name", "unowned").code], [0, 3])
    assert.strictEqual(guarded("abort", "unowned").signal, "SIGABRT")
  })

  test("G1 listeners of the program hear of their own errors, and of none of a run", () => {
    assert.deepStrictEqual(guarded("reject", "unowned", "own").said, ["own unhandledRejection: Error: stray", ALIVE])
    assert.deepStrictEqual(guarded("timer", "unowned", "own").said, ["own uncaughtException: Error: stray", ALIVE])
    assert.deepStrictEqual(guarded("reject", "running", "own").said, [`told: ${REJECTED}: stray`, ALIVE])
    assert.deepStrictEqual(guarded("timer", "running", "own").said, [`told: ${THREW}: stray`, ALIVE])
  })

  test("G3 of many only the first are logged, one line each and without secrets", () => {
    const lines = guarded("flood", "over").logged.trim().split("\n")
    assert.strictEqual(lines.length, 3)
    assert.match(lines[0] ?? "", /rejected: a \[redacted\] 1 in lines$/)
    assert.match(lines[2] ?? "", /rejected: a \[redacted\] 3 in lines; what else it leaves behind is not logged$/)
  })

  test("G3 what comes after the end of a run is one line that names it, and nothing else happens", () => {
    for (const [deed, problem] of [
      ["reject", `${REJECTED}: stray`],
      ["exit", `it called process.exit(0), ${NOT_DONE}`]
    ] as const) {
      const { code, logged, said } = guarded(deed, "over")
      assert.deepStrictEqual([said.at(-1), code], [ALIVE, 0])
      assert.strictEqual(
        logged,
        `reverie: the call 1.1.0 of the tool "probe" of harbor/ada had ended when ${problem}\n`
      )
    }
  })
})
