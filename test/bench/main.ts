// npm run bench -- context|judge|memory|rules|server|tick [--short] [--json]
// npm run bench -- tick --beside <another checkout, installed> [--rounds N] [--short] [--json]
// npm run bench -- tick --encrypted [--rounds N] [--short] [--json]: encrypted at rest beside in the clear
// npm run bench -- age [--short] [--data <directory of conversations>] [--json]
// npm run bench -- cache --data <directory of conversations> [--short] [--json]; with --compact-at N,N its second life, for itself
// npm run bench -- disk [--short] [--data <directory of conversations>] [--json]
// npm run bench -- fleet [--short] [--profiles <directory>] [--json]
// npm run bench -- idle [--assistants N] [--json]
// npm run bench -- index [--short] [--data <directory of conversations>] [--json]: an index in Qdrant, by measure and on paper
// npm run bench -- page|questions [--assistants N] [--json]
// npm run bench -- recall --data <directory of conversations> [--embedder http://127.0.0.1:8099/v1] [--json]
// npm run bench -- recall --data <directory of conversations> --recall postgres [--json]
// npm run bench -- usage [--assistants N] [--beside <another checkout, installed>] [--json]

import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { benchAge } from "./age.ts"
import { benchCache } from "./cache.ts"
import { benchContext } from "./context.ts"
import { benchDisk } from "./disk.ts"
import { benchFleet } from "./fleet.ts"
import { benchIdle } from "./idle.ts"
import { benchIndexCost } from "./index-cost.ts"
import { benchJudge } from "./judge.ts"
import { benchMemory } from "./memory.ts"
import { benchPage } from "./page.ts"
import { benchQuestions } from "./questions.ts"
import { benchRecall } from "./recall.ts"
import { benchRules } from "./rules.ts"
import { benchServer } from "./server.ts"
import { benchTick } from "./tick.ts"
import { benchTickBeside, benchTickEncrypted } from "./tick-beside.ts"
import { benchUsage } from "./usage.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    data: { type: "string" },
    "compact-at": { type: "string" },
    embedder: { type: "string" },
    profiles: { type: "string" },
    recall: { type: "string", default: "sqlite" },
    beside: { type: "string" },
    encrypted: { type: "boolean", default: false },
    rounds: { type: "string", default: "4" },
    assistants: { type: "string" }
  }
})

const refuse = (problem: string): never => {
  process.stderr.write(`bench: ${problem}\n`)
  process.exit(2)
}

const assistantsOr = (otherwise: number): number => {
  const assistants = Number(values.assistants ?? otherwise)
  return Number.isInteger(assistants) && assistants >= 3
    ? assistants
    : refuse("--assistants takes a whole number from 3")
}

interface Report {
  readonly ok: boolean
  readonly targets?: Readonly<Record<string, boolean>>
  /** What was not measured, and why. */
  readonly leftOut?: ReadonlyArray<string>
}

const benches: Readonly<Record<string, (isShort: boolean) => Promise<Report>>> = {
  age: (isShort) => benchAge({ isShort, ...(values.data === undefined ? {} : { data: resolve(values.data) }) }),
  cache: (isShort) =>
    benchCache(
      resolve(values.data ?? refuse("cache needs --data <directory> with conv-*.jsonl in it")),
      isShort,
      values["compact-at"]?.split(",").filter(Boolean).map(Number)
    ),
  context: benchContext,
  disk: (isShort) => benchDisk(isShort, values.data === undefined ? undefined : resolve(values.data)),
  index: (isShort) => benchIndexCost(isShort, values.data === undefined ? undefined : resolve(values.data)),
  judge: benchJudge,
  memory: benchMemory,
  page: () => benchPage(assistantsOr(100_000)),
  rules: benchRules,
  server: benchServer,
  tick: (isShort) => {
    const rounds = Number(values.rounds)
    if (!Number.isInteger(rounds) || rounds < 1) refuse("--rounds takes a whole number")
    if (values.encrypted) return benchTickEncrypted(isShort, rounds)
    return values.beside === undefined ? benchTick(isShort) : benchTickBeside(values.beside, isShort, rounds)
  },
  fleet: (isShort) =>
    benchFleet({ isShort, ...(values.profiles === undefined ? {} : { profiles: resolve(values.profiles) }) }),
  idle: () => benchIdle(assistantsOr(1_000_000)),
  questions: () => benchQuestions(assistantsOr(100_000)),
  usage: () => benchUsage(assistantsOr(100_000), values.beside === undefined ? undefined : resolve(values.beside)),
  recall: () =>
    benchRecall(
      values.data ?? refuse("recall needs --data <directory> with conv-*.jsonl and conv-*.questions.jsonl in it"),
      {
        isOnPostgres: ["sqlite", "postgres"].includes(values.recall)
          ? values.recall === "postgres"
          : refuse("--recall takes sqlite or postgres"),
        ...(values.embedder === undefined ? {} : { embedder: values.embedder })
      }
    )
}

const name = positionals[0] ?? ""
const bench = benches[name] ?? refuse(`say which one: ${Object.keys(benches).join(", ")}`)

const round = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Math.round(value * 1_000) / 1_000 : value

const report = await bench(values.short)
const missed = Object.entries(report.targets ?? {}).flatMap(([target, isMet]) => (isMet ? [] : [target]))
for (const target of missed) process.stderr.write(`bench: missed: ${target}\n`)
for (const each of report.leftOut ?? []) process.stderr.write(`bench: not measured: ${each}\n`)
process.stdout.write(`${JSON.stringify(report, round, values.json ? 0 : 2)}\n`)
process.exit(report.ok ? 0 : 1)
