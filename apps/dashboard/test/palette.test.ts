// Palette: by keyboard alone, for readers, on a phone; and notifications, which a person turns on.

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { builtPage, isOwned, openBrowser, openTab, picture, seriousFaults, spills, type Tab } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

let browser: Browser
let api: FakeApi

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 400 })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await api.close()
})

const FIELD = "[data-palette] [role=combobox]"

const current = ({ page }: Tab): Promise<string | null | undefined> =>
  page.$eval(
    FIELD,
    (field) => document.getElementById(field.getAttribute("aria-activedescendant") ?? "")?.dataset["entry"]
  )

const orders = () =>
  api.changes.flatMap(({ asked, route }) => (route.endsWith("/orders") ? [String(asked.payload["order"])] : []))

test("Ctrl-K finds pages and an assistant that no page has loaded, by keyboard alone (P1, P3)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  const asked: Array<string> = []
  page.on("request", (request) => {
    if (/assets\/palette/.test(request.url())) asked.push(request.url())
  })
  await tab.open("/system", "system")
  expect(asked).toEqual([])
  await page.keyboard.press("Control+k")
  await page.waitForSelector(FIELD)
  expect(asked).toHaveLength(1)
  expect(await page.evaluate(() => document.activeElement?.getAttribute("role"))).toBe("combobox")
  await page.keyboard.type("usa")
  await page.waitForSelector("[data-entries='1']")
  expect(await current(tab)).toBe("page-usage")
  await page.keyboard.press("Enter")
  await page.waitForSelector("[data-page=usage]")
  await page.waitForSelector("[data-palette]", { state: "detached" })
  await page.keyboard.press("Meta+k")
  const id = api.world.rows[377]?.id ?? ""
  await page.waitForSelector(FIELD)
  await page.keyboard.type(id)
  await page.waitForSelector(`[data-entry='assistant-${id}']`)
  await page.keyboard.press("ArrowDown")
  await page.keyboard.press("ArrowUp")
  expect(await current(tab)).toBe(`assistant-${id}`)
  await page.keyboard.press("Enter")
  await page.waitForSelector("[data-page=live]")
  expect(new URL(page.url()).pathname).toBe(`/a/${id}`)
  await page.keyboard.press("Control+k")
  await page.waitForSelector(FIELD)
  await page.keyboard.type("nothing has this name")
  await page.waitForSelector("[data-palette] [role=status] >> text=No assistant, page or action")
  await page.keyboard.press("Escape")
  await page.waitForSelector("[data-palette]", { state: "detached" })
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("a page of an assistant is found from anywhere by both names (P2)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  const id = api.world.rows[377]?.id ?? ""
  await tab.open("/", "overview")
  await page.keyboard.press("Control+k")
  await page.waitForSelector(FIELD)
  await page.keyboard.type(`${id} dr`)
  // While it is typed the assistant alone is found, which is one entry too.
  await expect.poll(() => current(tab)).toBe(`page-dreams-${id}`)
  expect(await page.locator("[data-entries='1']").count()).toBe(1)
  await page.keyboard.press("Enter")
  await page.waitForSelector("[data-page=dreams]")
  expect(new URL(page.url()).pathname).toBe(`/a/${id}/dreams`)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("actions are those that fit the state, and ask what they ask elsewhere (O1)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  const row = api.world.rows[5]
  if (row === undefined) throw new Error("no one is there")
  api.world.move(row, "awake.idle")
  await tab.open(`/a/${row.id}/memory`, "memory")
  await page.keyboard.press("Control+k")
  await page.waitForSelector("[data-entry=order-sleep]")
  expect(await page.locator("[data-entry=order-resume]").count()).toBe(0)
  await page.keyboard.type("start dreaming")
  await page.keyboard.press("Enter")
  await page.waitForSelector("[data-palette]", { state: "detached" })
  expect(orders()).toEqual(["sleep"])
  api.world.move(row, "awake.idle")
  await page.keyboard.press("Control+k")
  await page.waitForSelector("[data-entry=order-halt]")
  await page.keyboard.type("halt")
  await page.keyboard.press("Enter")
  await page.waitForSelector(`[data-dialog='Halt ${row.id}?'] [name=reason]`)
  expect(orders()).toEqual(["sleep"])
  await page.fill("[name=reason]", "A look.")
  await page.click("[data-confirm=Halt]")
  await page.waitForSelector("[data-dialog]", { state: "detached" })
  expect(orders()).toEqual(["sleep", "halt"])
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

for (const [look, options] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["narrow", { viewport: { width: 390, height: 844 } }]
] as const) {
  test(`the palette opens by its button and is readable, ${look}`, async () => {
    const tab = await openTab(browser, api.url, options)
    const { page } = tab
    await tab.open(`/a/${api.world.rows[3]?.id ?? ""}/timeline`, "timeline")
    await page.click("[data-open-palette]")
    await page.waitForSelector(FIELD)
    await page.locator(FIELD).pressSequentially("a")
    await page.waitForSelector("[data-entry^=assistant-]")
    await picture(page, `palette-${look}`)
    expect(await seriousFaults(page)).toEqual([])
    expect(await spills(page)).toEqual([])
    expect(await isOwned(page)).toBe(false)
    expect(tab.wrongs).toEqual([])
    await tab.close()
  })
}

interface Shown {
  readonly asks: number
  readonly titles: ReadonlyArray<string>
}

test("notifications are off, ask for permission only after a click, and show each new approval once (N1, N2)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await page.addInitScript(() => {
    const shown = { asks: 0, titles: [] as Array<string> }
    class Fake extends EventTarget {
      static permission = "default"
      static requestPermission = async () => {
        shown.asks += 1
        Fake.permission = "granted"
        return "granted"
      }
      constructor(title: string) {
        super()
        shown.titles.push(title)
      }
      close() {}
    }
    Object.assign(globalThis, { Notification: Fake, __shown: shown })
  })
  const seen = (): Promise<Shown> => page.evaluate(() => (globalThis as unknown as { __shown: Shown }).__shown)
  await tab.open("/approvals", "approvals")
  await page.waitForSelector("[data-connection=live]")
  const [, , , , , , , asker] = api.world.rows
  if (asker === undefined) throw new Error("no one is there")
  expect(await seen()).toEqual({ asks: 0, titles: [] })
  expect(await page.getAttribute("[data-notify]", "data-notify")).toBe("off")
  const known = page.waitForResponse(/\/v1\/approvals$/)
  await page.click("[data-notify]")
  await page.waitForSelector("[data-notify=on]")
  await known
  expect(await seen()).toEqual({ asks: 1, titles: [] })
  const ask = () =>
    api.world.tell(asker, { type: "approval-asked", approval: "x", tool: "look", call: "1.1.0", expiresAt: 0 })
  asker.approvals = 1
  ask()
  await page.waitForFunction(
    () => (globalThis as unknown as { __shown: { titles: ReadonlyArray<string> } }).__shown.titles.length === 1
  )
  expect((await seen()).titles).toEqual([`${asker.id} waits for you`])
  const again = page.waitForResponse(/\/v1\/approvals$/)
  ask()
  await again
  expect((await seen()).titles).toHaveLength(1)
  await page.click("[data-notify=on]")
  await page.waitForSelector("[data-notify=off]")
  expect(await page.evaluate(() => localStorage.getItem("reverie.notify"))).toBe(null)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})
