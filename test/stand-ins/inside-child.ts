// InsideChild: a run on stand-ins, inside its corner: the engine, the images, and then each part.
// Owns the order and the report. Leaves the corner to namespace.ts. `inside-child.ts CONFIGURATION`
// I1  It ends as soon as its standard input does: the one who started it is gone, or wants no more of it.
// I2  A part that breaks off has failed, and the next one runs all the same.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { makeImages } from "./images.ts"
import type { Configuration } from "./lane.ts"
import { runInterrupted } from "./interrupted.ts"
import { findLeaks } from "./leaks.ts"
import { openNetwork, startEngine } from "./own-engine.ts"
import { runRound } from "./round.ts"
import { say } from "./say.ts"
import { copyOf } from "./working-copy.ts"

const configuration = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Configuration
const { codename, group, mirror, ofVitest, parts, root, work } = configuration

process.stdin.resume().once("end", () => process.exit(130))

/** The suites of the integration tests, in a process of their own, on the engine of this run alone. */
const suites = async (): Promise<boolean> => {
  const kept = Object.entries(process.env).filter(([name]) => !/^(DATABASE|REDIS|QDRANT)_/.test(name))
  const main = join(root, "test/integration/main.ts")
  const args = ["--disable-warning=ExperimentalWarning", main, ...ofVitest]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: Object.fromEntries(kept),
    stdio: ["ignore", "inherit", "inherit"]
  })
  const [code] = (await once(child, "close")) as [number | null]
  return code === 0
}

const told = ({ lines, ok }: { readonly ok: boolean; readonly lines: ReadonlyArray<string> }): boolean => {
  for (const line of lines) say(line)
  return ok
}

const copy = join(work, "copy")

const runs: Readonly<Record<string, () => Promise<boolean>>> = {
  suites,
  interrupted: async () => told(await runInterrupted(root)),
  leaks: async () => told(await findLeaks(copy)),
  round: async () => told(await runRound(copy, work, say))
}

const failed: Array<string> = []
try {
  await openNetwork(work)
  const engine = await startEngine(work, group)
  process.env["DOCKER_HOST"] = engine.host
  say(engine.says)
  const images = await makeImages({ root, work, mirror, codename }, say)
  say(`stand-ins: ${images.join(", ")}`)
  await copyOf(root, copy)
  for (const part of parts) {
    say(`${part} begins`)
    const isWell = await (runs[part]?.() ?? Promise.resolve(false)).catch((failure: unknown) => {
      say(failure instanceof Error ? failure.message : String(failure))
      return false
    })
    say(`${part}: ${isWell ? "passed" : "FAILED"}`)
    if (!isWell) failed.push(part)
  }
} catch (failure) {
  say(failure instanceof Error ? failure.message : String(failure))
  failed.push("the engine and its images")
}
say(failed.length === 0 ? `${parts.join(", ")}: all passed` : `failed: ${failed.join(", ")}`)
process.exit(failed.length === 0 ? 0 : 1)
