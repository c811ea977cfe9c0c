// npm run simulate -- [--seeds N] [--from SEED] [--json]

import { parseArgs } from "node:util"
import { campaign } from "./campaign.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    json: { type: "boolean", default: false }
  }
})

const seeds = Number(values.seeds)
const from = Number(values.from)
if (!Number.isInteger(seeds) || seeds < 1 || !Number.isInteger(from)) {
  process.stderr.write("simulate: --seeds and --from take whole numbers\n")
  process.exit(2)
}

const report = campaign(from, seeds, (done) => {
  if (done % 100 === 0) process.stderr.write(`simulate: ${done} of ${seeds} worlds\n`)
})

if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
else {
  const { acknowledged, crashes, effects, entries, facts, failures, fencedCommits } = report
  const { compactions, orderedCompactions, outages, plantedBugs, stopped, stoppedAsked, subAgents } = report
  process.stdout.write(
    `${seeds} worlds from seed ${from}: ${acknowledged} events acknowledged, ${entries} commits, ${effects} effects, ` +
      `${crashes} crashes, ${fencedCommits} stale commits refused, ${facts} facts found, ${compactions} histories compacted (${orderedCompactions} by order), ` +
      `${subAgents} sub-agents, ${outages} outages of the model, ${stopped} ticks stopped (${stoppedAsked} with someone waiting)\n`
  )
  for (const [bug, seed] of Object.entries(plantedBugs)) {
    process.stdout.write(`planted bug ${bug}: ${seed === null ? "NOT FOUND" : `found by seed ${seed}`}\n`)
  }
  for (const { seed, violations } of failures.slice(0, 10)) {
    process.stdout.write(`seed ${seed}: ${violations.slice(0, 3).join("; ")}\n`)
  }
  process.stdout.write(`${seeds - failures.length} passed, ${failures.length} failed\n`)
}
process.exit(report.ok ? 0 : 1)
