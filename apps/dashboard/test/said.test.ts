// Said: what the conversation of Live shows of a turn that a tool ended, of a call that waits, and where it stands when opened.

import type { MessageView, TickView } from "@reverie/server/api"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { builtPage, openBrowser, openTab, type Tab } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"

let browser: Browser
let api: FakeApi

beforeAll(async () => {
  browser = await openBrowser()
  api = await openFakeApi({ page: await builtPage(), rows: 50 })
})
afterAll(async () => {
  await browser.close()
  await api.close()
})

const at = Date.UTC(2026, 10, 22, 9)

const asked: MessageView = { no: 2, index: 0, role: "user", name: "Ilse", content: "Is Birch free?", at, tokens: 5 }
const call = (tool: string, no: number): MessageView => ({
  no,
  index: 0,
  role: "assistant",
  content: "",
  calls: [{ id: `1.${no}.0`, tool, arguments: "{}" }],
  at,
  tokens: 9
})
const result = (tool: string, no: number, content: string): MessageView => ({
  no: no + 1,
  index: 0,
  role: "tool",
  name: tool,
  call: `1.${no}.0`,
  content,
  at,
  tokens: 9
})
const tick = (tools: TickView["tools"], outcome?: string): TickView => ({
  kind: "tick",
  tick: 1,
  from: 2,
  to: 9,
  sender: "Ilse",
  text: asked.content,
  beganAt: at,
  ...(outcome === undefined ? {} : { outcome, endedAt: at + 40 }),
  iterations: 2,
  models: [],
  tools,
  steps: [],
  states: []
})

/** Live with these messages and this turn, and nothing else of either. */
const told = async (items: ReadonlyArray<MessageView>, turn: TickView, id = "desk"): Promise<Tab> => {
  const tab = await openTab(browser, api.url)
  const answers = { messages: items, ticks: [turn] }
  for (const [name, all] of Object.entries(answers)) {
    await tab.page.route(new RegExp(`/v1/assistants/[^/]+/${name}\\?`), (route) =>
      route.fulfill({ json: { items: all, next: null } })
    )
  }
  const row = api.world.rows.find((each) => each.id === id) ?? api.world.rows[3]
  await tab.open(`/a/${row?.id ?? ""}`, "live")
  await tab.page.waitForSelector("[data-call]")
  return tab
}

const run = (tool: string, no: number): TickView["tools"][number] => ({
  call: `1.${no}.0`,
  tool,
  at,
  ok: true,
  elapsedMs: 3
})

