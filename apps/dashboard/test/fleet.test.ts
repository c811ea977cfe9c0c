// Fleet: ten thousand assistants, found, sorted, scrolled through and told what to do.

import type { Browser } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { builtPage, openBrowser, openTab, seriousFaults, spills, type Tab } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"
import { listOf } from "./fake/fleet.ts"

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
  await tab.open("/fleet", "fleet")
})
afterEach(async () => {
  await tab.close()
  await api.close()
  if (tab.wrongs.length > 0) throw new Error(`the page said: ${tab.wrongs.join("; ")}`)
})

const ids = (): Promise<ReadonlyArray<string>> =>
  tab.page.$$eval("[data-row][data-assistant]", (rows) =>
    rows
      .toSorted((one, other) => Number(one.getAttribute("data-row")) - Number(other.getAttribute("data-row")))
      .map((row) => row.getAttribute("data-assistant") ?? "")
  )

test("B1 B3 ten thousand rows: a few are drawn, all can be reached, and the gaps between frames are reported", async () => {
  const { page } = tab
  expect(await page.getAttribute("[data-table]", "data-total")).toBe("10000")
  const { gaps, most } = await page.evaluate(async () => {
    const table = document.querySelector("[data-table]") as HTMLElement
    const found = { gaps: [] as Array<number>, most: 0 }
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve))
    let last = await frame()
    for (let step = 0; step < 120; step += 1) {
      table.scrollTop += 2_900
      const now = await frame()
      found.gaps.push(now - last)
      last = now
      found.most = Math.max(found.most, document.querySelectorAll("[data-row]").length)
    }
    return found
  })
  const sorted = gaps.toSorted((one, other) => one - other)
  process.stdout.write(
    `frame gaps over ${gaps.length} steps: p50 ${sorted[Math.floor(gaps.length * 0.5)]?.toFixed(1)} ms, p99 ${sorted[Math.floor(gaps.length * 0.99)]?.toFixed(1)} ms\n`
  )
  expect(most).toBeGreaterThan(20)
  expect(most).toBeLessThan(90)
  await page.waitForSelector('[data-row="9999"][data-assistant]')
  const all = await ids()
  const last = listOf(api.world.rows, { sort: "attention", descending: "true", cursor: "9999" }, Date.now())
  expect(all.at(-1)).toBe(last.items[0]?.id)
})

test("B2 the keyboard moves, chooses, searches and opens", async () => {
  const { page } = tab
  await page.keyboard.press("j")
  await page.keyboard.press("j")
  await page.keyboard.press("x")
  expect(await page.getAttribute('[data-row="1"]', "aria-selected")).toBe("true")
  expect(await page.getAttribute("[data-orders]", "data-orders")).toBe("1")
  await page.keyboard.press("/")
  await page.keyboard.type("tug-ad")
  await page.waitForFunction(() => location.search.includes("tug-ad"))
  await page.waitForFunction(
    () => Number(document.querySelector("[data-matched]")?.getAttribute("data-matched")) < 1_000
  )
  await page.waitForFunction(() =>
    [...document.querySelectorAll("[data-assistant]")].every((row) =>
      row.getAttribute("data-assistant")?.startsWith("tug-ad")
    )
  )
  const [first] = await ids()
  await page.keyboard.press("Escape")
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("BODY")
  // Searching leaves nothing behind to go back to; what goes back is waited for, or it would stop what is opened next.
  await page.goBack()
  await page.waitForURL("about:blank")
  await tab.open("/fleet?q=tug-ad", "fleet")
  await page.keyboard.press("j")
  await page.keyboard.press("Enter")
  await page.waitForSelector('[data-page="live"][data-ready]')
  expect(page.url()).toContain(encodeURIComponent(first ?? "?"))
  await page.keyboard.press("g")
  await page.keyboard.press("f")
  await page.waitForSelector('[data-page="fleet"]')
})

