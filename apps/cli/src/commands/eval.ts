// Eval: the evals of a file, or the cases saved in one, with a gate for a build; and how well a model dreams.
// Owns loading the file, the exit code and the tree's entry. Leaves running and scoring to `reverie/testing`.
// E1  0 when every eval passes, 1 when one does not. A file without evals is a wrong use (2), and no pass.
// E2  `dreams` in place of a file: labelled conversations that come with Reverie, dreamt of by the model that is named. It passes
//     where both figures of those held out reach `--min-score`; a file of that name is reached as ./dreams.
// E3  A file of cases (.jsonl) is judged by the definitions of a fleet file, and asks no model but the one that is named: where none
//     is, what is not the same as then fails, and says so.
// E4  An option that is not of what is asked for is a wrong use: what it would have left out has its price.

import { readFile, stat } from "node:fs/promises"
import { basename, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { defined } from "@reverie/protocol"
import { InvalidArgumentError, type Command } from "commander"
import { CommandFailed, failureOf } from "../failure.ts"
import { note, say, sayJson } from "../output.ts"
import { plain } from "../texts/plain.ts"
import type { DreamFigures } from "reverie/testing"
import { does, leaf, type Trunk } from "../tree/leaf.ts"
import { fleetOption } from "../tree/options.ts"

export interface EvalOptions {
  readonly json: boolean
  /** Runs those alone whose name holds this. */
  readonly only?: string
  /** In place of each case's threshold: what the mean of an eval must reach, from 0 to 1. */
  readonly minScore?: number
  /** Of `dreams`: the model that dreams. Of saved cases: the model that answers. */
  readonly model?: string
  /** Of saved cases: the file that exports the fleet. */
  readonly fleet?: string
}

const wrong = (message: string): CommandFailed =>
  new CommandFailed("usage", message, {
    code: "eval-invalid",
    hint: "an eval file exports default defineEval(name, { data, task, scorers }) of reverie/testing"
  })

const fileAt = async (path: string): Promise<string> => {
  const file = resolve(path)
  if ((await stat(file).catch(() => undefined))?.isFile() === true) return file
  throw new CommandFailed("no-such-file", `there is no eval file ${path}`)
}

const CASES = ".jsonl"

/** The cases of a file as an eval of that name, as if a module had exported it. */
const savedIn = async (path: string, { fleet, model }: EvalOptions): Promise<object> => {
  const text = await readFile(await fileAt(path), "utf8")
  if (fleet === undefined) {
    throw new CommandFailed("usage", "saved cases are judged by a fleet: --fleet FILE is missing", {
      hint: "add --fleet FILE, the file that exports the fleet"
    })
  }
  const [{ savedEval }, { loadFleet }] = await Promise.all([
    import("reverie/testing"),
    import("../running/fleet-file.ts")
  ])
  return { default: savedEval(basename(path, CASES), text, defined({ fleet: await loadFleet(fleet), model })) }
}

const loaded = async (path: string, options: EvalOptions): Promise<object> => {
  if (path.endsWith(CASES)) return savedIn(path, options)
  const file = await fileAt(path)
  try {
    return (await import(pathToFileURL(file).href)) as object
  } catch (error) {
    throw wrong(`${path} can not be loaded: ${failureOf(error).message}`)
  }
}

const evaluate = async (path: string, options: EvalOptions): Promise<number> => {
  const { json, minScore, only = "" } = options
  const module = await loaded(path, options)
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

const figures = (name: string, { cases, precision, recall, right, wrong, missed }: DreamFigures): string =>
  `${name}: ${cases} conversations, precision ${precision.toFixed(3)} (${right} facts right, ${wrong} wrong), ` +
  `recall ${recall.toFixed(3)} (${missed} missed)`

const dreams = async ({ json, minScore = 0, model = "offline" }: EvalOptions): Promise<number> => {
  const { evalDreams } = await import("reverie/testing")
  const onCase = (number: number, of: number): void => {
    if (number % 10 === 0 || number === of) note(`dreamt of ${number} of ${of} conversations`)
  }
  const report = await evalDreams({ model, onCase })
  const { development, failures, heldOut = development } = report
  const ok = heldOut.precision >= minScore && heldOut.recall >= minScore
  if (json) sayJson({ ok, model, ...report })
  else {
    for (const line of failures) say(plain(line))
    say(figures("that the rules were made by", development))
    say(figures(`held out, ${ok ? "pass" : "FAIL"}`, heldOut))
  }
  return ok ? 0 : 1
}

const share = (text: string): number => {
  const value = Number(text)
  if (text.trim() === "" || !(value >= 0 && value <= 1)) throw new InvalidArgumentError("It must be from 0 to 1.")
  return value
}

/** E4. What the environment says is said for all commands. */
const assertFitting = (command: Command, file: string): void => {
  const isDreams = file === "dreams"
  const isCases = file.endsWith(CASES)
  const unfit = [
    { name: "only", isFit: !isDreams, says: "of the evals of a file; eval dreams runs all its conversations" },
    { name: "model", isFit: isDreams || isCases, says: "of dreams and of saved cases; an eval file names its own" },
    { name: "fleet", isFit: isCases, says: `of saved cases, a file of the ending ${CASES}` }
  ].find(({ isFit, name }) => !isFit && command.getOptionValueSource(name) === "cli")
  if (unfit === undefined) return
  const hint = `leave --${unfit.name} out`
  throw new CommandFailed("usage", `--${unfit.name} is ${unfit.says}`, { hint })
}

export const addEval = (root: Command, trunk: Trunk): void => {
  const command = leaf(root, "eval <file>", {
    kind: "other",
    says: "run the evals or the saved cases of a file, or of the dreams of a model, and fail below a threshold",
    example: "eval evals/berths.ts --json"
  })
    .option("--only <text>", "evals whose name holds this")
    .option("--min-score <score>", "what the mean of each must reach, in place of its threshold", share)
    .option(
      "--model <name>",
      "who is asked, e.g. openai/gpt-5-mini: by `eval dreams`, offline when not said; by saved cases, no one when not said"
    )
    .addOption(fleetOption())
    .option("--json", "print one JSON object on stdout", false)
  does(command, trunk, (options, file: string) => {
    assertFitting(command, file)
    return file === "dreams" ? dreams(options) : evaluate(file, options)
  })
}
