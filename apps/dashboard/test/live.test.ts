// Live: one assistant is watched while it works; the stream breaks and comes back.

import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import type { Tab } from "./browser.ts"
import type { FakeApi } from "./fake-api.ts"
import { inTabs } from "./in-tabs.ts"

let api: FakeApi
let tab: Tab
inTabs(50, (opened) => ({ api, tab } = opened))

const live = () => tab.page.waitForSelector('[role=status][data-connection="live"]')

const idle = () => {
  const row = api.world.rows.find(({ state }) => state === "awake.idle")
  if (row === undefined) throw new Error("no one is idle")
  return row
}

const watch = async () => {
  const row = idle()
  await tab.open(`/a/${row.id}`, "live")
  await live()
  await tab.page.waitForSelector("[data-chart-state][data-current]")
  // The stream of this assistant alone is another one than that of the fleet.
  await expect.poll(() => api.streams.length).toBeGreaterThan(0)
  return row
}

test("G1 each state that it comes into is lit, and everything around it", async () => {
  const row = await watch()
  const paths = [
    "awake.thinking.inferring",
    "awake.acting.running",
    "awake.awaitingApproval",
    "compacting.summarizing",
    "dreaming.linking",
    "halted",
    "retired"
  ]
  for (const path of paths) {
    api.world.move(row, path)
    await tab.page.waitForSelector(`[data-chart-state="${path}"][data-current]`)
    const lit = await tab.page.$$eval('[data-chart-state][data-active="true"]', (nodes) =>
      nodes.map((node) => node.getAttribute("data-chart-state") ?? "?")
    )
    const parts = path.split(".")
    expect(lit.toSorted()).toEqual(["", ...parts.map((_, at) => parts.slice(0, at + 1).join("."))].toSorted())
    await tab.page.waitForSelector(`[data-now="${path}"]`)
  }
  // In the words of the page, not as a path of the chart.
  const log = await tab.page.locator("[data-notice=state-changed] > span").allInnerTexts()
  expect(log).toEqual(expect.arrayContaining(["is thinking inferring", "is awaiting approval", "is halted"]))
  expect(tab.wrongs).toEqual([])
})

test("G1 an answer that was read before the last transition does not put the page back", async () => {
  const row = await watch()
  const released = Promise.withResolvers<void>()
  let held = 0
  await tab.page.route(`**/v1/assistants/${row.id}`, async (route) => {
    const response = await route.fetch()
    held += 1
    await released.promise
    await route.fulfill({ response })
  })
  api.world.move(row, "halted")
  await expect.poll(() => held, { timeout: 5_000 }).toBe(1)
  api.world.move(row, "retired")
  await tab.page.waitForSelector('[data-now="retired"]')
  await tab.page.evaluate(() => {
    const seen = new Set<string>()
    Object.assign(globalThis, { seen })
    const look = () => {
      seen.add(document.querySelector<HTMLElement>("[data-now]")?.dataset["now"] ?? "?")
    }
    new MutationObserver(look).observe(document.body, { subtree: true, attributes: true, childList: true })
    look()
  })
  released.resolve()
  // What was under way when it moved is read once more: the orders are those of the new state.
  await expect.poll(() => held, { timeout: 5_000 }).toBe(2)
  await tab.page.waitForSelector('[data-accepts=""]', { state: "attached" })
  const seen = await tab.page.evaluate(() => [...(globalThis as unknown as { seen: Set<string> }).seen])
  expect(seen).toEqual(["retired"])
})

test("G2 the transition that was taken is distinguished", async () => {
  const row = await watch()
  api.world.move(row, "awake.thinking.inferring")
  await tab.page.waitForSelector('[data-chart-edge][data-lit="taken"]')
  const taken = await tab.page.$$eval('[data-lit="taken"][data-chart-edge]', (edges) => edges.length)
  expect(taken).toBeGreaterThan(1)
})

