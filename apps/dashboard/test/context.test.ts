// Context: the chart with its scale, thresholds and marks, the stack by its used part, memories as texts, what broke the cache.

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { builtPage, isOwned, openBrowser, openTab, picture, seriousFaults, spills } from "./browser.ts"
import { piecesOf, type Report } from "../src/pages/context/pieces.tsx"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

let browser: Browser
let api: FakeApi
let home = ""

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 8 })
  browser = await openBrowser()
  home = `/a/${api.world.rows[3]?.id ?? ""}/context`
})
afterAll(async () => {
  await browser.close()
  await api.close()
})

test("the chart has tokens on its axis, window and thresholds as lines or in words, and marks that lead on (C1, C2)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}?scale=window`, "context")
  await page.waitForSelector("[data-chart=window] [data-level]")
  const levels = await page.$$eval("[data-level]", (all) =>
    all.map((each) => [each.getAttribute("data-level"), each.getBoundingClientRect().top] as const)
  )
  expect(levels.map(([name]) => name)).toEqual(["window", "80%", "70%"])
  expect(levels.map(([, top]) => top)).toEqual(levels.map(([, top]) => top).toSorted((one, other) => one - other))
  expect((await page.locator(".context-grid").allInnerTexts())[0]).toBe("0")
  expect((await page.locator(".context-grid").allInnerTexts()).length).toBeGreaterThan(3)
  await page.click("[data-scale=used]")
  await page.waitForSelector("[data-chart=used]")
  expect(new URL(page.url()).searchParams.get("scale")).toBe("used")
  expect(await page.locator("[data-level=window]").count()).toBe(0)
  expect(await page.locator("[data-levels='3']").innerText()).toMatch(/window 32,000 \(above this scale\)/)
  const marks = page.locator("[data-mark=compaction]")
  expect(await marks.first().getAttribute("title")).toMatch(/^compaction, .*, before call \d+$/)
  expect(await page.locator("[data-mark=dream]").first().getAttribute("href")).toContain("/dreams")
  await marks.first().click()
  await page.waitForSelector("[data-page=compactions]")
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("a dream and a compaction before one call have their letters beside each other (C2)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  let at = 0
  await page.route(/\/(compactions|dreams)(\?|$)/, async (route) => {
    const answer = await (await route.fetch()).json()
    const [first] = answer.items
    at = at === 0 ? (first.at ?? first.began_at) : at
    await route.fulfill({ json: { ...answer, items: [{ ...first, at, began_at: at }] } })
  })
  await tab.open(home, "context")
  await page.waitForSelector("[data-mark=dream]")
  await page.waitForSelector("[data-mark=compaction]")
  const [one, other] = await page.$$eval("[data-mark]", (marks) => {
    return marks.map((mark) => {
      const words = document.createRange()
      words.selectNodeContents(mark)
      const { left, right } = words.getBoundingClientRect()
      return { left, right }
    })
  })
  expect(other?.left).toBeGreaterThanOrEqual(one?.right ?? Infinity)
  await tab.close()
})

test("the stack fills its bar with the used part, or is the whole window, and says which", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  const filled = () =>
    page.$eval("[data-stack]", (stack) => {
      const parts = [...stack.querySelectorAll("[data-kind=part], [data-kind=tools]")]
      return parts.reduce((sum, part) => sum + part.getBoundingClientRect().width, 0) / stack.clientWidth
    })
  await tab.open(`${home}?scale=used`, "context")
  await page.waitForSelector("[data-stack-scale=used]")
  expect(await filled()).toBeGreaterThan(0.98)
  expect(await page.locator("[data-stack-scale]").innerText()).toContain("the used part")
  await page.click("[data-scale=window]")
  await page.waitForSelector("[data-stack-scale=window]")
  expect(await filled()).toBeLessThan(0.7)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("a retrieved memory is a text with its score and a link, and what broke the cache leads to its call", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}?tick=120&iteration=1`, "context")
  const fact = page.locator("[data-recalled=f\\/fact_3_0]")
  await fact.waitFor()
  expect(await fact.innerText()).toMatch(/The pilot boards before four[\s\S]*fact[\s\S]*score 0\.93/)
  expect(await fact.locator("a").getAttribute("href")).toContain("open=fact_3_0")
  expect(await page.locator("[data-recalled^=m] a").getAttribute("href")).toContain("tick=116")
  expect(await page.locator("[data-recalled^=j]").innerText()).toContain("its text is gone")
  await page.click("[data-break=core_memory]")
  await page.waitForSelector("[data-as-of='180'][data-iteration='2']")
  expect(await page.locator("[data-repeated]").innerText()).toContain("broken by core memory (changed)")
  expect(await isOwned(page)).toBe(false)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

for (const [look, options] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["narrow", { viewport: { width: 390, height: 844 } }]
] as const) {
  test(`context is readable, ${look}: axe finds nothing serious, nothing scrolls sideways`, async () => {
    const tab = await openTab(browser, api.url, options)
    for (const scale of ["used", "window"]) {
      await tab.open(`${home}?tick=120&scale=${scale}`, "context")
      await tab.page.waitForSelector("[data-recalled]")
      await tab.page.waitForSelector("[data-levels='3']")
      await tab.page.waitForSelector("[data-loading]", { state: "detached" })
      await picture(tab.page, `context-${scale}-${look}`)
      expect([scale, await seriousFaults(tab.page)]).toEqual([scale, []])
      expect([scale, await spills(tab.page)]).toEqual([scale, []])
    }
    expect(tab.wrongs).toEqual([])
    await tab.close()
  })
}

const known = [
  "system_prompt",
  "core_blocks",
  "working_blocks",
  "activity",
  "tool_rules",
  "plan_first",
  "character_context",
  "active_project",
  "session_memory",
  "entity_context",
  "semantic_memories",
  "context_buffer",
  "goals",
  "conversation_history",
  "pending_event",
  "tool_result"
]

test("no two parts of a prompt have nearly the same colour (K2)", () => {
  const parts = known.map((key) => ({ key, tokens: 1, messages: 1 }))
  const report = { limit: 100, share: 0.2, tokens: 20, toolTokens: 1, parts } as unknown as Report
  const colours = piecesOf(report).flatMap(({ colour, kind, name }) => {
    const shades = [...colour.matchAll(/#(..)(..)(..)/g)].map(([, ...parts]) => parts.map((part) => parseInt(part, 16)))
    return kind === "part" || kind === "tools" ? [{ name, shades }] : []
  })
  const near = colours.flatMap((one, at) =>
    colours
      .slice(at + 1)
      .flatMap((other) =>
        one.shades.some(
          (shade, theme) => Math.hypot(...shade.map((part, n) => part - (other.shades[theme]?.[n] ?? 0))) < 30
        )
          ? [`${one.name} and ${other.name}`]
          : []
      )
  )
  expect(colours.length).toBe(known.length + 1)
  expect(near).toEqual([])
})
