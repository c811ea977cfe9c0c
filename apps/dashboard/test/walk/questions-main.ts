// questions-main.ts --assistants N: the six questions in a fleet of that size, as JSON; for `npm run bench -- questions`.

import { parseArgs } from "node:util"
import { builtPage, openBrowser, openTab } from "../browser.ts"
import { answerOf, countIn, questions } from "./questions.ts"
import { questionsData } from "./questions-rig.ts"

const { values } = parseArgs({ options: { assistants: { type: "string", default: "3" } } })
/** Of a person's patience. */
const ANSWER_MILLIS = 10_000

const millisOf = async <A>(work: () => Promise<A>): Promise<readonly [A, number]> => {
  const begun = performance.now()
  return [await work(), performance.now() - begun]
}

const assistants = Number(values.assistants)
const [data, gatherMillis] = await millisOf(() => questionsData(assistants))
const page = await builtPage()
const [rig, openMillis] = await millisOf(() => data.open(page, true))
if ((await countIn(rig.fleet, "")) !== assistants) throw new Error(`there are not ${assistants} assistants`)
const browser = await openBrowser()
const tab = await openTab(browser, rig.url)
// The first look of all makes what the server keeps ready of a fleet: how long that takes stands apart.
const [, firstMillis] = await millisOf(() => tab.open("/", "overview"))
const answers = []
for (const question of questions) answers.push(await answerOf(question, rig.fleet, tab, ANSWER_MILLIS))
const { wrongs } = tab
await browser.close()
await rig.close()
data.remove()
process.stdout.write(JSON.stringify({ assistants, gatherMillis, openMillis, firstMillis, answers, wrongs }))
