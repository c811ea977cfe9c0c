import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
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

  test("the command that npm links is the program, from wherever it is called", () => {
    const { bin, version } = JSON.parse(readFileSync(join(root, "apps/cli/package.json"), "utf8")) as {
      readonly bin: { readonly reverie: string }
      readonly version: string
    }
    const file = join(root, "apps/cli", bin.reverie)
    const said = spawnSync(process.execPath, [file, "--version"], { cwd: tmpdir(), encoding: "utf8" })
    assert.deepStrictEqual([said.status, said.stdout, said.stderr], [0, `${version}\n`, ""])
    // What an older Node is given has to be JavaScript, and may be started as it is.
    assert.match(readFileSync(file, "utf8"), /^#!\/usr\/bin\/env node\n/)
    assert.strictEqual(statSync(file).mode & 0o111, 0o111)
  })
})
