// Lane: the integration tests, and a round of a composed deployment, on an engine and images made here of packages of
// Debian: for machines on which no image can be pulled, and to see once what only containers show.
// Owns what a run is made of, its folder and its end. Leaves what happens in its corner to inside-child.ts.
// L1  What the machine lacks is said before anything is done, all of it at once.
// L2  Outside of its folder a run changes nothing: packages are unpacked, not installed; engine, containers, bridges and
//     rules live in namespaces of their own. What it shares with the machine is the kernel and the page cache.
// L3  However it ends, nothing of it is left.

import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { codenameIn, machineHere, mirrorIn, needsOf } from "./machine.ts"
import { endKeeper, runInCorner, startKeeper } from "./namespace.ts"
import { fetchTools } from "./packages.ts"
import { beginning, say } from "./say.ts"

/** In this order. */
export const PARTS = ["suites", "interrupted", "leaks", "round"] as const

export interface Configuration {
  readonly root: string
  readonly work: string
  readonly group: string
  readonly mirror: string
  readonly codename: string
  readonly parts: ReadonlyArray<string>
  readonly ofVitest: ReadonlyArray<string>
}

const PART = "--part="

/** Parts that were asked for, all of them when none is; and what is left of the arguments. */
export const partsIn = (args: ReadonlyArray<string>) => {
  const asked = args.filter((arg) => arg.startsWith(PART)).map((arg) => arg.slice(PART.length))
  const unknown = asked.filter((part) => !PARTS.some((each) => each === part))
  const parts = asked.length === 0 ? PARTS : PARTS.filter((part) => asked.includes(part))
  return { parts, unknown, ofVitest: args.filter((arg) => !arg.startsWith(PART)) }
}

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "")
const INSIDE = fileURLToPath(new URL("inside-child.ts", import.meta.url))

const interruption = (): AbortController => {
  const aborted = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      say(`${signal}: everything of the run ends`)
      aborted.abort()
    })
  }
  return aborted
}

/** True when every part has passed. */
export const runStandIns = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { ofVitest, parts, unknown } = partsIn(args)
  const machine = machineHere()
  const needs = [...unknown.map((part) => `there is no part ${part}: ${PARTS.join(", ")}`), ...needsOf(machine)]
  for (const need of needs) say(`this run can not begin: ${need}`)
  if (needs.length > 0) return false
  const { signal } = interruption()
  const work = await mkdtemp(join(tmpdir(), "reverie-stand-ins-"))
  const group = basename(work)
  const keeper = startKeeper(work, group)
  say(`everything of this run is in ${work}, and gone with it`)
  try {
    const { env, fetched } = await fetchTools(work, machine)
    say(`fetched, not installed: ${fetched.join(", ")}`)
    if (signal.aborted) return false
    const configuration: Configuration = {
      root,
      work,
      group,
      mirror: mirrorIn(machine.sources) ?? "",
      codename: codenameIn(machine.osRelease) ?? "",
      parts,
      ofVitest
    }
    const file = join(work, "configuration.json")
    await writeFile(file, JSON.stringify(configuration))
    const command = [process.execPath, "--disable-warning=ExperimentalWarning", INSIDE, file]
    return (await runInCorner({ keeper, env: { ...env, ...beginning } }, command, signal)) === 0
  } catch (failure) {
    say(failure instanceof Error ? failure.message : String(failure))
    return false
  } finally {
    say(`${work} is being removed`)
    await endKeeper(keeper)
  }
}
