// Phone: what a page is opened for can be read at 390 px without scrolling sideways.

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { builtPage, openBrowser, openTab, type Tab } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

let browser: Browser
let api: FakeApi
let tab: Tab

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 40 })
  browser = await openBrowser()
  tab = await openTab(browser, api.url, { viewport: { width: 390, height: 844 } })
})
afterAll(async () => {
  await tab.close()
  await browser.close()
  await api.close()
})

const widthOf = (selector: string): Promise<number> =>
  tab.page.$eval(selector, (element) => element.getBoundingClientRect().width)

for (const level of ["story", "trace"]) {
  test(`Timeline as ${level}: what came and what was answered has a line of its own`, async () => {
    await tab.open(`/a/${api.world.rows[3]?.id ?? ""}/timeline?level=${level}`, "timeline")
    await tab.page.waitForSelector("[data-view]")
    expect(await widthOf("[data-view] > .timeline-line > :nth-child(3)")).toBeGreaterThan(300)
    // The title stands above the filters, as on every page.
    const [title, search] = await tab.page.evaluate(() =>
      ["h1", "input[type=search]"].map((each) => document.querySelector(each)?.getBoundingClientRect())
    )
    expect(title?.bottom ?? Infinity).toBeLessThanOrEqual(search?.top ?? 0)
  })
}

test("Usage: the cost of each is in view", async () => {
  await tab.open("/usage", "usage")
  await tab.page.waitForSelector("[data-usage-key]")
  const right = await tab.page.$eval("[data-usage-key] > :last-child", (cell) => cell.getBoundingClientRect().right)
  expect(right).toBeLessThanOrEqual(390)
})

test("Live: what is said below the field stands on one line, and every part of memory can be chosen", async () => {
  const { page } = tab
  await tab.open(`/a/${api.world.rows[3]?.id ?? ""}`, "live")
  await page.waitForSelector("select[name=context]")
  expect(await page.$eval("[data-hint]", (hint) => hint.getBoundingClientRect().height)).toBeLessThan(30)
  await tab.open(`/a/${api.world.rows[3]?.id ?? ""}/memory`, "memory")
  const [inner, outer] = await page.$eval(".segmented", ({ clientWidth, scrollWidth }) => [scrollWidth, clientWidth])
  expect(inner).toBeLessThanOrEqual((outer ?? 0) + 1)
})