test("filter and order stand in the URL, and are the same when it is opened elsewhere", async () => {
  const { page } = tab
  await page.click("[data-counter=halted]")
  await page.waitForFunction(() => document.querySelector("[data-table]")?.getAttribute("data-total") === "140")
  await page.click("[data-sort=cost]")
  await page.waitForFunction(() => location.search.includes("sort=cost"))
  await page.waitForSelector('[role=columnheader][aria-sort="descending"]')
  await page.waitForSelector("[data-assistant]")
  const here = await ids()
  const costs = here.map((id) => api.world.rows.find((row) => row.id === id)?.day.costMicros ?? 0)
  expect(costs.length).toBeGreaterThan(10)
  expect(costs).toEqual(costs.toSorted((one, other) => other - one))
  const other = await openTab(browser, api.url)
  await other.open(new URL(page.url()).pathname + new URL(page.url()).search, "fleet")
  expect(await other.page.getAttribute("[data-assistant]", "data-assistant")).toBe(here[0])
  await other.close()
})

test("O1 S1 S2 nothing is done to those who are not selected, and all are selected in words, until another filter", async () => {
  const { page } = tab
  expect(await page.locator("[data-order]").count()).toBe(0)
  expect(await page.textContent("[data-select-all]")).toBe("Select all 10,000")
  await page.click("[data-counter=dreaming]")
  await page.waitForFunction(() => document.querySelector("[data-select-all]")?.textContent?.endsWith("that match"))
  await page.click("[data-select-all]")
  expect(await page.textContent("[data-orders] [role=status]")).toMatch(/^All 1,\d{3} that match selected$/)
  expect(await page.locator("[data-order]").count()).toBe(5)
  expect(await page.getAttribute('[data-row="0"]', "aria-selected")).toBe("true")
  await page.click("[data-counter=halted]")
  await page.waitForSelector("[data-order]", { state: "detached" })
  await page.waitForSelector('[data-row="0"][aria-selected="false"]')
})

test("every title of a column says what it tells", async () => {
  const titles = await tab.page.$$eval("[role=columnheader]", (heads) =>
    heads.slice(1).map((head) => [head.textContent?.replaceAll(/[↑↓]/g, ""), head.getAttribute("title") ?? ""] as const)
  )
  expect(titles.map(([title]) => title)).toEqual(
    expect.arrayContaining(["In state", "Sub-agents", "Tokens, cost 24 h"])
  )
  for (const [title, hint] of titles) expect([title, hint.length > 20]).toEqual([title, true])
})

test("O1 O2 an order for many is counted first, asked for, and sent once with a key", async () => {
  const { page } = tab
  await page.click("[data-counter=dreaming]")
  await page.waitForFunction(() => location.search.includes("dreaming"))
  await page.click("[data-select-all]")
  await page.click("[data-order=halt]")
  await page.waitForSelector("[data-dialog] [data-dry-run]")
  const counted = Number(await page.getAttribute("[data-dry-run]", "data-dry-run"))
  expect(counted).toBe(api.world.rows.filter(({ mode }) => mode === "dreaming").length)
  expect(api.world.rows.filter(({ mode }) => mode === "halted").length).toBe(140)
  await page.fill("[name=reason]", "the tide")
  await page.click("[data-confirm]")
  await page.waitForSelector("[data-dialog]", { state: "detached" })
  expect(api.world.rows.filter(({ mode }) => mode === "halted").length).toBe(140 + counted)
  const sent = api.changes.filter(({ asked }) => asked.payload["dryRun"] !== true)
  expect(sent.map(({ asked }) => asked.payload)).toEqual([{ order: "halt", state: "dreaming", reason: "the tide" }])
  expect(sent[0]?.key).toMatch(/^page-[0-9a-f]{32}$/)
  await page.waitForFunction(
    () => document.querySelector("[data-counter=dreaming]")?.getAttribute("data-count") === "0"
  )
})

