// npm run attack -- [--only NAME[,NAME]] [--item N] [--short] [--no-plants] [--list] [--json]

import { parseArgs } from "node:util"
import type { Finding } from "./attack.ts"
import { attacks, plants } from "./catalogue.ts"
import { runLane } from "./lane.ts"

const { values } = parseArgs({
  allowNegative: true,
  options: {
    only: { type: "string" },
    item: { type: "string" },
    short: { type: "boolean", default: false },
    plants: { type: "boolean", default: true },
    list: { type: "boolean", default: false },
    json: { type: "boolean", default: false }
  }
})

const refuse = (problem: string): never => {
  process.stderr.write(`attack: ${problem}\n`)
  process.exit(2)
}

const names = values.only?.split(",")
const unknown = names?.find((name) => !attacks.some((attack) => attack.name === name))
if (unknown !== undefined) refuse(`there is no attack ${unknown}; --list names them`)

const chosen = attacks.filter(
  ({ isShort = false, item, name }) =>
    (names === undefined || names.includes(name)) &&
    (values.item === undefined || item === Number(values.item)) &&
    (!values.short || isShort)
)
if (chosen.length === 0) refuse("nothing is chosen; --list names what there is")

if (values.list) {
  for (const { item, name, says } of chosen) process.stdout.write(`${String(item).padStart(2)}  ${name}: ${says}\n`)
  process.exit(0)
}

const rowsOf = (table: NonNullable<Finding["table"]>): ReadonlyArray<string> =>
  Object.entries(table).flatMap(([row, cells]) =>
    Object.entries(cells).map(([column, cell]) => `${row.padEnd(28)}${column.padEnd(12)}${cell}`)
  )

const report = await runLane({
  attacks: chosen,
  plants: values.plants ? plants.filter(({ attack }) => chosen.some(({ name }) => name === attack)) : [],
  isShort: values.short,
  progress: (line) => process.stderr.write(`attack: ${line}\n`)
})

if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
else {
  for (const { table } of report.attacks) if (table !== undefined) process.stdout.write(`${rowsOf(table).join("\n")}\n`)
  const { acknowledged, attacks: verdicts, duplicated, innocents, lost, plants: found, skipped } = report
  process.stdout.write(
    `${verdicts.filter(({ ok }) => ok).length} of ${verdicts.length} attacks held, ${skipped.length} skipped; ` +
      `${acknowledged} acknowledged, ${lost} lost, ${duplicated} duplicated, ${innocents} innocents; ` +
      `${found.filter((each) => each.found).length} of ${found.length} planted faults found\n`
  )
}
process.exit(report.ok ? 0 : 1)
