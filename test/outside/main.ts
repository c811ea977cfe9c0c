// npm run outside -- [--only NAME[,NAME]] [--short] [--no-plants] [--list] [--json] [--tarball FILE] [--node VERSION]

import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { root } from "../../scripts/check/program.ts"
import { pack, tarballOf } from "../../scripts/pack.ts"
import { plants, runLane } from "./lane.ts"
import { rows } from "./rows.ts"

const { values } = parseArgs({
  allowNegative: true,
  options: {
    only: { type: "string" },
    short: { type: "boolean", default: false },
    plants: { type: "boolean", default: true },
    list: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    tarball: { type: "string" },
    node: { type: "string" }
  }
})

const refuse = (problem: string): never => {
  process.stderr.write(`outside: ${problem}\n`)
  process.exit(2)
}

const names = values.only?.split(",")
const unknown = names?.find((name) => !rows.some((row) => row.name === name))
if (unknown !== undefined) refuse(`there is no row ${unknown}; --list names them`)

const chosen = rows.filter(
  ({ isShort = false, name }) => (names === undefined || names.includes(name)) && (!values.short || isShort)
)
if (chosen.length === 0) refuse("nothing is chosen; --list names what there is")

if (values.list) {
  for (const { name, says } of chosen) process.stdout.write(`${name}: ${says}\n`)
  process.exit(0)
}

const progress = (line: string): void => void process.stderr.write(`outside: ${line}\n`)
const made = async (): Promise<string> => {
  progress("packing")
  return tarballOf((await pack(resolve(root, "packages/reverie/dist/package"))).folder)
}
const report = await runLane({
  tarball: values.tarball === undefined ? await made() : resolve(values.tarball),
  rows: chosen,
  plants: values.plants ? plants.filter(({ isShort = false }) => !values.short || isShort) : [],
  isShort: values.short,
  node: values.node,
  progress
})

if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
else {
  const held = report.rows.filter(({ ok }) => ok).length
  const found = report.plants.filter((each) => each.found).length
  process.stdout.write(
    `${held} of ${report.rows.length} ways in work, ${report.examined} findings; ` +
      `${found} of ${report.plants.length} planted breaks found\n`
  )
}
process.exit(report.ok ? 0 : 1)
