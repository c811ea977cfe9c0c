// Budget: how much is on the wire before the first page is seen, as a server sends it.

import { readFileSync } from "node:fs"
import { get } from "node:http"
import { join } from "node:path"
import { openServer } from "@reverie/server"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { expect, test } from "vitest"
import { builtPage } from "./browser.ts"

interface Chunk {
  readonly file: string
  readonly css?: ReadonlyArray<string>
  readonly isEntry?: boolean
  readonly imports?: ReadonlyArray<string>
}

const FIRST_LOAD_KB = 140

/** The page that one opens first. */
const HOME = "src/pages/overview/page.tsx"

/** What the first page can not do without: the document, the entry, its own code, styles, and everything that they import at once. */
const firstOf = (manifest: Readonly<Record<string, Chunk>>): ReadonlyArray<string> => {
  const names = new Set(Object.keys(manifest).filter((name) => manifest[name]?.isEntry === true || name === HOME))
  for (const name of names) for (const each of manifest[name]?.imports ?? []) names.add(each)
  const chunks = [...names].map((name) => manifest[name] ?? { file: name })
  return [...new Set(["/", ...chunks.flatMap(({ css = [], file }) => [file, ...css].map((each) => `/${each}`))])]
}

/** By a client that does not unpack: what counts is what the server writes. */
const sent = (url: string): Promise<{ readonly kb: number; readonly encoding: string | undefined }> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { "accept-encoding": "gzip, deflate", accept: "text/html" } }, (answer) => {
      let bytes = 0
      answer.on("data", (part: Buffer) => (bytes += part.length))
      answer.on("end", () => resolve({ kb: bytes / 1_000, encoding: answer.headers["content-encoding"] }))
    }).on("error", reject)
  })

test(`U3 what the first page needs is at most ${FIRST_LOAD_KB} KB on the wire, as the server sends it`, async () => {
  const folder = await builtPage()
  const manifest = JSON.parse(readFileSync(join(folder, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>
  const fleet = await Fleet.open({
    data: ":memory:",
    model: "offline",
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] })
  })
  const server = await openServer({ fleet, role: "all", tokens: [], page: folder })
  const first = firstOf(manifest)
  const sizes: Array<{ readonly path: string; readonly kb: number; readonly encoding: string | undefined }> = []
  for (const path of first) {
    sizes.push({ path, ...(await sent(`${server.url}${path}`)) })
  }
  await server.close()
  await fleet.close()
  const total = sizes.reduce((sum, { kb }) => sum + kb, 0)
  const lines = sizes.map(({ encoding, kb, path }) => `${kb.toFixed(1).padStart(7)} KB ${encoding} ${path}`)
  process.stdout.write(`${lines.join("\n")}\n${total.toFixed(1).padStart(7)} KB in all\n`)
  expect(first.length).toBeGreaterThan(3)
  expect(manifest[HOME]?.file).toBeDefined()
  expect(first).toContain(`/${manifest[HOME]?.file}`)
  expect(new Set(sizes.map(({ encoding }) => encoding))).toEqual(new Set(["gzip"]))
  // React alone is more than half of it: less would mean that the wrong thing was measured.
  expect(total).toBeGreaterThan(60)
  expect(total).toBeLessThanOrEqual(FIRST_LOAD_KB)
})
