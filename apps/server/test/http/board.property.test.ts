import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { later } from "@reverie/testkit/later"
import type { AssistantRecord, Fleet, FleetReadings, OutboxRow } from "reverie"
import type { AssistantRow } from "../../src/api/index.ts"
import { Board } from "../../src/board/board.ts"
import { Boards } from "../../src/board/boards.ts"
import type { Sort } from "../../src/board/choice.ts"
import { Day } from "../../src/board/row.ts"
import { OutboxReader, type OutboxReaderOptions } from "../../src/feed/outbox-reader.ts"
import { aFleet } from "./rig.ts"

const HOUR = 3_600_000

/** What entries tell and records do not. */
const stripped = ({ contextShare: _c, day: _d, lastError: _l, ...row }: AssistantRow) => row

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("send" as const), who: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("halt" as const), who: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("resume" as const), who: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("retire" as const), who: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("create" as const), who: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("list" as const), who: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rest" as const), who: fc.nat(3) }) }
)
const NAMES = ["desk", "clerk", "third", "fourth"] as const

const readerOf = ({ outbox }: Fleet, options: Pick<OutboxReaderOptions, "gatherMillis" | "pollMillis">) =>
  new OutboxReader({
    outbox: {
      read: (after, limit) => outbox.read(after, limit),
      end: () => outbox.end(),
      listen: (listener) => outbox.onEvery(listener)
    },
    onTrouble: () => {},
    ...options
  })

