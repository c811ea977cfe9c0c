// Questions: what an audit asks is answered by the page alone, in three actions.

import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, test } from "vitest"
import { builtPage, openBrowser, openTab } from "../browser.ts"
import { questionsData } from "./questions-rig.ts"
import { answerOf, countIn, MOST_ACTIONS, questions, read } from "./questions.ts"

const WAIT = { timeout: 240_000 }
const ANSWER_MILLIS = 20_000

let browser: Browser

beforeAll(async () => {
  browser = await openBrowser()
}, 120_000)
afterAll(async () => {
  await browser.close()
})

for (const assistants of [3, 2_003]) {
  test(`six questions are answered in three actions each, at ${assistants} assistants`, WAIT, async () => {
    const data = await questionsData(assistants)
    const rig = await data.open(await builtPage(), true)
    assert.strictEqual(await countIn(rig.fleet, ""), assistants)
    const tab = await openTab(browser, rig.url)
    const answers = []
    for (const question of questions) answers.push(await answerOf(question, rig.fleet, tab, ANSWER_MILLIS))
    for (const { actions, asks, millis } of answers) {
      process.stderr.write(`${assistants} assistants: ${asks}: ${actions} actions, ${Math.round(millis)} ms\n`)
    }
    assert.deepStrictEqual(
      answers.filter(({ actions, missing }) => actions > MOST_ACTIONS || missing.length > 0),
      []
    )
    assert.strictEqual(answers.length, 6)
    // What is false, or below the window, is not read.
    await tab.open("/a/ada", "live")
    const [hidden, other] = ["[data-facts]", "[data-modes]"].map((at) => ({ at, words: "$17.03" }))
    assert.lengthOf(
      await read(
        tab.page,
        [hidden, other].filter((each) => each !== undefined),
        100
      ),
      2
    )
    assert.deepStrictEqual(tab.wrongs, [])
    await tab.close()
    await rig.close()
    data.remove()
  })
}
