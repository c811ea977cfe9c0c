// In tabs: each test of a file has a tab and a fake API of its own, the whole file one browser.

import type { Browser } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest"
import { builtPage, openBrowser, openTab, type Tab } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

interface Opened {
  readonly api: FakeApi
  readonly tab: Tab
}

/** Called once by a file. `opened` is given what each test has, before it begins. */
export const inTabs = (rows: number, opened: (each: Opened) => void): void => {
  let browser: Browser
  let open: Opened
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser.close()
  })
  beforeEach(async () => {
    const api = await openFakeApi({ page: await builtPage(), rows })
    open = { api, tab: await openTab(browser, api.url) }
    opened(open)
  })
  afterEach(async () => {
    await open.tab.close()
    await open.api.close()
  })
}
