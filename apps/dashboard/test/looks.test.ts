// Looks: every page of the fleet, and Live, in both themes: nothing wrong, nothing hidden, a picture for people.

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import {
  builtPage,
  isOwned,
  navIsInView,
  openBrowser,
  openTab,
  picture,
  seriousFaults,
  sideways,
  spills
} from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

let browser: Browser
let api: FakeApi

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage() })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await api.close()
})

const pages = [
  ["overview", () => "/"],
  ["overview-day", () => "/?span=day"],
  ["fleet", () => "/fleet"],
  ["fleet-groups", () => "/fleet?group=definition&state=awake"],
  ["fleet-halted", () => "/fleet?state=halted&sort=errors&desc=true"],
  ["live", () => `/a/${api.world.rows[3]?.id ?? ""}`],
  ["live-whole", () => `/a/${api.world.rows[3]?.id ?? ""}?view=whole`],
  ["approvals", () => "/approvals"],
  ["queues", () => "/queues"],
  ["usage", () => "/usage"],
  ["usage-of", () => `/usage?range=month&assistant=${api.world.rows[3]?.id ?? ""}`],
  ["prompts", () => "/prompts"],
  ["system", () => "/system"]
] as const

for (const theme of ["light", "dark"] as const) {
  for (const [name, path] of pages) {
    test(`${name} in ${theme} is whole, safe and readable (P1, V1, S1)`, async () => {
      const tab = await openTab(browser, api.url, { colorScheme: theme })
      await tab.open(path(), name.split("-")[0] ?? name)
      if (name.startsWith("live")) await tab.page.waitForSelector("[data-chart-state][data-current]")
      await tab.page.waitForSelector("[data-loading]", { state: "detached" })
      if (name === "system") await tab.page.click("[data-definition] summary")
      await picture(tab.page, `${name}-${theme}`)
      expect(await seriousFaults(tab.page)).toEqual([])
      expect(await isOwned(tab.page)).toBe(false)
      expect(await spills(tab.page)).toEqual([])
      expect(tab.wrongs).toEqual([])
      await tab.close()
    })
  }
}

test("Fleet: every id and every state in view can be read whole", async () => {
  const tab = await openTab(browser, api.url)
  const cut: Array<string> = []
  await tab.open("/fleet", "fleet")
  for (const activity of ["thinking", "acting", "dreaming", "compacting"]) {
    await tab.page.click(`[data-counter=${activity}]`)
    await tab.page.waitForSelector(`[data-counter=${activity}][data-active]`)
    await tab.page.waitForSelector(`[data-row='0'] [data-tone=${activity}]`)
    cut.push(
      ...(await tab.page.$$eval("[data-row][data-assistant] :is(a, .chip > .truncate)", (all) =>
        all.filter((each) => each.scrollWidth > each.clientWidth).map(({ textContent }) => textContent)
      ))
    )
  }
  await tab.close()
  expect([...new Set(cut)]).toEqual([])
})

test("Fleet: why one is halted can be read whole, and no moment of another trouble is beside it", async () => {
  const tab = await openTab(browser, api.url)
  await tab.open("/fleet?state=halted", "fleet")
  await tab.page.waitForSelector("[data-row][data-assistant]")
  const reason = "its budget of today is spent"
  const found = await tab.page.$$eval(`[data-row][data-assistant] [title="${reason}"]`, (all) =>
    all.map((each) => [each.scrollWidth <= each.clientWidth, each.parentElement?.textContent])
  )
  await tab.close()
  expect(found.length).toBeGreaterThan(2)
  for (const each of found) expect(each).toEqual([true, reason])
})

test("the tasks of sub-agents, and what a reminder may be written as, can be read whole", async () => {
  const home = `/a/${api.world.rows[3]?.id ?? ""}`
  const tab = await openTab(browser, api.url)
  await tab.open(`${home}/subagents`, "subagents")
  await tab.page.waitForSelector("[data-node] [title]")
  const cut = await tab.page.$$eval("[data-node] > :first-child > [title]", (tasks) =>
    tasks
      .filter((task) => task.scrollWidth > task.clientWidth || task.scrollHeight > task.clientHeight + 1)
      .map(({ textContent }) => textContent)
  )
  expect(cut).toEqual([])
  await tab.open(`${home}/dreams`, "dreams")
  const [text, room] = await tab.page.$eval("[data-form=reminder] [name=when]", (field) => {
    const { font, paddingLeft } = getComputedStyle(field)
    const pen = document.createElement("canvas").getContext("2d")
    if (pen === null || !(field instanceof HTMLInputElement)) return []
    pen.font = font
    return [pen.measureText(field.placeholder).width, field.clientWidth - 2 * parseFloat(paddingLeft)]
  })
  expect(text ?? Infinity).toBeLessThanOrEqual(room ?? 0)
  await tab.close()
})

/** Of a colour as the browser computes it. */
const lightOf = (colour: string): number => {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

test("a track can be told from what is behind it, and a span from its track, in both themes", async () => {
  const home = `/a/${api.world.rows[3]?.id ?? ""}`
  for (const colorScheme of ["light", "dark"] as const) {
    const tab = await openTab(browser, api.url, { colorScheme })
    for (const [path, name, track, ground, least] of [
      [`${home}/context`, "context", ".context-range", ".card", 1.2],
      [`${home}/timeline?level=trace&tick=99990`, "timeline", ".lane", ".card", 1.2],
      [`${home}/timeline?level=trace&tick=99990`, "timeline", ".lane > [data-lane=between]", ".lane", 3],
      ["/fleet", "fleet", ".bar-track", ".grid-table", 1.2]
    ] as const) {
      await tab.open(path, name)
      await tab.page.waitForSelector(track)
      const [on, behind] = await Promise.all(
        [track, ground].map((of) => tab.page.$eval(of, (each) => getComputedStyle(each).backgroundColor))
      )
      const [one, other] = [lightOf(on ?? ""), lightOf(behind ?? "")].toSorted((low, high) => high - low)
      expect([colorScheme, track, ((one ?? 0) + 0.05) / ((other ?? 0) + 0.05) > least]).toEqual([
        colorScheme,
        track,
        true
      ])
    }
    await tab.close()
  }
})

test("a narrow window has no page that scrolls sideways as a whole", async () => {
  const tab = await openTab(browser, api.url, { viewport: { width: 390, height: 844 } })
  const wide: Array<string> = []
  for (const [name, path] of pages) {
    await tab.open(path(), name.split("-")[0] ?? name)
    await tab.page.waitForSelector("[data-loading]", { state: "detached" })
    if (name === "system") await tab.page.click("[data-definition] summary")
    await picture(tab.page, `${name}-narrow`)
    for (const each of [...(await spills(tab.page)), ...(await sideways(tab.page))]) wide.push(`${name}: ${each}`)
    expect([name, await navIsInView(tab.page)]).toEqual([name, true])
    expect([name, await seriousFaults(tab.page)]).toEqual([name, []])
  }
  await tab.close()
  expect(wide).toEqual([])
})
