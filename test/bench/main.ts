// npm run bench -- context|tick [--short] [--json]

import { parseArgs } from "node:util"
import { benchContext } from "./context.ts"
import { benchTick } from "./tick.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, short: { type: "boolean", default: false } }
})

const benches: Readonly<Record<string, (isShort: boolean) => Promise<{ readonly ok: boolean }>>> = {
  context: benchContext,
  tick: benchTick
}

const name = positionals[0] ?? ""
const bench = benches[name]
if (bench === undefined) {
  process.stderr.write(`bench: say which one: ${Object.keys(benches).join(", ")}\n`)
  process.exit(2)
}

const round = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Math.round(value * 1_000) / 1_000 : value

const report = await bench(values.short)
process.stdout.write(`${JSON.stringify(report, round, values.json ? 0 : 2)}\n`)
process.exit(report.ok ? 0 : 1)
