// Everywhere: what holds of every page alike: a token that may only look is offered nothing that changes something.

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { assistantPages, fleetPages } from "../src/shell/pages.ts"
import { builtPage, openBrowser, openTab, type Tab } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"
import { openedPages } from "./opened-pages.ts"

let browser: Browser
let api: FakeApi
let tab: Tab

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 40 })
  browser = await openBrowser()
  tab = await openTab(browser, api.url)
})
afterAll(async () => {
  await tab.close()
  await browser.close()
  await api.close()
})

const pages = (): ReadonlyArray<readonly [page: string, path: string]> => {
  const id = api.world.rows[3]?.id ?? ""
  const opened = openedPages.map(([, path]) => [path.split(/[?/]/)[0] ?? path, `/a/${id}/${path}`] as const)
  const all = [
    ...[...fleetPages, ...assistantPages].map(({ page, to }) => [page, to.replace("$id", id)] as const),
    ...opened
  ]
  return [...new Map(all.map((each) => [each[1], each])).values()]
}

/** Of every action; a button of one that says so in no other way is known by its words. */
const VERBS =
  /^(Set |Change$|Retry|Discard|Approve|Deny|Undo|Send|Delegate|Run |Edit|Correct|Add|Retire|Release|Accept|Compact|Halt|Resume|Use as|Put back|Stop|Create)/

const goTo = async (page: string, path: string): Promise<void> => {
  await tab.open(path, page)
  await tab.page.waitForSelector("[data-loading]", { state: "detached" })
}

/** Actions that can be pressed, wherever in the document they stand. */
const offered = async (): Promise<ReadonlyArray<string>> => {
  const buttons = await tab.page.$$eval("button:not(:disabled)", (found) =>
    found.map((each) => ({
      text: each.textContent.trim(),
      isAction: each.matches("[data-action]")
    }))
  )
  return buttons.flatMap(({ isAction, text }) => (isAction || VERBS.test(text) ? [text] : []))
}

/** What leads away, saves a file or reads something anew. */
const OTHERS = /^(CSV|JSON|Export|Theme|Verify|Replay$|Further|Go$|Compare|Whole chart)/

/** The words of all buttons that may open something; of those that differ in a number alone, the first. */
const openers = (): Promise<ReadonlyArray<string>> =>
  tab.page.$$eval("button:not(:disabled)", (found) => [
    ...new Map(
      found.map(({ textContent }) => [textContent.replaceAll(/\d+/g, "").trim(), textContent.trim()] as const)
    ).values()
  ])

const QUIET_MILLIS = 150

/** Waits until nothing of the document has changed for a moment. */
const settled = () =>
  tab.page.evaluate(
    (quiet) =>
      new Promise<void>((resolve) => {
        let timer = setTimeout(finish, quiet)
        const observer = new MutationObserver(() => {
          clearTimeout(timer)
          timer = setTimeout(finish, quiet)
        })
        function finish() {
          observer.disconnect()
          resolve()
        }
        observer.observe(document, { subtree: true, childList: true, characterData: true })
      }),
    QUIET_MILLIS
  )

/** What is offered once a button was pressed, in the page and in the dialog that it opened. */
const behind = async (opener: string): Promise<ReadonlyArray<string>> => {
  await tab.page.evaluate((text) => {
    const buttons = [...document.querySelectorAll<HTMLButtonElement>("button:not(:disabled)")]
    buttons.find(({ textContent }) => textContent.trim() === text)?.click()
  }, opener)
  // A dialog or a list may be loaded first.
  await settled()
  await tab.page.waitForSelector("[data-loading]", { state: "detached" })
  const found = await offered()
  await tab.page.keyboard.press("Escape")
  return found.map((each) => `${opener} > ${each}`)
}

