// Inside: the pages of one assistant besides Live, in both themes, and what one does on them.

import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test, onTestFinished } from "vitest"
import {
  builtPage,
  isOwned,
  navIsInView,
  openBrowser,
  openTab,
  picture,
  seriousFaults,
  sideways,
  spills,
  type Tab,
  themes
} from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"
import { life } from "./fake/timeline.ts"
import { openedPages as pages } from "./opened-pages.ts"

let browser: Browser
let api: FakeApi
let home = ""

beforeAll(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 40 })
  browser = await openBrowser()
  home = `/a/${api.world.rows[3]?.id ?? ""}`
})
afterAll(async () => {
  await browser.close()
  await api.close()
})

interface Looks {
  readonly name: string
  readonly faults: ReadonlyArray<string>
  readonly owned: boolean
  readonly spills: ReadonlyArray<string>
  readonly wrongs: ReadonlyArray<string>
}

const nameOf = (path: string): string => path.split(/[?/]/)[0] ?? path

for (const theme of themes) {
  test(`every page in ${theme} is whole, safe and readable (P1, V1, S1)`, { timeout: 240_000 }, async () => {
    const tab = await openTab(browser, api.url, { colorScheme: theme })
    const found: Array<Looks> = []
    for (const [name, path] of pages) {
      await tab.open(`${home}/${path}`, nameOf(path))
      await tab.page.waitForSelector("[data-loading]", { state: "detached" })
      await picture(tab.page, `${name}-${theme}`)
      found.push({
        name,
        faults: await seriousFaults(tab.page),
        owned: await isOwned(tab.page),
        spills: await spills(tab.page),
        wrongs: [...tab.wrongs]
      })
    }
    await tab.close()
    expect(found).toEqual(pages.map(([name]) => ({ name, faults: [], owned: false, spills: [], wrongs: [] })))
  })
}

test("a narrow window has no page that scrolls sideways as a whole", { timeout: 240_000 }, async () => {
  const tab = await openTab(browser, api.url, { viewport: { width: 390, height: 844 } })
  const wide: Array<string> = []
  for (const [name, path] of pages) {
    await tab.open(`${home}/${path}`, nameOf(path))
    await tab.page.waitForSelector("[data-loading]", { state: "detached" })
    await picture(tab.page, `${name}-narrow`)
    for (const each of [...(await spills(tab.page)), ...(await sideways(tab.page))]) wide.push(`${name}: ${each}`)
    expect([name, await navIsInView(tab.page)]).toEqual([name, true])
    expect([name, await seriousFaults(tab.page)]).toEqual([name, []])
  }
  await tab.close()
  expect(wide).toEqual([])
})

const attribute = (tab: Tab, selector: string, name: string) => tab.page.getAttribute(selector, name)

