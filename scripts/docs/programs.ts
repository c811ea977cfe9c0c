// Programs: the blocks of the guides, run and type-checked in a place of their own.
// Owns that place, in which `reverie` is the package as it is published. Leaves reading blocks to blocks.ts.
// G1  A program is run as it stands, without a key of a model and without a server.
// G2  What is not run is type-checked. A fragment may use the names of the SDK and `fleet` without bringing them.
// G3  Guides of which nothing was run prove nothing, and fail.

import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { spawn } from "node:child_process"
import { availableParallelism } from "node:os"
import { basename, dirname, join } from "node:path"
import { everyCommand, treeOf } from "../../apps/cli/src/program.ts"
import { Stop } from "../../apps/cli/src/running/stop.ts"
import { packed } from "../check/packed.ts"
import { allOf, root, run, type Said } from "../check/program.ts"
import { entries } from "../pack/parts.ts"
import { type Block, type BlockClaim, blocksOf, fileOf, filesOf, type Known, missingLine, type Text } from "./blocks.ts"
import { routeNames } from "./reference.ts"

export const knownCommands = (): Known => {
  const commands = everyCommand(treeOf({ stop: new Stop(), onExit: () => {} })).map((command) => {
    const names: Array<string> = []
    for (let each = command; ; each = each.parent) {
      names.unshift(each.name())
      if (each.parent === null) break
    }
    const options = command.options.flatMap(({ long, optional, required, short }) =>
      [long, short].flatMap((flag) =>
        flag === undefined || flag === null ? [] : [[flag, required || optional] as const]
      )
    )
    const { registeredArguments } = command
    return [
      names.join(" "),
      {
        options: new Map([...options, ["--help", false], ["--version", false]]),
        leastArguments: registeredArguments.filter(({ required }) => required).length,
        mostArguments: registeredArguments.some(({ variadic }) => variadic) ? Infinity : registeredArguments.length
      }
    ] as const
  })
  return { commands: new Map(commands), routes: routeNames() }
}

const LEFT = /^(?:npm_|NODE_|VITEST|OPENAI_|DATABASE_|REDIS_|QDRANT_|REVERIE_|OTEL_|CI$)|_API_KEY$/

/** The environment of the caller, without what would change what a program does. */
const environment = (bin: string): Record<string, string | undefined> => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !LEFT.test(name))),
  PATH: [bin, dirname(process.execPath), process.env["PATH"] ?? ""].join(":"),
  NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node"),
  NO_COLOR: "1"
})

const SECONDS = 180

const runIn = (cwd: string, bin: string, command: string, args: ReadonlyArray<string>): Promise<Said> =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: environment(bin),
      stdio: ["ignore", "pipe", "pipe"],
      timeout: SECONDS * 1_000
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("error", (error) => resolve({ code: 127, stdout, stderr: error.message }))
    child.on("close", (code) => resolve({ code: code ?? 1, stdout, stderr }))
  })

/** The package as programs of users have it: as it is published, and its command behind `npx`. */
const installAt = (place: string, folder: string): void => {
  const bin = join(place, "bin")
  mkdirSync(bin, { recursive: true })
  const command = join(folder, "lib/cli.js")
  writeFileSync(
    join(bin, "npx"),
    `#!/bin/sh\n[ "$1" = reverie ] && shift\nexec "${process.execPath}" "${command}" "$@"\n`
  )
  chmodSync(join(bin, "npx"), 0o755)
  mkdirSync(join(place, "node_modules"), { recursive: true })
  symlinkSync(folder, join(place, "node_modules/reverie"))
  writeFileSync(join(place, "package.json"), '{ "type": "module", "private": true }\n')
}

const verdictOf = ({ prints, where }: Block, said: Said): BlockClaim => {
  if (said.code !== 0) return { where, fault: `ended with ${said.code}\n${allOf(said)}` }
  const missing = prints === undefined ? undefined : missingLine(said.stdout, prints)
  return { where, fault: missing === undefined ? undefined : `did not print: ${missing}\n${allOf(said)}` }
}

/** Runs what a page says is run, one after the other, in one folder. */
const runPage = async (place: string, page: Text): Promise<ReadonlyArray<BlockClaim>> => {
  const folder = join(place, basename(page.path, ".md"))
  const blocks = blocksOf(page)
  mkdirSync(folder, { recursive: true })
  for (const [file, code] of Object.entries(filesOf(blocks))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), code)
  }
  const claims: Array<BlockClaim> = []
  for (const [index, block] of blocks.entries()) {
    if (block.use !== "run") continue
    const [command, args] =
      block.language === "sh"
        ? ["sh", ["-euc", block.code]]
        : [process.execPath, ["--disable-warning=ExperimentalWarning", fileOf(block, index) ?? ""]]
    claims.push(
      verdictOf(block, await runIn(folder, join(place, "bin"), command as string, args as ReadonlyArray<string>))
    )
  }
  return claims
}

