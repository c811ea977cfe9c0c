// A program with a guard and one run of a tool in it. It does what its argument names and prints what the run was told.

import { spawnSync } from "node:child_process"
import { EventEmitter } from "node:events"
import { exit as exitByName } from "node:process"
import { guardProcess, inRun, type GuardedRun } from "../../src/runs.ts"

const kept: (code: number) => never = Reflect.get(process, "exit")
const what = process.argv[2] ?? ""
const later = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const deeds: Readonly<Record<string, () => unknown>> = {
  reject: () => void Promise.reject(new Error("stray")),
  "reject-later": async () => {
    await later(5)
    throw new Error("stray")
  },
  "reject-text": () => void Promise.reject("a text"),
  timer: () => setTimeout(thrower, 5),
  immediate: () => setImmediate(thrower),
  tick: () => process.nextTick(thrower),
  microtask: () => queueMicrotask(thrower),
  emitter: () => {
    const emitter = new EventEmitter()
    setTimeout(() => emitter.emit("error", new Error("stray")), 5)
  },
  fetch: () => void fetch("http://127.0.0.1:1/"),
  flood: () => {
    for (let index = 1; index <= 9; index++) void Promise.reject(new Error(`a secret ${index}\nin lines`))
  },
  exit: () => process.exit(0),
  "exit-by-name": () => exitByName(3),
  "exit-kept": () => kept(0),
  "exit-in-timer": () => setTimeout(() => process.exit(0), 5),
  abort: () => process.abort(),
  kill: () => process.kill(process.pid, "SIGKILL"),
  "kill-group": () => process.kill(0),
  harmless: () => [
    process.kill(process.pid, 0),
    process.kill(process.pid, "SIGCONT"),
    process.kill(process.pid, "SIGWINCH")
  ],
  "kill-from-outside": () => spawnSync("kill", ["-9", String(process.pid)])
}

const thrower = (): never => {
  throw new Error("stray")
}

const isOver = process.argv[3] === "over"
const isUnowned = process.argv[3] === "unowned"
const run: GuardedRun = {
  says: 'the call 1.1.0 of the tool "probe" of harbor/ada',
  hide: (text) => text.replaceAll("secret", "[redacted]"),
  onStray: (problem) => process.stdout.write(`told: ${problem}\n`),
  isOver,
  lateLines: 0
}

if (process.argv[4] === "own") {
  for (const name of ["unhandledRejection", "uncaughtException"]) {
    process.on(name, (error: unknown) => process.stdout.write(`own ${name}: ${String(error)}\n`))
  }
}

const takeDown = guardProcess()
const again = guardProcess()
again()
const deed = deeds[what] ?? (() => process.stdout.write("no such deed\n"))
try {
  if (isUnowned) deed()
  else inRun(run, deed)
} catch (thrown) {
  process.stdout.write(`thrown: ${String(thrown)}\n`)
}
await later(100)
takeDown()
process.stdout.write(`alive, ${process.exit === kept ? "taken down" : "still guarded"}\n`)
