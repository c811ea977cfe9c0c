// Build: makes the page out of its sources.
// Owns when it must be made anew. Leaves how to vite.config.ts. `node apps/dashboard/build.ts` makes it now.
// U1  The page is as good as its sources: their hash stands beside it, and another hash means it is made anew.
// U2  Vite is loaded only when there is something to make.
// U3  Each file of text stands packed beside itself (.br, .gz): browsers ask for brotli only where no one listens in.

import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"

const here = import.meta.dirname
const dist = join(here, "dist")
const STAMP = "sources.hash"
const sources = ["index.html", "vite.config.ts", "package.json", "src"]

const filesIn = (path: string): ReadonlyArray<string> =>
  readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()

/** Of everything that the page is made of. */
const hashOfSources = (): string => {
  const hash = createHash("sha256")
  for (const source of sources) {
    const path = join(here, source)
    for (const file of source === "src" ? filesIn(path) : [path]) {
      const text = readFileSync(file)
      hash.update(`${file.slice(here.length)}\0${text.length}\0`).update(text)
    }
  }
  return hash.digest("hex")
}

/** What a browser is sent as text; the manifest of the build is not for browsers. */
const isText = (file: string): boolean => /\.(html|js|css|json|svg|txt)$/.test(file) && !/[\\/]\.vite[\\/]/.test(file)

const packFiles = (folder: string): void => {
  for (const file of filesIn(folder).filter(isText)) {
    const bytes = readFileSync(file)
    const packed = [
      [".gz", gzipSync(bytes, { level: 9 })],
      [".br", brotliCompressSync(bytes)]
    ] as const
    for (const [suffix, smaller] of packed) if (smaller.length < bytes.length) writeFileSync(file + suffix, smaller)
  }
}

/** Builds the page into a folder. */
export const buildPage = async (outDir: string, loud = false): Promise<void> => {
  const { build } = await import("vite")
  const hash = hashOfSources()
  // Set to anything else, it brings in what only developers need.
  const { NODE_ENV } = process.env
  process.env["NODE_ENV"] = "production"
  await build({
    configFile: join(here, "vite.config.ts"),
    logLevel: loud ? "info" : "error",
    build: { outDir, emptyOutDir: true }
  })
  if (NODE_ENV === undefined) delete process.env["NODE_ENV"]
  else process.env["NODE_ENV"] = NODE_ENV
  packFiles(outDir)
  writeFileSync(join(outDir, STAMP), hash)
}

const isFresh = (folder: string, hash: string): boolean => {
  const stamp = join(folder, STAMP)
  return existsSync(stamp) && readFileSync(stamp, "utf8") === hash
}

/**
 * The folder of the page as its sources have it now; built first where it is missing or old. What is there is served until
 * what is new is whole.
 */
export const ensurePage = async (folder: string = dist): Promise<string> => {
  const hash = hashOfSources()
  if (isFresh(folder, hash)) return folder
  const next = join(dirname(folder), ".reverie", `page-${process.pid}`)
  const old = `${next}-old`
  await buildPage(next)
  try {
    if (existsSync(folder)) renameSync(folder, old)
    renameSync(next, folder)
  } catch (error) {
    // Another process has built the same meanwhile.
    if (!isFresh(folder, hash)) throw error
  } finally {
    for (const each of [next, old]) rmSync(each, { recursive: true, force: true })
  }
  return folder
}

if (import.meta.main) {
  await buildPage(dist, true)
}
