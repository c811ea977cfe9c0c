// scroll-main.ts --assistants N: how evenly the table of a fleet of that size is scrolled, as JSON; for `npm run bench -- page`.

import { parseArgs } from "node:util"
import { builtPage, openBrowser, openTab } from "../browser.ts"
import { questionsData } from "./questions-rig.ts"
import { scrolled } from "./scrolling.ts"

const { values } = parseArgs({ options: { assistants: { type: "string", default: "10000" } } })
/** Until a fleet that no one has looked at yet is ready for the first list. */
const FIRST_MILLIS = 120_000

const assistants = Number(values.assistants)
const data = await questionsData(assistants)
const rig = await data.open(await builtPage(), false)
const browser = await openBrowser()
const tab = await openTab(browser, rig.url)
await tab.open("/fleet", "fleet")
await tab.page.waitForSelector(`[data-matched="${assistants}"]`, { timeout: FIRST_MILLIS })
const paces = await scrolled(tab)
const rows = await tab.page.locator("[data-row]").count()
const { wrongs } = tab
await browser.close()
await rig.close()
data.remove()
process.stdout.write(JSON.stringify({ assistants, rows, paces, wrongs }))
