// Fork: the playground in Chromium: what is prefilled, what is run, what is compared, and what is kept.

import type { Browser } from "playwright-core"
import { readFileSync } from "node:fs"
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import {
  builtPage,
  isOwned,
  openBrowser,
  openTab,
  picture,
  seriousFaults,
  sideways,
  spills,
  type Tab
} from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

let browser: Browser
let api: FakeApi
let home = ""
let tab: Tab

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 40 })
  browser = await openBrowser()
  home = `/a/${api.world.rows[3]?.id ?? ""}`
})
beforeEach(async () => {
  tab = await openTab(browser, api.url)
  return () => tab.close()
})
afterAll(async () => {
  await browser.close()
  await api.close()
})

/** A tick of the fake life that called a tool. */
const TICK = 12
const lastFork = () => api.changes.findLast(({ route }) => route === "POST /v1/assistants/:id/forks")?.asked.payload
const isInView = (selector: string) =>
  tab.page.$eval(selector, (place) => {
    const { bottom, left, right, top } = place.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth
  })

test("an older link, the newest run, and every way in lead to the page of its own", async () => {
  const { page } = tab
  await tab.open(`${home}/replay?fork=${TICK}`, "fork")
  expect(new URL(page.url()).pathname).toBe(`${home}/fork/${TICK}`)
  expect(await page.getAttribute("nav.navigation [aria-current=page]", "data-nav")).toBe("fork")
  await tab.open(`${home}/fork`, "fork")
  await page.waitForSelector("[data-fork-form]")
  expect(new URL(page.url()).pathname).toMatch(/\/fork\/\d{5,6}$/)
  await page.fill("input[name=tick]", "40")
  await page.press("input[name=tick]", "Enter")
  await page.waitForSelector("[data-fork-form='40']")
  expect(tab.wrongs).toEqual([])
})

test("P1 D1 all is prefilled; unchanged nothing is sent along, and nothing differs", async () => {
  const { page } = tab
  await tab.open(`${home}/fork/${TICK}`, "fork")
  expect(await page.inputValue("#fork-prompt")).toContain("You look after the berths {of} the harbour.")
  expect(await page.locator("[data-result-of] textarea").count()).toBeGreaterThan(0)
  expect(await page.inputValue("#fork-result-0")).not.toBe("")
  expect(await page.locator("[data-changed]").count()).toBe(0)
  await page.click("[data-fork]")
  await page.waitForSelector("[data-fork-differs='']")
  expect(lastFork()).toEqual({ tick: TICK })
  expect(await page.locator("[data-word]").count()).toBe(0)
  expect(tab.wrongs).toEqual([])
})

test("what is changed is sent, the answers stand side by side with their words marked, P3 and it is kept", async () => {
  const { page } = tab
  await tab.open(`${home}/fork/${TICK}`, "fork")
  const call = await page.getAttribute("[data-result-of]", "data-result-of")
  await page.fill("#fork-prompt", "Be brief {always}.")
  await page.fill("[name=model]", "harbour-small")
  await page.fill("#fork-result-0", "No crane is free.")
  const tool = (await page.getAttribute("[data-every-call]", "data-every-call")) ?? ""
  await page.check("[data-every-call] input")
  await page.click("[data-add-stub]")
  await page.fill("[aria-label='Other tool 1']", "ask_pilot")
  await page.fill("[aria-label='Result of other tool 1']", "Later.")
  expect(await page.locator("[data-changed]").count()).toBe(2)
  await page.press("[name=model]", "Enter")
  await page.waitForSelector("[data-compared=reply][data-differs]")
  const sent = lastFork() as Readonly<Record<string, unknown>>
  expect(sent).toMatchObject({ tick: TICK, prompt: "Be brief {always}.", model: "harbour-small" })
  expect(sent["results"]).toMatchObject([{ call, content: "No crane is free." }])
  expect(sent["stubs"]).toEqual({ [tool]: "No crane is free.", ask_pilot: "Later." })
  expect(await page.locator("[data-answer=gone] [data-word=gone]").allTextContents()).toEqual(["free"])
  expect(await page.locator("[data-answer=new] [data-word=new]").first().textContent()).toBe("taken")
  expect(await page.locator("[data-answer=gone]").innerText()).toContain("Berth four is free until seven.")
  for (const what of ["calls", "tokens", "cost"]) expect(await page.locator(`[data-compared=${what}]`).count()).toBe(1)
  const [old, now] = await page.$$eval("[data-answer]", (sides) =>
    sides.map((side) => side.getBoundingClientRect().top)
  )
  expect(old).toBe(now)
  await picture(page, "fork-compared-light")
  await page.click("[data-nav=timeline]")
  await page.goBack()
  await page.waitForSelector("[data-fork-form]")
  expect(await page.inputValue("#fork-prompt")).toBe("Be brief {always}.")
  await page.click("[data-changed=prompt] button")
  expect(await page.inputValue("#fork-prompt")).toContain("You look after the berths")
  expect(await isOwned(page)).toBe(false)
  expect(tab.wrongs).toEqual([])
})

