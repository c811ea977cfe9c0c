// Markdown: a real fleet behind a real server; what a model says is read as Markdown, and does nothing else.

import { openServer } from "@reverie/server"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { scriptedModel } from "reverie/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { builtPage, openBrowser, openTab } from "./browser.ts"

let browser: Browser

beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
})

const ANSWER = `## Berths

Two are **free**:

- nine, \`34 m\`
- ten

| berth | metres |
|---|---|
| nine | 34 |

\`\`\`
${"a very long line of code ".repeat(20)}
\`\`\`

See [the plan](https://plan.example/berths).`

const HOSTILE = `<script>window.__owned = 1</script><img src=x onerror="window.__owned = 2">

**bold** <ship>

[click](javascript:window.__owned=3) ![far](https://far.example/pixel.png) ![near](data:image/svg+xml,<svg onload=alert(1)>)

<iframe src="https://far.example"></iframe> <a href="javascript:window.__owned=4">five</a> hid\u200bden`

test("what a model says is read as Markdown, what a person says is not, and hostile Markdown does nothing", async () => {
  await using fleet = await Fleet.open({
    data: ":memory:",
    model: scriptedModel([ANSWER, HOSTILE]),
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] })
  })
  const server = await openServer({ fleet, role: "all", tokens: [], page: await builtPage() })
  const tab = await openTab(browser, `http://127.0.0.1:${server.port}`)
  const { page } = tab
  const asked: Array<string> = []
  page.on("request", (request) => asked.push(request.url()))
  try {
    await fleet.answer("desk", "Which berths are **free**?")
    await fleet.answer("desk", "And now?")
    await page.setViewportSize({ width: 390, height: 800 })
    await tab.open("/a/desk", "live")
    await page.waitForSelector("[data-markdown] table")
    await page.waitForFunction(() => document.querySelectorAll("[data-markdown]").length === 2)
    const [good, bad] = await page.$$("[data-markdown]")
    expect(await good?.$eval("strong", (each) => each.textContent)).toBe("free")
    expect(await good?.$$eval("li", (items) => items.map((each) => each.textContent))).toEqual(["nine, 34 m", "ten"])
    expect(await good?.$$eval("td", (items) => items.map((each) => each.textContent))).toEqual(["nine", "34"])
    const link = await good?.$eval("a", (each) => [each.getAttribute("href"), each.target, each.rel])
    expect(link).toEqual(["https://plan.example/berths", "_blank", "noopener noreferrer nofollow"])
    expect(await page.$eval('[data-role="user"] .said-text', (each) => each.textContent)).toContain("**free**")
    const wide = await page.evaluate(() => document.documentElement.scrollWidth <= globalThis.innerWidth)
    expect(wide, "the page scrolls sideways").toBe(true)

    expect(await bad?.$eval("strong", (each) => each.textContent)).toBe("bold")
    expect(await bad?.textContent()).toContain("<script>window.__owned = 1</script><img src=x onerror=")
    expect(await bad?.textContent()).toContain("bold <ship>")
    expect(await bad?.$$("script, img, iframe, svg")).toEqual([])
    const hrefs = await bad?.$$eval("a", (links) => links.map((each) => each.getAttribute("href")))
    expect(hrefs).toEqual(["https://far.example/pixel.png"])
    expect(await bad?.$eval("[data-unseen]", (each) => each.textContent)).toBe("⟨U+200B⟩")
    expect(await page.evaluate(() => (globalThis as { __owned?: unknown }).__owned)).toBeUndefined()
    expect(asked.filter((url) => url.includes("far.example"))).toEqual([])
    expect(tab.wrongs).toEqual([])
  } finally {
    await tab.close()
    await server.close()
  }
})
