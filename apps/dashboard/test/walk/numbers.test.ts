// Numbers: after a restart every page shows what it showed before, and every number on it is one that the API answers.
// N1  Page by page: all that is read of it, without times that go on by themselves, is the same after server and fleet were opened anew.
// N2  So is all that the API answers to the pages, but for what tells of the process and of the present moment.
// N3  The figures that a page is opened for are those of the SDK over the store, written as pages write them.

import { hourOf } from "@reverie/protocol"
import type { Browser, Page, Response } from "playwright-core"
import { afterAll, assert, beforeAll, test } from "vitest"
import type { Fleet } from "reverie"
import { count, many, money, spentText, tokens } from "../../src/parts/format.ts"
import { builtPage, openBrowser, openTab, type Tab } from "../browser.ts"
import { NAMED, questionsData } from "./questions-rig.ts"

const WAIT = { timeout: 240_000 }

let browser: Browser

beforeAll(async () => {
  browser = await openBrowser()
}, 120_000)
afterAll(async () => {
  await browser.close()
})

const { asking, busy, halted } = NAMED

/** All but what is recalled: its scores go by the age of a memory, and so by the present moment. */
const pages: ReadonlyArray<readonly [name: string, path: string]> = [
  ["overview", "/"],
  ["overview", "/?span=day"],
  ["fleet", "/fleet"],
  ["fleet", "/fleet?group=definition"],
  ["approvals", "/approvals"],
  ["queues", "/queues"],
  ["usage", "/usage"],
  ["usage", "/usage?range=month&by=model&measure=calls"],
  ["prompts", "/prompts"],
  ["system", "/system"],
  ...["live", "context", "timeline", "memory", "compactions", "dreams", "subagents", "replay", "fork"].map(
    (name) => [name, `/a/${busy}${name === "live" ? "" : `/${name}`}`] as const
  ),
  ...[asking, halted].flatMap((id) =>
    ["live", "context", "timeline"].map((name) => [name, `/a/${id}${name === "live" ? "" : `/${name}`}`] as const)
  ),
  ["timeline", `/a/${busy}/timeline?all=true`],
  ["timeline", `/a/${busy}/timeline?all=true&level=trace`],
  ["memory", `/a/${busy}/memory?tab=facts`],
  ["memory", `/a/${busy}/memory?tab=profiles`],
  ["memory", `/a/${busy}/memory?tab=journal`]
]

/** What goes on by itself, and what is said of the process that serves and of the connection to it. */
const VOLATILE = "time, [data-volatile] { display: none }"

interface Seen {
  readonly text: string
  /** What was answered to the page, by what was asked. */
  readonly answers: ReadonlyMap<string, unknown>
  /** Figures that are not where they must be. */
  readonly missing: ReadonlyArray<string>
}

const BODY_MILLIS = 3_000

/** The text when it has stood still for a while. */
const settled = async (page: Page): Promise<string> => {
  const look = () => page.evaluate(() => document.getElementById("main")?.innerText ?? "")
  let [before, same, looks] = [await look(), 0, 0]
  while (same < 3) {
    await page.waitForTimeout(120)
    const now = await look()
    if (looks++ > 100) throw new Error(`the page does not come to rest: ${now}`)
    same = now === before ? same + 1 : 0
    before = now
  }
  return before
}

const seen = async ({ open, page }: Tab, name: string, path: string, figures: ReadonlyArray<Figure>): Promise<Seen> => {
  const asked: Array<Promise<readonly [string, unknown]>> = []
  const keep = (response: Response): void => {
    const { pathname, search } = new URL(response.url())
    if (!pathname.startsWith("/v1/") || response.headers()["content-type"]?.includes("json") !== true) return
    const body = response.json().catch(() => undefined) as Promise<unknown>
    // The body of an answer that the page has given up never comes.
    const given = Promise.race([body, new Promise<undefined>((resolve) => setTimeout(resolve, BODY_MILLIS))])
    asked.push(given.then((answer) => [`${pathname}${search}`, answer] as const))
  }
  page.on("response", keep)
  await open(path, name)
  await page.waitForSelector("[data-loading]", { state: "detached" })
  await page.addStyleTag({ content: VOLATILE })
  await page.evaluate(() => {
    for (const steps of document.querySelectorAll<HTMLDetailsElement>("[data-dream] details")) steps.open = true
  })
  const text = await settled(page)
  page.off("response", keep)
  const missing: Array<string> = []
  for (const figure of figures.filter((each) => each.path === path)) {
    const found = (await page.locator(figure.at).allInnerTexts()).map(plain)
    if (found.some((each) => each.includes(plain(figure.words)))) continue
    missing.push(`${path} ${figure.at}: wanted ${figure.words}; found ${found.join(" | ") || "nothing"}`)
  }
  const answers = (await Promise.all(asked)).filter(([, answer]) => answer !== undefined)
  return { text, answers: new Map(answers), missing }
}

