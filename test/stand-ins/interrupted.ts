// Interrupted: a run of the integration tests that is killed while a container of it runs.
// Owns starting, killing and looking, and the verdict. Leaves ending what is left to the keeper of the integration tests.
// T1  A run that had no container yet when it was killed proves nothing, and is a failure.
// T2  Some seconds after the kill no container of it is left, running or not.

import { spawn } from "node:child_process"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { LABEL } from "../integration/docker.ts"
import { must } from "./program.ts"

const START_MILLIS = 120_000
const END_MILLIS = 30_000
/** Short to begin, and its container stays for a while. */
const SUITE = "queue-bullmq \\[redis\\]"

const containers = async (): Promise<ReadonlyArray<string>> => {
  const listed = await must("list containers", "docker", ["ps", "--all", "--quiet", "--filter", `label=${LABEL}`])
  return listed.split("\n").filter((id) => id !== "")
}

/** What is there as soon as it is so, or when the time is over. */
const seenWhen = async (millis: number, isSo: (found: number) => boolean): Promise<number> => {
  const until = performance.now() + millis
  for (;;) {
    const { length } = await containers()
    if (isSo(length) || performance.now() > until) return length
    await sleep(250)
  }
}

export interface Interrupted {
  /** How many there were when it was killed, and how many are left. */
  readonly before: number
  readonly after: number
}

export const verdictOfInterrupted = ({ after, before }: Interrupted) => ({
  ok: before > 0 && after === 0,
  lines: [
    before === 0
      ? "the run that was to be killed had no container: nothing was proved"
      : `killed with ${before} container${before === 1 ? "" : "s"} of it; ${after === 0 ? "none is" : `${after} are`} left`
  ]
})

/** Kills a whole run, and with it everybody but the keeper. */
export const runInterrupted = async (root: string) => {
  const args = ["--disable-warning=ExperimentalWarning", join(root, "test/integration/main.ts"), "-t", SUITE]
  const child = spawn(process.execPath, args, { cwd: root, detached: true, stdio: "ignore" })
  const before = await seenWhen(START_MILLIS, (found) => found > 0 || child.exitCode !== null)
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL")
  const after = await seenWhen(END_MILLIS, (found) => found === 0)
  return verdictOfInterrupted({ before, after })
}
