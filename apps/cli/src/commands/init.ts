// Init: the beginning of a fleet in a directory.
// Owns the files it is made of, and what it finds in the environment. Leaves running it to `dev`.
// I1  A file that is there stays as it is.
// I2  The fleet file is one that Node loads as a module, whatever the package.json that is there says.

import { defined } from "@reverie/protocol"
import { mkdir, stat, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { ChangeOptions } from "../consent.ts"
import { CommandFailed } from "../failure.ts"
import { say, sayJson } from "../output.ts"
import { isCommonJs } from "../running/module-type.ts"
import { onOneLine } from "../texts/plain.ts"
import { ownVersion } from "./version.ts"

const fleetFile = `// The assistants of this fleet. See them live: npx reverie dev

import { defineAssistant, defineFleet, defineTool } from "reverie"

const time = defineTool({
  name: "tell_time",
  description: "Tells what time it is.",
  run: () => new Date().toISOString()
})

export default defineFleet({
  assistants: [
    defineAssistant({
      id: "desk",
      instructions: "You are the front desk of a small harbour. You answer briefly and remember what you are told.",
      tools: [time]
    })
  ]
})
`

const manifest = (name: string): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: "module",
      scripts: { dev: "reverie dev", chat: "reverie chat desk" },
      dependencies: { reverie: ownVersion() }
    },
    undefined,
    2
  )}\n`

const readme = (fleet: string): string => `# A fleet of assistants

    npm i                        once
    npx reverie dev              keeps it up, with a page to look at it
    npx reverie chat desk        speaks with the desk
    npx reverie agents ls        the assistants, and what they do

\`${fleet}\` says who they are; \`reverie.config.json\` where the fleet is. Its data is in
\`.reverie\`, or in the database that \`DATABASE_URL\` names.
`

// Without `data`, which would count for more than DATABASE_URL; embedded it is .reverie all the same.
const config = (fleet: string): string => `${JSON.stringify({ fleet }, undefined, 2)}\n`

/** `npm init -y` writes a package.json of CommonJS, in which an `import` of `fleet.ts` is a mistake of syntax. */
const fleetName = async (directory: string): Promise<string> => {
  const isThere = await stat(join(directory, "fleet.ts")).catch(() => undefined)
  return isThere === undefined && (await isCommonJs(join(directory, "fleet.ts"))) ? "fleet.mts" : "fleet.ts"
}

const filesOf = (directory: string, fleet: string): Readonly<Record<string, string>> => ({
  [fleet]: fleetFile,
  "package.json": manifest(packageName(directory)),
  "reverie.config.json": config(fleet),
  "README.md": readme(fleet),
  ".gitignore": ".reverie\nnode_modules\n.env\n"
})

/** Servers that the environment names. */
const detected = (): ReadonlyArray<string> =>
  [
    ["DATABASE_URL", "postgres"],
    ["REDIS_URL", "redis"],
    ["QDRANT_URL", "qdrant"],
    ["OPENAI_BASE_URL", "model server"],
    ["OPENAI_API_KEY", "model key"]
  ].flatMap(([variable = "", what = ""]) => ((process.env[variable] ?? "") === "" ? [] : [what]))

const written = async (path: string, text: string): Promise<boolean> => {
  try {
    await writeFile(path, text, { flag: "wx" })
    return true
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "EEXIST") return false
    throw new CommandFailed("usage", `${path} can not be written: ${error instanceof Error ? error.message : ""}`)
  }
}

const packageName = (directory: string): string =>
  (resolve(directory).split(/[\\/]/).at(-1) ?? "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "") || "fleet"

export const init = async (directory: string = ".", { dryRun, json }: ChangeOptions): Promise<number> => {
  const files = filesOf(directory, await fleetName(resolve(directory)))
  const made: Array<string> = []
  const kept: Array<string> = []
  if (!dryRun) {
    await mkdir(directory, { recursive: true }).catch(() => {
      throw new CommandFailed("usage", `${directory} can not be made a directory`)
    })
  }
  for (const [name, text] of Object.entries(files)) {
    const isMade = dryRun || (await written(join(directory, name), text))
    if (isMade) made.push(name)
    else kept.push(name)
  }
  const found = detected()
  const next = `${directory === "." ? "" : `cd ${directory} && `}npm i && npx reverie dev`
  if (json) {
    sayJson({
      ok: true,
      ...defined({ dryRun: dryRun ? dryRun : undefined }),
      directory,
      made,
      kept,
      detected: found,
      next
    })
    return 0
  }
  const lines = [
    ...(made.length === 0 ? [] : [`${dryRun ? "would write" : "wrote"} ${made.join(", ")}`]),
    ...(kept.length === 0 ? [] : [`left as they are: ${kept.join(", ")}`]),
    found.length === 0
      ? "no servers are named: it runs embedded, with the offline model"
      : `found: ${found.join(", ")}`,
    `next: ${next}`
  ]
  say(lines.map((line) => onOneLine(line, 300)).join("\n"))
  return 0
}
