// Build: the page is made anew when its sources have changed, and only then.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ensurePage } from "../build.ts"

test("U1 what is up to date stays, what is not is made anew, and nothing is left beside it", async () => {
  const place = mkdtempSync(join(tmpdir(), "reverie-build-"))
  const folder = join(place, "dist")
  const stamp = join(folder, "sources.hash")
  expect(await ensurePage(folder)).toBe(folder)
  const html = readFileSync(join(folder, "index.html"), "utf8")
  expect(html).toMatch(/src="\/assets\/index-[\w-]+\.js"/)
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style|https?:/)

  writeFileSync(join(folder, "index.html"), "kept")
  const began = performance.now()
  await ensurePage(folder)
  process.stdout.write(`a page that is up to date is known in ${(performance.now() - began).toFixed(0)} ms\n`)
  expect(readFileSync(join(folder, "index.html"), "utf8")).toBe("kept")

  writeFileSync(stamp, "of other sources")
  await ensurePage(folder)
  expect(readFileSync(join(folder, "index.html"), "utf8")).toBe(html)
  expect(readdirSync(join(place, ".reverie"))).toEqual([])
  rmSync(place, { recursive: true })
})
