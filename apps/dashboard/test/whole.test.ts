// Whole: what stands in a list can be read there, however long, wide and narrow; and nothing floats beside what it is not of.

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import type { Tab } from "./browser.ts"
import type { FakeApi } from "./fake-api.ts"
import { inTabs } from "./in-tabs.ts"

let api: FakeApi
let tab: Tab
inTabs(60, (opened) => ({ api, tab } = opened))

const reason = "the radio of the second watch is out of order until further notice"
const long = "berth-".repeat(12)

/** Texts of these that are cut on any side. */
const cutIn = (page: Page, selector: string) =>
  page.$$eval(selector, (all) =>
    all
      .filter((each) => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1)
      .map(({ textContent }) => textContent)
  )

test("Fleet: a reason of 66 letters is read whole in its row, wide and narrow", async () => {
  const halted = api.world.rows.find(({ state }) => state === "halted")
  if (halted === undefined) throw new Error("no one is halted")
  Object.assign(halted, { haltReason: reason })
  for (const width of [1440, 390]) {
    await tab.page.setViewportSize({ width, height: 844 })
    await tab.open("/fleet?state=halted", "fleet")
    const of = `[data-assistant="${halted.id}"] .trouble`
    await tab.page.waitForSelector(of)
    expect([width, await cutIn(tab.page, of)]).toEqual([width, []])
    const [row, text] = await Promise.all(
      [`[data-assistant="${halted.id}"]`, of].map((each) => tab.page.locator(each).boundingBox())
    )
    expect((text?.y ?? 0) + (text?.height ?? 0)).toBeLessThanOrEqual((row?.y ?? 0) + (row?.height ?? 0))
    expect(text?.y ?? 0).toBeGreaterThanOrEqual(row?.y ?? 0)
  }
})

test("Fleet: what a number counts stands there, not only where one points at it", async () => {
  await tab.open("/fleet", "fleet")
  expect(await tab.page.locator("[data-sort=cost]").innerText()).toMatch(/^Tokens, cost 24 h/)
  const waits = api.world.rows.find(({ oldestWaitingAt, waiting }) => waiting > 0 && oldestWaitingAt !== undefined)
  await tab.open(`/fleet?q=${waits?.id}`, "fleet")
  const cell = tab.page.locator(`[data-assistant="${waits?.id}"] [data-column=waiting]`)
  expect(await cell.innerText()).toMatch(/^[\d,]+\s+for \d+ \w+/)
  expect(await cutIn(tab.page, "[data-column=waiting], .grid-head > *")).toEqual([])
})

test("Memory: long labels, names and sources are read whole", async () => {
  const home = `/a/${api.world.rows[3]?.id}/memory`
  for (const [tab_, part] of [
    ["", "[data-label]"],
    ["?tab=facts", "[data-from]"],
    ["?tab=profiles", "[data-name]"]
  ] as const) {
    await tab.open(`${home}${tab_}`, "memory")
    await tab.page.locator(part).first().waitFor()
    await tab.page.$eval(part, (each, text) => (each.textContent = text), long)
    expect([part, await cutIn(tab.page, part)]).toEqual([part, []])
  }
})

test("Memory: while a fact is corrected the field is as wide as the list, and nothing else is offered beside it", async () => {
  await tab.open(`/a/${api.world.rows[3]?.id}/memory?tab=facts&state=active`, "memory")
  await tab.page.locator("[data-fact] > button").first().click()
  await tab.page.locator("[data-retire]").first().waitFor()
  await tab.page.locator("[data-correct]").first().click()
  const field = tab.page.locator("[data-edit-text] textarea")
  const [wide, line] = await Promise.all(
    [field, tab.page.locator("[data-fact]").first()].map((each) => each.boundingBox())
  )
  expect(wide?.width ?? 0).toBeGreaterThan(0.9 * (line?.width ?? 0))
  expect(await tab.page.locator("[data-retire]").count()).toBe(0)
  await tab.page.click('[data-edit-text] button:has-text("Cancel")')
  expect(await tab.page.locator("[data-retire]").count()).toBe(1)
})

test("Approvals: that there are none is as wide as a list of them", async () => {
  await tab.open("/approvals", "approvals")
  const wide = await tab.page.locator("[data-approvals]").boundingBox()
  await tab.page.route("**/v1/approvals*", (route) => route.fulfill({ json: { items: [], next: null } }))
  await tab.open("/approvals", "approvals")
  await tab.page.waitForSelector('[data-approvals="0"]')
  expect((await tab.page.locator("[data-approvals]").boundingBox())?.width).toBe(wide?.width)
})

test("Overview: why something was dead-lettered is read whole, with the beginning of what it was", async () => {
  const [letter] = api.world.dead
  if (letter === undefined) throw new Error("nothing is dead")
  Object.assign(letter, { reason, text: "When is high water? ".repeat(30) })
  await tab.page.setViewportSize({ width: 390, height: 844 })
  await tab.open("/", "overview")
  const line = tab.page.locator("[data-why=dead] > :last-child").first()
  await line.waitFor()
  expect(await line.innerText()).toContain(reason)
  expect((await line.innerText()).length).toBeLessThan(reason.length + 100)
  expect(await cutIn(tab.page, "[data-why=dead] > :last-child")).toEqual([])
})
