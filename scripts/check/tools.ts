// Tools: the steps that a program of others proves: format, types, lint, dead code.
// Owns how each is called and where it says how much it examined. Leaves their rules to their configuration.
// T1  The types are those of the installed TypeScript, and the rules of Effect are in force: one is broken, and found, each time.

import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { formatted } from "./formatted.ts"
import { linted } from "./linted.ts"
import { allOf, numberIn, type Said, root, run } from "./program.ts"
import type { Outcome, Step } from "./step.ts"

const outcome = (said: Said, count: number): Outcome => ({ ok: said.code === 0, count, output: allOf(said) })

const format = async (): Promise<Outcome> => {
  const said = await run("oxfmt", ["--check", ...formatted])
  return outcome(said, numberIn(allOf(said), /on (\d+) files/))
}

/** The page lives in a browser and has a project of its own: there `document` is a word, here it is none. */
const projects = ["tsconfig.json", "apps/dashboard/tsconfig.json"] as const

/** Each further one reads the types of everything again: four take half as much CPU again, and gain nothing beside another step. */
const ONE_CHECKER = ["--checkers", "1"]

/** TypeScript with the rules of Effect in it: types and rules are found in one pass over the repository. */
const typesAndRules = async (): Promise<string> => (await run("effect-tsgo", ["get-exe-path"])).stdout.trim()

const versionOf = async (program: string): Promise<string> =>
  /^Version ([\d.]+)/.exec((await run(program, ["--version"])).stdout)?.[1] ?? "none"

/** Breaks a rule of Effect and nothing else. */
const PLANT = `import * as Effect from "effect/Effect"\nexport const said = () => {\n  Effect.log("for no one")\n}\n`

/** Why what a program says of types and rules is not to be believed; undefined where it is. */
const flawOf = async (program: string): Promise<string | undefined> => {
  const [own, installed] = [await versionOf(program), await versionOf("tsc")]
  if (own !== installed) return `the rules of Effect come with TypeScript ${own}, and ${installed} is installed`
  // Where packages are found as from anywhere in the repository.
  const directory = join(root, "node_modules/.cache/planted-rule")
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, "plant.ts"), PLANT)
  const project = { extends: "../../../tsconfig.json", include: [], files: ["plant.ts"] }
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(project))
  const said = await run(program, ["-p", join(directory, "tsconfig.json"), "--pretty", "false"])
  return said.code !== 0 && said.stdout.includes("effect(floatingEffect)")
    ? undefined
    : "the rules of Effect were not applied: one that was broken on purpose was not found"
}

const types = async (): Promise<Outcome> => {
  const isFile = (line: string) => line.startsWith("/") && /\.[cm]?tsx?$/.test(line)
  const own = new Set<string>()
  const whole = await typesAndRules()
  const flaw = await flawOf(whole)
  const complaints = new Set<string>(flaw === undefined ? [] : [flaw])
  let ok = flaw === undefined
  for (const project of projects) {
    const program = project === "tsconfig.json" ? whole : "tsc"
    const said = await run(program, ["-p", project, "--pretty", "false", "--listFiles", ...ONE_CHECKER])
    ok &&= said.code === 0
    for (const line of `${said.stdout}${said.stderr}`.split("\n")) {
      if (!isFile(line)) {
        if (!line.includes(": suggestion TS")) complaints.add(line)
      } else if (line.startsWith(root) && !line.includes("/node_modules/")) own.add(line)
    }
  }
  return { ok, count: own.size, output: [...complaints].join("\n") }
}

interface Lint {
  readonly number_of_files: number
  readonly diagnostics: ReadonlyArray<{
    readonly code: string
    readonly filename: string
    readonly message: string
    readonly labels: ReadonlyArray<{ readonly span: { readonly line: number } }>
  }>
}

const lint = async (): Promise<Outcome> => {
  const said = await run("oxlint", [...linted, "--format", "json"], { GOMAXPROCS: "1" })
  // Words that are no JSON are a complaint about the configuration: nothing was examined.
  if (!said.stdout.startsWith("{")) return outcome(said, 0)
  const { diagnostics, number_of_files: count } = JSON.parse(said.stdout) as Lint
  const lines = diagnostics.map(
    ({ code, filename, labels, message }) => `${filename}:${labels[0]?.span.line ?? 1} ${message} ${code}`
  )
  return { ok: said.code === 0, count, output: [...lines, said.stderr].join("\n") }
}

const deadCode = async (): Promise<Outcome> => {
  const said = await run("knip", [
    "--no-progress",
    "--reporter",
    "symbols",
    "--reporter",
    "./scripts/check/knip-count.ts"
  ])
  return outcome(said, numberIn(said.stdout, /examined (\d+) files/))
}

export const toolSteps: ReadonlyArray<Step> = [
  { name: "format", unit: "files", prove: format },
  { name: "types", unit: "files", prove: types },
  { name: "lint", unit: "files", prove: lint },
  { name: "dead-code", unit: "files", prove: deadCode }
]
