// The day, played on a store in memory: every path that it is there to show, asserted by what the fleet tells.

import { readFile } from "node:fs/promises"
import { type AssistantView, Fleet, type Notice, type NoticeType, play, type Played, readScript } from "reverie"
import { assert, beforeAll, describe, test } from "vitest"
import harbor from "../fleet.ts"

const PATIENCE_MILLIS = 5_000
const notices: Array<Notice> = []
let first: Played
let second: Played
let noticesOfFirst = 0
let views: ReadonlyArray<AssistantView>
let tally: Awaited<ReturnType<Fleet["tally"]>>
let letters: ReturnType<typeof readScript>["letters"]

beforeAll(async () => {
  const text = await readFile(new URL("../day.jsonl", import.meta.url), "utf8")
  const script = readScript(text, harbor)
  assert.deepStrictEqual(script.problems, [])
  letters = script.letters
  await using fleet = await Fleet.open({
    fleet: harbor,
    data: ":memory:",
    model: "offline",
    onNotice: (notice) => notices.push(notice)
  })
  first = await play(fleet, letters)
  await fleet.rest(PATIENCE_MILLIS)
  noticesOfFirst = notices.length
  second = await play(fleet, letters)
  await fleet.rest(PATIENCE_MILLIS)
  views = await fleet.views()
  tally = await fleet.tally()
}, 60_000)

const told = <Type extends NoticeType>(type: Type, assistant?: string) =>
  notices.filter(
    (notice): notice is Extract<Notice, { readonly type: Type }> =>
      notice.type === type && (assistant === undefined || notice.address.assistant === assistant)
  )

const replies = (outcome: string, assistant?: string) =>
  told("tick-ended", assistant)
    .filter((notice) => notice.outcome === outcome)
    .map(({ reply }) => reply)

const results = (tool: string, ok: boolean) =>
  told("tool-finished")
    .filter((notice) => notice.tool === tool && notice.ok === ok)
    .map(({ content }) => content)

const includesOne = (texts: ReadonlyArray<string>, part: string) =>
  assert.strictEqual(
    texts.filter((text) => text.includes(part)).length,
    1,
    `one of\n${texts.join("\n")}\nwith: ${part}`
  )

describe("the day as a whole", () => {
  test("has 40 to 60 events, each accepted once", () => {
    assert.isAtLeast(letters.length, 40)
    assert.isAtMost(letters.length, 60)
    assert.deepStrictEqual(first, { accepted: letters.length - 1, duplicates: 1 })
  })

  test("played again it is all duplicates, and nothing new happens", () => {
    assert.deepStrictEqual(second, { accepted: 0, duplicates: letters.length })
    assert.strictEqual(notices.length, noticesOfFirst)
  })

  test("every accepted envelope is settled or dead, once", () => {
    const settled = told("envelope-settled")
    assert.strictEqual(
      new Set(settled.map((notice) => `${notice.address.assistant} ${notice.envelope}`)).size,
      settled.length
    )
    assert.strictEqual(settled.length, tally.accepted)
    assert.strictEqual(tally.accepted, tally.settled + tally.dead)
    // Two notes that arrived, and one that came back.
    assert.strictEqual(tally.accepted, first.accepted + 3)
  })

  test("leaves the archivist asleep and the others idle, with nothing waiting", () => {
    assert.deepStrictEqual(
      views.map(({ id, state, ticks, waiting }) => ({ id, state, ticks, waiting })),
      [
        { id: "archivist", state: "dreaming.resting", ticks: 11, waiting: 0 },
        { id: "desk", state: "awake.idle", ticks: 15, waiting: 0 },
        { id: "planner", state: "awake.idle", ticks: 15, waiting: 0 }
      ]
    )
  })
})

describe("answers and tools", () => {
  test("a plain answer, and one that says what the model is", () => {
    assert.include(replies("answered", "desk"), "Noted.")
    includesOne(replies("answered", "desk"), "not a language model")
  })

  test("a tool chain that ends with a terminal tool", () => {
    includesOne(results("find_berth", true), "birch")
    includesOne(replies("terminal"), "find_berth: fitting birch; cedar; dogwood; elm")
    includesOne(replies("terminal"), "Fair winds to all!")
  })

  test("two calls of one iteration, and an answer out of what stands in the history", () => {
    includesOne(replies("answered", "planner"), "tide_table: day 22, highWater 09:05, metres 4. tug_schedule: day 22")
    includesOne(replies("answered", "archivist"), 'file_record reported: "Filed under')
  })

  test("a station that is too slow, and one that fails", () => {
    assert.strictEqual(results("weather", false).length, 2)
    includesOne(results("weather", false), "gave no answer within 200 ms")
    includesOne(results("weather", false), "no signal from the fog bank")
  })

  test("an unknown tool, arguments that do not fit, arguments that are no JSON", () => {
    includesOne(results("ring_bell", false), "There is no tool")
    includesOne(results("tide_table", false), "do not fit")
    includesOne(results("tide_table", false), "could not be read")
  })

  test("a loop that runs out of iterations", () => {
    assert.strictEqual(replies("max-iterations", "planner").length, 1)
    assert.strictEqual(replies("max-iterations").length, 1)
  })
})

