// Features: which tests prove which rows of the feature inventory.
// `npm run -s features` prints a table, with `-- --json` one JSON object; both tell of each row which test drives a running
// fleet. It runs the tests that cite a row, or reads
// `--results FILE` (more than once allowed) that vitest's JSON reporter wrote. Exit code 0: every enforced row is proved.
// 1: one is not, or a title or a test is at fault. 2: asked wrongly.
// `-- --mutants [--only F12,F13] [--workers N]` breaks rows in copies of the tree and names the tests that die of it, those
// of a running fleet first; 1: a row has no mutant, or one that no test of a running fleet dies of.

import { parseArgs } from "node:util"
import { citationsIn } from "./features/citations.ts"
import { coverageOf, tableOf } from "./features/coverage.ts"
import { joined, readResults, runCiting } from "./features/results.ts"
import { mutants } from "./features/mutants/index.ts"
import { killedBy } from "./features/mutate.ts"
import { isFleetTest } from "./features/proving.ts"
import { rows } from "./features/rows.ts"
import { root } from "./check/program.ts"

const readArguments = () => {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      results: { type: "string", multiple: true, default: [] },
      mutants: { type: "boolean", default: false },
      only: { type: "string" },
      workers: { type: "string", default: "2" }
    }
  })
  return values
}

const main = async (given: ReturnType<typeof readArguments>): Promise<number> => {
  if (given.mutants) return breakRows(given)
  const { json, results } = given
  const found = results.length === 0 ? await runCiting() : joined(await Promise.all(results.map(readResults)))
  const coverage = coverageOf(rows, citationsIn(found, root))
  process.stdout.write(`${json ? JSON.stringify(coverage, null, 2) : tableOf(coverage)}\n`)
  return coverage.ok ? 0 : 1
}

/** Survivors, and rows that nothing tries to break, come last. */
const breakRows = async ({ json, only, workers }: ReturnType<typeof readArguments>): Promise<number> => {
  const wanted = only?.split(",") ?? rows.map(({ id }) => id)
  const chosen = mutants.filter(({ row }) => wanted.includes(row))
  const without = wanted.filter((id) => !chosen.some(({ row }) => row === id))
  const all = await killedBy(chosen, Number(workers), ({ died, file, fleet, problem, row }) => {
    const first = (fleet ? died.find(isFleetTest) : died[0]) ?? problem ?? "SURVIVED"
    const by = died.length === 0 ? "" : fleet ? "fleet" : "room"
    if (!json) process.stdout.write(`${row.padEnd(5)} ${by.padEnd(5)} ${died.length} died  ${file}: ${first}\n`)
  })
  const survivors = all.filter(({ died }) => died.length === 0)
  const withoutFleet = [...new Set(all.flatMap(({ fleet, row }) => (fleet ? [] : [row])))]
  const ok = withoutFleet.length === 0 && without.length === 0 && all.length > 0
  const figures = { ok, broken: all.length, killed: all.length - survivors.length, without, withoutFleet }
  if (json) process.stdout.write(`${JSON.stringify({ ...figures, survivors, mutants: all }, null, 2)}\n`)
  else
    process.stdout.write(
      [
        `${figures.killed} of ${all.length} mutants died; rows without one: ${without.join(" ") || "none"}`,
        `rows that no test of a running fleet died of: ${withoutFleet.join(" ") || "none"}\n`
      ].join("\n")
    )
  return ok ? 0 : 1
}

const failWith = (code: number) => (error: unknown) => {
  process.stderr.write(`features: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = code
}

try {
  const given = readArguments()
  await main(given).then((code) => (process.exitCode = code), failWith(1))
} catch (error) {
  failWith(2)(error)
}
