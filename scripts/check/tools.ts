// Tools: the steps that a program of others proves: format, types, effect, lint, dead code.
// Owns how each is called and where it says how much it examined. Leaves their rules to their configuration.

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
const projects = ["tsconfig.json", "apps/dashboard/tsconfig.json"]

const types = async (): Promise<Outcome> => {
  const isFile = (line: string) => line.startsWith("/") && /\.[cm]?tsx?$/.test(line)
  const own = new Set<string>()
  const complaints = new Set<string>()
  let ok = true
  for (const project of projects) {
    const said = await run("tsc", ["-p", project, "--pretty", "false", "--listFiles"])
    ok &&= said.code === 0
    for (const line of `${said.stdout}${said.stderr}`.split("\n")) {
      if (!isFile(line)) complaints.add(line)
      else if (line.startsWith(root) && !line.includes("/node_modules/")) own.add(line)
    }
  }
  return { ok, count: own.size, output: [...complaints].join("\n") }
}

const effect = async (): Promise<Outcome> => {
  const args = [
    "diagnostics",
    "--project",
    "tsconfig.json",
    "--strict",
    "--format",
    "text",
    "--severity",
    "error,warning"
  ]
  const said = await run("effect-tsgo", args)
  return outcome(said, numberIn(allOf(said), /Checked (\d+) files/))
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
  const said = await run("oxlint", [...linted, "--format", "json"])
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
  { name: "effect", unit: "files", prove: effect },
  { name: "lint", unit: "files", prove: lint },
  { name: "dead-code", unit: "files", prove: deadCode }
]
