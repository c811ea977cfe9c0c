// Words: the pages speak of runs, events and model calls, as their users do, and every table says what stands in its columns.

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { builtPage, openBrowser, openTab, type Tab } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

let browser: Browser
let api: FakeApi
let tab: Tab
let home = ""

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 40 })
  browser = await openBrowser()
  tab = await openTab(browser, api.url)
  home = `/a/${api.world.rows[3]?.id ?? ""}`
})
afterAll(async () => {
  await tab.close()
  await browser.close()
  await api.close()
})

const open = async (path: string): Promise<string> => {
  await tab.open(path, path.split(/[?/]/)[3] ?? (path.startsWith("/a/") ? "live" : path.slice(1)))
  await tab.page.waitForSelector("[data-loading]", { state: "detached" })
  return tab.page.evaluate(() => {
    // Data is shown as it is stored.
    for (const data of document.querySelectorAll<HTMLElement>("[data-kept], [data-commands]")) data.hidden = true
    return document.getElementById("main")?.innerText ?? ""
  })
}

/** What the sources call a run, an event and a model call. */
const ofSources = /\bticks?\b|\biterations?\b|\bframes?\b|\bcommit \d|\bterminal\b|\bin force\b/i

test("no page names a run, an event or a model call as the sources do", async () => {
  const pages = [
    "",
    "/context",
    "/context?tick=120&with=118",
    "/timeline?tick=99990",
    "/replay",
    "/fork/12",
    "/compactions"
  ]
  const found: Array<readonly [string, ReadonlyArray<string>]> = []
  for (const path of [...pages.map((each) => `${home}${each}`), "/approvals"]) {
    const said = (await open(path)).split("\n").filter((line) => ofSources.test(line))
    if (said.length > 0) found.push([path, said])
  }
  expect(found).toEqual([])
})

test("an assistant that wrote is called by its id", async () => {
  const told: Readonly<Record<string, ReadonlyArray<string>>> = {
    [home]: ["pilot-ada-00010", "pilot-ada-00011"],
    [`${home}/timeline`]: ["pilot-ada-00010"],
    [`${home}/timeline?tick=99989`]: ["pilot-ada-00010 said"],
    [`${home}/fork/99989`]: ["pilot-ada-00010 wrote"]
  }
  for (const [path, names] of Object.entries(told)) {
    await open(path)
    for (const name of names) await tab.page.getByText(name).first().waitFor({ timeout: 5_000 })
    expect(await tab.page.innerText("#main")).not.toContain("assistant:")
  }
})

test("the columns of facts, of events and of workers have heads", async () => {
  await open(`${home}/memory?tab=facts`)
  const heads = (of: string) => tab.page.locator(`[data-columns=${of}] > *`).allInnerTexts()
  expect(await heads("facts")).toEqual(["Fact", "State", "Source", "Trust", "Said"])
  await open(`${home}/replay`)
  expect(await heads("events")).toEqual(["Event", "Run", "What happened", "State after it"])
  await open("/queues")
  expect(await heads("workers")).toEqual(["Worker", "Role", "Leases"])
})

test("the field for a new fact is as wide as the page", async () => {
  await open(`${home}/memory?tab=facts`)
  await tab.page.click("[data-add-fact]")
  const [field, page] = await tab.page.evaluate(() =>
    [document.querySelector("textarea"), document.getElementById("main")].map((each) => each?.clientWidth ?? 0)
  )
  expect(field ?? 0).toBeGreaterThan((page ?? 0) / 2)
})

const textsOf = (selector: string): Promise<ReadonlyArray<string>> => tab.page.locator(selector).allInnerTexts()

test("a number says what it counts: tokens, and how far something is trusted", async () => {
  await open("/usage")
  expect(await textsOf("[data-usage-by] th[scope=col]")).toEqual([
    "Assistant",
    "Calls",
    "Tokens in",
    "Cached",
    "Tokens out",
    "Reasoning tokens",
    "Cost"
  ])
  await open(`${home}/compactions`)
  await tab.page.waitForSelector("[data-window-parts]")
  for (const title of ["Tokens before", "Tokens after"]) {
    expect((await textsOf("th[scope=col]")).filter((each) => each === title).length).toBe(2)
  }
  for (const bar of await textsOf("[data-window]")) expect(bar).toMatch(/ tokens$/)
  await open(`${home}/context`)
  expect(await tab.page.$$eval(".figure > *", (all) => all.filter((each) => each.clientHeight > 50).length)).toBe(0)
  const figures = (await textsOf(".figure")).filter((each) => /\d/.test(each) && !each.startsWith("Model"))
  expect(figures.filter((each) => !/tokens/.test(each))).toEqual([])
  for (const list of ["journal", "profiles"]) {
    await open(`${home}/memory?tab=${list}`)
    const said = await textsOf(":has(> [data-trust])")
    expect(said.length).toBeGreaterThan(0)
    expect(said.filter((each) => !/^trust \d+%$/.test(each))).toEqual([])
  }
})

test("what sources and definitions name is named in words, or beside what it is", async () => {
  await open(`${home}/memory?tab=blocks`)
  expect(await textsOf("[data-block] .label")).toEqual([
    "text, read-write, pinned",
    "text, read-only",
    "text, read-write"
  ])
  await open(`${home}/memory?tab=facts&open=fact_4_0`)
  expect(await tab.page.innerText("[data-pair=Provenance]")).toMatch(/^inferred, /)
  await open("/prompts")
  expect((await textsOf(".label")).some((each) => each === "Category: layout")).toBe(true)
  await open(`${home}/context`)
  expect(await tab.page.innerText('.figure:has(> dt:text-is("Model"))')).toMatch(/\nkind \w+$/)
})

test("an order without words says what it led to", async () => {
  await open(`${home}/timeline?kind=order`)
  await tab.page.waitForSelector("[data-kind=order]")
  const said = await textsOf("[data-kind=order] > .timeline-line > :nth-child(3)")
  expect(new Set(said)).toEqual(new Set(["user:harbour-master halt", "user:harbour-master → idle"]))
})
