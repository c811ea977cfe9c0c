// Images: makes the stand-ins of recipes.ts, on the engine that the environment names.
// Owns the base of Debian and the order. Leaves what is in each to its recipe.

import { existsSync } from "node:fs"
import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { imageOf } from "../integration/docker.ts"
import { must, StepFailed } from "./program.ts"
import {
  BASE,
  nodeImageIn,
  nodeRecipe,
  postgresRecipe,
  QDRANT_DOUBLE,
  qdrantDoubleRecipe,
  type Recipe,
  redisRecipe
} from "./recipes.ts"

const CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"

export interface Making {
  readonly root: string
  readonly work: string
  readonly mirror: string
  readonly codename: string
}

/** A minimal Debian with this machine's lists of packages, and what is trusted here. */
const makeBase = async ({ codename, mirror, work }: Making): Promise<void> => {
  const root = join(work, "debian")
  await must("make a minimal Debian", "debootstrap", ["--variant=minbase", codename, root, mirror])
  await rm(join(root, "etc/apt/sources.list"), { force: true })
  await cp("/etc/apt", join(root, "etc/apt"), { recursive: true })
  if (existsSync(`/${CERTIFICATES}`)) {
    await mkdir(dirname(join(root, CERTIFICATES)), { recursive: true })
    await cp(`/${CERTIFICATES}`, join(root, CERTIFICATES), { dereference: true })
  }
  const packed = join(work, "debian.tar")
  await must("pack it", "tar", ["-C", root, "-cf", packed, "."])
  await rm(root, { recursive: true, force: true })
  await must("import it", "docker", ["import", packed, BASE])
  await rm(packed, { force: true })
}

const build = async (work: string, image: string, recipe: Recipe, beside: Readonly<Record<string, string>> = {}) => {
  const folder = join(work, "images", image.replaceAll(/[^a-z0-9]+/g, "-"))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, "Dockerfile"), recipe.dockerfile)
  for (const [name, text] of Object.entries(recipe.files)) {
    await writeFile(join(folder, name), text)
    await chmod(join(folder, name), 0o755)
  }
  for (const [name, from] of Object.entries(beside)) {
    await cp(from, join(folder, name), { recursive: true, dereference: true })
  }
  // The engine's own builder brings nothing along that would have to be pulled.
  const env = { ...process.env, DOCKER_BUILDKIT: "1" }
  await must(`build ${image}`, "docker", ["build", "--quiet", "--tag", image, folder], { env })
  await rm(folder, { recursive: true, force: true })
}

/** The npm that runs this, or the one of the node on the PATH. */
const npmFolder = async (): Promise<string> => {
  const running = process.env["npm_execpath"] ?? ""
  const global = (await must("ask npm where it is", "npm", ["root", "--global"])).trim()
  const found = [dirname(dirname(running)), join(global, "npm")].find(
    (folder) => existsSync(join(folder, "bin/npm-cli.js")) && existsSync(join(folder, "node_modules"))
  )
  if (found === undefined) throw new StepFailed("no npm was found that is whole in its folder, to go into the image")
  return found
}

/** Answers the names of what was made. */
export const makeImages = async (making: Making, say: (line: string) => void): Promise<ReadonlyArray<string>> => {
  const { root, work } = making
  const node = nodeImageIn(await readFile(join(root, "apps/cli/Dockerfile"), "utf8"))
  await makeBase(making)
  say(`${BASE} is made, of ${making.codename}`)
  await build(work, imageOf("postgres"), postgresRecipe)
  await build(work, imageOf("redis"), redisRecipe)
  await build(work, node, nodeRecipe, { node: process.execPath, npm: await npmFolder() })
  const double = { "qdrant-server": join(root, "packages/testkit/src/qdrant-server") }
  await build(work, QDRANT_DOUBLE, qdrantDoubleRecipe(node), double)
  return [imageOf("postgres"), imageOf("redis"), node, QDRANT_DOUBLE]
}
