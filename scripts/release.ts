// npm run release -- [--dry-run] [--version X.Y.Z]
// Release: `reverie` and `create-reverie`, under one version.
// Owns the version, the changelog's first lines, the order, and what is judged before anything leaves. Leaves the folder of
// `reverie` to pack.ts; publishing for good is the work of a workflow, whose identity signs where the packages are from.
// R1  Both packages have one version, and so has what names it: create-reverie installs the `reverie` of its own number.
// R2  Nothing is published that publint or the judge of types refuses, or that is published already.
// R3  Without --dry-run it runs in a workflow only: a package from a private machine has no provenance.

import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { root, run } from "./check/program.ts"
import { pack, tarballOf } from "./pack.ts"

/** Their manifests; the command tells its own version. */
const versioned = ["packages/reverie", "packages/create-reverie", "apps/cli"]
const CHANGELOG = "packages/reverie/CHANGELOG.md"

const refuse = (problem: string): never => {
  process.stderr.write(`release: ${problem}\n`)
  process.exit(2)
}

const told = (line: string): void => void process.stdout.write(`release: ${line}\n`)

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as { readonly name: string; version: string }

/** R1. */
const versionOf = (): string => {
  const versions = versioned.map((folder) => `${folder} ${manifestOf(folder).version}`)
  const distinct = new Set(versions.map((each) => each.split(" ")[1]))
  if (distinct.size > 1) refuse(`one version is released, and there are ${versions.join(", ")}`)
  return [...distinct][0] ?? refuse("there is no version")
}

/** The part of the changelog about this version. */
const changesOf = (version: string): string => {
  const text = existsSync(join(root, CHANGELOG)) ? readFileSync(join(root, CHANGELOG), "utf8") : ""
  const part = text.split(/^## /m).find((each) => each.startsWith(`${version}\n`))
  return part?.slice(version.length).trim() ?? ""
}

const setVersion = (version: string): void => {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) refuse(`${version} is no version`)
  if (changesOf(version) === "") refuse(`${CHANGELOG} says nothing of ${version}: write what changed first`)
  for (const folder of versioned) {
    const file = join(root, folder, "package.json")
    writeFileSync(file, readFileSync(file, "utf8").replace(/("version": ")[^"]+/, `$1${version}`))
  }
  const file = join(root, "package-lock.json")
  const lock = JSON.parse(readFileSync(file, "utf8")) as { readonly packages: Record<string, { version?: string }> }
  for (const folder of versioned) {
    const entry = lock.packages[folder]
    if (entry !== undefined) entry.version = version
  }
  writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`)
  told(`${versioned.join(", ")} are ${version}; commit them, tag v${version}, and push the tag`)
}

const must = async (program: string, args: ReadonlyArray<string>): Promise<string> => {
  const said = await run(program, args)
  if (said.code !== 0) refuse(`${program} ${args.join(" ")} ended with ${said.code}: ${said.stdout}${said.stderr}`)
  return said.stdout
}

/** R2. */
const judged = async (tarball: string): Promise<void> => {
  const own = (...path: ReadonlyArray<string>) => join(root, "node_modules", ...path)
  await must(process.execPath, [own("publint/src/cli.js"), "run", tarball, "--strict"])
  const types = [own("@arethetypeswrong/cli/dist/index.js"), "--profile", "esm-only", "--format", "ascii", tarball]
  await must(process.execPath, types)
  told("publint and the judge of types are content")
}

const release = async (isTrial: boolean): Promise<void> => {
  const version = versionOf()
  if (changesOf(version) === "") refuse(`${CHANGELOG} says nothing of ${version}`)
  if (!isTrial && process.env["GITHUB_ACTIONS"] !== "true")
    refuse("publishing is the work of a workflow; try --dry-run")
  const tag = process.env["GITHUB_REF_NAME"]
  if (!isTrial && tag !== `v${version}`) refuse(`the tag is ${String(tag)}, and the version ${version}`)
  const reverie = await tarballOf((await pack(resolve(root, "packages/reverie/dist/package"))).folder)
  await judged(reverie)
  const create = join(root, "packages/create-reverie")
  // What others install comes first, so that no one reads a number that is not there.
  for (const what of [reverie, create]) {
    const how = isTrial ? ["--dry-run"] : ["--provenance", "--access", "public"]
    await must("npm", ["publish", ...how, what])
    told(`${isTrial ? "would publish" : "published"} ${what === create ? "create-reverie" : "reverie"} ${version}`)
  }
}

const { values } = parseArgs({
  options: { "dry-run": { type: "boolean", default: false }, version: { type: "string" } }
})
if (values.version === undefined) await release(values["dry-run"])
else setVersion(values.version)