describe("board", () => {
  it("B1 after any sequence of commits it is what a fresh one is", { timeout: 240_000 }, async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
        const fleet = await aFleet()
        const reader = readerOf(fleet, { pollMillis: 1_000 })
        const boards = new Boards((tenant) => fleet.forTenant(tenant), reader)
        try {
          const kept = await boards.of("default")
          for (const { do: what, who } of steps) {
            const name = NAMES[who] ?? "desk"
            // Anyone who has retired, or is not there yet, refuses.
            const refused = () => undefined
            if (what === "send") await fleet.send(name, "Hello.").catch(refused)
            if (what === "halt") await fleet.halt(name, "a test").catch(refused)
            if (what === "resume") await fleet.resume(name).catch(refused)
            if (what === "retire") await fleet.retire(name).catch(refused)
            if (what === "create") await fleet.create(name, "desk")
            if (what === "list") await kept.list({ limit: 2 }, Date.now())
            if (what === "rest") await fleet.idle()
          }
          await fleet.idle()
          const end = await fleet.outbox.end()
          while (reader.position < end) await new Promise((resolve) => setTimeout(resolve, 2))
          const fresh = new Board(fleet)
          const then = Date.now() + HOUR
          await fresh.build(then)
          const [one, other] = await Promise.all([kept.list({ limit: 50 }, then), fresh.list({ limit: 50 }, then)])
          assert.deepStrictEqual(one.items.map(stripped), other.items.map(stripped))
          assert.deepStrictEqual(one.counts, other.counts)
          compared += one.items.length
        } finally {
          boards.close()
          reader.close()
          await fleet.close()
        }
      }),
      { numRuns: 25 }
    )
    assert.isAbove(compared, 50)
  })

  it("B2 what was committed before a question is in its answer, however long entries are gathered", async () => {
    const fleet = await aFleet()
    const reader = readerOf(fleet, { gatherMillis: () => HOUR, pollMillis: HOUR })
    const boards = new Boards((tenant) => fleet.forTenant(tenant), reader)
    later(async () => {
      boards.close()
      reader.close()
      await fleet.close()
    })
    const halted = async () => (await (await boards.of("default")).list({ limit: 1 }, Date.now())).counts.halted
    assert.strictEqual(await halted(), 0)
    await fleet.halt("clerk", "a test")
    await fleet.idle()
    assert.strictEqual(await halted(), 1)
    await fleet.halt("desk", "a test")
    await fleet.idle()
    assert.deepStrictEqual(await Promise.all([halted(), halted()]), [2, 2])
  })

  const recordOf = (index: number): AssistantRecord =>
    ({
      address: { tenant: "t", assistant: `a${String(index).padStart(5, "0")}` },
      state: {
        v: 1,
        snapshot: null,
        jobs: [],
        timers: [],
        receives: [],
        status: index % 7 === 0 ? "halted" : "awake.idle",
        definition: index % 3 === 0 ? "Sailor" : "clerk"
      },
      version: index % 11,
      epoch: 0,
      cursors: { control: 0, reply: 0, mail: 0 },
      waiting: (index * 7_919) % 101
    }) as unknown as AssistantRecord

  it("B4 what cannot be read of one assistant is in no one else's way", async () => {
    const unreadable = Object.assign(new Error("a page is damaged"), { _tag: "UnreadableRecord" })
    const fail = (): Promise<never> => Promise.reject(unreadable)
    const { board, records } = await boardOf(5, { inspect: fail, history: { entries: fail } })
    board.tell([
      {
        seq: 1,
        address: records[1]?.address,
        entry: { no: 99, status: "awake.idle", messages: [] }
      } as unknown as OutboxRow
    ])
    const { items } = await board.list({ limit: 50 }, HOUR)
    assert.deepStrictEqual(
      items.map(({ id }) => id),
      records.map(({ address }) => String(address.assistant))
    )
    const broken = await boardOf(5, { inspect: () => Promise.reject(new Error("the store is gone")) })
    const said = await broken.board.list({ limit: 50 }, HOUR).then(
      () => "listed",
      (error: unknown) => String(error)
    )
    assert.include(said, "the store is gone")
  })

  const boardOf = async (count: number, otherwise: object = {}) => {
    const records = Array.from({ length: count }, (_, index) => recordOf(index))
    const board = new Board({
      tenant: "t",
      list: async (after?: string, limit = 100) => {
        const from = after === undefined ? 0 : Number(after.slice(1)) + 1
        return records.slice(from, from + limit)
      },
      inspect: async (id: string) => records[Number(id.slice(1))],
      history: { entries: async () => [] as ReadonlyArray<OutboxRow> },
      usage: async () => ({ rows: [], next: null }),
      ...otherwise
    } as never)
    await board.build(0)
    return { board, records }
  }

  it("C1 a walk from page to page shows everybody once, in the order that was asked for", async () => {
    const { board } = await boardOf(501)
    const sorts: ReadonlyArray<Sort> = ["attention", "id", "since", "waiting", "context", "cost", "ticks", "errors"]
    for (const sort of sorts) {
      for (const isDescending of [false, true]) {
        const seen: Array<AssistantRow> = []
        let cursor: string | undefined
        do {
          const page = await board.list(
            { sort, isDescending, limit: 37, ...(cursor === undefined ? {} : { cursor }) },
            0
          )
          seen.push(...page.items)
          cursor = page.next ?? undefined
          assert.strictEqual(page.matched, 501)
        } while (cursor !== undefined)
        assert.strictEqual(new Set(seen.map(({ id }) => id)).size, 501, `${sort} ${isDescending}`)
        assert.lengthOf(seen, 501)
        const sign = isDescending ? -1 : 1
        const needs = ({ state, waiting }: AssistantRow) => (state === "halted" ? 3 : waiting > 0 ? 2 : 1)
        const values = seen.map((row) =>
          sort === "waiting" ? row.waiting : sort === "attention" ? `${needs(row)} ${row.id}` : row.id
        )
        const ordered = values.toSorted((a, b) => sign * (a < b ? -1 : a > b ? 1 : 0))
        assert.deepStrictEqual(values, ordered)
      }
    }
  })

  it("C1 a cursor means its own list only, and can not be made to mean more", async () => {
    const { board } = await boardOf(100)
    const { next } = await board.list({ sort: "waiting", limit: 10 }, 0)
    const refused = [
      "",
      "x",
      "AAAA",
      Buffer.from('["waiting",false,"x","y"]').toString("base64url"),
      Buffer.from("[]").toString("base64url")
    ]
    for (const cursor of refused) {
      await board.list({ sort: "waiting", limit: 10, cursor }, 0).then(
        () => assert.fail(cursor),
        (error: unknown) => assert.strictEqual(Reflect.get(error as object, "_tag"), "Malformed")
      )
    }
    await board.list({ sort: "id", limit: 10, cursor: next ?? "" }, 0).then(
      () => assert.fail("another list"),
      (error: unknown) => assert.strictEqual(Reflect.get(error as object, "_tag"), "Malformed")
    )
  })

  it("filters by words of the id and the definition, and by the state or its beginning", async () => {
    const { board } = await boardOf(210)
    const matched = async (question: object) => (await board.list({ limit: 1, ...question }, 0)).matched
    assert.strictEqual(await matched({ q: "SAILOR" }), 70)
    assert.strictEqual(await matched({ q: "a0001" }), 10)
    assert.strictEqual(await matched({ state: "halted" }), 30)
    assert.strictEqual(await matched({ state: "awake" }), 180)
    assert.strictEqual(await matched({ state: "awake.idle" }), 180)
    assert.strictEqual(await matched({ state: "awake.i" }), 0)
    assert.strictEqual(await matched({ state: "halted", q: "sailor" }), 10)
    assert.deepStrictEqual((await board.meant({ state: "halted", q: "sailor" }, 0)).slice(0, 2), ["a00000", "a00021"])
    assert.strictEqual(await matched({ definition: "Sailor" }), 70)
    assert.strictEqual(await matched({ definition: "sail" }), 0)
    assert.lengthOf(await board.meant({ definition: "Sailor", state: "halted" }, 0), 10)
  })

  it("G1 groups by definition and by state come to what the list of the same filter does", async () => {
    const use = async () => ({
      rows: [
        { key: "a00000", tokens: 40, costMicros: 4, calls: 2, unpricedCalls: 1 },
        { key: "a00003", tokens: 2, costMicros: 1, calls: 1, unpricedCalls: 0 }
      ],
      next: null
    })
    // Y1 of Day reads two spans: each has this use.
    const { board, records } = await boardOf(210, { usage: use })
    const waitsIn = (meant: ReadonlyArray<AssistantRecord>) => meant.reduce((sum, { waiting }) => sum + waiting, 0)
    const groups = await board.groups({ limit: 50 }, HOUR)
    assert.deepStrictEqual(
      groups.items.map(({ assistants, halted, key, needPerson }) => [key, assistants, halted, needPerson]),
      [
        ["clerk", 140, 20, 20],
        ["Sailor", 70, 10, 10]
      ]
    )
    assert.strictEqual(groups.matched, 2)
    const sailors = groups.items.find(({ key }) => key === "Sailor")
    assert.strictEqual(sailors?.waiting, waitsIn(records.filter(({ state }) => state.definition === "Sailor")))
    assert.deepStrictEqual(sailors?.day, { tokens: 84, costMicros: 10, calls: 6, unpricedCalls: 2 })
    const states = await board.groups({ by: "state", limit: 1, definition: "clerk" }, HOUR)
    assert.deepStrictEqual([states.items[0]?.key, states.items[0]?.assistants, states.matched], ["awake.idle", 120, 2])
    for (const { assistants, key } of (await board.groups({ by: "state", limit: 9 }, HOUR)).items)
      assert.strictEqual((await board.list({ limit: 1, state: key }, HOUR)).matched, assistants)
    assert.strictEqual((await board.groups({ q: "no one", limit: 9 }, HOUR)).matched, 0)
  })

  it("Y1 a day is 24 hours: those that are over are read once, the others when something was used", async () => {
    const asked: Array<string> = []
    const one = { inputTokens: 8, cachedTokens: 0, outputTokens: 2, reasoningTokens: 0, unpricedCalls: 0 }
    /** Ten tokens an hour. */
    const usage: FleetReadings["usage"] = async ({ from = 0, to = 1_000 * HOUR } = {}) => {
      asked.push(`${from / HOUR}-${to / HOUR}`)
      const hours = Math.max(0, to / HOUR - from / HOUR)
      const sum = { ...one, tokens: 10 * hours, costMicros: hours, calls: hours }
      return { from, to, by: "assistant", rows: [{ key: "ada", ...sum }], total: sum, next: null }
    }
    const day = new Day(usage)
    const at = async (hour: number, id = "ada") => (await day.read(hour * HOUR))(id)
    const whole = { tokens: 240, costMicros: 24, calls: 24, unpricedCalls: 0 }
    assert.deepStrictEqual(await at(999), whole)
    assert.deepStrictEqual(asked, ["976-998", "998-1000"])
    assert.deepStrictEqual(await at(999), whole)
    assert.deepStrictEqual(await at(999, "bob"), { tokens: 0, costMicros: 0, calls: 0, unpricedCalls: 0 })
    assert.lengthOf(asked, 2)
    day.touch()
    assert.deepStrictEqual(await Promise.all([at(999), at(999.5)]), [whole, whole])
    assert.deepStrictEqual(asked.slice(2), ["998-1000"])
    await at(1_000)
    assert.deepStrictEqual(asked.slice(3), ["977-999", "999-1000"])
  })
})
