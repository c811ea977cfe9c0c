// Trace: an opened tick on its axis, and the list on one scale, in Chromium: both themes, and as narrow as a phone.

import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { builtPage, isOwned, openBrowser, openTab, picture, seriousFaults, spills } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"
import { LONG_TICK } from "./fake/timeline.ts"

let browser: Browser
let api: FakeApi
let home = ""

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 8 })
  browser = await openBrowser()
  home = `/a/${api.world.rows[3]?.id ?? ""}/timeline`
})
afterAll(async () => {
  await browser.close()
  await api.close()
})

const opened = async (page: Page): Promise<void> => {
  await page.waitForSelector("[data-agent] [data-trace]")
  await page.waitForSelector("[data-loading]", { state: "detached" })
}

test("an opened tick has one axis: marks, a break that says how long a person took, first token, cost, sub-agent (T1, T2)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}?level=trace&tick=${LONG_TICK}`, "timeline")
  await opened(page)
  expect(await page.locator(".trace-head > *").allInnerTexts()).toEqual([
    "Span",
    expect.stringContaining("a person 36 s"),
    "Took",
    "Tokens in → out",
    "Cost",
    "Remarks"
  ])
  const marks = await page.locator(".trace-mark").allInnerTexts()
  expect(marks.length).toBeGreaterThanOrEqual(4)
  expect(marks).toContain("0")
  const line = (span: string) => page.locator(`[data-level='0'] > [data-span=${span}] > .trace-line`)
  expect(await line("model-0").innerText()).toContain("first token after 300 ms")
  expect(await line("model-1").innerText()).toContain("first token not measured")
  expect(await line("model-1").locator("[data-first-token]").count()).toBe(0)
  expect(await line("model-0").innerText()).toMatch(/9,000 → 120\s+\$0\.0090/)
  expect(await line("wait-1").innerText()).toContain("waiting for a person")
  expect(await line("commits").innerText()).toContain("not measured")
  expect(await page.locator("[data-agent=sub-agent-1] [data-span=model-0]").innerText()).toContain("harbour-small-1")
  const place = (selector: string) => page.$eval(selector, (bar) => bar.getBoundingClientRect().left)
  const own = "[data-level='0'] > [data-span=model-2] > .trace-line .lane-span"
  expect(await place("[data-agent] [data-span=model-0] .lane-span")).toBeLessThan(await place(own))
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("in the list every bar is on the same scale, columns are named, and each time has its moment (A2)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  for (const level of ["story", "trace"] as const) {
    await tab.open(`${home}?level=${level}`, "timeline")
    await page.waitForSelector("[data-view]")
    const heads = (await page.locator(`[data-columns=${level}]`).innerText()).split("\n")
    for (const head of ["#", "Kind or outcome", "Took", "Tools", "Tokens", "Cost", "When"])
      expect(heads).toContain(head)
    const times = await page.$$eval("[data-view] time", (all) => all.map((time) => time.getAttribute("title") ?? ""))
    expect(times.length).toBeGreaterThan(10)
    expect(times.filter((title) => !/\d{4}/.test(title))).toEqual([])
  }
  const bars = await page.$$eval(".duration-bar", (all) =>
    all.map((bar) => ({
      millis: Number(bar.getAttribute("data-millis")),
      share: bar.getBoundingClientRect().width / (bar.parentElement?.clientWidth ?? 1)
    }))
  )
  expect(bars.length).toBeGreaterThan(20)
  const byTime = bars.toSorted((one, other) => one.millis - other.millis)
  for (const [n, { share }] of byTime.entries()) {
    expect(share).toBeGreaterThanOrEqual((byTime[n - 1]?.share ?? 0) - 0.005)
  }
  const scale = (await page.locator(".durations-scale").innerText()).split("\n").filter((each) => each !== "")
  expect(scale).toEqual(["1 ms", "100 ms", "10 s", "10 min", "1 day"])
  await tab.open(`${home}?tick=${LONG_TICK}`, "timeline")
  const first = page.locator(`[data-story='${LONG_TICK}'] time`)
  await first.first().waitFor()
  expect((await first.allInnerTexts()).slice(0, 3)).toEqual(["start", "start", "+950 ms"])
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

const places = [
  ["trace-list", "?level=trace"],
  ["trace-open", `?level=trace&tick=${LONG_TICK}`],
  ["story-open", `?tick=${LONG_TICK}`]
] as const

/** Names and remarks of spans that can not be read whole. */
const cutIn = (page: Page): Promise<ReadonlyArray<string>> =>
  page.$$eval(".trace-name, .trace-said", (found) =>
    found.filter((each) => each.scrollWidth > each.clientWidth).map(({ textContent }) => textContent)
  )

for (const [look, options] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["narrow", { viewport: { width: 390, height: 844 } }]
] as const) {
  test(`the trace is readable, ${look}: axe finds nothing serious, nothing scrolls sideways`, async () => {
    const tab = await openTab(browser, api.url, options)
    for (const [name, search] of places) {
      await tab.open(`${home}${search}`, "timeline")
      if (name === "trace-open") await opened(tab.page)
      await tab.page.waitForSelector("[data-loading]", { state: "detached" })
      await picture(tab.page, `${name}-${look}`)
      expect([name, await cutIn(tab.page)]).toEqual([name, []])
      expect([name, await seriousFaults(tab.page)]).toEqual([name, []])
      expect([name, await spills(tab.page)]).toEqual([name, []])
    }
    expect(await isOwned(tab.page)).toBe(false)
    expect(tab.wrongs).toEqual([])
    await tab.close()
  })
}
