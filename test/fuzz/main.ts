// npm run fuzz -- [--requests N] [--seed SEED] [--json]

import { parseArgs } from "node:util"
import { fuzz } from "./campaign.ts"

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false }
  }
})
const [requests, seed] = [Number(values.requests), Number(values.seed)]
if (!Number.isInteger(requests) || requests < 1 || !Number.isInteger(seed)) {
  process.stderr.write("fuzz: --requests and --seed take whole numbers\n")
  process.exit(2)
}

const report = await fuzz(requests, seed)
if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
else {
  const statuses = Object.entries(report.byStatus).map(([status, count]) => `${status}: ${count}`)
  process.stdout.write(
    `${requests} requests to ${report.operations} operations, seed ${seed}; ${statuses.join(", ")}\n`
  )
  if (report.neverWell.length > 0) process.stdout.write(`never answered well: ${report.neverWell.join(", ")}\n`)
  for (const { fault, sent, status } of report.faults.slice(0, 20)) {
    process.stdout.write(`${sent.operation} ${sent.method} ${sent.path.slice(0, 200)} ${status}: ${fault}\n`)
    if (sent.body !== undefined) process.stdout.write(`  ${sent.body.slice(0, 300)}\n`)
  }
  process.stdout.write(`${report.faults.length} faults\n`)
}
process.exit(report.ok ? 0 : 1)
