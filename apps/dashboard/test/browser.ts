// Browser: Chromium, as the tests of the page use it.
// Owns starting it, what counts as wrong on any page, and pictures for people to look at.
// W1  A test without Chromium fails and says so: it is never skipped.

import { mkdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { isLong } from "@reverie/testkit/length"
import { ensurePage } from "../build.ts"
import { chromiumPath } from "./chromium.ts"

const pictures = join(import.meta.dirname, "../../../test/page/screenshots")
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** In which pages are looked at; in both by a long check. */
export const themes: ReadonlyArray<"light" | "dark"> = isLong ? ["light", "dark"] : ["light"]

export const openBrowser = (...more: ReadonlyArray<string>): Promise<Browser> => {
  if (chromiumPath === undefined) throw new Error("no Chromium; install it, or say in CHROMIUM_PATH where it is")
  return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", ...more] })
}

/** The folder of the page as its sources have it now: made once for all tests. */
export const builtPage = (): Promise<string> => ensurePage()

/** What is larger than the shell: a document that scrolls at all, or a page that scrolls sideways as a whole. */
export const spills = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const { clientHeight, clientWidth, scrollHeight, scrollWidth } = document.documentElement
    const main = document.getElementById("main") ?? { scrollWidth: Infinity, clientWidth: 0 }
    return [
      ...(scrollWidth > clientWidth ? [`the document is ${scrollWidth} wide in ${clientWidth}`] : []),
      ...(scrollHeight > clientHeight ? [`the document is ${scrollHeight} high in ${clientHeight}`] : []),
      ...(main.scrollWidth > main.clientWidth ? [`the page is ${main.scrollWidth} wide in ${main.clientWidth}`] : [])
    ]
  })

/** Parts of the page that scroll sideways or cut a choice, everything in it opened; a drawing, a plot and words as they stand may. */
export const sideways = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    for (const closed of document.querySelectorAll("#main details")) closed.setAttribute("open", "")
    return [...document.querySelectorAll<HTMLElement>("#main *")]
      .filter((box) => /auto|scroll/.test(getComputedStyle(box).overflowX) || box.matches(".segmented"))
      .filter((box) => box.scrollWidth > box.clientWidth + 1)
      .filter((box) => box.closest("pre, .chart, [role=img], textarea, input") === null)
      .map((box) => {
        const name =
          box.getAttribute("aria-label") ?? box.closest("section")?.getAttribute("aria-label") ?? box.className
        return `${name} is ${box.scrollWidth} wide in ${box.clientWidth}`
      })
  })

/** Whether the tab of the open page can be seen whole in the navigation, wherever that is scrolled to. */
export const navIsInView = (page: Page): Promise<boolean> =>
  page
    .waitForFunction(
      () => {
        const place = document.querySelector("nav.navigation")?.getBoundingClientRect()
        const open = document.querySelector("nav.navigation [aria-current=page]")?.getBoundingClientRect()
        if (place === undefined || open === undefined) return false
        return open.left >= place.left - 1 && open.right <= place.right + 1
      },
      undefined,
      { timeout: 5_000 }
    )
    .then(
      () => true,
      () => false
    )

export interface Tab {
  readonly page: Page
  /** What the console, the content policy and exceptions said. */
  readonly wrongs: Array<string>
  readonly open: (path: string, name: string) => Promise<void>
  readonly close: () => Promise<void>
}

export const openTab = async (browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Tab> => {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    ...options
  })
  const page = await context.newPage()
  const wrongs: Array<string> = []
  page.on("pageerror", (error) => wrongs.push(error.message))
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") wrongs.push(message.text())
  })
  page.on("request", (request) => {
    const own = [url, "data:", `blob:${url}`]
    if (!own.some((begin) => request.url().startsWith(begin))) wrongs.push(`asked for ${request.url()}`)
  })
  return {
    page,
    wrongs,
    open: async (path, name) => {
      await page.goto(`${url}${path}`)
      await page.waitForSelector(`[data-page="${name}"][data-ready]`)
    },
    close: () => context.close()
  }
}

/** What axe finds serious or worse. */
export const seriousFaults = async (page: Page): Promise<ReadonlyArray<string>> => {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe)
  return page.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as {
        axe: {
          run: (options: { readonly resultTypes: ReadonlyArray<"violations"> }) => Promise<{
            violations: ReadonlyArray<{
              id: string
              impact: string
              nodes: ReadonlyArray<{ html: string; failureSummary: string }>
            }>
          }>
        }
      }
    ).axe.run({ resultTypes: ["violations"] })
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) =>
        nodes.map(({ failureSummary, html }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`)
      )
  })
}

/** For people to look at; a long check takes them. */
export const picture = async (page: Page, name: string): Promise<void> => {
  if (!isLong) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

/** Whether any hostile text was taken for more than text. */
export const isOwned = (page: Page): Promise<boolean> =>
  page.evaluate(() => (globalThis as unknown as { __owned?: unknown }).__owned !== undefined)
