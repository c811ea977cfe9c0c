// Overview: the page that one opens first.

import type { Browser } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { builtPage, openBrowser, openTab, type Tab } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

let browser: Browser
let api: FakeApi
let tab: Tab

beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
})
beforeEach(async () => {
  api = await openFakeApi({ page: await builtPage() })
  tab = await openTab(browser, api.url)
  await tab.open("/", "overview")
})
afterEach(async () => {
  await tab.close()
  await api.close()
  if (tab.wrongs.length > 0) throw new Error(`the page said: ${tab.wrongs.join("; ")}`)
})

test("O1 what needs a person stands first: approvals are given right here, the rest is one click away", async () => {
  const { page } = tab
  await page.waitForSelector("[data-approval]")
  expect(await page.locator("[data-approval]").count()).toBe(1)
  expect(await page.locator("[data-more]").innerText()).toMatch(/^\d+ more calls wait$/)
  const [banner, first, feed] = await Promise.all(
    ["[data-banner]", "[data-approval]", "[data-lines]"].map((of) => page.locator(of).first().boundingBox())
  )
  expect(banner?.y ?? 0).toBeLessThan(first?.y ?? 0)
  expect(first?.y ?? 0).toBeLessThan(feed?.y ?? 0)
  await page.locator("[data-approval]").first().locator("[data-decide=approved]").click()
  await expect.poll(() => api.changes.map(({ asked: { payload } }) => payload["decision"])).toEqual(["approved"])
  // Red is for what has failed: one who waits for a person does as it should.
  const colourOf = (item: string) => page.$eval(`[data-banner-item=${item}]`, (link) => getComputedStyle(link).color)
  expect(await colourOf("approvals")).not.toBe(await colourOf("halted"))
  await page.click("[data-banner-item=halted]")
  await page.waitForSelector('[data-page="fleet"][data-ready]')
  expect(new URL(page.url()).searchParams.get("state")).toBe("halted")
})

test("O1 what is stuck stands there by name: who is halted and why, and what was dead-lettered", async () => {
  const { page } = tab
  const halted = api.world.rows.filter(({ state }) => state === "halted")
  const [dead] = api.world.dead
  expect(halted.length).toBeGreaterThan(0)
  const shown = page.locator("[data-stuck][data-why=halted]")
  expect(await shown.count()).toBe(Math.min(5, halted.length))
  expect(await page.locator("[data-more-stuck]").first().innerText()).toMatch(/^[\d,]+ more$/)
  const name = (await shown.first().getAttribute("data-stuck")) ?? ""
  expect(await shown.first().innerText()).toContain(halted.find(({ id }) => id === name)?.haltReason ?? "no reason")
  const letter = page.locator(`[data-stuck="${dead?.assistant}"][data-why=dead]`).first()
  expect(await letter.innerText()).toContain(dead?.reason)
  await shown.first().locator("a").click()
  await page.waitForSelector('[data-page="live"][data-ready]')
  expect(decodeURIComponent(new URL(page.url()).pathname)).toBe(`/a/${name}`)
})

test("O1 who is close to a limit stands there by name, with how far, and leads to where it is raised", async () => {
  const { page } = tab
  const full = api.world.rows.filter(({ contextShare = 0 }) => contextShare >= 0.8)
  const fullest = Math.max(...full.map(({ contextShare = 0 }) => contextShare))
  expect(full.length).toBeGreaterThan(5)
  await page.waitForSelector("[data-near][data-why=window]")
  const windows = page.locator("[data-near][data-why=window]")
  expect(await windows.count()).toBe(5)
  expect(await windows.first().innerText()).toContain(`window ${Math.round(fullest * 100)}% full`)
  expect(await page.locator("[data-more-near]").innerText()).toBe(`${(full.length - 5).toLocaleString("en")} more`)
  const spent = page.locator(`[data-near="${api.world.rows[0]?.id}"][data-why=budget]`)
  expect(await spent.innerText()).toMatch(/budget 82% used at the pace of the last day used up in /)
  expect(await page.locator("[data-banner-item=full]").innerText()).toMatch(/^[\d,]+ context windows are nearly full$/)
  await page.locator("[data-banner-item=spent]").click()
  await page.waitForSelector('[data-page="usage"][data-ready]')
})