test("O2 retire asks for the number to be typed", async () => {
  const { page } = tab
  await page.locator("[data-assistant] input[type=checkbox]").nth(0).check()
  await page.locator("[data-assistant] input[type=checkbox]").nth(1).check()
  await page.click("[data-order=retire]")
  await page.waitForSelector('[data-dry-run="2"]')
  expect(await page.isDisabled("[data-confirm]")).toBe(true)
  await page.fill("[data-dialog] input[name=number]", "3")
  expect(await page.isDisabled("[data-confirm]")).toBe(true)
  await page.fill("[data-dialog] input[name=number]", "2")
  await page.click("[data-confirm]")
  await page.waitForSelector("[data-dialog]", { state: "detached" })
  const sent = api.changes.filter(({ asked }) => asked.payload["dryRun"] !== true)
  expect(sent.map(({ asked }) => asked.payload["order"])).toEqual(["retire"])
})

test("who needs a person stands first where no order is asked for", async () => {
  const shown = (await ids()).map((id) => api.world.rows.find((row) => row.id === id)?.state)
  expect(shown.length).toBeGreaterThan(10)
  expect(new Set(shown)).toEqual(new Set(["halted"]))
})

test("what happens is seen without asking: a state changes in the row that is in view", async () => {
  // By its id it stays where it is, whatever becomes of it.
  await tab.open("/fleet?sort=id", "fleet")
  await tab.page.waitForSelector("[data-assistant]")
  const { page } = tab
  const [id] = await ids()
  const row = api.world.rows.find((each) => each.id === id)
  if (row === undefined) throw new Error("no one is in view")
  await page.waitForSelector('[role=status][data-connection="live"]')
  api.world.move(row, "awake.awaitingReports")
  await page.waitForSelector(`[data-assistant="${id}"][data-state="awake.awaitingReports"]`)
})

test("a server that does not answer is said once, and no one is claimed to be absent", async () => {
  const other = await openTab(browser, api.url)
  api.setBroken(true)
  await other.page.goto(`${api.url}/fleet?state=halted`)
  await other.page.waitForSelector('[data-page="fleet"] [data-failed="NoAnswer"]')
  expect(await other.page.locator("[data-empty]:visible").count()).toBe(0)
  expect(await other.page.locator("[data-order], [data-select-all]").count()).toBe(0)
  api.setBroken(false)
  await other.page.click("[data-failed] button")
  await other.page.waitForSelector("[data-assistant]")
  await other.page.waitForSelector("[data-failed]", { state: "detached" })
  await other.close()
  // The tab that was open before has said of the same server that it was away.
  tab.wrongs.length = 0
})

test("the banner says who waits for a person, and a model that is away with its server: in the banner, in the rows, and by those that wait for it", async () => {
  const { page } = tab
  const waiting = api.world.rows.filter(({ outage }) => outage !== undefined)
  for (const server of ["127.0.0.1:8080", "models.example:8443"]) {
    const count = waiting.filter(({ outage }) => outage?.server === server).length
    expect(count).toBeGreaterThan(10)
    const said = await page.textContent(`[data-banner-item=away][data-server="${server}"]`)
    expect(said).toContain(`the model at ${server} has not answered for`)
    expect(said).toContain(`${count} assistants wait, tried again in`)
  }
  const asking = api.world.rows.filter(({ state }) => state === "awake.awaitingApproval").length
  expect(asking).toBeGreaterThan(10)
  const approvals = await page.textContent("[data-banner-item=approvals]")
  expect(approvals).toContain("assistants wait for an approval")
  expect(approvals?.replaceAll(/\D/g, "")).toBe(String(asking))
  await page.click('[data-banner-item=away][data-server="127.0.0.1:8080"]')
  await page.waitForSelector('[data-row="0"][data-state="awake.thinking.parked"]')
  expect(await page.textContent('[data-row="0"]')).toMatch(/waits for the model at (127|models)/)
  const one = waiting.find(({ outage }) => outage?.reason.includes("ECONNREFUSED") && outage.nextTry !== undefined)
  await tab.open(`/a/${one?.id}`, "live")
  const trouble = await page.textContent("[data-trouble=away]")
  expect(trouble).toMatch(
    /Waits for its model.*has not answered in \d+ tries: ModelUnavailable: ECONNREFUSED.*tried again/
  )
})

