// Editing: texts that stand in prompts are changed where one reads them, after a look at what changes.

import { expect, test } from "vitest"
import type { Tab } from "./browser.ts"
import type { FakeApi } from "./fake-api.ts"
import { inTabs } from "./in-tabs.ts"

let api: FakeApi
let tab: Tab
inTabs(10, (opened) => ({ api, tab } = opened))

const FIRST = "Answer in one sentence."
const SECOND = "Answer in one sentence, and name the berth."

test("P1 P2 a template that is built in is written over, its versions are loaded, and undoing brings it back", async () => {
  const { page } = tab
  await tab.open("/prompts?open=footer", "prompts")
  await page.waitForSelector('[data-prompt="footer"][data-open]')
  expect(await page.isDisabled('[data-undo-prompt="footer"]')).toBe(true)
  await page.click('[data-edit-prompt="footer"]')
  expect(await page.inputValue("[data-edit-text] textarea")).toBe(FIRST)
  expect(await page.isDisabled("[data-edit-text] button[type=submit]")).toBe(true)
  await page.fill("[data-edit-text] textarea", SECOND)
  expect(await page.getAttribute("[data-chars]", "data-chars")).toBe(String(SECOND.length))
  expect(await page.textContent("[data-edit-text]")).toContain(`came: ${SECOND}`)
  await page.click("[data-edit-text] button[type=submit]")
  await page.waitForSelector('[data-prompt-versions="1"]')
  const [written] = api.changes
  expect(written?.route).toBe("PUT /v1/prompts/:key")
  expect(written?.asked.payload).toMatchObject({ name: "Footer", text: SECOND, category: "layout", expected: 0 })
  expect(await page.textContent('[data-page="prompts"]')).toContain(SECOND)
  await page.click('[aria-label="Load version 1"]')
  expect(await page.isDisabled("[data-edit-text] button[type=submit]")).toBe(true)
  await page.click("[data-edit-text] >> text=Cancel")
  await page.click('[data-undo-prompt="footer"]')
  await page.click("[data-confirm]")
  await expect.poll(() => api.changes.length).toBe(2)
  expect(api.changes[1]?.asked).toMatchObject({ params: { key: "footer" }, payload: { expected: 1 } })
  await page.waitForSelector('[data-prompt="footer"] >> text=built in')
  expect(tab.wrongs).toEqual([])
})

test("E1 E2 a block is edited with a counter and the change in view; too much or nothing new is not saved", async () => {
  const { page } = tab
  const id = api.world.rows[3]?.id ?? ""
  await tab.open(`/a/${id}/memory`, "memory")
  const before = Number(await page.getAttribute("[data-block=block-0]", "data-version"))
  await page.click("[data-edit-block=block-0]")
  const field = "[data-edit-text] textarea"
  const save = "[data-edit-text] button[type=submit]"
  const text = await page.inputValue(field)
  expect(await page.isDisabled(save)).toBe(true)
  await page.fill(field, "x".repeat(401))
  expect(await page.textContent("[data-chars]")).toBe("401 of 400 characters: too many")
  expect(await page.isDisabled(save)).toBe(true)
  await page.fill(field, `${text.slice(0, 40)} Berth four is closed.`)
  expect(await page.isDisabled(save)).toBe(false)
  await page.click(save)
  await page.waitForSelector(`[data-block=block-0][data-version='${before + 1}']`)
  expect(api.changes[0]?.route).toBe("POST /v1/blocks/:block/edits")
  expect(api.changes[0]?.asked).toMatchObject({
    params: { block: "block-0" },
    payload: { operation: { op: "set_text", text: `${text.slice(0, 40)} Berth four is closed.` } }
  })
  await page.waitForSelector("[data-edit-text]", { state: "detached" })
  expect(tab.wrongs).toEqual([])
})