test("Context: keys step through calls, a part opens its words, two ticks are held against each other (X1)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/context?scale=window`, "context")
  await page.waitForSelector("[data-parts]")
  await page.keyboard.press("ArrowLeft")
  await page.waitForSelector("[data-as-of='180'][data-iteration='1']")
  await page.waitForSelector("[data-repeated][data-ended-by=core_memory]")
  await page.click("[data-open-part=core_blocks], [data-open-part=core_memory]")
  await page.waitForSelector("[data-shown]")
  await page.click("[data-compare]")
  await page.waitForSelector("[data-bar=before]")
  await page.waitForSelector("[data-diff=changed]")
  expect(new URL(page.url()).searchParams.get("with")).toBe("179")
  const sum = await page.$$eval("[data-bar=after] [data-tokens]", (pieces) =>
    pieces.reduce((all, piece) => all + Number(piece.getAttribute("data-tokens")), 0)
  )
  expect(sum).toBe(32_000)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Timeline: everything by keyboard, filters, and links to a tick (L1, L3)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/timeline`, "timeline")
  await page.waitForSelector("[data-view]")
  await page.keyboard.press("j")
  await page.keyboard.press("j")
  await page.keyboard.press("Enter")
  await page.waitForSelector("[data-opened='499991'] [data-story]")
  await page.keyboard.press("v")
  await page.waitForSelector("[data-opened='499991'] [data-trace]")
  await page.selectOption("[data-filter=outcome]", "failed")
  await page.waitForSelector("[data-view][data-outcome=answered]", { state: "detached" })
  expect(await page.locator("[data-view][data-outcome=failed]").count()).toBeGreaterThan(5)
  await tab.open(`${home}/timeline?q=no%20such%20words`, "timeline")
  await page.waitForSelector("[data-look-further]")
  await tab.open(`${home}/timeline?tick=5000`, "timeline")
  await page.waitForSelector("[data-tick='5000'][data-open]")
  expect(await page.locator("[data-view]").count()).toBeLessThan(80)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Timeline: while one reads further down, what is new waits above (L2, W1)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/timeline`, "timeline")
  await page.waitForSelector("[data-connection=live]")
  await page.waitForSelector(`[data-tick='${life.ticks}']`)
  const lived = life.ticks
  onTestFinished(() => void (life.ticks = lived))
  const grow = () => {
    life.ticks += 1
    const row = api.world.rows[3]
    if (row === undefined) throw new Error("no one is there")
    api.world.tell(row, {
      type: "tick-ended",
      envelope: "e-9",
      outcome: "answered",
      iterations: 1,
      reply: ""
    })
  }
  grow()
  await page.waitForSelector(`[data-tick='${life.ticks}']`)
  await page.$eval(".timeline-scroller", (scroller) => scroller.scrollTo({ top: 1_500 }))
  await page.waitForSelector(`[data-tick='${life.ticks}']`, { state: "detached" })
  const top = await page.locator("[data-view]").first().getAttribute("data-view")
  grow()
  await page.waitForSelector("[data-newer='1']")
  expect(await page.locator("[data-view]").first().getAttribute("data-view")).toBe(top)
  await page.click("[data-newer]")
  await page.waitForSelector(`[data-tick='${life.ticks}']`)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Memory: undo asks first, keys lead to lists, quarantine and recall say why", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/memory`, "memory")
  expect(await tab.page.locator("[data-shared-from]").first().innerText()).toContain("shared by berth-ada-00001")
  const before = Number(await attribute(tab, "[data-block=block-0]", "data-version"))
  await page.click("[data-undo-block]")
  expect(api.changes.some(({ route }) => route.endsWith("/undo"))).toBe(false)
  await page.click("[data-confirm]")
  await page.waitForSelector(`[data-block=block-0][data-version='${before + 1}']`)
  await page.keyboard.press("2")
  await page.click("[data-state-filter=quarantined]")
  await page.waitForSelector("[data-fact][data-state=active]", { state: "detached" })
  await page.click("[data-fact] button")
  await page.waitForSelector("[data-pair='Why not used']")
  const held = (await attribute(tab, "[data-release]", "data-release")) ?? ""
  await page.click("[data-release]")
  expect(api.changes.some(({ route }) => route.endsWith("/release"))).toBe(false)
  await page.click("[data-confirm=Release]")
  await page.waitForSelector(`[data-fact=${held}]`, { state: "detached" })
  expect(api.changes.at(-1)?.asked.params["fact"]).toBe(held)
  await page.click("[data-state-filter=active]")
  await page.waitForSelector("[data-fact][data-state=quarantined]", { state: "detached" })
  await page.click("[data-fact] button")
  const wrong = (await attribute(tab, "[data-retire]", "data-retire")) ?? ""
  await page.click("[data-retire]")
  await page.fill("[name=reason]", "It was a joke.")
  expect(api.changes.at(-1)?.asked.params["fact"]).toBe(held)
  await page.click("[data-confirm=Retire]")
  await page.waitForSelector(`[data-fact=${wrong}]`, { state: "detached" })
  expect(api.changes.at(-1)?.asked.payload).toEqual({ reason: "It was a joke." })
  await page.click("[data-state-filter=retired]")
  await page.click(`[data-fact=${wrong}] button`)
  expect(await page.locator("[data-pair='Why not used']").innerText()).toBe("It was a joke.")
  await page.keyboard.press("5")
  await page.fill("[name=q]", "berth")
  await page.keyboard.press("Enter")
  await page.waitForSelector("[data-hit] [data-lexical]")
  expect(await page.locator("[data-hit] [data-why]").first().innerText()).toContain("words berth")
  expect(await page.locator("[data-hit='p/passage_1f00'] [data-metadata]").innerText()).toContain("berth: 9, source: ")
  expect(await page.locator("[data-metadata]").count()).toBe(1)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Memory: an attribute of a profile is corrected and taken back, removed and put back, and one is added (W1)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/memory?tab=profiles`, "memory")
  await page.waitForSelector("[data-attribute=a0]")
  const texts = () => page.locator("[data-attribute] .font-medium").allInnerTexts()
  const before = await texts()
  const act = (name: string) => page.click(`[data-act="${name}"]`)
  await act("correct a0")
  await page.fill("[data-edit-text] textarea", "Works at the shipyard.")
  await page.click("[data-edit-text] button[type=submit]")
  await expect.poll(texts).toContain("Works at the shipyard.")
  expect(await page.innerText("[data-by=a0]")).toContain("written by local")
  await act("undo a0")
  await expect.poll(texts).toEqual(before)
  await act("remove a2")
  await page.waitForSelector("[data-removed=a2]")
  expect(await texts()).toHaveLength(2)
  await act("put-back a2")
  await page.waitForSelector("[data-removed]", { state: "detached" })
  expect(await texts()).toHaveLength(3)
  await page.click("[data-add-attribute]")
  await page.fill("[data-edit-text] textarea", "Sings in the choir.")
  await page.click("[data-edit-text] button[type=submit]")
  await expect.poll(texts).toContain("Sings in the choir.")
  const route = "POST /v1/assistants/:id/memory/profiles/:entity"
  const sent = api.changes.filter((change) => change.route === route).map(({ asked: { payload } }) => payload)
  expect(sent).toEqual([
    { attribute: "a0", text: "Works at the shipyard." },
    { attribute: "a0", undo: true },
    { attribute: "a2" },
    { attribute: "a2", undo: true },
    { text: "Sings in the choir." }
  ])
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Memory: a fact is corrected in a person's own sentence, and one is added (W1)", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/memory?tab=facts&state=active`, "memory")
  await page.click("[data-fact] >> nth=2 >> button")
  const fact = (await attribute(tab, "[data-correct]", "data-correct")) ?? ""
  const before = api.changes.length
  await page.click("[data-correct]")
  expect(await page.isDisabled("[data-edit-text] button[type=submit]")).toBe(true)
  await page.fill("[data-edit-text] textarea", "  Berth 4 is closed until May. ")
  await picture(page, "memory-correct-light")
  expect(await seriousFaults(page)).toEqual([])
  await page.click("[data-edit-text] button[type=submit]")
  await page.waitForSelector(`[data-fact=${fact}]`, { state: "detached" })
  await page.click("[data-add-fact]")
  await page.fill("[data-edit-text] textarea", "The pilot is Nora.")
  await page.click("[data-edit-text] button[type=submit]")
  await page.waitForSelector("[data-written=new]")
  expect(api.changes.slice(before).map(({ asked, route }) => [route, asked.params["fact"], asked.payload])).toEqual([
    ["POST /v1/assistants/:id/memory/facts/:fact/correct", fact, { text: "Berth 4 is closed until May." }],
    ["POST /v1/assistants/:id/memory/facts", undefined, { text: "The pilot is Nora." }]
  ])
  await page.click("[data-state-filter=superseded]")
  await page.click(`[data-fact=${fact}] button`)
  await page.waitForSelector("[data-pair='Superseded by']")
  expect(await page.locator("[data-correct]").count()).toBe(0)
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Memory: what is to be forgotten is counted, asked about, and erased", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/memory`, "memory")
  await page.click("[data-forgets]")
  await page.selectOption("[name=way]", "person")
  await page.fill("[data-forget] [name=said]", "no-one")
  await page.click("[data-forget] [type=submit]")
  await page.waitForSelector("[data-kept=none]")
  await page.fill("[data-forget] [name=said]", " Ann ")
  await page.check("[name=everywhere]")
  await page.click("[data-forget] [type=submit]")
  await page.waitForSelector("[data-would]")
  expect(await page.locator("[data-would]").innerText()).toBe("12 events, 1,034 records, of 2 assistants")
  expect(api.changes.at(-1)?.asked.payload).toEqual({ person: "Ann", dryRun: true })
  await page.click("[data-confirm=Erase]")
  await page.waitForSelector("[data-forgotten]")
  expect(api.changes.at(-1)?.asked.payload).toEqual({ person: "Ann" })
  await page.selectOption("[name=way]", "message")
  await page.fill("[data-forget] [name=said]", "m/12/0")
  await page.click("[data-forget] [type=submit]")
  await page.waitForSelector("[data-would]")
  await page.keyboard.press("Escape")
  await page.waitForSelector("[data-would]", { state: "detached" })
  const { payload } = api.changes.at(-1)?.asked ?? {}
  expect(payload).toMatchObject({ messages: ["m/12/0"], dryRun: true })
  expect(typeof payload?.["assistant"]).toBe("string")
  await page.selectOption("[name=way]", "topic")
  await page.fill("[data-forget] [name=said]", "weddings Lisbon")
  await page.click("[data-forget] [type=submit]")
  expect(await page.locator("[data-found]").innerText()).toBe("desk message m/12/0: The wedding is in Lisbon.")
  expect(api.changes.at(-1)?.asked.payload).toMatchObject({ topic: "weddings Lisbon", dryRun: true })
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("F121 Sub-agents: how many it may have at once stands there as sub_agent_budget", async () => {
  const tab = await openTab(browser, api.url)
  await tab.open(`${home}/subagents`, "subagents")
  const slots = tab.page.locator("[data-slots]")
  await slots.waitFor()
  expect(await slots.textContent()).toBe("sub_agent_budget 3: 2 open now")
  await tab.close()
})