test(
  "a token that may only look is offered nothing that changes something, on any page",
  { timeout: 300_000 },
  async () => {
    const fields = ["[name=say]", "[data-create]"]
    for (const [page, path] of pages().filter(([name]) => ["approvals", "queues", "live"].includes(name))) {
      await goTo(page, path)
      expect([page, (await offered()).length > 0]).toEqual([page, true])
    }
    api.world.readOnly = true
    const found: Array<string> = []
    for (const [page, path] of pages()) {
      await goTo(page, path)
      await tab.page.waitForFunction(() => document.querySelector("[data-action]:not(:disabled)") === null)
      found.push(...(await offered()).map((each) => `${page}: ${each}`))
      for (const field of fields) if ((await tab.page.locator(field).count()) > 0) found.push(`${page}: ${field}`)
      await tab.page.keyboard.press("Control+k")
      await tab.page.waitForSelector("[data-palette] input:focus")
      found.push(
        ...(await tab.page.$$eval("[data-entry^=order-]", (all) => all.map((each) => `${page}: ${each.textContent}`)))
      )
      await tab.page.keyboard.press("Escape")
      for (const opener of (await openers()).filter((text) => !OTHERS.test(text)))
        found.push(...(await behind(opener)).map((each) => `${page}: ${each}`))
      for (const key of ["j", "x", "a", "d"]) await tab.page.keyboard.press(key)
      found.push(...(await offered()).map((each) => `${page}: by keys > ${each}`))
    }
    expect(found).toEqual([])
    expect(api.changes).toEqual([])
    expect(tab.wrongs).toEqual([])
  }
)

/** Columns of lists whose head stands neither at the left nor at the right of what is below it. */
const beside = (): Promise<ReadonlyArray<string>> =>
  tab.page.evaluate(() => {
    /** Of a sort button the padding does not count, and a moment may be a pixel wider than its text. */
    const MOST_PX = 6
    const boxOf = (cell: Element) => {
      if (cell.matches(".chip")) return cell.getBoundingClientRect()
      const range = document.createRange()
      range.selectNodeContents(cell)
      return range.getBoundingClientRect()
    }
    const lists: ReadonlyArray<readonly [heads: string, row: string]> = [
      [":scope > thead > tr", ":scope > tbody > tr"],
      [":scope > .memory-heads", ":scope > ul > li > .memory-line"],
      [":scope > .frame-heads", ":scope > ul > li"],
      [":scope > .timeline-heads > .timeline-line", ".timeline-row > .timeline-line"],
      [":scope > .grid-head", ".grid-row"]
    ]
    return lists.flatMap(([heads, row]) =>
      [...document.querySelectorAll("#main *")].flatMap((list) => {
        const [head, first] = [heads, row].map((each) => [...(list.querySelector(each)?.children ?? [])])
        if (head === undefined || first === undefined || head.length !== first.length) return []
        return head.flatMap((each, at) => {
          const cell = first[at]
          if (cell === undefined || each.textContent.trim() === "" || cell.textContent.trim() === "") return []
          const [above, below] = [boxOf(each), boxOf(cell)]
          if (above.width === 0 || below.width === 0 || each.querySelector(".sr-only") !== null) return []
          const away = Math.min(Math.abs(above.left - below.left), Math.abs(above.right - below.right))
          return away > MOST_PX ? [`${each.textContent.trim()}: ${Math.round(away)} px beside`] : []
        })
      })
    )
  })

test(
  "the head of a column stands above what is in it, on any page, wide and narrow",
  { timeout: 240_000 },
  async () => {
    api.world.readOnly = false
    const found: Array<string> = []
    for (const width of [1_440, 390]) {
      await tab.page.setViewportSize({ width, height: 900 })
      for (const [page, path] of pages()) {
        await goTo(page, path)
        found.push(...(await beside()).map((each) => `${width} ${path.replace(/\/a\/[^/]+/, "")} ${each}`))
      }
    }
    await tab.page.setViewportSize({ width: 1_440, height: 900 })
    expect(found).toEqual([])
  }
)