/** When the view has come to rest: how many states are drawn, what lies under the buttons, and how large words are in pixels. */
const chartLooks = async (page: Page) => {
  const viewport = () => page.$eval(".chart .react-flow__viewport", ({ style }) => style.transform)
  const isStill = async (): Promise<boolean> => {
    const before = await viewport()
    await page.waitForTimeout(200)
    return before === (await viewport())
  }
  await expect.poll(isStill).toBe(true)
  return page.evaluate(() => {
    const boxOf = (element: Element) => element.getBoundingClientRect()
    const buttons = boxOf(document.querySelector(".chart .chart-bar")!)
    const states = [...document.querySelectorAll<HTMLElement>("[data-chart-state]")].filter(
      (state) => state.dataset["chartState"] !== ""
    )
    const under = states.filter((state) => {
      const { bottom, left, right, top } = boxOf(state)
      return left < buttons.right && right > buttons.left && top < buttons.bottom && bottom > buttons.top
    })
    const [title] = document.querySelectorAll<HTMLElement>(".chart-title")
    const zoom = title === undefined ? 0 : boxOf(title).height / title.offsetHeight
    const size = (element: Element | null) =>
      element === null ? 0 : zoom * parseFloat(getComputedStyle(element).fontSize)
    const current = document.querySelector("[data-chart-state][data-current] .chart-title")
    const canvas = boxOf(document.querySelector(".chart .react-flow")!)
    return {
      isApart: buttons.bottom <= canvas.top + 1,
      seesCurrent: current !== null && boxOf(current).left >= canvas.left && boxOf(current).right <= canvas.right,
      states: states.length,
      under: under.map((state) => state.dataset["chartState"]),
      titlePx: size(title ?? null),
      namePx: size(document.querySelector(".chart-edge text"))
    }
  })
}

test("the whole chart is read at 1440: regions closed, names on edges, nothing under its buttons", async () => {
  const row = await watch()
  const inHand = await tab.page.textContent("[data-in-hand]")
  expect(inHand).toMatch(/sleep in /)
  expect(inHand).not.toContain("xstate")
  await tab.page.setViewportSize({ width: 1440, height: 900 })
  expect(await chartLooks(tab.page)).toMatchObject({ isApart: true, seesCurrent: true })
  await tab.page.click('.chart button:has-text("Whole chart")')
  await tab.page.waitForSelector('[data-chart-state="dreaming"][data-kind="closed"]')
  const whole = await chartLooks(tab.page)
  expect(whole.states).toBe(11)
  expect(whole.under).toEqual([])
  expect(whole.titlePx).toBeGreaterThanOrEqual(9)
  expect(whole.namePx).toBeGreaterThanOrEqual(8)
  // What happens inside a closed region lights the region.
  api.world.move(row, "dreaming.linking")
  await tab.page.waitForSelector('[data-chart-state="dreaming"][data-current]')
  api.world.move(row, "dreaming.profiling")
  await tab.page.waitForSelector('[data-now="dreaming.profiling"]')
  await tab.page.waitForSelector('[data-chart-state="dreaming"][data-current]')
  expect(await tab.page.locator('[data-lit="taken"][data-chart-edge]').count()).toBe(0)
  await tab.page.click('.chart button:has-text("Every state")')
  await tab.page.waitForSelector('[data-chart-state="dreaming.linking"]')
  const all = await chartLooks(tab.page)
  expect(all.states).toBeGreaterThan(20)
  expect(all.under).toEqual([])
  await tab.page.click('.chart button:has-text("Close the regions")')
  await tab.page.click('.chart button:has-text("Follow the state")')
  await tab.page.waitForSelector("[data-say]")
})

test("the whole chart is read on a phone as well: the state first, the others by moving it", async () => {
  await tab.page.setViewportSize({ width: 390, height: 844 })
  await watch()
  await tab.page.goto(`${tab.page.url()}?view=whole`)
  await tab.page.waitForSelector('[data-chart-state="dreaming"][data-kind="closed"]')
  const whole = await chartLooks(tab.page)
  expect(whole.titlePx).toBeGreaterThanOrEqual(9)
  expect(whole).toMatchObject({ seesCurrent: true, isApart: true })
})

