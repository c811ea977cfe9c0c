// Writes the statechart as JSON: `node packages/assistant/test/write-machine.ts`, and then `npm run format`, after every change of the chart.

import { writeFileSync } from "node:fs"
import { machineJson } from "./machine-as-json.ts"

writeFileSync(new URL("../machine.json", import.meta.url), `${JSON.stringify(machineJson(), null, 2)}\n`)
