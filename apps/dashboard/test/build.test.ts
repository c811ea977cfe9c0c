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

/** What stands behind `+` or `~`: what such a rule is about. */
const neighbours = (css: string): ReadonlyArray<string> =>
  [...css.replace(/\{[^{}]*:[^{}]*\}/g, "{}").matchAll(/[+~]\s*([^\s+~>,{}()]+)(?=[^{}()]*\{)/g)].map(
    ([, of = ""]) => of
  )

test("a rule about a neighbour is about one of a class: else each row that comes in asks for the styles of the whole page", async () => {
  const assets = join(await ensurePage(), "assets")
  const css = readdirSync(assets)
    .filter((file) => file.endsWith(".css"))
    .map((file) => readFileSync(join(assets, file), "utf8"))
    .join("\n")
  const all = neighbours(css)
  expect(all.length).toBeGreaterThan(0)
  expect(all.filter((of) => !/^[.[]/.test(of))).toEqual([])
  expect(neighbours(".a + div{color:red}.b~.c>p{}.d{width:calc(1px + 2px)}")).toEqual(["div", ".c"])
})
