// Laws: judges adapters by their laws and prints the handbook, a line for each law.
// `npm run laws` judges all, `npm run laws -- --adapter NAME` one (more than once allowed), `--list` only names them,
// `--json` makes stdout one JSON object. Exit code 0: all laws held, or had a waiver. 1: one did not. 2: asked wrongly.

import { parseArgs } from "node:util"
import { complaintOf, type LawResult } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { adaptersNamed, registry, stopServers } from "./registry.ts"

interface Judgement extends LawResult {
  readonly adapter: string
  readonly port: string
  /** Why this adapter may break this law. */
  readonly waiver?: string
}

const judgeAdapter = (adapter: string): Effect.Effect<ReadonlyArray<Judgement>> =>
  Effect.map(
    Effect.forEach(registry[adapter] ?? [], ({ port, results, waivers }) =>
      Effect.map(results, (judged) =>
        judged.map((result) => {
          const waiver = waivers[result.id]
          return { adapter, port, ...result, ...(waiver === undefined ? {} : { waiver }) }
        })
      )
    ),
    (ports) => ports.flat()
  )

const indented = (text: string): string => text.replaceAll("\n", "\n    ")

const line = (judgement: Judgement): string => {
  const { port, id, says, verdict, waiver } = judgement
  const complaint = complaintOf(judgement, waiver)
  const isWaived = waiver !== undefined && complaint === undefined
  const why = complaint ?? (isWaived ? waiver : undefined)
  return `  ${(isWaived ? "waived" : verdict).padEnd(12)} ${port} ${id}: ${says}${why === undefined ? "" : `\n    ${indented(why)}`}`
}

const print = (adapters: ReadonlyArray<string>, judged: ReadonlyArray<Judgement>): void => {
  for (const adapter of adapters) {
    const own = judged.filter((judgement) => judgement.adapter === adapter)
    const held = own.filter(({ verdict }) => verdict === "held").length
    console.log(`${adapter}: ${held} of ${own.length} laws held`)
    for (const judgement of own) console.log(line(judgement))
  }
}

const readArguments = () => {
  const { values } = parseArgs({
    options: {
      adapter: { type: "string", multiple: true, default: [] },
      list: { type: "boolean", default: false },
      json: { type: "boolean", default: false }
    }
  })
  return { ...values, adapters: adaptersNamed(values.adapter) }
}

const run = async (): Promise<number> => {
  const { adapters, list, json } = readArguments()
  if (list) {
    console.log(json ? JSON.stringify({ adapters }) : adapters.join("\n"))
    return 0
  }
  const judging = Effect.map(Effect.forEach(adapters, judgeAdapter), (all) => all.flat())
  const judged = await Effect.runPromise(Effect.ensuring(judging, Effect.promise(stopServers)))
  const ok = judged.length > 0 && judged.every((each) => complaintOf(each, each.waiver) === undefined)
  if (json) console.log(JSON.stringify({ ok, laws: judged }))
  else print(adapters, judged)
  return ok ? 0 : 1
}

const isUsage = (error: unknown): error is Error =>
  error instanceof Error &&
  (error.message.startsWith("no adapter is called") || String(Reflect.get(error, "code")).startsWith("ERR_PARSE_ARGS"))

try {
  process.exitCode = await run()
} catch (error) {
  if (!isUsage(error)) throw error
  console.error(error.message)
  process.exitCode = 2
}
