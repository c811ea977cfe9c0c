// npm run bench -- context|memory|tick [--short] [--json]
// npm run bench -- recall --data <directory of conversations> [--json]

import { parseArgs } from "node:util"
import { benchContext } from "./context.ts"
import { benchMemory } from "./memory.ts"
import { benchRecall } from "./recall.ts"
import { benchTick } from "./tick.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    data: { type: "string" }
  }
})

const refuse = (problem: string): never => {
  process.stderr.write(`bench: ${problem}\n`)
  process.exit(2)
}

const benches: Readonly<Record<string, (isShort: boolean) => Promise<{ readonly ok: boolean }>>> = {
  context: benchContext,
  memory: benchMemory,
  tick: benchTick,
  recall: () =>
    benchRecall(
      values.data ?? refuse("recall needs --data <directory> with conv-*.jsonl and conv-*.questions.jsonl in it")
    )
}

const name = positionals[0] ?? ""
const bench = benches[name] ?? refuse(`say which one: ${Object.keys(benches).join(", ")}`)

const round = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Math.round(value * 1_000) / 1_000 : value

const report = await bench(values.short)
process.stdout.write(`${JSON.stringify(report, round, values.json ? 0 : 2)}\n`)
process.exit(report.ok ? 0 : 1)
