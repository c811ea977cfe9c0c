// Run: `node scripts/run.mjs FILE.ts [args]` runs a TypeScript file under Node 24, installing first what is missing.
// Owns the hand-over: stdio, signals, exit code. Leaves what a command means to its file.
// I1  Where Node can replace itself it does, so that a signal or a kill meets the program and no stand-in.
// I2  Where it can not, each signal is passed on once, and the exit code is the program's.
// I3  A program ends with whoever asked for it: the shell that npm starts in between dies of a signal and passes none on, so a
//     parent that has gone is a SIGTERM.
// The npm scripts of developers say `exec node scripts/run.mjs` and have no shell in between. What a user runs (`start`,
// `reverie`) says `node scripts/run.mjs`, which Windows knows too: there it stays, and looks after its parent.

import { spawn } from "node:child_process"
import { constants } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { ensureInstalled, node24, root, SetupError } from "./setup.mjs"

/** True when npm has put a shell in between, which `exec` would have replaced. */
const isBehindShell = () => /^(?!exec ).*\brun\.mjs/.test(process.env["npm_lifecycle_script"] ?? "")

const PARENT_MILLIS = 250

/** Elsewhere an orphan is given another parent; on Windows it keeps the number of one that is not there. */
const isOrphan = (parent) => {
  if (process.platform !== "win32") return process.ppid !== parent
  try {
    process.kill(parent, 0)
    return false
  } catch {
    return true
  }
}

const handOver = (node, args, env, parent) => {
  const child = spawn(node, args, { stdio: "inherit", env })
  const passed = new Set()
  const pass = (signal) => {
    // A terminal gives Ctrl-C to the whole process group: the child has it already.
    const alreadyThere = signal === "SIGINT" && process.stdin.isTTY === true
    if (!alreadyThere && !passed.has(signal)) child.kill(signal)
    passed.add(signal)
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, pass)
  setInterval(() => {
    if (isOrphan(parent)) pass("SIGTERM")
  }, PARENT_MILLIS)
  child.on("error", (error) => fail(error))
  child.on("exit", (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]))
}

const fail = (error) => {
  const text = error instanceof SetupError ? error.message : (error.stack ?? String(error))
  process.stderr.write(`reverie: ${text}\n`)
  process.exit(1)
}

/** The first line, before anything is loaded or installed: who starts the example sees at once that something happens. */
const sayStart = (file, [command, ...options]) => {
  const isForPeople = !options.some((each) => /^(--json|--quiet|--help|-h)$/.test(each))
  if (file === "apps/cli/src/main.ts" && command === "start" && isForPeople)
    process.stderr.write("Reverie starts ...\n")
}

const main = async () => {
  const [file = "", ...rest] = process.argv.slice(2)
  const parent = process.ppid
  sayStart(file, rest)
  await ensureInstalled({ forRunning: file.startsWith("apps/cli/") })
  const node = node24()
  // What users run speaks for itself.
  const flags = /^(scripts|test)\//.test(file) ? [`--import=${pathToFileURL(join(root, "scripts/flags.mjs"))}`] : []
  const args = ["--disable-warning=ExperimentalWarning", ...flags, join(root, file), ...rest]
  const env = { ...process.env, NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node") }
  if (!isBehindShell() && node === process.execPath && typeof process.execve === "function") {
    process.removeAllListeners("warning")
    process.execve(node, [node, ...args], env)
  }
  handOver(node, args, env, parent)
}

main().catch(fail)
