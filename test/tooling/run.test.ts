import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { assert, describe, test } from "vitest"

const root = join(import.meta.dirname, "../..")

/** Runs a file of these lines the way an npm script does. */
const runLines = (lines: ReadonlyArray<string>, args: ReadonlyArray<string> = []) => {
  mkdirSync(join(root, ".reverie"), { recursive: true })
  const folder = mkdtempSync(join(root, ".reverie/run-"))
  try {
    const file = join(folder, "planted.ts")
    writeFileSync(file, lines.join("\n"))
    const command = ["scripts/run.mjs", relative(root, file), ...args]
    return spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("run", () => {
  test("I1 passes arguments and the exit code on, and leaves stdout and stderr to the program", () => {
    const said = runLines(
      ["process.stdout.write(JSON.stringify(process.argv.slice(2)))", "process.exitCode = 7 as number"],
      ["--json", "two words"]
    )
    assert.deepStrictEqual([said.status, said.stdout, said.stderr], [7, '["--json","two words"]', ""])
  })

  test("I1 no stand-in is left between a signal and the program", () => {
    const said = runLines(["process.kill(process.pid, 'SIGKILL')"])
    assert.strictEqual(said.signal, "SIGKILL")
  })
})
