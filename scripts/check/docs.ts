// Docs: what a document says can be run, is run; what it points at is there; a room's README stays short.
// Owns the claims found in the tracked *.md files. Leaves the running of programs to program.
// D1  Every `npm run X` and `npm start|test` names a script of package.json.
// D2  Every link to a file of the repository finds it, from where the document stands.
// D3  A code fence marked `ts run` or `sh run` ends with code 0.
// D4  The README of a room has at most 30 lines.
// D5  Every path that a page of docs/ names in backticks or in an `sh` fence exists; `<name>` and `*` stand for any name.
// D6  Every term of the glossary has one row and one sentence, and is used in the place that its row names.
// D7  A decision has at most 25 lines, a page of steps at most 80, the architecture in docs/ at most 150; every `ts` fence of docs/ is one that runs.
// D8  docs/README.md links to every page of docs/.
// D10 Every code block of a guide (docs/guides) is examined: run, type-checked, or a command that exists (scripts/docs/blocks.ts).
// D9  Every file and folder that the table `file | owns` of a room's README names is in that room.

import { existsSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { filesOfRepository, readText } from "../../test/architecture/repository.ts"
import { blockClaims } from "../docs/blocks.ts"
import { references } from "../docs/pages.ts"
import { knownCommands, proveGuides } from "../docs/programs.ts"
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

/** Where paths of the repository are looked up. */
export interface Tree {
  /** Whether a room has a file or a folder that is called so, from its src or from any folder below, with or without `.ts`. */
  readonly isIn: (room: string, name: string) => boolean
  /** Of a path from the root, a file or a folder. */
  readonly exists: (path: string) => boolean
  /** Whether any file has this name. */
  readonly isNamed: (name: string) => boolean
  /** The source at a path: a file, or all files below a folder. */
  readonly source: (path: string) => string
}

const isOfDocs = ({ path }: Document): boolean => path.startsWith("docs/")

/** Written for users: its paths and commands are those of their projects. */
const isGuide = ({ path }: Document): boolean => path.startsWith("docs/guides/")

/** Code in backticks outside of fences, and the lines of `sh` fences, each with its place in the text. */
const codeIn = ({ text }: Document): ReadonlyArray<{ readonly code: string; readonly at: number }> =>
  [...withoutFences(text).matchAll(/`([^`\n]+)`/g), ...text.matchAll(/^```sh\b.*\n([\s\S]*?)^```/gm)].map((match) => ({
    code: match[1] ?? "",
    at: match.index
  }))

const PATH = /^[\w.<*][\w.<>*-]*(?:\/[\w.<>*-]*)+$/
const FILE = /^[\w-][\w.-]*\.(?:ts|tsx|mjs|md|json|jsonl|yml)$/

/** The path without its first part that stands for any name, and without what follows that. */
const knownPart = (path: string): string => {
  const parts = path.split("/")
  const open = parts.findIndex((part) => /[<*]/.test(part))
  return (open === -1 ? parts : parts.slice(0, open)).join("/")
}

export const pathClaims = (document: Document, { exists, isNamed }: Tree): ReadonlyArray<Claim> =>
  codeIn(document).flatMap(({ at, code }) =>
    code.split(/\s+/).flatMap((word) => {
      const path = word.replace(/^["'(]|["'),;:]+$/g, "")
      const isThere = PATH.test(path) ? exists(knownPart(path)) : FILE.test(path) ? isNamed(path) : undefined
      if (isThere === undefined) return []
      return [{ where: lineAt(document, at), fault: isThere ? undefined : `${path} is not there` }]
    })
  )

/** The words of names and texts, in lower case, each between spaces: `LeaseSession` and `lease-session` are the same. */
const wordsOf = (text: string): string =>
  ` ${text
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[^A-Za-z]+/g, " ")
    .toLowerCase()} `

const flawOfTerm = (term: string, meaning: string, place: string, tree: Tree): string | undefined => {
  if (!/^[A-Z].*\.$/.test(meaning) || /[.!?] /.test(meaning)) return `${term} is not explained in one sentence`
  const name = wordsOf(term).trim()
  const words = wordsOf(tree.source(place))
  const isUsed = words.includes(` ${name} `) || words.includes(` ${name}s `)
  return isUsed ? undefined : `${term} is not used in ${place}`
}

export const termClaims = (document: Document, tree: Tree): ReadonlyArray<Claim> => {
  if (document.path !== "docs/glossary.md") return []
  const rows = [...document.text.matchAll(/^\| ([a-z][a-z -]*?) +\| (.+?) +\| `([^`]+)` +\|$/gm)]
  if (rows.length === 0) return [{ where: document.path, fault: "it has no term" }]
  const terms = rows.map(([, term = ""]) => term)
  return rows.map((row, index) => {
    const [, term = "", meaning = "", place = ""] = row
    const isFirst = terms.indexOf(term) === index
    const fault = isFirst ? flawOfTerm(term, meaning, place, tree) : `${term} has two rows`
    return { where: lineAt(document, row.index), fault }
  })
}

