// Docs: what a document says can be run, is run; what it points at is there; a room's README stays short.
// Owns the claims found in the tracked *.md files. Leaves the running of programs to program.
// D1  Every `npm run X` and `npm start|test` names a script of package.json.
// D2  Every link to a file of the repository finds it, from where the document stands.
// D3  A code fence marked `ts run` or `sh run` ends with code 0.
// D4  The README of a room has at most 30 lines.

import { existsSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { filesOfRepository, readText } from "../../test/architecture/repository.ts"
import { allOf, root, run } from "./program.ts"
import type { Outcome, Step } from "./step.ts"

export interface Document {
  readonly path: string
  readonly text: string
}

export interface Claim {
  readonly where: string
  /** Undefined when it holds. */
  readonly fault: string | undefined
}

const MAX_README_LINES = 30

const lineAt = ({ path, text }: Document, index: number): string => `${path}:${text.slice(0, index).split("\n").length}`

export const commandClaims = (document: Document, scripts: ReadonlyArray<string>): ReadonlyArray<Claim> =>
  [...document.text.matchAll(/\bnpm (run (?:-\S+ )*)?([a-z][a-z:-]*)/g)].flatMap((match) => {
    const [, throughRun, name = ""] = match
    const isCommand = throughRun !== undefined || ["start", "test"].includes(name)
    if (!isCommand) return []
    const fault = scripts.includes(name) ? undefined : `npm run ${name} is no script of package.json`
    return [{ where: lineAt(document, match.index), fault }]
  })

const withoutFences = (text: string): string =>
  text.replace(/^(```|~~~)[\s\S]*?^\1/gm, (fence) => fence.replace(/[^\n]/g, " "))

export const linkClaims = (document: Document, exists: (path: string) => boolean): ReadonlyArray<Claim> =>
  [...withoutFences(document.text).matchAll(/\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)].flatMap((match) => {
    const target = (match[1] ?? "").replace(/#.*$/, "")
    if (target === "" || /^[a-z]+:/.test(target)) return []
    const path = target.startsWith("/") ? target.slice(1) : join(dirname(document.path), decodeURIComponent(target))
    return [{ where: lineAt(document, match.index), fault: exists(path) ? undefined : `${target} is not there` }]
  })

export interface Fence {
  readonly where: string
  readonly language: "ts" | "sh"
  readonly code: string
}

export const fencesOf = (document: Document): ReadonlyArray<Fence> =>
  [...document.text.matchAll(/^```(ts|sh) run\b.*\n([\s\S]*?)^```/gm)].map((match) => ({
    where: lineAt(document, match.index),
    language: match[1] === "sh" ? "sh" : "ts",
    code: match[2] ?? ""
  }))

export const readmeClaim = ({ path, text }: Document): ReadonlyArray<Claim> => {
  if (!/^(packages|apps|examples|test)\/.*README\.md$/.test(path)) return []
  const lines = text.trimEnd().split("\n").length
  const fault = lines > MAX_README_LINES ? `${lines} lines, at most ${MAX_README_LINES}` : undefined
  return [{ where: path, fault }]
}

/** Inside the repository, so that its packages resolve; outside node_modules, where Node strips no types. */
const workplace = join(root, ".reverie/docs")

const runFence = async ({ code, language, where }: Fence, index: number): Promise<Claim> => {
  const file = join(workplace, `${index}.${language}`)
  await writeFile(file, code)
  const command = language === "ts" ? ["node", "--disable-warning=ExperimentalWarning", file] : ["sh", "-eu", file]
  const said = await run(command[0] ?? "", command.slice(1))
  return { where, fault: said.code === 0 ? undefined : `ended with ${said.code}\n${allOf(said)}` }
}

const prove = async (): Promise<Outcome> => {
  const documents = filesOfRepository("*.md").map((path) => ({ path, text: readText(path) }))
  const { scripts } = JSON.parse(readText("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
  const names = Object.keys(scripts)
  const said = documents.flatMap((document) => [
    ...commandClaims(document, names),
    ...linkClaims(document, (path) => existsSync(join(root, path))),
    ...readmeClaim(document)
  ])
  await rm(workplace, { recursive: true, force: true })
  await mkdir(workplace, { recursive: true })
  const ran: Array<Claim> = []
  for (const [index, fence] of documents.flatMap(fencesOf).entries()) ran.push(await runFence(fence, index))
  const claims = [...said, ...ran]
  const faults = claims.filter(({ fault }) => fault !== undefined)
  const output = faults.map(({ fault, where }) => `${where}: ${fault ?? ""}`).join("\n")
  return { ok: faults.length === 0, count: claims.length, output }
}

export const docs: Step = { name: "docs", unit: "claims", prove }
