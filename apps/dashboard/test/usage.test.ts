// Usage: bars over time, filters, budgets, and tables as files.

import { readFileSync } from "node:fs"
import { afterEach, expect, test } from "vitest"
import type { Tab } from "./browser.ts"
import type { FakeApi } from "./fake-api.ts"
import { inTabs } from "./in-tabs.ts"

let api: FakeApi
let tab: Tab
inTabs(1_234, (opened) => ({ api, tab } = opened))
afterEach(() => {
  if (tab.wrongs.length > 0) throw new Error(`the page said: ${tab.wrongs.join("; ")}`)
})

const params = () => new URL(tab.page.url()).searchParams

/** What a click gives to the browser as a file. */
const saved = async (selector: string) => {
  const [download] = await Promise.all([tab.page.waitForEvent("download"), tab.page.click(selector)])
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") }
}

test("C1 bars of 24 hours and 30 days, divided by assistant, model and purpose, each with those that used most", async () => {
  await tab.open("/usage", "usage")
  const { page } = tab
  expect(await page.locator("[data-chart=costMicros] [data-at]").count()).toBe(24)
  expect(await page.locator("[data-legend]").getAttribute("data-legend")).toBe("9")
  expect(await page.locator("[data-chart] .stack").count()).toBe(27)
  const calls = Number(
    await page
      .locator('[data-usage-of="Model calls"] dd')
      .innerText()
      .then((text) => text.replaceAll(",", ""))
  )
  await page.click("[data-measure=calls]")
  await page.waitForSelector("[data-chart=calls]")
  expect(await page.locator("[data-chart] svg").getAttribute("aria-label")).toContain(
    `${calls.toLocaleString("en")} calls in all`
  )
  await page.click("[data-range=month]")
  await expect.poll(() => page.locator("[data-chart] [data-at]").count()).toBeGreaterThanOrEqual(30)
  await page.click("[data-by=model]")
  await page.waitForSelector("[data-usage-by=model]")
  await page.locator('[data-filter="gpt-5-mini"]').click()
  await expect.poll(() => params().get("model")).toBe("gpt-5-mini")
  await expect.poll(() => page.locator("[data-usage-key]").count()).toBe(1)
  await page.click("[data-clear-filter=model]")
  await expect.poll(() => page.locator("[data-usage-key]").count()).toBe(3)
  expect(await page.locator("[data-usage-key]").nth(1).innerText()).toContain("unpriced")
})

test("G1 budgets stand with their forecast, and one is raised here", async () => {
  await tab.open("/usage", "usage")
  const { page } = tab
  await page.waitForSelector("[data-budgets]")
  expect(await page.locator("[data-budget]").first().innerText()).toContain("in 1 d 6 h")
  expect(await page.locator("[data-limits]").innerText()).toContain("1.2M")
  const id = await page.locator("[data-budget]").first().getAttribute("data-budget")
  await page.locator("[data-budget] button").first().click()
  await page.waitForSelector("[data-budget-form]")
  await page.fill("[data-budget-form] input[name=tokens]", "90x")
  expect(await page.locator("[data-confirm]").isDisabled()).toBe(true)
  await page.fill("[data-budget-form] input[name=tokens]", "900000")
  await page.fill("[data-budget-form] input[name=costMicros]", "2.5")
  await page.fill("[data-budget-form] input[name=calls]", "")
  await page.click("[data-confirm]")
  await expect
    .poll(() =>
      api.changes.map(({ asked, route }) => [
        route,
        asked.params["id"],
        asked.payload["tokens"],
        asked.payload["costMicros"],
        asked.payload["calls"]
      ])
    )
    .toEqual([["PUT /v1/assistants/:id/budget", id, 900_000, 2_500_000, null]])
  await expect.poll(() => page.locator(`[data-budget="${id}"]`).innerText()).toContain("900k")
})

test("L1 limits of the tenant are set here in the place of the program's, and taken back", async () => {
  await tab.open("/usage", "usage")
  const { page } = tab
  const rows = () => page.$$eval("[data-limit]", (found) => found.map((row) => row.getAttribute("data-is-set")))
  await page.waitForSelector("[data-limits='2']")
  expect(await rows()).toEqual(["false", "false"])
  await page.click("[data-set-limits]")
  await page.waitForSelector("[data-limits-form]")
  expect(await page.getAttribute("[data-limits-form] input[name=tokensPerDay]", "placeholder")).toBe("4000000")
  await page.fill("[data-limits-form] input[name=tokensPerDay]", "-1")
  expect(await page.locator("[data-confirm]").isDisabled()).toBe(true)
  await page.fill("[data-limits-form] input[name=tokensPerDay]", "2000000")
  await page.fill("[data-limits-form] input[name=costMicrosPerDay]", "2.5")
  await page.click("[data-confirm]")
  await page.waitForSelector("[data-limits='3']")
  expect(api.changes.findLast(({ route }) => route === "PUT /v1/limits")?.asked.payload).toMatchObject({
    tokensPerDay: 2_000_000,
    costMicrosPerDay: 2_500_000,
    callsPerMinute: null
  })
  expect(await page.locator("[data-limits]").innerText()).toContain("set; the program says 4.0M")
  await page.click("[data-set-limits]")
  await page.fill("[data-limits-form] input[name=tokensPerDay]", "")
  await page.fill("[data-limits-form] input[name=costMicrosPerDay]", "")
  await page.click("[data-confirm]")
  await page.waitForSelector("[data-limits='2']")
  expect(await rows()).toEqual(["false", "false"])
  expect(tab.wrongs).toEqual([])
})

test("E1 V1 a file of the fleet has every row that the filter means, of use every page, and no formula in either", async () => {
  await tab.open("/fleet", "fleet")
  const csv = await saved("[data-export-as=csv]")
  expect(csv.name).toMatch(/^fleet-.*\.csv$/)
  expect(csv.text.split("\r\n").length).toBe(1_234 + 2)
  expect(csv.text).toMatch(/^\ufeffid,definition,state,/)
  expect(csv.text).not.toMatch(/(^|,|\n)"?[=@]/)
  await tab.open("/fleet?state=halted", "fleet")
  const halted = JSON.parse((await saved("[data-export-as=json]")).text) as ReadonlyArray<{ readonly state: string }>
  expect(halted.length).toBe(api.world.rows.filter(({ state }) => state === "halted").length)
  expect(new Set(halted.map(({ state }) => state))).toEqual(new Set(["halted"]))

  await tab.open("/usage?by=assistant", "usage")
  const use = JSON.parse(
    (await saved('[data-export="usage by assistant"] [data-export-as=json]')).text
  ) as ReadonlyArray<{ readonly key: string }>
  expect(use.map(({ key }) => key)).toEqual(api.world.rows.slice(0, 40).map(({ id }) => id))
})