test("the fleet in groups: sums of each definition or state, and a group leads to its rows", async () => {
  const { page } = tab
  await page.click("[data-counter=dreaming]")
  await page.click("[data-group-by=definition]")
  await page.waitForSelector("[data-groups][data-by=definition]")
  expect(await page.locator("[data-group-by][aria-current]").count()).toBe(1)
  const dreaming = api.world.rows.filter(({ mode }) => mode === "dreaming")
  const pilots = dreaming.filter(({ definition }) => definition === "pilot")
  expect(await page.getAttribute("[data-groups]", "data-groups")).toBe("10")
  expect(await page.getAttribute("[data-group=pilot]", "data-assistants")).toBe(String(pilots.length))
  const waiting = pilots.reduce((sum, each) => sum + each.waiting, 0)
  expect((await page.textContent("[data-group=pilot] [data-title=Queued]"))?.replaceAll(/\D/g, "")).toBe(
    String(waiting)
  )
  await page.click("[data-group=pilot] a")
  await page.waitForSelector(`[data-matched="${pilots.length}"]`)
  await page.waitForSelector('[data-row="0"][data-assistant^="pilot-"]')
  await page.click("[data-select-all]")
  await page.click("[data-order=halt]")
  await page.waitForSelector(`[data-dry-run="${pilots.length}"]`)
  await page.click("[data-dialog] [data-close], [data-dialog] button:has-text('Cancel')")
  await page.click("[data-clear-filter=definition]")
  await page.waitForSelector(`[data-matched="${dreaming.length}"]`)
  await page.click("[data-group-by=state]")
  await page.waitForSelector("[data-group=dreaming]")
  await page.click("[data-group-by=tag]")
  const afloat = Number(await page.getAttribute("[data-group=afloat]", "data-assistants"))
  expect(afloat).toBeGreaterThan(100)
  expect(afloat).toBeLessThan(dreaming.length)
  await page.click("[data-group=afloat] a")
  await page.waitForSelector(`[data-matched="${afloat}"]`)
  await page.waitForSelector("[data-clear-filter=tag]")
})

test("V1 V2 a view is kept under a name in this browser, leads to what it was, and can be removed", async () => {
  const { page } = tab
  expect(await page.locator("[data-save-view]").count()).toBe(0)
  await page.click("[data-counter=halted]")
  await page.click("[data-sort=cost]")
  await page.waitForFunction(() => location.search.includes("sort=cost"))
  await page.click("[data-save-view]")
  await page.fill("input[name=view]", "what stands still")
  await page.keyboard.press("Enter")
  await page.waitForSelector('[data-view="what stands still"] [aria-current]')
  expect(await page.locator("[data-save-view]").count()).toBe(0)
  await tab.open("/fleet", "fleet")
  await page.click('[data-view="what stands still"] a')
  await page.waitForFunction(() => document.querySelector("[data-table]")?.getAttribute("data-total") === "140")
  expect(new URL(page.url()).search).toBe("?state=halted&sort=cost&desc=true")
  await page.click('[data-view="what stands still"] button')
  await page.waitForSelector("[data-view]", { state: "detached" })
  // What something else has written there is no harm.
  await page.evaluate(() =>
    localStorage.setItem("reverie.fleet.views", JSON.stringify([1, null, { name: "odd", search: { sort: "colour" } }]))
  )
  await tab.open("/fleet", "fleet")
  expect(await page.locator("[data-view]").count()).toBe(1)
})