test("what is said is written once, the reply comes piece by piece, and nothing stands twice (C2, J1)", async () => {
  const row = await watch()
  const { page } = tab
  await page.fill("[name=say]", "When does the tide turn?")
  await page.press("[name=say]", "Enter")
  await page.waitForSelector('[data-writing="on"]')
  expect(await page.textContent("[data-thought]")).toContain("Let me look at the berths.")
  await page.waitForSelector('[data-begun="1.1.0"]')
  await page.waitForSelector('[data-writing="whole"]')
  const [sent] = api.changes
  expect(sent?.route).toBe("POST /v1/assistants/:id/messages")
  expect(sent?.asked.payload).toEqual({ text: "When does the tide turn?", id: sent?.key })
  expect(api.changes.length).toBe(1)
  expect(await page.inputValue("[name=say]")).toBe("")
  expect(await page.textContent("[data-writing]")).toContain("berth four is kept free until seven")
  await page.waitForSelector(`[data-now="awake.idle"]`)
  expect(row.state).toBe("awake.idle")
})

test("M4 what a person said is sent again as it stands, or changed first, as a message of its own", async () => {
  await watch()
  const { page } = tab
  const asked = "Which berth is free at six?"
  await page.click("[data-anew] >> text=send again")
  await expect.poll(() => api.changes.length).toBe(1)
  await page.waitForSelector('[data-writing="whole"]')
  await page.click("[data-anew] >> text=edit and send")
  expect(await page.inputValue("[name=say]")).toBe(asked)
  expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("say")
  await page.fill("[name=say]", "Which berth is free at seven?")
  await page.press("[name=say]", "Enter")
  await expect.poll(() => api.changes.length).toBe(2)
  const [again, changed] = api.changes
  expect(again?.asked.payload).toEqual({ text: asked, id: again?.key })
  expect(changed?.asked.payload).toEqual({ text: "Which berth is free at seven?", id: changed?.key })
  expect(again?.key).not.toBe(changed?.key)
  expect(tab.wrongs).toEqual([])
})

test("a run in progress has a Stop button, whose order names the run; at rest there is none", async () => {
  const row = await watch()
  const { page } = tab
  expect(await page.locator("[data-stop]").count()).toBe(0)
  api.world.move(row, "awake.acting.running")
  await page.click(`[data-stop="${row.ticks}"]`)
  await page.waitForSelector(`[data-now="awake.idle"]`)
  await expect.poll(() => page.locator("[data-stop]").count()).toBe(0)
  const [stop, ...others] = api.changes
  expect(others).toEqual([])
  expect(stop?.route).toBe("POST /v1/assistants/:id/orders")
  expect(stop?.asked.payload).toEqual({ order: "stop", tick: row.ticks, id: stop?.key })
  expect(tab.wrongs).toEqual([])
})

test("M1 M2 a call and its result are one line, nothing empty is shown, and an answer leads to its reasons", async () => {
  const row = await watch()
  const { page } = tab
  const answer = await page.waitForSelector("[data-why]")
  expect(
    await page.$$eval("[data-messages] > .said", (said) => said.map((each) => each.getAttribute("data-role")))
  ).toEqual(["user", "assistant", "assistant"])
  const used = await page.textContent("[data-call=c1] summary")
  expect(used).toMatch(/^used list_berths.* free B4, note /)
  const ways = await answer.$$eval("a", (links) => links.map((link) => link.getAttribute("href")))
  const of = `/a/${row.id}`
  expect(ways).toEqual([`${of}/timeline?tick=99998&level=trace`, `${of}/context?tick=99998`, `${of}/fork/99998`])
  expect(await answer.textContent()).toMatch(/\d s, .*tokens, \$/)
  expect(tab.wrongs).toEqual([])
})

test("a call that waits for a person is decided where the conversation is", async () => {
  const asking = api.world.rows.find(({ approvals }) => approvals > 0)
  if (asking === undefined) throw new Error("no one asks")
  await tab.open(`/a/${asking.id}`, "live")
  const card = await tab.page.waitForSelector("[data-messages] [data-waits] [data-approval]")
  await (await card.$("[data-decide=approved]"))?.click()
  await tab.page.waitForSelector("[data-messages] [data-done=approved]")
  const [decided] = api.changes
  expect(decided?.route).toBe("POST /v1/approvals/:id/:approval")
  expect(decided?.asked.payload).toMatchObject({ decision: "approved", seen: expect.any(String) })
})

