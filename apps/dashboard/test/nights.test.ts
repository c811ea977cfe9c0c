// Nights: the pages Dreams and Compactions, and what one does on them.

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { builtPage, openBrowser, openTab, picture } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

let browser: Browser
let api: FakeApi
let home = ""

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 40 })
  browser = await openBrowser()
  home = `/a/${api.world.rows[3]?.id ?? ""}`
})
afterAll(async () => {
  await browser.close()
  await api.close()
})

test("Dreams: headlines, quiet nights on one line, items lead to their sources, and a night is undone after asking", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/dreams`, "dreams")
  const first = page.locator("[data-dream=dream_90]")
  await page.waitForSelector("[data-dream=dream_90] [data-group=Learnt]")
  expect(await first.locator("[data-headline]").innerText()).toContain("learnt 3 facts, linked 1, changed 1 profile")
  expect(await page.locator("[data-quiet]").count()).toBe(1)
  expect(await page.locator("[data-dream=dream_89] [data-group]").count()).toBe(0)
  expect(await first.locator("[data-changed=ines]").innerText()).toContain("Answers in the morning.")
  expect(await first.locator("[data-source='m/3990/0']").first().locator("xpath=..").getAttribute("href")).toContain(
    "/timeline?tick=120"
  )
  expect(await first.locator("[data-fact-link=fact_90_0]").first().getAttribute("href")).toContain("open=fact_90_0")
  await page.click("[data-undo='entity/ines']")
  await page.click("[data-confirm=Undo]")
  await first.locator("[data-changed=ines]").getByText("undone").waitFor()
  expect(api.changes.at(-1)?.asked.payload).toEqual({ items: ["entity/ines"] })
  await page.click("[data-accept='fact/fact_90_2']")
  await page.waitForSelector("[data-learnt=fact_90_2][data-state=active]")
  expect(api.changes.at(-1)?.asked.payload).toEqual({ items: ["fact/fact_90_2"] })
  await page.click("[data-undo=dream_90]")
  expect(api.changes.at(-1)?.route).toContain("/accept")
  await page.fill("[name=reason]", "The radio was on.")
  await page.click("[data-confirm=Undo]")
  await page.waitForSelector("[data-undone=dream_90]")
  await page.waitForSelector("[data-learnt=fact_90_0][data-state=retired]")
  expect(api.changes.at(-1)?.asked.payload).toEqual({ reason: "The radio was on." })
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Dreams: a night of which everything waits shows its account, and accepted or declined there (D1)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/dreams`, "dreams")
  const night = page.locator("[data-dream=dream_85]")
  await night.locator("[data-headline]:has-text('4 waiting for a person')").waitFor()
  expect(await night.getAttribute("data-quiet")).toBeNull()
  expect(await page.locator("[data-waiting=dream_85]").innerText()).toBe("4 waiting for you")
  expect(await page.locator("[data-quiet]").count()).toBe(1)
  await page.click("[data-open-dream=dream_85]")
  await page.click("[data-undo='fact/fact_85_1']")
  await page.click("[data-confirm=Undo]")
  await page.waitForSelector("[data-learnt=fact_85_1][data-state=retired]")
  expect(api.changes.at(-1)?.asked.payload).toEqual({ items: ["fact/fact_85_1"] })
  await page.click("[data-accept='fact/fact_85_0']")
  await page.waitForSelector("[data-learnt=fact_85_0][data-state=active]")
  await page.click("[data-learnt=fact_85_2] [data-accept]")
  await page.waitForSelector("[data-learnt=fact_85_2][data-state=active]")
  await page.click("[data-undo='episode/entry_2_0']")
  await page.click("[data-confirm=Undo]")
  await page.waitForSelector("[data-forgotten=entry_2_0]", { state: "detached" })
  expect(api.changes.at(-1)?.asked.payload).toEqual({ items: ["episode/entry_2_0"] })
  await page.waitForSelector("[data-waiting=dream_85]", { state: "detached" })
  expect(await night.getAttribute("data-quiet")).toBeNull()
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Reminders: Edit fills the form, and what the form does not show stays (R2)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/dreams`, "dreams")
  await page.click("[data-edit=tea]")
  const form = page.locator("[data-form=reminder]")
  expect(await form.locator("[name=when]").inputValue()).toBe("0 15 * * *")
  await form.locator("[name=note]").fill("Pour the tea, and the milk.")
  await picture(page, "reminders-edit-light")
  await form.locator("button:has-text('Change reminder')").click()
  await page.waitForSelector("text=It is set, or changed.")
  expect(api.changes.at(-1)?.asked.params["reminder"]).toBe("tea")
  expect(api.changes.at(-1)?.asked.payload).toEqual({
    note: "Pour the tea, and the milk.",
    cron: "0 15 * * *",
    timeZone: "Europe/Berlin",
    catchUp: "once"
  })
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Compactions: what is lost, only in memory, or in the summary, each with its message, and the window by part (L1, L2)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/compactions`, "compactions")
  await page.waitForSelector("[data-left=lost][data-count='14']")
  expect(await page.locator("[data-left=lost] [data-detail]").count()).toBe(8)
  await page.click("[data-left=lost] button:has-text('Show all')")
  expect(await page.locator("[data-left=lost] [data-detail]").count()).toBe(11)
  expect(await page.locator("[data-left=lost]").innerText()).toContain("and 3 more")
  await page.click("[data-left=lost] [data-says='m/410/0']")
  expect(await page.evaluate(() => document.activeElement?.getAttribute("data-compacted"))).toBe("410.0")
  const parts = await page.$$eval("[data-part]", (rows) => rows.map((row) => row.textContent))
  expect(parts).toEqual(["Summary1040", "Left: messages to it208.0k0", "Left: results207.3k0", "Stayed124.0k4.0k"])
  await page.click("[data-left=memory] [data-in-memory='f/fact_7_0']")
  await page.waitForSelector("[data-page=memory]")
  expect(new URL(page.url()).searchParams.get("open")).toBe("fact_7_0")
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Compactions: why each was made, which one is active, and one may be ordered where the state accepts it, and nowhere else", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  const row = api.world.rows.find(({ id }) => home.endsWith(`/${id}`))
  if (row === undefined) throw new Error("no one is there")
  api.world.move(row, "awake.idle")
  await tab.open(`${home}/compactions`, "compactions")
  await page.waitForSelector("[data-compaction=compact-2]")
  const why = await page.$$eval("[data-why]", (cells) => cells.slice(0, 3).map((cell) => cell.textContent))
  expect(why).toEqual(["the window was nearly full", "asleep", "requested"])
  const states = await page.$$eval("[data-compaction] td:last-child", (cells) =>
    cells.slice(0, 3).map((cell) => cell.textContent)
  )
  expect(states).toEqual(["active", "superseded", "reverted"])
  const before = api.changes.length
  await page.click("[data-order=compact]")
  const preview = await page.waitForSelector("[data-preview]")
  expect(await preview.innerText()).toMatch(
    /^40 messages would leave the window behind a summary, and 12 would stay\. /
  )
  expect(api.changes.length).toBe(before)
  await page.click("[data-confirm=Compact]")
  await page.waitForSelector("[data-told=compact]")
  expect(api.changes.slice(before).map(({ asked, route }) => [route, asked.payload["order"]])).toEqual([
    ["POST /v1/assistants/:id/orders", "compact"]
  ])
  api.world.move(row, "awake.thinking.inferring")
  await page.waitForSelector("[data-order=compact]", { state: "detached" })
  expect(tab.wrongs).toEqual([])
  await tab.close()
})