test("five runs of the same are a table, and each of them opens", async () => {
  const { page } = tab
  await tab.open(`${home}/fork/${TICK}`, "fork")
  await page.fill("#fork-prompt", "Be brief.")
  const before = api.changes.length
  await page.click("[data-run-five]")
  await page.waitForSelector("[data-progress='5/5']")
  expect(api.changes.slice(before).map(({ asked }) => asked.payload)).toEqual(
    Array.from({ length: 5 }, () => ({ tick: TICK, prompt: "Be brief." }))
  )
  expect(new Set(api.changes.slice(before).map(({ key }) => key)).size).toBe(5)
  expect(await page.getAttribute("[data-sums]", "data-sums")).toBe("0 5 0")
  expect(await page.locator("[data-run-row]").count()).toBe(5)
  await page.click("[data-open-run='4']")
  await page.waitForSelector("[data-run-row='4'][data-open]")
  expect(await page.locator("[data-compared=reply]").count()).toBe(1)
  expect(await page.textContent("[data-spent]")).toMatch(/cost \$0\.14/)
  expect(tab.wrongs).toEqual([])
})

test("R1 R2 the last twenty: prompt and model alone go along, at most two at once, and stopping ends those in flight", async () => {
  const { page } = tab
  let running = 0
  let most = 0
  let held: Promise<void> = Promise.resolve()
  await page.route("**/forks", async (route) => {
    running += 1
    most = Math.max(most, running)
    await held
    const answer = await route.fetch()
    running -= 1
    await route.fulfill({ response: answer })
  })
  await tab.open(`${home}/fork/${TICK}`, "fork")
  await page.fill("#fork-prompt", "Be brief.")
  await page.fill("#fork-result-0", "No crane is free.")
  const before = api.changes.length
  await page.click("[data-run-last]")
  await page.waitForSelector("[data-progress='20/20']")
  const asked = api.changes.slice(before).map(({ asked: { payload } }) => payload)
  expect(asked).toHaveLength(20)
  expect(new Set(asked.map(({ tick }) => tick)).size).toBe(20)
  for (const each of asked) expect(each).toEqual({ tick: each["tick"], prompt: "Be brief." })
  expect(most).toBe(2)
  const failed = await page.locator("[data-run-row][data-state=failed]").count()
  expect(failed).toBeGreaterThan(0)
  expect(await page.getAttribute("[data-sums]", "data-sums")).toBe(`0 ${20 - failed} ${failed}`)
  await picture(page, "fork-last-light")
  held = new Promise(() => {})
  await page.click("[data-run-last]")
  await page.waitForSelector("[data-run-row='2'][data-state=running]")
  await page.click("[data-stop]")
  await page.waitForSelector("[data-stop]", { state: "detached" })
  const states = await page.$$eval("[data-run-row]", (lines) => lines.map((line) => line.getAttribute("data-state")))
  // The two in flight as well, whose answers no one has given yet.
  expect(states).toEqual(Array.from({ length: 20 }, () => "stopped"))
  // The browser itself writes down that a request was refused.
  expect(tab.wrongs.filter((line) => !line.includes("409"))).toEqual([])
})

