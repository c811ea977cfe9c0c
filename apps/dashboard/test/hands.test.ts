// Hands: what people decide: approvals, dead letters, a token.

import { expect, test } from "vitest"
import { builtPage, type Tab } from "./browser.ts"
import { approvalsOf } from "./fake/answers.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"
import { inTabs } from "./in-tabs.ts"

let api: FakeApi
let tab: Tab
inTabs(1_000, (opened) => ({ api, tab } = opened))

test("A1 A2 the focused card hears a and d; what was seen goes along, with the note", async () => {
  const asked = approvalsOf(api.world).toSorted((one, other) => one.askedAt - other.askedAt)
  await tab.open("/approvals", "approvals")
  const { page } = tab
  await page.keyboard.press("a")
  expect(api.changes).toEqual([])
  await page.keyboard.press("j")
  await page.keyboard.press("a")
  await page.waitForSelector("[data-done=approved]")
  await page.keyboard.press("j")
  await page.fill(`[data-assistant="${asked[1]?.assistant ?? ""}"] [name=note]`, "not at night, and no add d a")
  expect(api.changes.length).toBe(1)
  await page.focus(`[data-approval="${asked[1]?.approval ?? ""}"]`)
  await page.keyboard.press("d")
  await page.waitForSelector("[data-done=denied]")
  expect(api.changes.map(({ asked: { params, payload } }) => ({ ...params, ...payload }))).toEqual([
    {
      id: asked[0]?.assistant,
      approval: asked[0]?.approval,
      decision: "approved",
      seen: asked[0]?.arguments
    },
    {
      id: asked[1]?.assistant,
      approval: asked[1]?.approval,
      decision: "denied",
      seen: asked[1]?.arguments,
      note: "not at night, and no add d a"
    }
  ])
  expect(tab.wrongs).toEqual([])
})

test("A3 what can not be seen in arguments is shown and said; the exact text is there", async () => {
  await tab.open("/approvals", "approvals")
  const card = tab.page.locator("[data-approval]", { has: tab.page.locator("[data-invisible]") })
  expect(await card.count()).toBeGreaterThan(0)
  const codes = await card
    .first()
    .locator("[data-unseen]")
    .evaluateAll((marks) => marks.map((mark) => mark.getAttribute("data-unseen")))
  expect(codes).toEqual(expect.arrayContaining(["U+200B", "U+202E", "U+202C"]))
})

test("K1 K2 the calls of one tool are selected and approved together, each with its own arguments, and stand in the history", async () => {
  const { page } = tab
  await tab.open("/approvals", "approvals")
  const all = approvalsOf(api.world)
  const cranes = all.filter(({ tool }) => tool === "release_crane")
  expect(cranes.length).toBeGreaterThan(2)
  expect(await page.locator("[data-decide-all]").count()).toBe(0)
  await page.click("[data-tool=release_crane]")
  await page.waitForSelector(`[data-approvals="${cranes.length}"]`)
  expect(await page.locator("[data-tool][aria-current]").count()).toBe(1)
  await page.click("[data-select-all]")
  // One of them is decided by someone else in the meantime.
  const late = api.world.rows.find(({ id }) => id === cranes[1]?.assistant)
  if (late !== undefined) late.approvals = 0
  await page.click("[data-decide-all=approved]")
  await page.waitForSelector(`[data-bulk="${cranes.length}"]`)
  expect(api.changes).toEqual([])
  await page.fill("[data-dialog] [name=reason]", "calm sea")
  await page.click("[data-confirm]")
  await page.waitForSelector("[data-dialog] [data-failed=Conflict]")
  expect(await page.textContent("[data-dialog] [data-failed]")).toContain(`1 of ${cranes.length} could not be decided`)
  expect(api.changes.map(({ asked: { params, payload } }) => ({ ...params, ...payload }))).toEqual(
    cranes.map((call) => ({
      id: call.assistant,
      approval: call.approval,
      decision: "approved",
      seen: call.arguments,
      note: "calm sea"
    }))
  )
  await page.keyboard.press("Escape")
  await page.waitForSelector(`[data-decision=approved] >> nth=${cranes.length - 2}`)
  await page.click('[data-tool=""]')
  await page.waitForSelector(`[data-approvals="${approvalsOf(api.world).length}"]`)
  expect(await page.locator("[data-tool=release_crane]").count()).toBeLessThanOrEqual(1)
})

test("a decision that comes too late is said on the card, and nothing is claimed", async () => {
  await tab.open("/approvals", "approvals")
  for (const row of api.world.rows) row.approvals = 0
  await tab.page.click("[data-decide=approved] >> nth=0")
  await tab.page.waitForSelector('[data-failed="Conflict"]')
  expect(await tab.page.textContent("[data-failed]")).toContain("decided already")
  expect(await tab.page.locator("[data-done]").count()).toBe(0)
})