const longest: ReadonlyArray<readonly [RegExp, number]> = [
  [/^docs\/decisions\//, 25],
  [/^docs\/add-/, 80],
  [/^docs\/architecture\.md$/, 150]
]

export const formClaims = (document: Document): ReadonlyArray<Claim> => {
  if (!isOfDocs(document)) return []
  const { path, text } = document
  const [, most] = longest.find(([of]) => of.test(path)) ?? [path, Infinity]
  const lines = text.trimEnd().split("\n").length
  const idle = isGuide(document) ? [] : [...text.matchAll(/^```ts(?! run\b).*$/gm)]
  return [
    { where: path, fault: lines > most ? `${lines} lines, at most ${most}` : undefined },
    ...idle.map(({ index }) => ({ where: lineAt(document, index), fault: "a ts fence that is not run" }))
  ]
}

export const listClaims = (documents: ReadonlyArray<Document>): ReadonlyArray<Claim> => {
  const list = documents.find(({ path }) => path === "docs/README.md")
  return documents
    .filter((document) => isOfDocs(document) && document !== list)
    .map(({ path }) => {
      const isListed = list?.text.includes(`](${path.slice("docs/".length)})`) === true
      return { where: path, fault: isListed ? undefined : "docs/README.md does not link to it" }
    })
}

export const roomClaims = (document: Document, { isIn }: Tree): ReadonlyArray<Claim> => {
  const { path, text } = document
  if (!/^(packages|apps)\/.*README\.md$/.test(path)) return []
  const [, table = ""] = /^\| file \| owns \|\n\|[-| ]+\|\n((?:\|.*\n?)*)/m.exec(text) ?? []
  const begin = text.indexOf(table)
  return [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap((row) =>
    (row[1] ?? "").split(/[,;] */).map((each) => {
      const name = each.replaceAll("`", "").trim()
      const fault = isIn(dirname(path), name) ? undefined : `${name} is not there`
      return { where: lineAt(document, begin + row.index), fault }
    })
  )
}

const treeOfRepository = (): Tree => {
  const files = filesOfRepository()
  const names = new Set(files.map((path) => basename(path)))
  return {
    isIn: (room, name) => {
      const wanted = `/${name.replace(/\/$/, "").replace(/\.tsx?$/, "")}`
      return files.some(
        (file) => file.startsWith(`${room}/`) && `${file.replace(/\.d\.ts$|\.\w+$/, "")}/`.includes(`${wanted}/`)
      )
    },
    exists: (path) => existsSync(join(root, path)),
    isNamed: (name) => names.has(name),
    source: (path) =>
      files
        .filter((file) => /\.tsx?$/.test(file) && (file === path || file.startsWith(`${path.replace(/\/$/, "")}/`)))
        .map(readText)
        .join("\n")
  }
}

/** Made with the site and the package, and kept nowhere. */
const isGenerated = (path: string): boolean => references.some((name) => path === `docs/reference/${name}.md`)

/** Everything that the documents say, but for what only a run can show. */
export const saidIn = (documents: ReadonlyArray<Document>): ReadonlyArray<Claim> => {
  const { scripts } = JSON.parse(readText("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
  const tree = treeOfRepository()
  const each = documents.flatMap((document) => [
    ...(isGuide(document) ? [] : commandClaims(document, Object.keys(scripts))),
    ...linkClaims(document, isGuide(document) ? (path) => tree.exists(path) || isGenerated(path) : tree.exists),
    ...readmeClaim(document),
    ...(isOfDocs(document) && !isGuide(document) ? pathClaims(document, tree) : []),
    ...roomClaims(document, tree),
    ...termClaims(document, tree),
    ...formClaims(document)
  ])
  return [...each, ...listClaims(documents)]
}

export const documentsOf = (...patterns: ReadonlyArray<string>): ReadonlyArray<Document> =>
  filesOfRepository(...patterns).map((path) => ({ path, text: readText(path) }))

/** Inside the repository, so that its packages resolve; outside node_modules, where Node strips no types. */
const workplace = join(root, ".reverie/docs")

const runFence = async ({ code, language, where }: Fence, index: number): Promise<Claim> => {
  const file = join(workplace, `${index}.${language}`)
  await writeFile(file, code)
  const command = language === "ts" ? ["node", "--disable-warning=ExperimentalWarning", file] : ["sh", "-eu", file]
  const said = await run(command[0] ?? "", command.slice(1))
  return { where, fault: said.code === 0 ? undefined : `ended with ${said.code}\n${allOf(said)}` }
}

/** D10. */
const guideClaims = async (documents: ReadonlyArray<Document>): Promise<ReadonlyArray<Claim>> => {
  const guides = documents.filter(isGuide)
  const known = knownCommands()
  return [
    ...guides.flatMap((guide) => blockClaims(guide, known)),
    ...(await proveGuides(`${workplace}-guides`, guides))
  ]
}

const prove = async (): Promise<Outcome> => {
  const documents = documentsOf("*.md")
  const said = saidIn(documents)
  await rm(workplace, { recursive: true, force: true })
  await mkdir(workplace, { recursive: true })
  const ran: Array<Claim> = []
  const fences = documents.filter((document) => !isGuide(document)).flatMap(fencesOf)
  for (const [index, fence] of fences.entries()) ran.push(await runFence(fence, index))
  const claims = [...said, ...ran, ...(await guideClaims(documents))]
  const faults = claims.filter(({ fault }) => fault !== undefined)
  const output = faults.map(({ fault, where }) => `${where}: ${fault ?? ""}`).join("\n")
  return { ok: faults.length === 0, count: claims.length, output }
}

export const docs: Step = { name: "docs", unit: "claims", prove }
