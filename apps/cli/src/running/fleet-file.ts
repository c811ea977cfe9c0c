// FleetFile: from a path that a user names to a fleet and its events.
// Owns loading and the sentences of what is wrong with a file. Leaves the meaning of a definition to the SDK.
// I1  An events file is read whole and checked to its last line before anything of it is sent.

import { readFile, stat } from "node:fs/promises"
import { basename, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type { FleetDefinition, ScriptLine } from "reverie"
import { CommandFailed, failureOf } from "../failure.ts"
import { isCommonJs } from "./module-type.ts"
import { beginHosting } from "./stop.ts"

const isFleet = (value: unknown): value is FleetDefinition =>
  typeof value === "object" &&
  value !== null &&
  Array.isArray(Reflect.get(value, "assistants")) &&
  typeof Reflect.get(value, "defaultAssistant") === "string"

const assertFile = async (path: string, what: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new CommandFailed("no-such-file", `there is no ${what} ${path}`)
  if (found.isDirectory()) throw new CommandFailed("usage", `the ${what} ${path} is a directory`)
}

/** What Node says of `import` and `export` in a file that it takes as CommonJS. */
const isModuleSyntax = (error: unknown): boolean =>
  error instanceof SyntaxError && /import statement outside a module|Unexpected token 'export'/.test(error.message)

const asCommonJs = (path: string): readonly [message: string, changes: { readonly hint: string }] => [
  `${path} can not be loaded: its package.json says "type": "commonjs", which knows no import`,
  { hint: `npm pkg set type=module, or name the file ${basename(path).replace(/\.([jt]s)$/, ".m$1")}` }
]

const importFile = async (path: string): Promise<unknown> => {
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    if (isModuleSyntax(error) && (await isCommonJs(path))) throw new CommandFailed("fleet-invalid", ...asCommonJs(path))
    const { message } = failureOf(error)
    throw new CommandFailed("fleet-invalid", `${path} can not be loaded: ${message}`)
  }
}

/** The fleet that a file exports as its default. */
export const loadFleet = async (path: string): Promise<FleetDefinition> => {
  const file = resolve(path)
  await assertFile(file, "fleet file")
  beginHosting()
  const module = await importFile(file)
  const fleet: unknown = typeof module === "object" && module !== null ? Reflect.get(module, "default") : undefined
  if (!isFleet(fleet)) throw new CommandFailed("fleet-invalid", `${path} does not export a fleet as its default`)
  return fleet
}

const readStandardInput = async (): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decodes = (bytes: Buffer): boolean => {
  try {
    utf8.decode(bytes)
    return true
  } catch {
    return false
  }
}

/** The number of the first line that is no UTF-8; undefined when all are. */
const brokenLine = (bytes: Buffer): number | undefined => {
  if (decodes(bytes)) return undefined
  let line = 1
  for (let start = 0; start <= bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start)
    if (!decodes(bytes.subarray(start, end === -1 ? bytes.length : end))) return line
    if (end === -1) break
    start = end + 1
  }
  return line
}

/** The letters of an events file, `-` for standard input. Fails with the first wrong line, before anything is sent. */
export const readEvents = async (path: string, fleet: FleetDefinition): Promise<ReadonlyArray<ScriptLine>> => {
  const { readScript } = await import("reverie")
  if (path !== "-") await assertFile(resolve(path), "events file")
  const name = path === "-" ? "standard input" : path
  const bytes = path === "-" ? await readStandardInput() : await readFile(resolve(path))
  const broken = brokenLine(bytes)
  if (broken !== undefined) throw new CommandFailed("events-malformed", `${name} line ${broken}: it is not UTF-8`)
  const { letters, problems } = readScript(bytes.toString("utf8"), fleet)
  const [first] = problems
  if (first === undefined) return letters
  const more = problems.length === 1 ? "" : `, and ${problems.length - 1} more lines are wrong`
  const code = first.kind === "malformed" ? "events-malformed" : "unknown-assistant"
  throw new CommandFailed(code, `${name} line ${first.line}: ${first.message}${more}`)
}
