import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { later } from "@reverie/testkit/later"
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

/** Processes whose command line names this. */
const naming = (text: string): ReadonlyArray<string> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text)
      } catch {
        return false
      }
    })

const until = async (holds: () => boolean, millis = 30_000): Promise<boolean> => {
  for (const end = performance.now() + millis; performance.now() < end;) {
    if (holds()) return true
    await new Promise((done) => setTimeout(done, 50))
  }
  return holds()
}

/** A script of npm around a program that runs until it is ended, and says the name of a folder in every command line. */
const scriptedBy = (prefix: string) => {
  mkdirSync(join(root, ".reverie"), { recursive: true })
  const folder = mkdtempSync(join(root, ".reverie/run-"))
  const lines = [
    'process.on("SIGTERM", () => process.exit(0 as number))',
    "setInterval(() => {}, 1_000)",
    "console.log(`ready`)"
  ]
  writeFileSync(join(folder, "planted.ts"), lines.join("\n"))
  const run = `${prefix}node ${join(root, "scripts/run.mjs")} ${relative(root, join(folder, "planted.ts"))} ${folder}`
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, scripts: { start: run } }))
  return folder
}

describe("a flag that a command does not know", () => {
  const commands = [
    "scripts/check.ts",
    "scripts/docs.ts",
    "scripts/features.ts",
    "scripts/house.ts",
    "scripts/pack.ts",
    "scripts/release.ts",
    "test/attack/main.ts",
    "test/bench/main.ts",
    "test/crash/main.ts",
    "test/fuzz/main.ts",
    "test/laws/main.ts",
    "test/outside/main.ts",
    "test/simulation/main.ts"
  ]
  test.each(commands)("is refused by %s in one line, and leaves no temporary file", (command) => {
    const temporary = mkdtempSync(join(tmpdir(), "reverie-run-"))
    later(() => rmSync(temporary, { recursive: true, force: true }))
    const { status, stderr, stdout } = spawnSync(process.execPath, ["scripts/run.mjs", command, "--wrong"], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, TMPDIR: temporary }
    })
    assert.strictEqual(status, 2, stderr)
    assert.match(stderr, /--wrong[^\n]*\n$/)
    assert.strictEqual(stderr.trim().split("\n").length, 1)
    assert.strictEqual(stdout, "")
    assert.deepStrictEqual(readdirSync(temporary), [])
  })
})

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

  test.each([
    ["a user's script", ""],
    ["a developer's script", "exec "]
  ])("I3 SIGTERM to npm ends all of %s", async (_, prefix) => {
    const folder = scriptedBy(prefix)
    try {
      const npm = spawn("npm", ["run", "-s", "start"], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] })
      const said: Array<string> = []
      npm.stdout.setEncoding("utf8").on("data", (text: string) => said.push(text))
      assert.isTrue(await until(() => said.join("").includes("ready")), "it runs")
      assert.isAbove(naming(folder).length, 0)
      npm.kill("SIGTERM")
      assert.isTrue(await until(() => naming(folder).length === 0), `left behind: ${naming(folder).join(" ")}`)
    } finally {
      for (const pid of naming(folder)) process.kill(Number(pid), "SIGKILL")
      rmSync(folder, { recursive: true })
    }
  })

  test("I1 each script that runs a program of ours says `exec`, but for those that users run on Windows too", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    const running = Object.entries(scripts).filter(([, script]) => script.includes("scripts/run.mjs"))
    assert.isAbove(running.length, 10)
    const without = running.filter(([, script]) => !script.startsWith("exec ")).map(([name]) => name)
    assert.deepStrictEqual(without, ["start", "reverie"])
  })
})
