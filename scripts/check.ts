// Check: everything that must hold before a change is handed in; `npm run check`, and `npm test` the same.
// Owns the list of steps and their order. Leaves proving to the steps in check/.
// C1  Each step prints its name, its time, what it counted and its remark; the output only of one that failed.
// C2  The last line says how many steps passed and failed, and the exit code is 1 when one failed.
// C3  Only the page is left out where there is no Chromium, which is said; never in CI.
// C4  --only names steps of the list; an unknown name is refused, never ignored.
// C5  It takes minutes: what takes long, with what goes on for longer, is left to --long, which says it of every test.

import { mkdtempSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { chromiumPath } from "../apps/dashboard/test/chromium.ts"
import { docs } from "./check/docs.ts"
import { features } from "./check/features.ts"
import { attack, crash, outside, simulate } from "./check/lanes.ts"
import { root } from "./check/program.ts"
import { servers } from "./check/servers.ts"
import { bounds, sizes } from "./check/sizes.ts"
import { judge, lineOf, type Step, type Verdict } from "./check/step.ts"
import { testStep } from "./check/tests.ts"
import { toolSteps } from "./check/tools.ts"
import { words } from "./check/words.ts"

/** Someone's own machine may have no Chromium; where main is guarded there is one, or the check fails. */
const isPageProved = chromiumPath !== undefined || process.env["CI"] !== undefined
if (!isPageProved) process.stdout.write("page           left out: no Chromium (CHROMIUM_PATH)\n")

const steps: ReadonlyArray<Step> = [
  ...toolSteps,
  testStep("architecture"),
  sizes,
  bounds,
  words,
  docs,
  servers,
  testStep("whole"),
  ...(isPageProved ? [testStep("page")] : []),
  testStep("fleet"),
  testStep("alone"),
  testStep("unit"),
  testStep("property"),
  testStep("laws"),
  testStep("journey"),
  features,
  crash,
  attack,
  outside,
  simulate
]

/** Two at a time: most of a step's time is one core, and a machine that checks has at least two. */
const lanes = Math.min(2, availableParallelism())

const chosen = (args: ReadonlyArray<string>): ReadonlyArray<Step> => {
  const at = args.indexOf("--only")
  const stray = args.find((_, index) => at === -1 || (index !== at && index !== at + 1))
  if (stray !== undefined) {
    process.stderr.write(
      `check: Unknown argument '${stray}'; --only NAME,NAME chooses steps, --long goes on for longer\n`
    )
    process.exit(2)
  }
  if (at === -1) return steps
  const names = (args[at + 1] ?? "").split(",")
  const unknown = names.filter((name) => !steps.some((step) => step.name === name))
  if (unknown.length > 0) {
    process.stderr.write(`no such step: ${unknown.join(", ")}; there are ${steps.map(({ name }) => name).join(", ")}\n`)
    process.exit(2)
  }
  return steps.filter(({ name }) => names.includes(name))
}

const isLong = process.argv.includes("--long")
// What is started reads it: the configuration of Vitest, and atLength of testkit.
process.env["REVERIE_LENGTH"] = isLong ? "long" : "short"
// Hundreds of programs are started, and each reads the same modules.
process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/node")
const chosenSteps = chosen(process.argv.slice(2).filter((arg) => arg !== "--long"))
/** What each of them finds out about its modules, for the others; see check/resolved.mjs. */
const resolved = mkdtempSync(join(tmpdir(), "reverie-check-"))
const hook = pathToFileURL(join(root, "scripts/check/resolved.mjs"))
hook.searchParams.set("known", join(resolved, "modules"))
process.env["NODE_OPTIONS"] = [process.env["NODE_OPTIONS"] ?? "", `--import=${hook.href}`].join(" ").trim()

const print = (verdict: Verdict): void => {
  process.stdout.write(`${lineOf(verdict)}\n`)
  if (!verdict.passed) process.stdout.write(`${verdict.output.trim().replace(/^/gm, "  | ")}\n`)
}

/** Starts steps in their order, at most `lanes` at once, and prints them in their order. */
const runAll = async (list: ReadonlyArray<Step>): Promise<ReadonlyArray<Verdict>> => {
  const verdicts: Array<Promise<Verdict>> = []
  const running = new Set<Promise<unknown>>()
  const printed = async (after: Promise<unknown>, verdict: Promise<Verdict>) => {
    await after
    print(await verdict)
  }
  let printing: Promise<void> = Promise.resolve()
  for (const step of list) {
    if (running.size >= lanes) await Promise.race(running)
    const verdict = judge(step)
    const slot = verdict.finally(() => running.delete(slot))
    running.add(slot)
    verdicts.push(verdict)
    printing = printed(printing, verdict)
  }
  await printing
  return Promise.all(verdicts)
}

const began = performance.now()
const verdicts = await runAll(chosenSteps)
rmSync(resolved, { recursive: true, force: true })
const passed = verdicts.filter((verdict) => verdict.passed).length
const failed = verdicts.length - passed
process.stdout.write(`\n${((performance.now() - began) / 1000).toFixed(1)} s in all\n`)
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