test("U1 Use as prompt asks first, writes a version over the one that was seen, and undo brings an earlier one back", async () => {
  const { page } = tab
  await tab.open(`${home}/fork/${TICK}`, "fork")
  expect(await page.isDisabled("[data-use-prompt]")).toBe(true)
  const writing = () => api.changes.filter(({ route }) => route === "PUT /v1/prompts/:key")
  for (const [at, text] of ["Be {brief}.", "Be silent."].entries()) {
    await page.fill("#fork-prompt", text)
    await page.click("[data-use-prompt]")
    expect(writing()).toHaveLength(at)
    await page.click("[data-confirm=Use]")
    await page.waitForSelector(`[data-in-use='${at + 1}']`)
  }
  expect(
    writing().map(({ asked: { params, payload } }) => [params["key"], payload["text"], payload["expected"]])
  ).toEqual([
    ["instructions.berth", "Be {{brief}}.", 0],
    ["instructions.berth", "Be silent.", 1]
  ])
  // No run was begun by the dialog's own form.
  expect(await page.locator("[data-compared]").count()).toBe(0)
  await page.click("[data-versions] summary")
  await page.click("[data-version='1'] button")
  expect(await page.inputValue("#fork-prompt")).toBe("Be {brief}.")
  await page.click("[data-undo-prompt]")
  await page.click("[data-confirm=Undo]")
  await page.waitForSelector("[data-in-use='1']")
  const undone = api.changes.findLast(({ route }) => route.endsWith("/undo"))
  expect(undone?.asked).toMatchObject({ params: { key: "instructions.berth" }, payload: { expected: 2 } })
  await page.click("[data-undo-prompt]")
  await page.click("[data-confirm=Undo]")
  await page.waitForSelector("[data-in-use]", { state: "detached" })
  expect(tab.wrongs).toEqual([])
})

test("Save as eval case takes what was changed and what is expected, and gives a line of a file", async () => {
  const { page } = tab
  await tab.open(`${home}/fork/${TICK}`, "fork")
  await page.fill("#fork-prompt", "Be brief.")
  await page.click("[data-fork]")
  await page.click("[data-case]")
  await page.waitForSelector("[data-case-form]")
  expect(await page.inputValue("[name=expected]")).toContain("Berth four is taken until seven.")
  expect(await page.inputValue("[name=tools]")).toBe("release_crane")
  await page.fill("[name=expected]", "taken\n\n until seven ")
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("[data-save-case]")])
  expect(download.suggestedFilename()).toMatch(/^case-.+-12\.jsonl$/)
  const lines = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\n")
  expect(lines).toHaveLength(1)
  const saved = JSON.parse(lines[0] ?? "") as Readonly<Record<string, unknown>>
  expect(saved).toMatchObject({ expected: ["taken", "until seven"], expectedTools: ["release_crane"] })
  expect(JSON.parse(String(saved["input"]))).toMatchObject({ kind: "tick", tick: TICK, prompt: "Be brief." })
  await page.waitForSelector("[data-saved-case]")
  await picture(page, "fork-case-light")
  expect(await seriousFaults(page)).toEqual([])
  expect(tab.wrongs).toEqual([])
})

test("a run that is refused says why, and a tick that there is none of too", async () => {
  const { page } = tab
  await tab.open(`${home}/fork/${TICK}`, "fork")
  await page.fill("[name=model]", "away")
  await page.click("[data-fork]")
  await page.waitForSelector("[data-failed] >> text=no model away is here")
  await tab.open(`${home}/fork/200001`, "fork")
  await page.waitForSelector("[data-failed] >> text=there is no tick")
  expect(tab.wrongs.filter((line) => !/40[04]/.test(line))).toEqual([])
})

for (const [width, height] of [
  [1440, 900],
  [390, 844]
] as const) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`P2 at ${width} in ${colorScheme} Run is always in view, nothing spills, axe finds nothing serious`, async () => {
      const { page } = tab
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme })
      await tab.open(`${home}/fork/${TICK}`, "fork")
      await page.fill("#fork-prompt", "Be brief.")
      await page.click("[data-run-five]")
      await page.waitForSelector("[data-progress='5/5']")
      // The table has come into view by itself; what one opens in it too.
      expect(await isInView("[data-progress]")).toBe(true)
      // Where the head is away, the number of a run says what it is.
      expect(await page.innerText("[data-run-row='2'] > th")).toBe(width === 390 ? "Run 2" : "2")
      await page.click("[data-open-run='2']")
      await page.waitForSelector("[data-fork-differs]")
      expect(await isInView("[data-fork-differs]")).toBe(true)
      for (const share of [0, 0.5, 1]) {
        await page.$eval("#main", (main, part) => main.scrollTo(0, main.scrollHeight * part), share)
        expect([share, await isInView("[data-fork]")]).toEqual([share, true])
        await picture(page, `fork-${width}-${colorScheme}-${share * 100}`)
      }
      expect(await spills(page)).toEqual([])
      expect(await sideways(page)).toEqual([])
      expect(await seriousFaults(page)).toEqual([])
      expect(await isOwned(page)).toBe(false)
      expect(tab.wrongs).toEqual([])
    })
  }
}
