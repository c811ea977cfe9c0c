// npm run crash -- [--kills N] [--seed N] [--json]
// npm run crash -- --profile fallback [--moments] [--kills N] [--seed N] [--json]
// npm run crash -- --night [--stride N] [--json]
// npm run crash -- --months [--apart | --postgres] [--kills N] [--seed N] [--json]
// npm run crash -- --profile apart [--kills N] [--json]
// npm run crash -- --profile fleet [--kills N] [--events N] [--assistants N] [--workers N] [--plant sweepless] [--json]

import { parseArgs } from "node:util"
import { servers } from "@reverie/testkit/servers"
import { runApartLane } from "./apart.ts"
import { runFallbackLane } from "./fallback.ts"
import { runFleetLane } from "./fleet.ts"
import { minimumOperations, runLane } from "./lane.ts"
import { runMonthsLane } from "./months.ts"
import { runNightLane } from "./night.ts"

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    night: { type: "boolean", default: false },
    months: { type: "boolean", default: false },
    apart: { type: "boolean", default: false },
    postgres: { type: "boolean", default: false },
    stride: { type: "string", default: "1" },
    profile: { type: "string", default: "embedded" },
    events: { type: "string" },
    assistants: { type: "string", default: "200" },
    workers: { type: "string", default: "4" },
    moments: { type: "boolean", default: false },
    plant: { type: "string" },
    json: { type: "boolean", default: false }
  }
})

const refuse = (problem: string): never => {
  process.stderr.write(`crash: ${problem}\n`)
  process.exit(2)
}

const whole = (name: string, text: string): number => {
  const value = Number(text)
  return Number.isInteger(value) && value >= 1 ? value : refuse(`--${name} takes a whole number`)
}

const kills = whole("kills", values.kills)
const seed = Number(values.seed)

const told = (done: number): void => {
  if (done % 10 === 0) process.stderr.write(`crash: ${done} kills\n`)
}

const killNights = async (): Promise<never> => {
  const report = await runNightLane({ stride: whole("stride", values.stride), progress: told })
  process.stdout.write(`${JSON.stringify(report, null, values.json ? 0 : 2)}\n`)
  process.exit(report.ok ? 0 : 1)
}

const killMonths = async (): Promise<never> => {
  const { apart, postgres } = values
  if (apart && postgres) refuse("--apart and --postgres are of different places")
  if (postgres) process.stderr.write(`crash: ${servers.describe(["postgres"])}\n`)
  const report = await runMonthsLane({ kills, seed, apart, postgres, progress: told })
  process.stdout.write(`${JSON.stringify(report, null, values.json ? 0 : 2)}\n`)
  process.exit(report.ok ? 0 : 1)
}

const EVENTS_PER_KILL = 100

const wreckFleet = async (): Promise<never> => {
  const { plant } = values
  if (plant !== undefined && plant !== "sweepless") refuse("--plant takes sweepless")
  process.stderr.write(`crash: ${servers.describe(["redis", "postgres"])}\n`)
  const report = await runFleetLane({
    kills,
    events: values.events === undefined ? kills * EVENTS_PER_KILL : whole("events", values.events),
    assistants: whole("assistants", values.assistants),
    workers: whole("workers", values.workers),
    seed,
    ...(plant === undefined ? {} : { plant: "sweepless" as const }),
    progress: told
  })
  process.stdout.write(`${JSON.stringify(report, null, values.json ? 0 : 2)}\n`)
  process.exit(report.ok ? 0 : 1)
}

const killApart = async (): Promise<never> => {
  const report = await runApartLane({ kills, progress: told })
  process.stdout.write(`${JSON.stringify(report, null, values.json ? 0 : 2)}\n`)
  process.exit(report.ok ? 0 : 1)
}

if (values.profile === "apart") await killApart()
if (values.night) await killNights()
if ((values.apart || values.postgres) && !values.months) refuse("--apart and --postgres are of --months")
if (values.months) await killMonths()
if (values.profile === "fleet") await wreckFleet()
if (!["embedded", "fallback"].includes(values.profile)) refuse("--profile takes embedded, fallback, apart or fleet")

if (values.moments && values.profile !== "fallback") refuse("--moments is of --profile fallback")

const asked = { kills, events: Math.max(minimumOperations(kills), kills * 12), seed, progress: told }
const report =
  values.profile === "fallback"
    ? await runFallbackLane({ ...asked, onlyMoments: values.moments })
    : await runLane(asked)

if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
else {
  const { killsByPoint, ...figures } = report
  for (const [name, value] of Object.entries(figures)) {
    process.stdout.write(`${name}: ${typeof value === "object" ? JSON.stringify(value) : value}\n`)
  }
  for (const [point, count] of Object.entries(killsByPoint)) process.stdout.write(`killed at ${point}: ${count}\n`)
}
process.exit(report.ok ? 0 : 1)