/** Of the process that answers, and of the moment in which it does. */
const VOLATILE_KEYS = new Set(["now", "readAt", "uptimeMs", "startedAt", "position", "url", "port", "pid", "checks"])

/** A minute, or a quarter of an hour, in which nothing was: there are as many before the present one as fit. */
const isEmptyPoint = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  "runP95Ms" in value &&
  Object.entries(value).every(([key, each]) => key === "at" || each === 0 || each === null)

/** An answer without what no restart could keep. */
const lasting = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((each) => !isEmptyPoint(each)).map(lasting)
  if (typeof value !== "object" || value === null) return value
  // How far back the figures of the overview reach goes on with the present.
  if ("feed" in value && "hour" in value && "day" in value) {
    return { hour: lasting(value.hour), day: lasting(value.day), feed: lasting(value.feed) }
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (VOLATILE_KEYS.has(key) ? [] : [[key, lasting(each)]]))
  )
}

// Figures: what pages must say, by the word of the SDK over the store.

interface Figure {
  readonly path: string
  readonly at: string
  readonly words: string
}

const figuresOfFleet = async (fleet: Fleet): Promise<ReadonlyArray<Figure>> => {
  const records = await fleet.list(undefined, 100)
  const day = await fleet.usage({ by: "assistant" })
  const totals = await fleet.monitor.totals()
  const rows = day.rows.map((row) => ({
    path: "/fleet",
    at: `[data-row][data-assistant="${row.key}"]`,
    words: `${tokens(row.tokens)} ${spentText(row)}`
  }))
  const used = day.rows.map((row) => ({
    path: "/usage",
    at: `[data-usage-key="${row.key}"]`,
    words: `${count(row.calls)} ${count(row.inputTokens)}`
  }))
  return [
    { path: "/", at: "[data-page=overview] header", words: many(records.length, "assistant") },
    { path: "/", at: "[data-series=tokens]", words: tokens(day.total.tokens) },
    { path: "/", at: "[data-series=cost]", words: money(day.total.costMicros) },
    { path: "/", at: "[data-series=calls]", words: `${count(day.total.calls)} answered, 1 failed` },
    { path: "/fleet", at: "[data-counter=total]", words: count(records.length) },
    ...rows,
    { path: "/approvals", at: `[data-approval][data-assistant="${asking}"]`, words: "lease generation 1" },
    { path: "/queues", at: "[data-totals-of=received]", words: count(totals.accepted) },
    { path: "/queues", at: "[data-totals-of=processed]", words: count(totals.settled) },
    { path: "/queues", at: "[data-totals-of=dead]", words: count(totals.dead - totals.discarded) },
    { path: "/usage", at: "[data-usage-of=Cost]", words: spentText(day.total) },
    { path: "/usage", at: '[data-usage-of="Model calls"]', words: count(day.total.calls) },
    { path: "/usage", at: '[data-usage-of="Tokens in"]', words: tokens(day.total.inputTokens) },
    { path: "/usage", at: '[data-usage-of="Tokens out"]', words: tokens(day.total.outputTokens) },
    ...used
  ]
}