test("D1 a definition is read as text and tables, its JSON is closed, and it leads to its assistants", async () => {
  const { page } = tab
  await tab.open("/system", "system")
  expect(await page.getAttribute("[data-api-docs]", "href")).toBe("/docs")
  const one = page.locator("[data-definition=pilot]")
  await one.locator("summary").first().click()
  // Lines of the instructions are lines, not the two characters of JSON.
  expect(await one.getByRole("region", { name: "Instructions of pilot" }).innerText()).toMatch(
    /^You work for the harbour\.\nSay what you know/
  )
  expect(await one.locator("[data-tools-of]").getAttribute("data-tools-of")).toBe("3")
  expect(await one.locator("[data-fact=Dreams] dd").textContent()).toBe(
    "22:00 to 02:30 Europe/Berlin, 1 min between two steps"
  )
  expect(await one.locator("[data-fact=Model] dd").textContent()).toBe("offline, dream: offline-small")
  expect(await one.locator("[data-setting=maxErrors] td").textContent()).toBe("3")
  expect(await one.getByRole("region", { name: "pilot", exact: true }).isVisible()).toBe(false)
  await one.getByText("Show its assistants").click()
  await page.waitForFunction(() => location.pathname === "/fleet" && location.search === "?definition=pilot")
})

test("O1 a dead letter is sent again after it was asked for, and not offered for one that has retired", async () => {
  const last = api.world.dead.pop()
  if (last === undefined) throw new Error("there are no dead letters")
  api.world.dead.push({ ...last, isRetired: true })
  await tab.open("/queues", "queues")
  await tab.page.waitForSelector(`[data-retired="${last.envelope}"]`)
  expect(await tab.page.locator(`[data-retry="${last.envelope}"]`).count()).toBe(0)
  expect(await tab.page.textContent("[data-all=again]")).toBe(`Retry all ${api.world.dead.length - 1}`)
  expect(await tab.page.textContent("[data-all=discard]")).toBe(`Discard all ${api.world.dead.length}`)
  await tab.page.click("[data-retry=dead-1]")
  expect(api.changes).toEqual([])
  await tab.page.click("[data-confirm]")
  await tab.page.waitForSelector("[data-dead=dead-1]", { state: "detached" })
  expect(api.changes.map(({ asked }) => asked.payload)).toEqual([{ envelope: "dead-1" }])
  await tab.open("/system", "system")
  await tab.page.waitForSelector('[data-action="queues.retry"]')
})

test("a dead letter is read whole, with a link to the run that ended with it", async () => {
  const { page } = tab
  await tab.open("/queues", "queues")
  await page.click("[data-sent=dead-1] summary")
  await page.waitForSelector("[data-sent=dead-1] [data-failed-run='7']")
  expect(await page.textContent("[data-sent=dead-1] [aria-label='Event of dead-1']")).toContain('"channel": "quay"')
  expect(await page.textContent("[data-sent=dead-1]")).toContain("from user:harbour-master")
  await page.click("[data-sent=dead-1] [data-failed-run]")
  await page.waitForFunction(() => location.pathname.endsWith("/timeline") && location.search === "?tick=7")
})

test("dead letters are searched, and all that match are retried after it was asked for", async () => {
  const { page } = tab
  await tab.open("/queues", "queues")
  const unreadable = api.world.dead.filter(({ reason }) => reason.startsWith("not readable"))
  const before = api.world.dead.length
  expect(unreadable.length).toBeGreaterThan(1)
  await page.fill("[data-search]", "not readable")
  await page.waitForSelector(`[data-dead-matched="${unreadable.length}"]`)
  expect(await page.textContent("[data-all=again]")).toBe(`Retry all ${unreadable.length} that match`)
  await page.click("[data-all=again]")
  await page.waitForSelector("[data-confirm]")
  expect(api.changes).toEqual([])
  await page.click("[data-confirm]")
  await page.waitForSelector("[data-dialog]", { state: "detached" })
  expect(api.changes.map(({ asked: { params, payload } }) => ({ ...params, ...payload }))).toEqual(
    unreadable.map(({ assistant, envelope }) => ({ id: assistant, envelope }))
  )
  await page.waitForSelector('[data-dead-matched="0"]')
  expect(api.world.dead.length).toBe(before - unreadable.length)
})

test("O1 a dead letter is discarded after it was asked for, and counted no more", async () => {
  await tab.open("/queues", "queues")
  const dead = () => tab.page.getAttribute("[data-totals-of=dead]", "data-count")
  const before = Number(await dead())
  expect(before).toBe(api.world.dead.length)
  await tab.page.click("[data-discard=dead-1]")
  expect(await tab.page.textContent("[role=dialog]")).toContain("It is not sent")
  await tab.page.keyboard.press("Escape")
  await tab.page.waitForSelector("[role=dialog]", { state: "detached" })
  expect(api.changes).toEqual([])
  await tab.page.click("[data-discard=dead-1]")
  await tab.page.click('[data-confirm="Discard"]')
  await tab.page.waitForSelector("[data-dead=dead-1]", { state: "detached" })
  await tab.page.waitForSelector(`[data-totals-of=dead][data-count="${before - 1}"]`)
  expect(api.changes.map(({ asked }) => asked.payload)).toEqual([{ envelope: "dead-1" }])
  await tab.open("/system", "system")
  await tab.page.waitForSelector('[data-action="queues.discard"]')
})