test("O1 a limit of the day of all of them stands there too, alone as well, and red when it is used up", async () => {
  const other = await openTab(browser, api.url)
  await other.page.route("**/v1/budgets*", async (route) => {
    const { tenant } = await (await route.fetch()).json()
    const amounts = { calls: 7, tokens: 850_000, costMicros: 3_000_000 }
    const limits = { callsPerDay: 10, tokensPerDay: 1_000_000, costMicrosPerDay: 3_000_000 }
    await route.fulfill({ json: { items: [], matched: 0, tenant: { ...tenant, limits, inDay: amounts } } })
  })
  await other.open("/", "overview")
  await other.page.waitForSelector("[data-near-lines] [data-why=limit]")
  const lines = other.page.locator("[data-why=limit]")
  expect((await lines.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
    "limit all cost of the day used up: calls wait for the next one Limits",
    "limit all tokens of the day 85% used Limits"
  ])
  expect(await lines.evaluateAll((found) => found.map((line) => line.getAttribute("data-tone")))).toEqual([
    "bad",
    "warn"
  ])
  await lines.first().locator("a").click()
  await other.page.waitForSelector('[data-page="usage"][data-ready]')
  await other.close()
})

test("O1 the names of all of them can be read whole, however long", async () => {
  const { page } = tab
  const long = "berth-".repeat(12)
  await page.$eval("[data-stuck] > a", (link, text) => (link.textContent = text), long)
  const cut = await page.$$eval("[data-stuck] > a, [data-feed] > a", (links) =>
    links.filter((link) => link.scrollWidth > link.clientWidth).map(({ textContent }) => textContent)
  )
  expect(cut).toEqual([])
})

test("O2 what has a price is shown however many calls failed: these are not among those that answered", async () => {
  const other = await openTab(browser, api.url)
  await other.page.route("**/v1/pulse", async (route) => {
    const pulse = await (await route.fetch()).json()
    const priced = { modelCalls: 1, modelFailed: 1, costMicros: 5_000, unpricedCalls: 0 }
    const hour = pulse.hour.map((point: object, n: number) => ({ ...point, ...priced, unpricedCalls: n === 0 ? 1 : 0 }))
    await route.fulfill({ json: { ...pulse, hour } })
  })
  await other.open("/", "overview")
  expect(await other.page.locator("[data-series=cost] strong").innerText()).toBe("$0.30 + 1 unpriced")
  await other.close()
})

test("O1 while the card of a call is on its way, its place is not empty", async () => {
  const slow = await openTab(browser, api.url)
  let go = (): void => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  await slow.page.route("**/assets/card-*.js", async (route) => {
    await held
    await route.continue()
  })
  await slow.open("/", "overview")
  await slow.page.waitForSelector("[data-approvals] [data-loading]")
  go()
  await slow.page.waitForSelector("[data-approvals] [data-approval]")
  expect(await slow.page.locator("[data-approvals] [data-loading]").count()).toBe(0)
  await slow.close()
})

test("O2 figures of the last hour and day, with what failed, and the last lines in words, each leading to its assistant", async () => {
  const { page } = tab
  const bars = (name: string) => page.locator(`[data-series=${name}] .series-bar`).count()
  for (const name of ["messages", "runs", "model", "calls", "tokens", "cost"]) expect(await bars(name)).toBe(60)
  // How many ran, and how fast they came: the bars say only how long they took.
  expect(await page.locator("[data-of-series=runs]").innerText()).toMatch(/^[\d,]+ runs, at most [\d.]+ a second$/)
  expect(await page.locator("[data-series=calls] .series-bad").count()).toBeGreaterThan(0)
  expect(await page.getAttribute("[data-series=tokens] svg", "aria-label")).toMatch(
    /^Tokens in the last hour: [\d.]+M; at most \d+k a minute$/
  )
  // Who failed is not among those that answered, as on Usage; both are drawn.
  expect(await page.locator("[data-series=calls] strong").innerText()).toMatch(/^[\d,]+ answered, \d+ failed$/)
  await page.click("[data-span=day]")
  await page.waitForSelector("[data-figures=day]")
  expect(await page.$$eval(".segmented > [aria-current]", (all) => all.map(({ textContent }) => textContent))).toEqual([
    "last day"
  ])
  expect(await bars("messages")).toBe(96)
  expect(new URL(page.url()).search).toBe("?span=day")
  const lines = page.locator("[data-feed]")
  expect(await lines.count()).toBe(24)
  expect(await page.locator('[data-feed][data-tone="heard"] > :last-child').first().innerText()).not.toMatch(/^< /)
  expect(await page.locator('[data-feed][data-tone="bad"]').first().innerText()).toContain("dead letter:")
  const name = await lines.first().locator("a").innerText()
  await lines.first().locator("a").click()
  await page.waitForSelector('[data-page="live"][data-ready]')
  expect(decodeURIComponent(new URL(page.url()).pathname)).toBe(`/a/${name}`)
  await page.keyboard.press("g")
  await page.keyboard.press("h")
  await page.waitForSelector('[data-page="overview"][data-ready]')
})
