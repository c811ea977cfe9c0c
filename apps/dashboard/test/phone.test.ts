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

/** What of the texts that the selector finds is cut, or stands beside its place. */
const cut = (selector: string): Promise<ReadonlyArray<string>> =>
  tab.page.$$eval(selector, (found) =>
    found.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent)
  )

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

/** How far each head that is shown stands from what is below it in the first row: by its right edge where that is a number. */
const headsBeside = (): Promise<ReadonlyArray<number>> =>
  tab.page.evaluate(() => {
    const cells = (of: string) => [...(document.querySelector(of)?.children ?? [])]
    const row = cells("[data-view] > .timeline-line")
    return cells(".timeline-heads > .timeline-line").flatMap((head, at) => {
      const [above, below] = [head.getBoundingClientRect(), row[at]?.getBoundingClientRect()]
      if (above.width === 0 || below === undefined) return []
      const isNumber = at === 0 || head.matches(".timeline-number")
      return [Math.round(isNumber ? above.right - below.right : above.left - below.left)]
    })
  })

for (const level of ["story", "trace"]) {
  test(`Timeline as ${level}: every head stands above what it names, and none is cut`, async () => {
    await tab.open(`/a/${api.world.rows[3]?.id ?? ""}/timeline?level=${level}`, "timeline")
    await tab.page.waitForSelector("[data-view]")
    const beside = await headsBeside()
    expect(beside).toEqual(level === "trace" ? [0, 0, 0, 0, 0] : [0, 0, 0, 0])
    expect(await cut(".timeline-heads > .timeline-line > :not(.durations-scale)")).toEqual([])
    const [line, text] = await tab.page.$$eval(
      ".timeline-heads > .timeline-line > :is(:first-child, :nth-child(3))",
      (all) => all.map((each) => each.getBoundingClientRect().top)
    )
    expect(text ?? 0).toBeGreaterThan((line ?? 0) + 10)
  })
}

test("Replay: what happened can be read whole, and the open event is in view", async () => {
  await tab.open(`/a/${api.world.rows[3]?.id ?? ""}/replay`, "replay")
  await tab.page.waitForSelector("[data-frame]")
  expect(await cut(".frame-line > span")).toEqual([])
  const [list, open] = await tab.page.evaluate(() =>
    [".frames", "[data-frame][aria-selected=true]"].map((each) => document.querySelector(each)?.getBoundingClientRect())
  )
  expect(open?.bottom ?? Infinity).toBeLessThanOrEqual((list?.bottom ?? 0) + 1)
  expect(open?.top ?? 0).toBeGreaterThanOrEqual(list?.top ?? 0)
})

test("the name of the assistant can be read whole on each of its pages", async () => {
  for (const page of ["timeline", "memory", "subagents"]) {
    await tab.open(`/a/${api.world.rows[3]?.id ?? ""}/${page}`, page)
    expect([page, await cut("[data-crumb]")]).toEqual([page, []])
    expect(await tab.page.innerText("[data-crumb]")).toBe(api.world.rows[3]?.id)
  }
})

test("Fleet: the counters are of one height, and the number of each stands below its name", async () => {
  await tab.open("/fleet", "fleet")
  const found = await tab.page.$$eval(".counter", (all) =>
    all.map((counter) => {
      const [name, number] = [...counter.children].map((part) => part.getBoundingClientRect())
      return [Math.round(counter.getBoundingClientRect().height), (number?.top ?? 0) >= (name?.bottom ?? 0) - 1]
    })
  )
  expect(found.length).toBe(9)
  expect(new Set(found.map(([height]) => height)).size).toBe(1)
  expect(found.every(([, below]) => below)).toBe(true)
})

test("figures beside each other have a line between them, and none at the edge of their card", async () => {
  for (const [path, name, figures] of [
    ["/usage", "usage", ".totals"],
    ["/queues", "queues", ".totals"],
    ["/fleet", "fleet", ".counter"]
  ] as const) {
    await tab.open(path, name)
    await tab.page.waitForSelector(figures)
    const doubled = await tab.page.$$eval(figures, (all) =>
      all
        .filter((each) => {
          const [edge, card] = [each, each.parentElement].map((box) => box?.getBoundingClientRect().left ?? 0)
          const isFirst = Math.abs((edge ?? 0) - (card ?? 0)) < 4
          return isFirst && (edge ?? 0) >= (card ?? 0) + (each.parentElement?.clientLeft ?? 0)
        })
        .filter((each) => getComputedStyle(each).borderLeftWidth !== "0px")
        .map(({ textContent }) => textContent)
    )
    expect([name, doubled]).toEqual([name, []])
  }
})

test("a part of the window stands beside its title, and each kind of span on one line", async () => {
  const home = `/a/${api.world.rows[3]?.id ?? ""}`
  await tab.open(`${home}/context`, "context")
  const part = await tab.page.waitForSelector("[data-parts] td[data-title=Part]")
  expect((await part.boundingBox())?.height ?? Infinity).toBeLessThan(30)
  await tab.open(`${home}/timeline?level=trace`, "timeline")
  const heights = await tab.page.$$eval("[data-legend] > *", (all) =>
    all.map((each) => each.getBoundingClientRect().height)
  )
  expect(Math.max(...heights)).toBeLessThan(24)
})

test("a button of a list stands there without the title of its column", async () => {
  await tab.open("/usage", "usage")
  await tab.page.waitForSelector("[data-usage-key]")
  expect(await tab.page.locator('td[data-title="Change"], td[data-title="Actions"]').count()).toBe(0)
  expect(await tab.page.locator("td:has(> button), td:has(> * > button)").count()).toBeGreaterThan(0)
})

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
