import type { AssistantView } from "reverie"
import { assert, describe, test } from "vitest"
import { queuesText } from "../src/commands/queues.ts"
import { stateText } from "../src/running/away.ts"
import { ago, table } from "../src/texts/plain.ts"
import { type Report, reportText } from "../src/texts/report.ts"

const view = { backend: "reverie at postgres:5432, hints through redis:6379", queues: [] }
const named = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `1@quay-${at}`, role: "worker" }))
const lineOf = (text: string): string | undefined => text.split("\n")[1]

describe("queues ls", () => {
  test("says who works, that no one does, and nothing where it is not known", () => {
    assert.strictEqual(lineOf(queuesText({ ...view, workers: named(2) })), "2 workers: 1@quay-0, 1@quay-1")
    assert.match(lineOf(queuesText({ ...view, workers: named(30) })) ?? "", /^30 workers: .*1@quay-7, and 22 more$/)
    assert.match(lineOf(queuesText({ ...view, workers: [] })) ?? "", /^no one works/)
    assert.strictEqual(lineOf(queuesText(view)), "")
  })

  test("a name may hold anything, and is one line", () => {
    const workers = [{ name: "1@a\n\u001b[31mred", role: "worker" }]
    const text = queuesText({ ...view, workers })
    for (const part of ["\u001b", "1@a\n"]) assert.notInclude(text, part)
  })
})

const viewOf = (at: number): AssistantView => ({
  id: `unit-${at}`,
  definition: "unit",
  state: at === 1_999 ? "halted" : "awake.idle",
  mode: "awake",
  accepts: [],
  receives: [],
  ticks: 1,
  tick: 1,
  iteration: 0,
  epoch: 1,
  commits: 1,
  waiting: 0,
  jobs: [],
  timers: [],
  approvals: [],
  subAgents: 0,
  ...(at === 1_999 ? { haltReason: "ordered" } : {})
})

describe("the report of a fleet that had all of it before", () => {
  test("tells in ten lines what is there now, and first who needs a person", () => {
    const report: Report = {
      ok: true,
      accepted: 0,
      duplicates: 60,
      relayed: 0,
      committed: 0,
      deadLetters: 0,
      ticks: 0,
      iterations: 0,
      toolCalls: 0,
      elapsedMs: 900,
      assistants: Array.from({ length: 2_003 }, (_, at) => viewOf(at)),
      total: { accepted: 60, committed: 59, deadLetters: 1, ticks: 2_003 },
      model: "offline",
      data: "sqlite"
    }
    const lines = reportText(report).split("\n")
    assert.isAtMost(lines.length, 10)
    assert.include(lines[1], "2003 assistants, 2003 runs in all")
    assert.include(lines[2], "1 halted (reverie agents resume), 1 dead letter (reverie queues dead)")
    assert.match(lines[4] ?? "", /^unit-1999 +halted: ordered/)
    assert.include(lines.at(-1), "and 1999 assistants more")
  })
})

describe("rows for people", () => {
  test("M1 moments are shown from now on, far ones by their date", () => {
    const now = Date.parse("2026-03-01T12:00:00Z")
    const told = [0, -4_000, -3 * 60_000, -26 * 3_600_000, 8 * 3_600_000, -40 * 86_400_000].map((by) =>
      ago(now + by, now)
    )
    assert.deepStrictEqual(told, ["now", "4 s ago", "3 min ago", "1 d ago", "in 8 h", "2026-01-20"])
  })

  test("T1 colour takes no room in a column, and a result that is piped on has none", () => {
    assert.strictEqual(
      table([
        ["state", "n"],
        ["\u001b[31mhalted\u001b[39m", "1"],
        ["awake.idle", "20"]
      ]),
      "state       n\n\u001b[31mhalted\u001b[39m       1\nawake.idle  20"
    )
    assert.strictEqual(stateText({ state: "dreaming.linking" }), "dreaming.linking")
  })
})
