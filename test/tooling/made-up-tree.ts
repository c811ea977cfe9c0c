// MadeUpTree: a small source tree in a temporary folder, with exactly the faults that a test plants.
// Owns writing it, without git where nothing else is said. Leaves counting to scripts/house.

import { execFileSync } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { later } from "@reverie/testkit/later"
import { readTree, type Tree } from "../../scripts/house/tree.ts"

/** The text of each file by its path from the root. */
export type Files = Readonly<Record<string, string>>

/** The manifest of a package whose only barrel is `src/index.ts`. */
export const manifest = (name: string): string => JSON.stringify({ name, exports: { ".": "./src/index.ts" } })

export const writeTree = async (files: Files): Promise<string> => {
  const root = await mkdtemp(join(tmpdir(), "reverie-tree-"))
  later(() => rm(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, dirname(path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return root
}

export const madeUpTree = async (files: Files): Promise<Tree> => readTree(await writeTree(files))

export const asRepository = (root: string, ...ignored: ReadonlyArray<string>): void => {
  const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: root, stdio: "pipe" })
  git("init", "--quiet")
  if (ignored.length > 0) execFileSync("tee", [join(root, ".gitignore")], { input: ignored.join("\n"), stdio: "pipe" })
  git("add", ".")
}
