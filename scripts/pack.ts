// npm run pack -- [--out FOLDER] [--tarball] [--json]
// Pack: the folder of the package `reverie` as it is published, and its tarball.
// Owns its manifest, its licences and the page in it. Leaves JavaScript and types to pack/bundle.ts.
// K1  What lies in the folder is made anew each time: nothing of an older build is published.
// K2  The licence of every package that anything was taken of lies in it.
// K3  The documents for users lie in it as Markdown, of this very version, with a skill for coding agents that leads to them.
// K4  No relative link in it is dead: a package with one is not made.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { buildPage } from "../apps/dashboard/build.ts"
import { root, run } from "./check/program.ts"
import { pagesOf, writeMarkdown } from "./docs/pages.ts"
import { bundleCode, bundleTypes } from "./pack/bundle.ts"
import { deadLinks, packedReadme } from "./pack/links.ts"
import { copies, entries, OLDEST_NODE, optionalPeers } from "./pack/parts.ts"

const readJson = (path: string): Readonly<Record<string, unknown>> =>
  JSON.parse(readFileSync(join(root, path), "utf8")) as Readonly<Record<string, unknown>>

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const rangeOf = (name: string, from: string): string => {
  const { dependencies, devDependencies, peerDependencies } = readJson(`${from}/package.json`) as Readonly<
    Record<string, Readonly<Record<string, string>> | undefined>
  >
  const range = peerDependencies?.[name]
  if (range !== undefined) return range
  // What only some choose is no dependency of those who run a clone.
  const version = dependencies?.[name] ?? devDependencies?.[name]
  if (version === undefined) throw new Error(`${from} does not depend on ${name}`)
  return `^${version}`
}

const manifest = () => {
  const { license, name, version } = readJson("packages/reverie/package.json")
  const shown = Object.entries(entries).flatMap(([file, { subpath }]) =>
    subpath === undefined ? [] : [[subpath, file]]
  )
  return {
    name,
    version,
    description: "A runtime for fleets of long-lived assistants: durable, one writer each, every step on record.",
    keywords: ["agents", "actors", "assistants", "durable", "llm", "statechart"],
    license,
    type: "module",
    engines: { node: `>=${OLDEST_NODE}` },
    bin: { reverie: "lib/cli.js" },
    exports: {
      ...Object.fromEntries(
        shown.map(([subpath, file]) => [subpath, { types: `./lib/${file}.d.ts`, default: `./lib/${file}.js` }])
      ),
      "./machine.json": "./lib/machine.json",
      "./package.json": "./package.json"
    },
    files: ["lib", "page", "docs", "skills", "THIRD-PARTY.md"],
    peerDependencies: Object.fromEntries(
      Object.entries(optionalPeers).map(([peer, from]) => [peer, rangeOf(peer, from)])
    ),
    peerDependenciesMeta: Object.fromEntries(Object.keys(optionalPeers).map((peer) => [peer, { optional: true }]))
  }
}

const addPage = async (folder: string): Promise<void> => {
  await buildPage(folder)
  rmSync(join(folder, ".vite"), { recursive: true, force: true })
}

const licences = (folders: Iterable<string>): string => {
  const parts = [...folders].toSorted().map((folder) => {
    const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
      string,
      unknown
    >
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    const text = file === undefined ? `Licence: ${String(license)}` : readFileSync(join(folder, file), "utf8").trim()
    return `## ${String(name)} ${String(version)} (${String(license)})\n\n${text}\n`
  })
  return `# Packages that are part of this one\n\n${parts.join("\n")}`
}

export interface Packed {
  readonly folder: string
  readonly files: number
  readonly bytes: number
  readonly bundled: number
}

/** Makes the folder of the package. */
export const pack = async (folder: string): Promise<Packed> => {
  rmSync(folder, { recursive: true, force: true })
  const lib = join(folder, "lib")
  const taken = await bundleCode(lib)
  await Promise.all([bundleTypes(lib), addPage(join(folder, "page/dist"))])
  const pages = pagesOf(lib)
  writeMarkdown(join(folder, "docs"), pages)
  const readme = packedReadme(readFileSync(join(root, "README.md"), "utf8"), new Set(pages.map(({ slug }) => slug)))
  writeFileSync(join(folder, "README.md"), readme)
  for (const [from, to] of Object.entries(copies)) {
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    copyFileSync(join(root, from), join(folder, to))
  }
  writeFileSync(join(folder, "THIRD-PARTY.md"), licences(taken))
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`)
  const dead = deadLinks(folder)
  if (dead.length > 0) throw new Error(`links of the package lead to no file of it: ${dead.join(", ")}`)
  const files = filesIn(folder)
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  return { folder, files: files.length, bytes, bundled: taken.size }
}

/** The tarball of a packed folder, beside it. */
export const tarballOf = async (folder: string): Promise<string> => {
  const said = await run("npm", ["pack", "--json", "--pack-destination", dirname(folder), folder])
  if (said.code !== 0) throw new Error(`npm pack failed: ${said.stderr}`)
  const [{ filename }] = JSON.parse(said.stdout) as [{ readonly filename: string }]
  return join(dirname(folder), filename)
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      out: { type: "string", default: "packages/reverie/dist/package" },
      tarball: { type: "boolean", default: false },
      json: { type: "boolean", default: false }
    }
  })
  const packed = await pack(resolve(root, values.out))
  const tarball = values.tarball ? await tarballOf(packed.folder) : undefined
  const megabytes = (packed.bytes / 1_048_576).toFixed(1)
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ ok: true, ...packed, tarball })}\n`
      : `${packed.folder}: ${packed.files} files, ${megabytes} MB, with ${packed.bundled} packages in it\n`
  )
}