test("M5 what a tool ended a turn with stands as the answer, and leads to its reasons", async () => {
  const answer = "Yes, **Birch** is free."
  const items = [
    asked,
    call("find_berth", 3),
    result("find_berth", 3, "birch"),
    call("say", 5),
    result("say", 5, answer)
  ]
  const tab = await told(items, tick([run("find_berth", 3), run("say", 5)], "terminal"))
  const last = tab.page.locator("[data-messages] > [data-role=assistant]").last()
  await last.locator("[data-why='1']").waitFor()
  expect(await tab.page.locator("[data-why]").count()).toBe(1)
  await last.locator("strong >> text=Birch").waitFor()
  expect(await last.locator("[data-call] summary").innerText()).not.toContain("is free")
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("M1 what a call gave stands in words on its line, and as it is below it", async () => {
  const items = [asked, call("find_berth", 3), result("find_berth", 3, '{"success":true,"fitting":["birch","elm"]}')]
  const tab = await told(items, tick([run("find_berth", 3)]))
  const line = tab.page.locator("[data-call] summary")
  await line.locator("text=3 ms").waitFor()
  expect(await line.innerText()).toMatch(/fitting birch; elm$/)
  await line.click()
  expect(await tab.page.locator("[data-call]").innerText()).toContain('"fitting"')
  await tab.close()
})

test("M6 a call that waits for a person has not failed", async () => {
  const waits = { ...run("assign_berth", 3), ok: false, pending: true }
  const tab = await told([asked, call("assign_berth", 3)], tick([waits]))
  await tab.page.waitForTimeout(300)
  expect(await tab.page.locator("[data-call] summary").innerText()).toMatch(/^calls assign_berth$/)
  await tab.close()
})

test("what was decided leaves the conversation when its result is there", async () => {
  const asking = api.world.rows.find(({ approvals }) => approvals > 0)
  if (asking === undefined) throw new Error("no one asks")
  const items: Array<MessageView> = [asked]
  const tab = await told([asked, call("find_berth", 3)], tick([run("find_berth", 3)]), asking.id)
  const open = await tab.page.evaluate(async () => (await fetch("/v1/approvals")).json())
  const { call: id } = open.items.find(({ assistant }: { assistant: string }) => assistant === asking.id)
  items.push({ ...result("sink", 3, "sunk"), call: id })
  await tab.page.waitForSelector("[data-waits] [data-decide=approved]")
  await tab.page.click("[data-waits] [data-decide=approved]")
  await tab.page.waitForSelector("[data-waits] [data-done=approved]")
  await tab.page.route(/\/v1\/assistants\/[^/]+\/messages\?/, (route) => route.fulfill({ json: { items, next: null } }))
  api.world.tell(asking, { type: "tick-ended", envelope: "e-9", outcome: "answered", iterations: 1 })
  await tab.page.waitForSelector("[data-waits]", { state: "detached" })
  await tab.close()
})

test("the newest of a conversation is in view when it is opened, with all that comes after its words", async () => {
  const long = Array.from({ length: 12 }, (_, n) => ({ ...asked, no: -n, content: "Is Birch free? ".repeat(30) }))
  const answer = "It is **free**.\n\n- one\n- two\n- three\n- four\n- five"
  const items = [...long, asked, call("say", 5), result("say", 5, answer)]
  const tab = await told(items, tick([run("say", 5)], "terminal"))
  await tab.page.waitForSelector("[data-why]")
  await tab.page.waitForSelector("[data-messages] li li >> text=five")
  await expect
    .poll(() =>
      tab.page.$eval("[data-messages]", (list) => {
        const place = list.parentElement ?? list
        return place.scrollHeight - place.scrollTop - place.clientHeight
      })
    )
    .toBeLessThan(2)
  await tab.close()
})

test("what is said while the newest is in view stays in view, also where it comes in pieces", async () => {
  const long = Array.from({ length: 12 }, (_, n) => ({ ...asked, no: -n, content: "Is Birch free? ".repeat(30) }))
  const tab = await told([...long, asked, call("say", 5)], tick([run("say", 5)]))
  await tab.page.waitForSelector("[data-why], [data-call]")
  const left = await tab.page.$eval("[data-messages]", async (list) => {
    const place = list.parentElement ?? list
    const grow = () => list.append(Object.assign(document.createElement("li"), { style: "height: 300px" }))
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    for (let n = 0; n < 3; n += 1) await frame()
    // The second piece is there before the page hears that it has scrolled to the first.
    const grown = new Promise((resolve) => {
      place.addEventListener("scroll", resolve, { capture: true, once: true })
      place.addEventListener("scroll", grow, { capture: true, once: true })
    })
    grow()
    await grown
    for (let n = 0; n < 5; n += 1) await frame()
    return place.scrollHeight - place.scrollTop - place.clientHeight
  })
  expect(left).toBeLessThan(2)
  // Someone who reads further up is left there.
  const moved = await tab.page.$eval("[data-messages]", async (list) => {
    const place = list.parentElement ?? list
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    place.scrollTop -= 200
    await frame()
    const top = place.scrollTop
    list.append(Object.assign(document.createElement("li"), { style: "height: 300px" }))
    for (let n = 0; n < 5; n += 1) await frame()
    return place.scrollTop - top
  })
  expect(moved).toBe(0)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("one that has retired is not offered to be told something again", async () => {
  const retired = api.world.rows.find(({ state }) => state === "retired")
  if (retired === undefined) throw new Error("no one has retired")
  const tab = await told(
    [asked, call("say", 5), result("say", 5, "Yes.")],
    tick([run("say", 5)], "terminal"),
    retired.id
  )
  await tab.page.waitForSelector("[data-why]")
  expect(await tab.page.locator("[data-anew]").count()).toBe(0)
  await tab.close()
})
