// WorkingCopy: the files of the repository in a folder of the run, with what a careless person leaves in one.
// Owns the copy and what is planted in it. Leaves judging what an image took of it to leaks.ts.

import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { must } from "./program.ts"

/** Must not be in any image: keys, data, packages that were installed, pages that were built, tests. */
export const planted: Readonly<Record<string, string>> = {
  ".env": "OPENAI_API_KEY=planted\n",
  "apps/cli/.env": "OPENAI_API_KEY=planted\n",
  "apps/cli/.npmrc": "//packages.example/:_authToken=planted\n",
  "examples/harbor/.reverie/data.sqlite": "planted\n",
  "packages/tools/node_modules/planted/index.js": "planted\n",
  "apps/dashboard/dist/planted.js": "planted\n"
}

/** Every file that is, or is about to be, part of the repository. */
export const copyOf = async (root: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true })
  const listed = await must("list the files of the repository", "git", [
    "-c",
    `safe.directory=${root}`,
    "-C",
    root,
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--deduplicate"
  ])
  const deleted = await must("list what was deleted", "git", ["-C", root, "ls-files", "-z", "--deleted"])
  const gone = new Set(deleted.split("\0"))
  const files = listed.split("\0").filter((path) => path !== "" && !gone.has(path))
  const packed = `${to}.tar`
  const input = files.map((path) => `${path}\0`).join("")
  await must("copy them", "tar", ["-C", root, "--null", "--files-from=-", "-cf", packed], { input })
  await must("unpack the copy", "tar", ["-C", to, "-xf", packed])
  for (const [path, text] of Object.entries(planted)) {
    await mkdir(dirname(join(to, path)), { recursive: true })
    await writeFile(join(to, path), text)
  }
}
