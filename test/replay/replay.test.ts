// The harbor day and a real conversation, told again from their ledgers: the same snapshots, and no one is called.

import { cp, mkdtemp, rm } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Entry } from "@reverie/protocol"
import { Fleet, FleetReader, type ReplayFrame, type ReplayVerdict } from "reverie"
import { afterAll, beforeAll } from "vitest"
import { isConversationHere, type Played, playedConversation, playedDay, removed } from "./counted.ts"

const LIMIT = { timeout: 240_000 }

/** Every assistant of a data store verified twice, by the fleet and beside it, with the counters of everything held still. */
const assertSame = async ({ calls, data, fleet, model, told }: Played): Promise<number> => {
  let commits = 0
  await using opened = await Fleet.open({ fleet, data, model })
  const before = { totals: await opened.monitor.totals(), end: await opened.outbox.end() }
  await using peek = await FleetReader.open(data)
  for (const { commits: version, id } of await opened.views()) {
    const verdict = await opened.replay.verify(id)
    assert.deepInclude(verdict, {
      commits: version,
      equal: true,
      settings: "recorded",
      mismatches: [],
      differences: []
    })
    assert.deepInclude(verdict, { modelCalls: 0, toolCalls: 0, sends: 0, writes: 0 })
    assert.deepStrictEqual(verdict.replayed, verdict.stored)
    assert.deepStrictEqual(await peek.replay.verify(id), verdict)
    const frames = await Array.fromAsync(opened.replay.frames(id))
    assert.strictEqual(frames.length, version)
    assert.strictEqual(frames.at(-1)?.hash, verdict.stored.hash)
    commits += frames.length
  }
  assert.deepStrictEqual(calls, told)
  assert.deepStrictEqual({ totals: await opened.monitor.totals(), end: await opened.outbox.end() }, before)
  return commits
}

interface Row {
  readonly seq: number
  readonly body: string
}

/** The verdict on a copy of the data store in which one entry was changed by hand. */
const afterChange = async (
  data: string,
  id: string,
  isMeant: (entry: Entry) => boolean,
  change: (entry: Entry) => unknown
): Promise<{ readonly no: number; readonly verdict: ReplayVerdict }> => {
  const copy = await mkdtemp(join(tmpdir(), "reverie-planted-"))
  try {
    await cp(data, copy, { recursive: true })
    const database = new DatabaseSync(join(copy, "reverie.db"))
    const rows = database
      .prepare("SELECT seq, body FROM ledger JOIN assistants ON assistant = key WHERE id = ? ORDER BY seq")
      .all(id) as unknown as ReadonlyArray<Row>
    const meant = rows.find(({ body }) => isMeant(JSON.parse(body) as Entry))
    if (meant === undefined) throw new Error("there is no such entry to change")
    const entry = JSON.parse(meant.body) as Entry
    database
      .prepare("UPDATE ledger SET body = ? WHERE seq = ?")
      .run(JSON.stringify({ ...entry, event: change(entry) }), meant.seq)
    database.close()
    await using peek = await FleetReader.open(copy)
    return { no: entry.no, verdict: await peek.replay.verify(id) }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

const textOf = ({ event }: Entry): string => JSON.stringify(event)

describe("the harbor day", () => {
  let day: Played

  beforeAll(async () => {
    day = await playedDay()
  }, 120_000)

  afterAll(() => removed(day))

  it("told again gives the same snapshots, with no model call, no tool call and nothing written", LIMIT, async () => {
    assert.isAbove(day.told.model, 50)
    assert.isAbove(day.told.tools, 30)
    assert.isAbove(await assertSame(day), 250)
  })

  it("stops where it should, in pages and ranges", LIMIT, async () => {
    await using peek = await FleetReader.open(day.data)
    const asking = await Array.fromAsync(peek.replay.frames("desk", { until: { status: "awake.awaitingApproval" } }))
    assert.deepInclude(asking.at(-1), { after: "awake.awaitingApproval", before: "awake.thinking.inferring" })
    assert.isTrue(asking.slice(0, -1).every(({ after }) => after !== "awake.awaitingApproval"))
    const third = await Array.fromAsync(peek.replay.frames("desk", { until: { tick: 3, eventType: "approval" } }))
    assert.deepInclude(third.at(-1), { tick: 3, eventType: "approval" })
    const whole = await Array.fromAsync(peek.replay.frames("desk"))
    const paged: Array<ReplayFrame> = []
    for (let from: number | undefined = 1; from !== undefined;) {
      const page = await peek.replay.page("desk", { from, limit: 7 })
      assert.isAtMost(page.frames.length, 7)
      paged.push(...page.frames)
      from = page.next
    }
    assert.deepStrictEqual(paged, whole)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(whole)), whole)
    assert.deepStrictEqual(await Array.fromAsync(peek.replay.frames("desk", { from: 5, to: 9 })), whole.slice(4, 9))
  })

  it("of an unknown assistant is refused", LIMIT, async () => {
    await using peek = await FleetReader.open(day.data)
    const refused = await peek.replay.verify("nobody").then(
      () => undefined,
      (error: unknown) => error
    )
    assert.deepInclude(refused, { _tag: "UnknownAssistant" })
  })

  it("P2 a recorded event that was changed is found, and its commit named", LIMIT, async () => {
    const swapped = await afterChange(
      day.data,
      "desk",
      (entry) => textOf(entry).includes(`"tool":"find_berth"`),
      ({ event }) => JSON.parse(JSON.stringify(event).replace("find_berth", "assign_berth")) as unknown
    )
    assert.isFalse(swapped.verdict.equal)
    assert.strictEqual(swapped.verdict.mismatches[0]?.no, swapped.no)
    assert.include(swapped.verdict.mismatches[0]?.what ?? "", "the calls of the reply")
    const denied = await afterChange(
      day.data,
      "desk",
      (entry) => textOf(entry).includes(`"decision":"approved"`),
      ({ event }) => JSON.parse(JSON.stringify(event).replace("approved", "denied")) as unknown
    )
    assert.strictEqual(denied.verdict.mismatches[0]?.no, denied.no)
  })

  it("P2 where only the snapshot tells of it, the commit that wrote there is named", LIMIT, async () => {
    await using peek = await FleetReader.open(day.data)
    const last = (await Array.fromAsync(peek.replay.frames("planner"))).findLast(
      ({ eventType }) => eventType === "sleep"
    )
    const { no, verdict } = await afterChange(
      day.data,
      "planner",
      (entry) => entry.no === last?.no,
      ({ event }) => ({ ...(event as object), settings: { maxIterations: 9 } })
    )
    assert.isFalse(verdict.equal)
    assert.deepStrictEqual(verdict.mismatches, [])
    const places = verdict.differences.map(({ path, writtenBy }) => ({ path: path.join("."), writtenBy }))
    assert.deepInclude(places, { path: "snapshot.context.settings.maxIterations", writtenBy: no })
  })
})

describe.runIf(isConversationHere)("a real conversation", () => {
  it(
    "a conversation told again gives the same snapshots, with no model call, no tool call and nothing written",
    LIMIT,
    async () => {
      const lived = await playedConversation(16_000)
      try {
        assert.isAbove(lived.told.model, 400)
        assert.isAbove(await assertSame(lived), 800)
      } finally {
        await removed(lived)
      }
    }
  )
})
