// Page: the files of the built dashboard.
// Owns which file a path means, and how long a browser may keep it. Leaves who may ask to guard.ts.
// P1  Only files that were found in the folder are served: a path is looked up, never opened. Links that lead out of the
//     folder are no files of it.
// P2  A path that means no file is the page itself where a browser asks for one, so that its addresses can be shared.
// P3  What has its hash in its name is kept for ever, the page itself is asked for again each time.
// P4  Until it has been built, anyone who asks for the page itself learns so, and a browser asks again by itself.

import { createHash } from "node:crypto"
import { readdir, readFile, realpath, stat } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { extname, join, sep } from "node:path"
import { asPage } from "./answer.ts"
import { accepts } from "./packing.ts"

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8"
}
const packings = [
  { name: "br", suffix: ".br" },
  { name: "gzip", suffix: ".gz" }
] as const

const MAX_FILES = 5_000
/** A folder that was built anew is found again after so long. */
const RESCAN_MILLIS = 1_000

/** In place of the page while it is being built: a matter of seconds, once. */
const COMING = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>Reverie</title></head>
<body><p>The page is being built, once. It opens here by itself; the terminal says if it can not be built.</p></body>
</html>
`

const isHashed = (path: string): boolean => /\/assets\/[^/]*-[\w-]{8,}\.\w+$/.test(path)

/** Paths of the files in a folder, e.g. `/assets/index-1a2b3c4d.js`, each with where it is. */
const filesIn = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  const files = new Map<string, string>()
  const root = await realpath(folder)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  for (const entry of entries.slice(0, MAX_FILES)) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    files.set(file.slice(root.length).split(sep).join("/"), file)
  }
  return files
}

const sendComing = (response: ServerResponse): true => {
  asPage(response)
  response.setHeader("content-type", types[".html"] ?? "")
  response.setHeader("retry-after", "1")
  response.setHeader("content-length", Buffer.byteLength(COMING))
  response.writeHead(503).end(COMING)
  return true
}

export class Page {
  readonly #folder: string
  #files: ReadonlyMap<string, string> = new Map()
  #scannedAt = -Infinity

  constructor(folder: string) {
    this.#folder = folder
  }

  /** False when this path means nothing here. */
  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    const named = decodeURIComponent(path)
    const meant = (await this.#has(named)) ? named : "/index.html"
    const isItself = meant === "/index.html"
    if (isItself && named !== "/" && named !== meant && !this.#wantsPage(request)) return false
    if (!(await this.#has(meant))) return isItself && sendComing(response)
    return this.#send(request, response, meant)
  }

  #wantsPage({ headers }: IncomingMessage): boolean {
    return (headers.accept ?? "").includes("text/html")
  }

  async #has(path: string): Promise<boolean> {
    if (this.#files.has(path)) return true
    const now = performance.now()
    if (now - this.#scannedAt < RESCAN_MILLIS) return false
    this.#scannedAt = now
    this.#files = await filesIn(this.#folder).catch(() => new Map<string, string>())
    return this.#files.has(path)
  }

  async #send(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    const packing = packings.find(
      ({ name, suffix }) => this.#files.has(path + suffix) && accepts(request.headers["accept-encoding"], name)
    )
    const file = this.#files.get(path + (packing?.suffix ?? "")) ?? ""
    let body: Buffer
    let etag: string
    try {
      const { mtimeMs, size } = await stat(file)
      etag = `"${createHash("sha256")
        .update(`${path} ${mtimeMs} ${size} ${packing?.name ?? ""}`)
        .digest("base64url")}"`
      body = await readFile(file)
    } catch {
      // It was built anew just now.
      this.#scannedAt = -Infinity
      this.#files = new Map()
      return false
    }
    asPage(response)
    response.setHeader("content-type", types[extname(path)] ?? "application/octet-stream")
    response.setHeader("vary", "accept-encoding")
    response.setHeader("etag", etag)
    response.setHeader("cache-control", isHashed(path) ? "public, max-age=31536000, immutable" : "no-cache")
    if (packing !== undefined) response.setHeader("content-encoding", packing.name)
    if (request.headers["if-none-match"] === etag) {
      response.writeHead(304).end()
      return true
    }
    response.setHeader("content-length", body.length)
    response.writeHead(200).end(body)
    return true
  }
}