test("T1 T2 each row in view has a plot of its last day; what is scrolled past is not asked for", async () => {
  const { page } = tab
  const asked: Array<ReadonlyArray<string>> = []
  page.on("request", (request) => {
    const url = new URL(request.url())
    if (url.pathname === "/v1/activity") asked.push((url.searchParams.get("ids") ?? "").split(","))
  })
  await tab.open("/fleet?sort=id", "fleet")
  await page.waitForSelector("[data-assistant] [data-spark]")
  const inView = await ids()
  const plots = await page.$$eval("[data-assistant]", (rows) =>
    rows.map((row) => [
      row.getAttribute("data-assistant"),
      row.querySelector("[data-spark]")?.getAttribute("data-spark")
    ])
  )
  expect(plots.length).toBe(inView.length)
  for (const [id, total] of plots) {
    const used = api.world.rows.find((row) => row.id === id)?.day.tokens ?? 0
    // Each hour is rounded.
    expect([id, Math.abs(Number(total) - used) <= 24]).toEqual([id, true])
  }
  await page.evaluate(async () => {
    const table = document.querySelector("[data-table]") as HTMLElement
    for (let step = 0; step < 12; step += 1) {
      table.scrollTop += 2_000
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
  })
  await page.waitForFunction(() =>
    [...document.querySelectorAll("[data-row]")].every((row) => row.querySelector("[data-spark]") !== null)
  )
  // Some twenty rows are in view, and a few around them; 700 were scrolled past.
  expect(asked.flat().length).toBeLessThan(200)
  expect(Math.max(...asked.map(({ length }) => length))).toBeLessThanOrEqual(100)
})

test("a phone shows of each who it is, its state, its cost and its error, and sorts and selects with a thumb", async () => {
  const phone = await openTab(browser, api.url, { viewport: { width: 390, height: 844 } })
  const { page } = phone
  await phone.open("/fleet", "fleet")
  await page.waitForSelector("[data-assistant]")
  expect(await spills(page)).toEqual([])
  const table = await page.$eval("[data-table]", (each) => [each.scrollWidth, each.clientWidth] as const)
  expect(table[0]).toBeLessThanOrEqual(table[1])
  const [id] = await page.$$eval("[data-row='0']", (rows) => rows.map((row) => row.getAttribute("data-assistant")))
  const row = api.world.rows.find((each) => each.id === id)
  const said = await page.textContent("[data-row='0']")
  expect(said).toContain("halted")
  expect(said).toContain("$")
  expect(row?.haltReason).toBeDefined()
  await page.selectOption("[name=sort]", "cost")
  await page.waitForFunction(() => location.search.includes("sort=cost"))
  await page.waitForFunction(
    (before) => document.querySelector("[data-row='0']")?.getAttribute("data-assistant") !== before,
    id
  )
  await page.locator("[data-assistant] input[type=checkbox]").first().check()
  const orders = await page.$$eval("[data-order]", (buttons) =>
    buttons.map((button) => {
      const { left, right } = button.getBoundingClientRect()
      return left >= 0 && right <= innerWidth
    })
  )
  expect(orders).toEqual([true, true, true, true, true])
  await phone.close()
})

test("an assistant is created on the page, and one that is there already is said", async () => {
  const { page } = tab
  await page.click("[data-create]")
  await page.waitForSelector("[data-create-form] option >> nth=3", { state: "attached" })
  expect(await seriousFaults(page)).toEqual([])
  const [there] = api.world.rows
  await page.fill("[data-create-form] [name=id]", there?.id ?? "")
  await page.selectOption("[data-create-form] [name=definition]", "tug")
  await page.click("[data-confirm=Create]")
  await page.waitForSelector("[data-failed=Conflict]")
  await page.fill("[data-create-form] [name=id]", "ada")
  await page.click("[data-confirm=Create]")
  await page.waitForSelector('[data-page="live"] >> text=ada')
  expect(api.world.rows.find(({ id }) => id === "ada")?.definition).toBe("tug")
  // The palette finds it from anywhere, and Escape leaves the page as it was.
  await page.keyboard.press("Control+k")
  await page.waitForSelector("[data-palette] input:focus")
  await page.keyboard.type("create")
  await page.waitForSelector("[data-entry=create][aria-selected=true]")
  await page.keyboard.press("Enter")
  await page.waitForSelector("[data-create-form]")
  await page.keyboard.press("Escape")
  await page.waitForSelector("[data-create-form]", { state: "detached" })
  expect(new URL(page.url()).search).toBe("")
})
