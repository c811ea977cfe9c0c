// npm run crash -- [--kills N] [--seed N] [--json], or --night [--stride N] [--json]

import { parseArgs } from "node:util"
import { minimumOperations, runLane } from "./lane.ts"
import { runNightLane } from "./night.ts"

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    night: { type: "boolean", default: false },
    stride: { type: "string", default: "1" },
    json: { type: "boolean", default: false }
  }
})

const kills = Number(values.kills)
if (!Number.isInteger(kills) || kills < 1) {
  process.stderr.write("crash: --kills takes a whole number\n")
  process.exit(2)
}

const told = (done: number): void => {
  if (done % 10 === 0) process.stderr.write(`crash: ${done} kills\n`)
}

const killNights = async (): Promise<never> => {
  const stride = Number(values.stride)
  if (!Number.isInteger(stride) || stride < 1) {
    process.stderr.write("crash: --stride takes a whole number\n")
    process.exit(2)
  }
  const report = await runNightLane({ stride, progress: told })
  process.stdout.write(`${JSON.stringify(report, null, values.json ? 0 : 2)}\n`)
  process.exit(report.ok ? 0 : 1)
}

if (values.night) await killNights()

const report = await runLane({
  kills,
  events: Math.max(minimumOperations(kills), kills * 12),
  seed: Number(values.seed),
  progress: told
})

if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
else {
  const { killsByPoint, ...figures } = report
  for (const [name, value] of Object.entries(figures)) process.stdout.write(`${name}: ${value}\n`)
  for (const [point, count] of Object.entries(killsByPoint)) process.stdout.write(`killed at ${point}: ${count}\n`)
}
process.exit(report.ok ? 0 : 1)