describe("what waits", () => {
  test("approvals: given, refused, forgotten, and one call too many", () => {
    assert.deepStrictEqual(
      told("approval-asked").map(({ tool }) => tool),
      ["assign_berth", "assign_berth", "assign_berth", "close_harbour"]
    )
    assert.deepStrictEqual(results("assign_berth", true), [
      "Aurora lies at birch, slip default/desk/3.1.0.",
      `Kestrel lies at dogwood, slip default/desk/${tickOf("Kestrel lies")}.1.0.`
    ])
    includesOne(replies("terminal", "desk"), "A person denied this call.")
    includesOne(replies("answered", "planner"), "Nobody approved this call in time.")
    includesOne(replies("answered", "desk"), "Only one dangerous tool may run in a tick")
  })

  test("an approval that nobody asked for is ignored, with the reason", () => {
    const ignored = told("envelope-settled", "desk").filter(({ outcome }) => outcome === "ignored")
    assert.deepStrictEqual(
      ignored.map(({ reason }) => reason),
      ["approval means nothing in awake.idle"]
    )
  })

  test("a report that comes later, and mail that waited for it", () => {
    includesOne(replies("answered", "archivist"), "request_survey: The hull of the Duchess of Merrow is sound")
    const order = told("tick-started", "archivist").map(({ text = "" }) => text)
    assert.isBelow(
      order.findIndex((text) => text.includes("survey")),
      order.findIndex((text) => text.includes("Bonita"))
    )
  })

  test("a timer's note", () => {
    const timer = told("tick-started", "planner").find(({ from }) => from === "clock")
    assert.include(timer?.text ?? "", "[timer evening]")
    includesOne(replies("answered", "planner"), "tide_table: day 23")
  })

  test("a halt, mail that waits through it, and the resuming", () => {
    const states = told("state-changed", "planner").map(({ status }) => status)
    const halted = states.indexOf("halted")
    assert.isAbove(halted, 0)
    assert.strictEqual(states[halted + 1], "awake.idle")
    includesOne(replies("answered", "planner"), "tide_table: day 24")
  })
})

describe("among themselves, and asleep", () => {
  test("notes to colleagues arrive, one to nobody comes back", () => {
    const fromDesk = told("tick-started").filter(({ from }) => from === "assistant:desk")
    assert.deepStrictEqual(fromDesk.map(({ address }) => address.assistant).toSorted(), ["archivist", "planner"])
    const returned = told("tick-started", "desk").find(({ from }) => from === "relay")
    assert.include(returned?.text ?? "", "there is no assistant pilot")
  })

  test("dreams are skipped visibly, and one is cut short by mail", () => {
    const dreams = told("step-skipped", "archivist").filter(({ step }) => step.startsWith("dream "))
    const count = (operation: string) => dreams.filter(({ step }) => step === `dream ${operation}`).length
    assert.strictEqual(count("consolidating"), 3)
    assert.strictEqual(count("pruning"), 2)
    assert.isTrue(dreams.every(({ reason }) => reason !== ""))
  })

  test("a sleep that ends by itself", () => {
    const states = told("state-changed", "planner").map(({ status }) => status)
    assert.deepStrictEqual(states.slice(-2), ["dreaming.resting", "awake.idle"])
  })

  test("a compaction is skipped visibly, and the tick goes on", () => {
    const compactions = told("step-skipped", "archivist").filter(({ step }) => step === "compact extracting")
    assert.isAtLeast(compactions.length, 1)
    assert.isTrue(told("state-changed", "archivist").some(({ status }) => status === "compacting.extracting"))
  })

  test("an empty message ends in the dead letters, and blocks nothing behind it", () => {
    const dead = told("envelope-settled").filter(({ outcome }) => outcome === "dead")
    assert.strictEqual(dead.length, 1)
    assert.include(dead[0]?.reason ?? "", "the message is empty")
    assert.strictEqual(told("model-failed").length, 1)
  })
})

/** The tick in which a tool of the desk said this. */
function tickOf(words: string): number {
  return told("tool-finished", "desk").find(({ content }) => content.includes(words))?.tick ?? 0
}
