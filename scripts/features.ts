// Features: which tests prove which rows of the feature inventory.
// `npm run -s features` prints a table, with `-- --json` one JSON object. It runs the tests that cite a row, or reads
// `--results FILE` (more than once allowed) that vitest's JSON reporter wrote. Exit code 0: every enforced row is proved.
// 1: one is not, or a title or a test is at fault. 2: asked wrongly.

import { parseArgs } from "node:util"
import { citationsIn } from "./features/citations.ts"
import { coverageOf, tableOf } from "./features/coverage.ts"
import { joined, readResults, runCiting } from "./features/results.ts"
import { rows } from "./features/rows.ts"
import { root } from "./check/program.ts"

const readArguments = () => {
  const { values } = parseArgs({
    options: { json: { type: "boolean", default: false }, results: { type: "string", multiple: true, default: [] } }
  })
  return values
}

const main = async ({ json, results }: ReturnType<typeof readArguments>): Promise<number> => {
  const found = results.length === 0 ? await runCiting() : joined(await Promise.all(results.map(readResults)))
  const coverage = coverageOf(rows, citationsIn(found, root))
  process.stdout.write(`${json ? JSON.stringify(coverage, null, 2) : tableOf(coverage)}\n`)
  return coverage.ok ? 0 : 1
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
