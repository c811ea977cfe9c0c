// Run: `node scripts/run.mjs FILE.ts [args]` runs a TypeScript file under Node 24, installing first what is missing.
// Owns the hand-over: stdio, signals, exit code. Leaves what a command means to its file.
// I1  Where Node can replace itself it does, so that a signal or a kill meets the program and no stand-in.
// I2  Where it can not, each signal is passed on once, and the exit code is the program's.
// The npm scripts of developers say `exec node scripts/run.mjs`: a shell that stays in between would die of a signal meant
// for the program, and leave it running on the data directory without a parent. What a user runs (`start`, `reverie`) says
// `node scripts/run.mjs`, which Windows knows too; there the shell of npm passes Ctrl-C on to its whole group.

import { spawn } from "node:child_process"
import { constants } from "node:os"
import { join } from "node:path"
import { ensureInstalled, node24, root, SetupError } from "./setup.mjs"

const handOver = (node, args, env) => {
  const child = spawn(node, args, { stdio: "inherit", env })
  const passed = new Set()
  const pass = (signal) => {
    // A terminal gives Ctrl-C to the whole process group: the child has it already.
    const alreadyThere = signal === "SIGINT" && process.stdin.isTTY === true
    if (!alreadyThere && !passed.has(signal)) child.kill(signal)
    passed.add(signal)
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, pass)
  child.on("error", (error) => fail(error))
  child.on("exit", (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]))
}

const fail = (error) => {
  const text = error instanceof SetupError ? error.message : (error.stack ?? String(error))
  process.stderr.write(`reverie: ${text}\n`)
  process.exit(1)
}

const main = async () => {
  const [file = "", ...rest] = process.argv.slice(2)
  await ensureInstalled({ forRunning: file.startsWith("apps/cli/") })
  const node = node24()
  const args = ["--disable-warning=ExperimentalWarning", join(root, file), ...rest]
  const env = { ...process.env, NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node") }
  if (node === process.execPath && typeof process.execve === "function") {
    process.removeAllListeners("warning")
    process.execve(node, [node, ...args], env)
  }
  handOver(node, args, env)
}

main().catch(fail)
