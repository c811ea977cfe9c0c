// The day, played on a store in memory: every path that it is there to show, asserted by what the fleet tells.

import { readFile } from "node:fs/promises"
import { type AssistantView, type Fleet, type Played, readScript } from "reverie"
import { afterAll, assert, beforeAll, describe, test } from "vitest"
import harbor from "../fleet.ts"
import { includesOne, PlayedDay } from "./played-day.ts"

interface DreamReport {
  readonly began_at: number
  readonly lines: ReadonlyArray<{ readonly operation: string }>
}

const operations = ["consolidating", "linking", "profiling", "reflecting", "pruning"]

let day: PlayedDay
let second: Played
let toldByFirst = 0
let views: ReadonlyArray<AssistantView>
let totals: Awaited<ReturnType<Fleet["monitor"]["totals"]>>

beforeAll(async () => {
  day = await PlayedDay.play()
  toldByFirst = day.length
  second = await day.again()
  views = await day.fleet.views()
  totals = await day.fleet.monitor.totals()
}, 120_000)

afterAll(() => day.fleet.close())

describe("the day as a whole", () => {
  test("has 40 to 60 events, each accepted once", () => {
    assert.isAtLeast(day.letters.length, 40)
    assert.isAtMost(day.letters.length, 60)
    assert.deepStrictEqual(day.first, { accepted: day.letters.length - 1, duplicates: 1 })
  })

  test("played again it is all duplicates, and nothing new happens", () => {
    assert.deepStrictEqual(second, { accepted: 0, duplicates: day.letters.length })
    assert.strictEqual(day.length, toldByFirst)
  })

  test("every accepted envelope is settled or dead, once", () => {
    const settled = day.told("envelope-settled")
    assert.strictEqual(
      new Set(settled.map((notice) => `${notice.address.assistant} ${notice.envelope}`)).size,
      settled.length
    )
    assert.strictEqual(settled.length, totals.accepted)
    assert.strictEqual(totals.accepted, totals.settled + totals.dead)
    // Two notes that arrived, one that came back, the reports of a divided goal and of a text put away, the journal's
    // wish to be looked back upon, and a task handed to a sub-agent, its report, and its order to retire.
    assert.strictEqual(totals.accepted, day.first.accepted + 9)
  })

  test("speaks the language of people: no one writes a call", async () => {
    const script = await readFile(new URL("../day.jsonl", import.meta.url), "utf8")
    assert.isAbove(script.split("\n").length, 40)
    assert.isNull(/(?:"|\\n)\/[a-z]/.exec(script))
    assert.notInclude(script, '{\\"')
  })

  test("is a day of today: what is said in it is said when it is played", () => {
    const dated = day.letters.filter(({ event }) => event.type === "message" && event.at !== undefined)
    assert.deepStrictEqual(dated, [])
  })

  test("leaves the archivist asleep and the others idle, with nothing waiting", () => {
    assert.deepStrictEqual(
      views.map(({ id, state, ticks, waiting }) => ({ id, state, ticks, waiting })),
      [
        { id: "archivist", state: "dreaming.resting", ticks: 14, waiting: 0 },
        { id: "desk", state: "awake.idle", ticks: 18, waiting: 0 },
        { id: "planner", state: "awake.idle", ticks: 20, waiting: 0 },
        { id: "planner+19.1.0", state: "retired", ticks: 1, waiting: 0 }
      ]
    )
  })
})

describe("answers and tools", () => {
  test("a plain answer, and one that says what the model is", () => {
    assert.include(day.replies("answered", "desk"), "Noted.")
    includesOne(day.replies("answered", "desk"), "not a language model")
  })

  test("a tool chain that ends with a terminal tool", () => {
    includesOne(day.results("find_berth", true), "birch")
    includesOne(day.replies("terminal"), "Fitting birch, cedar, dogwood and elm.")
    includesOne(day.replies("terminal"), "Fair winds to all!")
  })

  test("two calls of one iteration, and an answer out of what stands in the history", () => {
    includesOne(
      day.replies("answered", "planner"),
      "tide_table: day 22, high water 09:05, metres 4. tug_schedule: day 22"
    )
    includesOne(day.replies("answered", "archivist"), 'file_record reported: "Filed under')
  })

  test("a station that is too slow, and one that fails", () => {
    assert.strictEqual(day.results("weather", false).length, 2)
    includesOne(day.results("weather", false), "gave no answer within 200 ms")
    includesOne(day.results("weather", false), "no signal from the fog bank")
  })

  test("an unknown tool, arguments that do not fit, arguments that are no JSON", () => {
    includesOne(day.results("ring_bell", false), "There is no tool")
    includesOne(day.results("tide_table", false), "do not fit")
    includesOne(day.results("tide_table", false), "could not be read")
  })

  test("a loop that runs out of iterations", () => {
    assert.strictEqual(day.replies("max-iterations", "planner").length, 1)
    assert.strictEqual(day.replies("max-iterations").length, 1)
  })
})

describe("what waits", () => {
  test("approvals: given, refused, forgotten, and one call too many", () => {
    assert.deepStrictEqual(
      day.told("approval-asked").map(({ tool }) => tool),
      ["assign_berth", "assign_berth", "update_system_prompt", "assign_berth", "close_harbour"]
    )
    assert.deepStrictEqual(day.results("assign_berth", true), [
      "Aurora lies at birch, slip default/desk/3.1.0.",
      `Kestrel lies at dogwood, slip default/desk/${day.tickOf("desk", "the berth Dogwood")}.1.0.`
    ])
    includesOne(day.replies("terminal", "desk"), "A person denied this call.")
    includesOne(day.replies("answered", "planner"), "Nobody approved this call in time.")
    includesOne(day.replies("answered", "desk"), "Only one dangerous tool may run in a tick")
  })

  test("an approval that no one asked for is ignored, with the reason", () => {
    const ignored = day.told("envelope-settled", "desk").filter(({ outcome }) => outcome === "ignored")
    assert.deepStrictEqual(
      ignored.map(({ reason }) => reason),
      ["approval means nothing in awake.idle"]
    )
  })

  test("a report that comes later, and mail that waited for it", () => {
    includesOne(day.replies("answered", "archivist"), "The hull of the Duchess of Merrow is sound")
    const order = day.told("tick-started", "archivist").map(({ text = "" }) => text)
    assert.isBelow(
      order.findIndex((text) => text.includes("survey")),
      order.findIndex((text) => text.includes("Bonita"))
    )
  })

  test("a timer's note", () => {
    const timer = day.told("tick-started", "planner").find(({ from }) => from === "clock")
    assert.include(timer?.text ?? "", "[timer evening]")
    includesOne(day.replies("answered", "planner"), "Day 23, high water")
  })

  test("a halt, mail that waits through it, and the resuming", () => {
    const states = day.told("state-changed", "planner").map(({ status }) => status)
    const halted = states.indexOf("halted")
    assert.isAbove(halted, 0)
    assert.strictEqual(states[halted + 1], "awake.idle")
    includesOne(day.replies("answered", "planner"), "Day 24, high water")
  })
})

describe("among themselves, and asleep", () => {
  test("notes to colleagues arrive, one to no one comes back", () => {
    const fromDesk = day.told("tick-started").filter(({ from }) => from === "assistant:desk")
    assert.deepStrictEqual(fromDesk.map(({ address }) => address.assistant).toSorted(), ["archivist", "planner"])
    const returned = day.told("tick-started", "desk").find(({ from }) => from === "relay")
    assert.include(returned?.text ?? "", "there is no assistant pilot")
  })

  test("a task is handed to a sub-agent, and its report comes back", () => {
    const [started] = day.told("sub-agent-started", "planner")
    assert.deepInclude(started, { id: "planner+19.1.0", task: "When is high water on day 25?" })
    includesOne(day.replies("answered", "planner+19.1.0"), "Day 25, high water 11:35")
    includesOne(day.replies("answered", "planner"), "Day 25, high water 11:35")
  })

  test("a reminder is set in plain words", async () => {
    const [reminder] = await day.fleet.reminders.list("planner")
    assert.deepInclude(reminder, { id: "regatta", note: "Is the course laid out?", state: "active" })
  })

  test("a dream names what it has learnt, and a compaction what it made room for", () => {
    const steps = day.told("step-finished", "archivist")
    const told = steps.flatMap(({ learnt = [] }) => learnt)
    assert.include(told, "Jo of the Bonita never lands fish on a Sunday")
    const written = steps.find(({ learnt }) => learnt !== undefined)
    assert.deepStrictEqual([written?.learnt?.length, written?.learntCount], [8, 15])
    const compacted = steps.flatMap((step) => step.compacted ?? [])
    assert.strictEqual(compacted.length, 2)
    for (const { messages, tokensAfter, tokensBefore } of compacted) {
      assert.isAbove(messages, 0)
      assert.isBelow(tokensAfter, tokensBefore)
    }
  })

  test("F49 nights are dreamt through in order, and one is cut short by mail after the step at hand", async () => {
    const dreams = [...(await day.records("archivist", "dream")).values()] as ReadonlyArray<DreamReport>
    assert.deepStrictEqual(
      dreams.toSorted((a, b) => a.began_at - b.began_at).map(({ lines }) => lines.map(({ operation }) => operation)),
      [operations, ["consolidating"], operations]
    )
    const mail = day.tickOf("archivist", "Good night, archive!")
    const cut = day.told("step-finished", "archivist").filter(({ tick }) => tick === mail - 1)
    assert.deepStrictEqual(
      cut.map(({ step }) => step),
      ["dream consolidating"]
    )
    const skipped = day.told("step-skipped").filter(({ step }) => step.startsWith("dream "))
    assert.isTrue(skipped.every(({ reason }) => reason !== ""))
  })

  test("a sleep that ends by itself", () => {
    const states = day.told("state-changed", "planner").map(({ status }) => status)
    // Where the machine is slow it ends in the middle of the dream, after the step at hand.
    assert.isTrue(states.at(-2)?.startsWith("dreaming."))
    assert.strictEqual(states.at(-1), "awake.idle")
  })

  test("nothing ends in the dead letters, and an empty message would be refused where it is written", () => {
    assert.isEmpty(day.told("envelope-settled").filter(({ outcome }) => outcome === "dead"))
    assert.isEmpty(day.told("model-failed"))
    const { letters, problems } = readScript('{"id": "day/33", "text": " "}', harbor)
    assert.isEmpty(letters)
    assert.include(problems[0]?.message, "the text of the message is empty")
  })
})
