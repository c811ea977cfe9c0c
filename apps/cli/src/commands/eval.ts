// Eval: the evals of a file, with a gate for a build.
// Owns loading the file, the exit code and the tree's entry. Leaves running and scoring to `reverie/testing`.
// E1  0 when every eval passes, 1 when one does not. A file without evals is a wrong use (2), and no pass.

import { stat } from "node:fs/promises"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { InvalidArgumentError, type Command } from "commander"
import { CommandFailed, failureOf } from "../failure.ts"
import { say, sayJson } from "../output.ts"
import { plain } from "../texts/plain.ts"
import { does, leaf, type Trunk } from "../tree/leaf.ts"

export interface EvalOptions {
  readonly json: boolean
  /** Runs those alone whose name holds this. */
  readonly only?: string
  /** In place of each case's threshold: what the mean of an eval must reach, from 0 to 1. */
  readonly minScore?: number
}

const wrong = (message: string): CommandFailed =>
  new CommandFailed("usage", message, {
    code: "eval-invalid",
    hint: "an eval file exports default defineEval(name, { data, task, scorers }) of reverie/testing"
  })

const loaded = async (path: string): Promise<object> => {
  const file = resolve(path)
  if ((await stat(file).catch(() => undefined))?.isFile() !== true) {
    throw new CommandFailed("no-such-file", `there is no eval file ${path}`)
  }
  try {
    return (await import(pathToFileURL(file).href)) as object
  } catch (error) {
    throw wrong(`${path} can not be loaded: ${failureOf(error).message}`)
  }
}

const evaluate = async (path: string, { json, minScore, only = "" }: EvalOptions): Promise<number> => {
  const module = await loaded(path)
  const { EvalBroken, evalsIn, evalText, runEval } = await import("reverie/testing")
  try {
    const asked = evalsIn(module).filter(({ name }) => name.includes(only))
    if (asked.length === 0) throw wrong(`${path} has no eval whose name holds "${only}"`)
    const reports = []
    for (const each of asked) {
      const report = await runEval(each)
      const passed = minScore === undefined ? report.passed : report.score >= minScore
      reports.push({ ...report, passed })
      if (!json) say(plain(evalText({ ...report, passed })))
    }
    const ok = reports.every(({ passed }) => passed)
    if (json) sayJson({ ok, evals: reports })
    return ok ? 0 : 1
  } catch (error) {
    throw error instanceof EvalBroken ? wrong(`${path}: ${error.message}`) : error
  }
}

const share = (text: string): number => {
  const value = Number(text)
  if (text.trim() === "" || !(value >= 0 && value <= 1)) throw new InvalidArgumentError("It must be from 0 to 1.")
  return value
}

export const addEval = (root: Command, trunk: Trunk): void => {
  const command = leaf(root, "eval <file>", {
    kind: "other",
    says: "run the evals that a file exports, and fail below their threshold",
    example: "eval evals/berths.ts --json"
  })
    .option("--only <text>", "evals whose name holds this")
    .option("--min-score <score>", "what the mean of each must reach, in place of its threshold", share)
    .option("--json", "print one JSON object on stdout", false)
  does(command, trunk, (options, file) => evaluate(file, options))
}