test("Q1 figures and dead letters agree at every moment, the figures add up, and discarded ones are among them", async () => {
  await tab.open("/queues", "queues")
  const { page } = tab
  const figures = () =>
    page.$$eval("[data-totals-of]", (tiles) =>
      Object.fromEntries(
        tiles.map((tile) => [tile.getAttribute("data-totals-of"), Number(tile.getAttribute("data-count"))])
      )
    )
  const { dead = 0, discarded = 0, pending = 0, processed = 0, received = 0 } = await figures()
  expect(dead).toBe(api.world.dead.length)
  expect(discarded).toBeGreaterThan(0)
  expect(processed + pending + dead + discarded).toBe(received)
  await page.evaluate(() => {
    const differing: Array<string> = []
    Reflect.set(globalThis, "differing", differing)
    const look = () => {
      const tile = document.querySelector("[data-totals-of=dead]")?.getAttribute("data-count")
      const rows = String(document.querySelectorAll("[data-dead]").length)
      if (tile !== rows) differing.push(`${tile} and ${rows}`)
    }
    new MutationObserver(look).observe(document.body, {
      attributes: true,
      childList: true,
      subtree: true
    })
  })
  await page.click("[data-retry=dead-1]")
  await page.click("[data-confirm]")
  await page.waitForSelector("[data-dead=dead-1]", { state: "detached" })
  const [row] = api.world.rows
  const [letter] = api.world.dead
  if (row === undefined || letter === undefined) throw new Error("no one is there")
  api.world.dead.push({ ...letter, assistant: row.id, envelope: "again/dead-1/1" })
  api.world.tell(row, {
    type: "envelope-settled",
    envelope: "again/dead-1/1",
    outcome: "dead-lettered"
  })
  await page.waitForSelector("[data-dead='again/dead-1/1']")
  expect(await page.evaluate(() => Reflect.get(globalThis, "differing"))).toEqual([])
  expect((await figures())["dead"]).toBe(dead)
})

test("a dead letter that is gone already is said in the question, and the list is asked again", async () => {
  await tab.open("/queues", "queues")
  await tab.page.click("[data-discard=dead-2]")
  api.world.dead.splice(0)
  await tab.page.click('[data-confirm="Discard"]')
  await tab.page.waitForSelector('[role=dialog] [data-failed="NotFound"]')
  await tab.page.waitForSelector("[data-dead]", { state: "detached" })
})

test("K1 a token is asked for, kept in the tab, and sent with the stream too", async () => {
  const guarded = await openFakeApi({ page: await builtPage(), rows: 20, token: "s3cret" })
  const { page } = tab
  await page.goto(guarded.url)
  await page.waitForSelector('[data-page="sign-in"]')
  await page.fill("[name=token]", "wrong")
  await page.press("[name=token]", "Enter")
  await page.waitForSelector("text=refused the token")
  await page.fill("[name=token]", "s3cret")
  await page.press("[name=token]", "Enter")
  await page.waitForSelector('[data-page="overview"][data-ready] [data-feed]')
  await page.waitForSelector('[role=status][data-connection="live"]')
  expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 1])
  await guarded.close()
})

test("K2 help opens with ?, tells the keys, and gives the focus back", async () => {
  await tab.open("/queues", "queues")
  await tab.page.keyboard.press("?")
  await tab.page.waitForSelector("[data-dialog=Keys]")
  await tab.page.keyboard.press("Escape")
  await tab.page.waitForSelector("[data-dialog=Keys]", { state: "detached" })
  await tab.page.keyboard.press("g")
  await tab.page.keyboard.press("s")
  await tab.page.waitForSelector('[data-page="system"][data-ready]')
})

test("the theme is the system's until one chooses", async () => {
  await tab.open("/system", "system")
  const background = () => tab.page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await background()
  await tab.page.click("[data-theme-switch]")
  await tab.page.click("[data-theme-switch]")
  const isDark = () => tab.page.waitForFunction((was) => getComputedStyle(document.body).backgroundColor !== was, light)
  await isDark()
  await tab.page.reload()
  await tab.page.waitForSelector('[data-page="system"][data-ready]')
  await isDark()
})

test("the skip link leads into the page", async () => {
  await tab.open("/fleet", "fleet")
  await tab.page.keyboard.press("Tab")
  expect(await tab.page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the page")
  await tab.page.keyboard.press("Enter")
  expect(await tab.page.evaluate(() => document.activeElement?.id)).toBe("main")
})
