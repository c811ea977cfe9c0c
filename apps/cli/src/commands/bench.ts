// Bench: how good the memory is, measured by anybody on public files.
// Owns the command, its options and the table. Leaves measuring to bench/.
// B1  Without a model and an embedder nothing is asked of any server; with a model, its answers are judged, and the way to them is said.

import { InvalidArgumentError, type Command } from "commander"
import { resolve } from "node:path"
import { defined } from "@reverie/protocol"
import type { Life } from "../bench/suites.ts"
import type { Answers, MemoryReport, Retrievals } from "../bench/memory-bench.ts"
import { CommandFailed } from "../failure.ts"
import { note, say, sayJson } from "../output.ts"
import { counted, plain } from "../texts/plain.ts"
import { branch, does, leaf, type Trunk } from "../tree/leaf.ts"
import { atLeastOne, jsonOption, whole } from "../tree/options.ts"

interface BenchOptions {
  readonly suite: string
  readonly data: string
  readonly seed: number
  readonly limit?: number
  readonly top: number
  readonly model?: string
  readonly judge?: string
  readonly embedder?: { readonly baseURL: string; readonly model: string }
  readonly window: number
  readonly json: boolean
}

const figure = (value: number | undefined): string => (value === undefined ? "-" : value.toFixed(3))

const line = (cells: ReadonlyArray<string>): string =>
  cells
    .map((cell, index) => (index === 0 ? cell.padEnd(34) : cell.padStart(12)))
    .join("")
    .trimEnd()

const retrievalLines = (name: string, { categories, overall }: Retrievals): ReadonlyArray<string> =>
  [[name, overall] as const, ...Object.entries(categories).map(([kind, each]) => [`  ${kind}`, each] as const)].map(
    ([title, each]) =>
      line([
        title,
        String(each.questions),
        ...(["recall@5", "recall@10", "recall@25", "sessions@5", "sessions@10"] as const).map((key) =>
          figure(each[key])
        )
      ])
  )

const answerLine = (name: string, { accuracy, asked, failed, inputTokens, tooLong, unjudged }: Answers): string => {
  const left = [
    tooLong > 0 ? `${tooLong} too long to ask` : "",
    unjudged > 0 ? `${unjudged} not judged` : "",
    failed > 0 ? `${failed} failed` : ""
  ]
  const rest = left.filter((text) => text !== "").join(", ")
  return `${line([name, String(asked), figure(accuracy), String(Math.round(inputTokens))])}${rest === "" ? "" : `   ${rest}`}`
}

/** What a person reads. */
const tableOf = (report: MemoryReport): ReadonlyArray<string> => {
  const { answers, retrieval, tokens } = report
  const rounded = (value: number): string => Math.round(value).toLocaleString("en")
  const leftOut = report.emptyTurns === 0 ? "" : ` (${report.emptyTurns} without a text left out)`
  return [
    `${report.suite}: ${report.conversations} conversations, ${rounded(report.turns)} turns${leftOut}, ${report.questions} questions ` +
      `(${report.measured} with evidence), ${report.facts} facts after one dream each, ${report.cpuSeconds.toFixed(0)} s of CPU`,
    "",
    line(["found", "questions", "recall@5", "recall@10", "recall@25", "sessions@5", "sessions@10"]),
    ...retrievalLines("plain search (BM25)", retrieval.plain),
    ...retrievalLines("memory, before a dream", retrieval.before),
    ...retrievalLines("memory, after a dream", retrieval.after),
    "",
    `shown for a question, in tokens: ${rounded(tokens.memory)} of ${report.top} memories, ` +
      `${rounded(tokens.plain)} of plain search, ${rounded(tokens.whole)} of the whole conversation`,
    ...(report.degraded === undefined
      ? []
      : [
          `${report.degraded.searches} of ${2 * report.questions} searches of the memory went by words: ${report.degraded.why}`
        ]),
    ...(report.unansweredTold === undefined
      ? []
      : [`unanswered questions told by certainty: ${figure(report.unansweredTold)} of pairs`]),
    ...(answers === undefined
      ? ["no answers: name a --model to have them given and judged"]
      : [
          "",
          line([`answers of ${answers.model}`, "asked", "right", "tokens"]) + `   judged by ${answers.judge}`,
          answerLine("memory", answers.memory),
          answerLine("plain search", answers.plain),
          answerLine("whole conversation", answers.whole)
        ])
  ]
}

const noteEmpty = (lives: ReadonlyArray<Life>): void => {
  const [first] = lives.flatMap(({ emptyTurns = [], name }) => emptyTurns.map((id) => `${name}: ${id}`))
  if (first === undefined) return
  const count = lives.reduce((sum, { emptyTurns = [] }) => sum + emptyTurns.length, 0)
  note(plain(`${counted(count, "turn")} without a text ${count === 1 ? "is" : "are"} left out, the first of ${first}`))
}

const measured = async (options: BenchOptions): Promise<number> => {
  const [{ memoryBench }, { readSuite, suites }] = await Promise.all([
    import("../bench/memory-bench.ts"),
    import("../bench/suites.ts")
  ])
  const { data, embedder, json, judge, limit, model, seed, top, window } = options
  const suite = suites.find((each) => each === options.suite)
  if (suite === undefined) throw new CommandFailed("usage", `there is no suite ${options.suite}: ${suites.join(", ")}`)
  if (judge !== undefined && model === undefined) {
    throw new CommandFailed("usage", "--judge judges the answers of a --model, and none is named", {
      hint: "add --model NAME, or leave --judge out"
    })
  }
  const lives = await readSuite(suite, resolve(data))
  noteEmpty(lives)
  const rest = defined({ embedder, judge, limit, model })
  const report = await memoryBench(lives, { suite, seed, top, window, progress: note, ...rest })
  if (json) sayJson({ ok: true, ...report })
  else for (const each of tableOf(report)) say(each)
  return 0
}

const embedderOf = (text: string): { readonly baseURL: string; readonly model: string } => {
  const [baseURL = "", model = "", ...more] = text.split("#")
  if (URL.parse(baseURL) === null || model === "" || more.length > 0) {
    throw new InvalidArgumentError("It is an address with a model: http://127.0.0.1:8089/v1#all-minilm.")
  }
  return { baseURL, model }
}

export const addBench = (root: Command, trunk: Trunk): void => {
  const bench = branch(root, "bench", "measure this installation on public files")
  const memory = leaf(bench, "memory", {
    kind: "other",
    says: "how much of long conversations the memory finds, beside plain search and the whole text",
    example: "bench memory --suite locomo --data ./locomo --model openai/gpt-5-mini"
  })
    .requiredOption("--suite <name>", "which benchmark the files are of: locomo, longmemeval-s or beam")
    .requiredOption("--data <dir>", "the directory with its files")
    .option("--limit <n>", "questions at most, chosen by the seed", atLeastOne)
    .option("--seed <n>", "chooses the questions", whole, 1)
    .option("--top <n>", "memories, or turns, that a question is shown", atLeastOne, 25)
    .option("--model <name>", "dreams and answers, e.g. openai/gpt-5-mini; no answers are asked for without")
    .option("--judge <name>", "judges the answers; the model itself when not said")
    .option("--embedder <url#model>", "searches by meaning too", embedderOf)
    .option("--window <tokens>", "longest conversation that is shown whole", atLeastOne, 128_000)
    .addOption(jsonOption())
  does(memory, trunk, measured)
}
