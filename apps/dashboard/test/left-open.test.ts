// LeftOpen: a page that is left open before a busy fleet keeps its size, and asks no more the longer it is there.
// O1  After the first minute neither its heap nor its DOM grows, however much happens.
// O2  A minute has a bounded number of requests, however many notices it has.
// O3  What it compiles is no growth: V8 keeps machine code of each function that is hot, 100 kB a minute at first and less later,
//     and every object of the page is the same. So nothing is compiled here, and the bound is that of objects.

import type { Browser, CDPSession } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { builtPage, openBrowser, openTab, type Tab } from "./browser.ts"
import { type FakeApi, openFakeApi } from "./fake-api.ts"
import { life } from "./fake/timeline.ts"

const MINUTES = 4
const SECONDS = 60
/** As many as the newest page has room for, however late it is asked for: a list that is begun anew does not grow. */
const A_SECOND = 20
const QUIET_SECONDS = 4
const HEAP_BYTES = 150_000
const NODES = 300
const STATES = ["awake.thinking.inferring", "awake.acting.running", "awake.idle"]

let browser: Browser
let api: FakeApi
let tab: Tab
const { ticks } = life

beforeAll(async () => {
  browser = await openBrowser("--js-flags=--jitless")
})
afterAll(async () => {
  await browser.close()
})
beforeEach(async () => {
  api = await openFakeApi({ page: await builtPage(), rows: 400 })
  tab = await openTab(browser, api.url)
  await tab.page.clock.install()
})
afterEach(async () => {
  life.ticks = ticks
  await tab.close()
  await api.close()
})

interface Size {
  readonly heap: number
  readonly nodes: number
  readonly requests: number
}

/** The least of some seconds in which nothing happens: what was drawn before may be held until it is drawn again. */
const sizeOf = async (devtools: CDPSession, requests: number): Promise<Size> => {
  const heaps: Array<number> = []
  const nodes: Array<number> = []
  for (let quiet = 0; quiet < QUIET_SECONDS; quiet += 1) {
    await tab.page.clock.runFor(1_000)
    await devtools.send("HeapProfiler.collectGarbage")
    const { metrics } = await devtools.send("Performance.getMetrics")
    const of = (wanted: string): number => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN
    heaps.push(of("JSHeapUsedSize"))
    nodes.push(of("Nodes"))
  }
  return { heap: Math.min(...heaps), nodes: Math.min(...nodes), requests }
}

/** What the page holds after each minute, in each second of which `happens` was called. */
const minutesOf = async (path: string, name: string, happens: (n: number) => void): Promise<ReadonlyArray<Size>> => {
  const { page } = tab
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Performance.enable")
  let requests = 0
  page.on("request", () => (requests += 1))
  await tab.open(path, name)
  await page.waitForSelector('[role=status][data-connection="live"]')
  const sizes: Array<Size> = []
  for (let second = 1; second <= MINUTES * SECONDS; second += 1) {
    for (let n = 0; n < A_SECOND; n += 1) happens(second * A_SECOND + n)
    await page.clock.runFor(1_000)
    if (second % SECONDS > 0) continue
    sizes.push(await sizeOf(devtools, requests))
    requests = 0
  }
  return sizes
}

const expectBounded = (sizes: ReadonlyArray<Size>, mostRequests: number): void => {
  // A heap is seen at its largest now and then: of two minutes the smaller one counts.
  const [first, last] = [sizes.slice(0, 2), sizes.slice(-2)]
  const grown = (of: "heap" | "nodes") =>
    Math.min(...last.map((size) => size[of])) - Math.min(...first.map((size) => size[of]))
  expect([grown("heap"), JSON.stringify(sizes)]).toEqual([
    expect.toSatisfy((bytes: number) => bytes < HEAP_BYTES),
    expect.anything()
  ])
  expect(grown("nodes")).toBeLessThan(NODES)
  for (const { requests } of sizes) expect(requests).toBeLessThan(mostRequests)
  expect(tab.wrongs).toEqual([])
}

const moved = (at: number) => {
  const row = api.world.rows[at]
  if (row === undefined) throw new Error(`the fake has no row ${at}`)
  return (n: number) => api.world.move(row, STATES[n % STATES.length] ?? "")
}

/** One assistant handles a message: it moves, writes, answers, and has a tick more. */
const answers = (n: number): void => {
  const row = api.world.rows[3]
  if (row === undefined) throw new Error("the fake has no one")
  const envelope = `e-${n}`
  life.ticks += 1
  row.ticks += 1
  api.world.tell(row, { type: "tick-started", envelope, from: "you", text: `Ship ${n}?` })
  api.world.move(row, "awake.thinking.inferring")
  api.world.tell(row, { type: "part", envelope, iteration: 1, piece: { kind: "text", text: "Berth four. " } })
  api.world.tell(row, { type: "model-replied", iteration: 1, text: "Berth four.", calls: [] })
  api.world.tell(row, { type: "tick-ended", envelope, outcome: "answered", iterations: 1, reply: "Berth four." })
  api.world.move(row, "awake.idle")
}

test("O1 O2 the fleet", async () => {
  expectBounded(await minutesOf("/fleet", "fleet", (n) => moved(n % 400)(n)), 200)
})

test("O1 O2 the timeline of one assistant", async () => {
  expectBounded(await minutesOf(`/a/${api.world.rows[3]?.id}/timeline`, "timeline", answers), 400)
})

test("O1 O2 one assistant, watched", async () => {
  expectBounded(await minutesOf(`/a/${api.world.rows[3]?.id}`, "live", answers), 800)
})