const namesOf = async (): Promise<ReadonlyMap<string, string>> => {
  const names = new Map<string, string>()
  for (const { source, subpath } of Object.values(entries)) {
    if (subpath === undefined) continue
    const module = (await import(join(root, source))) as object
    for (const name of Object.keys(module)) names.set(name, `reverie${subpath.slice(1)}`)
  }
  return names
}

/** G2: what a fragment does not bring itself. */
const preludeOf = (code: string, names: ReadonlyMap<string, string>): string => {
  const isUsed = (name: string) => new RegExp(`(?<![\\w.])${name}\\b`).test(code)
  const isOwn = (name: string) =>
    new RegExp(`(?:const|let|function|class) ${name}\\b|import \\{[^}]*\\b${name}\\b`).test(code)
  const brought = [...names].filter(([name]) => isUsed(name) && !isOwn(name))
  const imports = brought.map(([name, from]) => `import { ${name} } from "${from}"`)
  const needsFleet = isUsed("fleet") && !isOwn("fleet")
  const fleet = needsFleet
    ? ['import type { Fleet as FleetOfFragment } from "reverie"', "declare const fleet: FleetOfFragment"]
    : []
  return [...imports, ...fleet, "export {}", ""].join("\n")
}

const writeFragments = async (place: string, pages: ReadonlyArray<Text>): Promise<ReadonlyMap<string, string>> => {
  const names = await namesOf()
  const written = new Map<string, string>()
  for (const page of pages) {
    for (const [index, block] of blocksOf(page).entries()) {
      const name = basename(page.path, ".md")
      const file = fileOf(block, index)
      if (block.language !== "ts") continue
      const path = block.use === "fragment" ? `${name}/fragment-${index}.ts` : `${name}/${file}`
      if (block.use === "fragment") writeFileSync(join(place, path), preludeOf(block.code, names) + block.code)
      written.set(path, block.where)
    }
  }
  return written
}

/** Type-checks every TypeScript block of the pages at once. What is wrong in sources is for the step `types` to say. */
const typeClaims = async (place: string, pages: ReadonlyArray<Text>): Promise<ReadonlyArray<BlockClaim>> => {
  const written = await writeFragments(place, pages)
  const compilerOptions = { noUnusedLocals: false, plugins: [] }
  const project = {
    extends: join(root, "tsconfig.json"),
    compilerOptions,
    include: [],
    exclude: [],
    files: [...written.keys()]
  }
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify(project))
  const said = await run("tsc", ["-p", join(place, "tsconfig.json"), "--pretty", "false", "--checkers", "1"])
  const lines = said.stdout.split("\n").filter((line) => line.includes("error TS"))
  if (said.code !== 0 && lines.length === 0) return [{ where: "tsc", fault: allOf(said) }]
  return [...written].map(([path, where]) => {
    const own = lines.filter((line) => line.includes(path))
    return { where, fault: own.length === 0 ? undefined : own.join("\n") }
  })
}

/** Runs and type-checks all blocks of the guides. */
export const proveGuides = async (place: string, pages: ReadonlyArray<Text>): Promise<ReadonlyArray<BlockClaim>> => {
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  installAt(place, (await packed()).folder)
  const waiting = [...pages]
  const claims: Array<BlockClaim> = []
  const work = async (): Promise<void> => {
    for (let page = waiting.shift(); page !== undefined; page = waiting.shift())
      claims.push(...(await runPage(place, page)))
  }
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work))
  if (claims.length === 0) claims.push({ where: "docs/guides", fault: "no block was run, so the guides prove nothing" })
  return [...claims, ...(await typeClaims(place, pages))]
}

if (import.meta.main) {
  // node scripts/docs/programs.ts [GUIDE...]: these guides alone, while they are written.
  const { readText } = await import("../../test/architecture/repository.ts")
  const { blockClaims } = await import("./blocks.ts")
  const pages = process.argv.slice(2).map((path) => ({ path, text: readText(path) }))
  const known = knownCommands()
  const claims = [
    ...pages.flatMap((page) => blockClaims(page, known)),
    ...(await proveGuides(join(root, ".reverie/guides"), pages))
  ]
  const faults = claims.filter(({ fault }) => fault !== undefined)
  for (const { fault, where } of faults) process.stdout.write(`${where}: ${fault}\n`)
  process.stdout.write(`${claims.length} claims, ${faults.length} faults\n`)
  process.exit(faults.length === 0 && claims.length > 0 ? 0 : 1)
}
