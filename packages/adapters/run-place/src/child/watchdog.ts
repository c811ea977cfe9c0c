// Watchdog: a thread of the process of an isolated run, which ends it.
// Owns the three bounds of the process. It works while the function holds the thread of its own.
// W1  It ends the process when its parent has gone, when its time is over, or when it uses more memory than it may.

import { writeSync } from "node:fs"
import { parentPort, workerData } from "node:worker_threads"

export interface Bounds {
  readonly parent: number
  readonly memoryBytes: number
  readonly endMillis: number
}

const LOOK_MILLIS = 50
/** Where it says why. */
const REASONS_FD = 4

const { endMillis, memoryBytes, parent } = workerData as Bounds
const began = performance.now()
const own = process.memoryUsage.rss()

const end = (reason: string): void => {
  try {
    writeSync(REASONS_FD, `${reason}\n`)
  } finally {
    // The group that it leads: whatever it has started ends with it.
    process.kill(-process.pid, "SIGKILL")
  }
}

setInterval(() => {
  if (process.ppid !== parent) end("orphan")
  if (performance.now() - began > endMillis) end("time")
  if (process.memoryUsage.rss() - own > memoryBytes) end("memory")
}, LOOK_MILLIS)

// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage("ready")