test("Sub-agents: a form that can not work is not there, and the page says why", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  const found: Array<string> = []
  const cases = [{ sub_agents_enabled: false }, { sub_agents_open: 3 }, { state: "halted" }, { state: "retired" }, {}]
  for (const change of cases) {
    await page.route("**/v1/assistants/*/subagents", async (route) => {
      const answer = await route.fetch()
      await route.fulfill({
        response: answer,
        json: { ...((await answer.json()) as object), ...change }
      })
    })
    await tab.open(`${home}/subagents`, "subagents")
    await page.waitForSelector("[data-no-delegate], button[data-delegate]")
    const why = page.locator("[data-no-delegate]")
    found.push((await page.locator("[name=task]").count()) === 1 ? "a form" : await why.innerText())
    await page.unroute("**/v1/assistants/*/subagents")
  }
  expect(found).toEqual([
    "Its definition allows it no sub-agents. Set subAgents in defineAssistant, and it can delegate.",
    "All of the 3 sub-agents that it may have at once are at work. Wait for one, or cancel one above.",
    "It is halted. Resume it on its page Live, and it can delegate.",
    "It has retired: it takes no task.",
    "a form"
  ])
  expect(tab.wrongs).toEqual([])
  await tab.close()
})

test("Replay: arrows step, a breakpoint stops, the life is verified, and it leads to the playground", async () => {
  const tab = await openTab(browser, api.url)
  const { page } = tab
  await tab.open(`${home}/replay?from=1`, "replay")
  await page.waitForSelector("[data-frames][data-at='1']")
  await page.keyboard.press("ArrowRight")
  await page.waitForSelector("[data-frames][data-at='2'], [data-open-frame='2']")
  await page.waitForSelector("[data-kept='2'] [data-diff=changed]")
  await page.click("[data-verify]")
  await page.waitForSelector("[data-verdict=equal]")
  expect(await attribute(tab, "[data-fork-tick]", "href")).toBe(`${home}/fork/1`)
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("[data-export]")])
  expect(download.suggestedFilename()).toMatch(/^replay-.+-1-100\.json$/)
  await page.fill("[name=state]", "awake.acting")
  await page.click("[data-run]")
  await page.waitForSelector("[data-stopped='3']")
  expect(tab.wrongs).toEqual([])
  await tab.close()
})
