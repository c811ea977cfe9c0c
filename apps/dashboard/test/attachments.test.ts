// Attachments: a real fleet behind a real server; a file is chosen and sent, an image is seen, a file is a link.

import { openServer } from "@reverie/server"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { builtPage, openBrowser, openTab } from "./browser.ts"

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const SECRET = "a-secret-of-the-page-0123456789"

let browser: Browser

beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
})

test("a file that is attached is sent with the message and seen in Live and in the timeline, behind a token too", async () => {
  await using fleet = await Fleet.open({
    data: ":memory:",
    model: "offline",
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You are under test." })] })
  })
  const token = { name: "page", tenant: "default", secret: SECRET, readOnly: false }
  const server = await openServer({ fleet, role: "all", tokens: [token], page: await builtPage() })
  const tab = await openTab(browser, `http://127.0.0.1:${server.port}`)
  const { page } = tab
  try {
    await page.addInitScript((secret) => sessionStorage.setItem("reverie.token", secret), SECRET)
    await tab.open("/a/desk", "live")
    await page.setInputFiles("[data-attach] input", [
      { name: "berth.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") },
      { name: "<b>plan.html", mimeType: "text/html", buffer: Buffer.from("<script>window.__owned = 1</script>") }
    ])
    await page.waitForSelector('[data-chosen="2"]')
    await page.click("[data-say] button[type=submit]")
    await page.waitForSelector('[data-messages] [data-parts="2"] img[src^="blob:"]')
    const seen = await page.$eval("[data-messages] img.said-image", (image) => (image as HTMLImageElement).naturalWidth)
    expect(seen).toBe(1)
    expect(await page.$("[data-chosen]")).toBeNull()
    const [kept] = await Promise.all([page.waitForEvent("download"), page.click("[data-messages] a[data-part]")])
    expect(kept.suggestedFilename()).toContain("plan.html")

    await tab.open("/a/desk/timeline", "timeline")
    await page.click('[data-tick="1"] [data-toggle]')
    await page.waitForSelector('[data-opened] [data-parts="2"] img[src^="blob:"]')
    expect(tab.wrongs).toEqual([])
    expect(await page.evaluate(() => (globalThis as { __owned?: unknown }).__owned)).toBeUndefined()
  } finally {
    await tab.close()
    await server.close()
  }
})
