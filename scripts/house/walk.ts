// Walk: a process that does one piece of work and prints which files it entered.
// Owns the order: watch, load, open, prepare, begin, work. Leaves the work to works.ts. A process each, so that no work
// finds done what another did.

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { watchCalls } from "./call-coverage.ts"

/** An answer comes with the last commit; what this commit starts belongs to the work as well. */
const QUIET_MILLIS = 300

const root = join(import.meta.dirname, "../..")
const watching = await watchCalls()
const { openFleet, prepare, works } = await import("./works.ts")
const work = works[process.argv[2] ?? ""]
if (work === undefined) throw new Error(`no such work; there are ${Object.keys(works).join(", ")}`)

const data = await mkdtemp(join(tmpdir(), "reverie-paths-"))
try {
  await using fleet = await openFleet(data)
  await prepare(fleet, work)
  await watching.begin()
  await work.run(fleet)
  await sleep(QUIET_MILLIS)
  process.stdout.write(`${JSON.stringify(await watching.entered(root))}\n`)
} finally {
  await rm(data, { recursive: true, force: true })
}