const figuresOfOne = async (fleet: Fleet, id: string): Promise<ReadonlyArray<Figure>> => {
  const view = await fleet.inspect(id)
  const report = await fleet.history.contextReport(id)
  const { ticks } = await fleet.history.ticks(id)
  const [dream] = await fleet.memory.dreams(id)
  const facts = await fleet.memory.facts(id)
  const { total } = await fleet.usage({ assistant: id })
  if (view === undefined || report === undefined) throw new Error(`${id} has not lived`)
  return [
    { path: `/a/${id}`, at: "[data-facts]", words: `events ${count(view.version)}` },
    { path: `/a/${id}`, at: "[data-facts]", words: `${tokens(total.tokens)} tokens, ${spentText(total)}` },
    {
      path: `/a/${id}/context`,
      at: "[data-figure=estimated]",
      words: `${count(report.tokens)} of ${count(report.limit)}`
    },
    ...report.parts.map(({ key, messages, tokens: each }) => ({
      path: `/a/${id}/context`,
      at: `tr[data-part="${key}"]`,
      words: `${key.replaceAll("_", " ")} ${count(messages)} ${count(each)}`
    })),
    ...ticks.flatMap(({ calls, commits }) => {
      const used = calls.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0), 0)
      return used === 0 ? [] : [{ path: `/a/${id}/timeline`, at: `[data-view="${commits.from}"]`, words: tokens(used) }]
    }),
    { path: `/a/${id}/memory`, at: "[data-list=facts]", words: count(facts.length) },
    ...(dream?.lines ?? []).map(({ accepted, operation, proposed, read, steps }) => ({
      path: `/a/${id}/dreams`,
      at: `[data-operation="${operation}"]`,
      words: [steps, read, proposed, accepted].map(count).join(" ")
    })),
    { path: `/a/${id}/replay`, at: "[data-page=replay]", words: count(view.version) }
  ]
}

const plain = (words: string): string => words.replaceAll(/\s+/g, " ").trim()

test("after a restart every number on every page is what it was, and what the API answers", WAIT, async () => {
  const data = await questionsData(3)
  const look = async (figures: (fleet: Fleet) => Promise<ReadonlyArray<Figure>>) => {
    const rig = await data.open(await builtPage(), false)
    const wanted = await figures(rig.fleet)
    const tab = await openTab(browser, rig.url)
    const all = new Map<string, Seen>()
    for (const [name, path] of pages) all.set(path, await seen(tab, name, path, wanted))
    assert.deepStrictEqual(tab.wrongs, [])
    await tab.close()
    await rig.close()
    return { all, wanted }
  }
  const figures = async (fleet: Fleet) => {
    const ones = await Promise.all(Object.values(NAMED).map((id) => figuresOfOne(fleet, id)))
    return [...(await figuresOfFleet(fleet)), ...ones.flat()]
  }
  const twice = async () => {
    const hour = hourOf(Date.now())
    const both = { before: await look(async () => []), after: await look(figures) }
    return { ...both, isOfOneHour: hourOf(Date.now()) === hour }
  }
  const first = await twice()
  // What is summed by hours is another span after the hour: it is looked at in the next one.
  const { after, before } = first.isOfOneHour ? first : await twice()
  const faults = pages.flatMap(([, path]) => {
    const [was, is] = [before.all.get(path), after.all.get(path)]
    if (was === undefined || is === undefined) return [`${path} was not seen`]
    const lines = was.text.split("\n")
    const others = is.text.split("\n").filter((line) => !lines.includes(line))
    const answers = [...is.answers].flatMap(([url, answer]) => {
      const earlier = was.answers.get(url)
      const [one, other] = [earlier, answer].map((each) => JSON.stringify(lasting(each)))
      return earlier === undefined || one === other ? [] : [`${path}: ${url} answers otherwise: ${one} ${other}`]
    })
    return [...(was.text === is.text ? [] : [`${path} differs: ${others.join(" | ")}`]), ...answers, ...is.missing]
  })
  const numbers = [...after.all.values()].reduce((sum, { text }) => sum + (text.match(/\d[\d,.]*/g) ?? []).length, 0)
  const compared = [...after.all.values()].reduce((sum, { answers }) => sum + answers.size, 0)
  process.stderr.write(
    `${pages.length} pages, ${numbers} numbers, ${compared} answers, ${after.wanted.length} figures\n`
  )
  assert.deepStrictEqual(faults, [])
  assert.isAbove(numbers, 400)
  assert.isAbove(compared, 100)
  assert.isAbove(after.wanted.length, 40)
  data.remove()
})