test("the modes stand in a strip, and the present one is lit", async () => {
  const row = await watch()
  for (const [path, mode] of [
    ["awake.thinking.inferring", "Thinking"],
    ["dreaming.linking", "Dreaming"]
  ] as const) {
    api.world.move(row, path)
    await tab.page.waitForSelector(`.mode[aria-current]:has-text("${mode}")`)
  }
  expect(await tab.page.$$eval(".mode", (modes) => modes.length)).toBe(7)
  expect(await tab.page.$$eval(".mode[aria-current]", (modes) => modes.length)).toBe(1)
  expect((await tab.page.locator("[data-lasted]").allInnerTexts()).map((each) => each.trim())).toEqual([
    "50 min",
    "8 min",
    "2 min"
  ])
})

test("what is in progress is whole, however much has happened", async () => {
  const row = await watch()
  for (let turn = 0; turn < 6; turn += 1)
    for (const path of ["awake.thinking.inferring", "awake.acting.running", "awake.idle"]) api.world.move(row, path)
  await tab.page.waitForFunction(() => document.querySelectorAll("[data-notice]").length > 12)
  const hidden = await tab.page.$eval("[data-in-hand]", ({ clientHeight, scrollHeight }) => scrollHeight - clientHeight)
  expect(hidden).toBe(0)
})

test("only what the state accepts is offered", async () => {
  const row = await watch()
  const offered = () =>
    tab.page.$$eval("[data-order]", (buttons) => buttons.map((button) => button.getAttribute("data-order")))
  expect(await offered()).toEqual(["sleep", "compact", "halt", "retire"])
  await tab.page.click("[data-order=halt]")
  await tab.page.fill("[name=reason]", "night")
  await tab.page.click("[data-confirm]")
  await tab.page.waitForSelector(`[data-now="halted"]`)
  await tab.page.waitForSelector("[data-order=resume]")
  expect(await offered()).toEqual(["resume", "retire"])
  await tab.page.click("[data-order=resume]")
  await tab.page.waitForSelector(`[data-now="awake.idle"]`)
  expect(api.changes.map(({ asked }) => asked.payload["order"])).toEqual(["halt", "resume"])
  expect(new Set(api.changes.map(({ key }) => key)).size).toBe(2)
  expect(row.state).toBe("awake.idle")
})

test("T1 a stream that breaks comes back where it was: each notice is reported once, in order", async () => {
  const row = await watch()
  const { page } = tab
  api.world.move(row, "awake.thinking.inferring")
  await page.waitForSelector('[data-notice="state-changed"]')
  api.setBroken(true)
  await page.waitForSelector('[role=status][data-connection="reconnecting"], [role=status][data-connection="lost"]')
  const missed = ["awake.acting.running", "awake.thinking.inferring", "awake.acting.running", "awake.idle"]
  for (const path of missed) api.world.move(row, path)
  api.setBroken(false)
  await live()
  await page.waitForFunction(() => document.querySelectorAll('[data-notice="state-changed"]').length >= 5)
  const told = await page.$$eval('[data-notice="state-changed"] span', (lines) => lines.map((line) => line.textContent))
  expect(told.toReversed()).toEqual(
    ["awake.thinking.inferring", ...missed].map((path) => `is ${path.replace("awake.", "").replace(".", " ")}`)
  )
  expect(Number(api.streams.at(-1))).toBeGreaterThan(40_000)
})

test("T3 a server that does not answer is said, and found again", async () => {
  await watch()
  api.setBroken(true)
  await tab.page.waitForSelector('[role=status][data-connection="reconnecting"], [role=status][data-connection="lost"]')
  api.setBroken(false)
  await tab.page.click("text=Reconnect")
  await live()
})

test("an assistant that is not there is said in one line, with what to do", async () => {
  await tab.open("/a/nobody", "live")
  await tab.page.waitForSelector('[data-failed="NotFound"]')
  expect(await tab.page.textContent("[data-failed]")).toContain("there is no assistant nobody")
  expect(await tab.page.textContent("[data-failed]")).toContain("look at the list of assistants")
})
