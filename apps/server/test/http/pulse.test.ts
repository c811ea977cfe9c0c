// Pulse: the figures and lines of the overview, by HTTP and against a walk over every entry.

import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { defineAssistant, defineFleet, Fleet, type OutboxRow } from "reverie"
import { Pulse } from "../../src/board/pulse.ts"
import { openServer, type RunningServer } from "../../src/index.ts"
import { aPath, askAt, bearer, type Loose, SECRETS, tokens } from "./rig.ts"

const MINUTE = 60_000
const NOW = 2_000_000 * MINUTE

const sum = (points: ReadonlyArray<Loose>, name: string): number => points.reduce((all, point) => all + point[name], 0)

const opened = async (data: string) => {
  const fleet = await Fleet.open({
    data,
    tenant: "north",
    model: "offline",
    fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You greet." })] })
  })
  const server = await openServer({ fleet, role: "all", tokens, onTrouble: () => {} })
  return { fleet, server }
}

const pulseAt = async ({ port }: RunningServer, secret: string = SECRETS.north): Promise<Loose> =>
  (await askAt(port, "/v1/pulse", { headers: bearer(secret) })).json

describe("the pulse of a fleet", () => {
  it("U1 U2 counts messages, runs, calls and tokens as /v1/usage does, tells them in lines, and is the same after a restart", async () => {
    const data = aPath()
    const first = await opened(data)
    const fresh = await pulseAt(first.server)
    assert.deepStrictEqual([fresh.feed, fresh.now - fresh.since], [[], 1_440 * MINUTE])
    for (const text of ["Hello.", "What can you do?", "Thanks."]) {
      await first.fleet.answer("desk", text, { from: "ann" })
    }
    const told = await pulseAt(first.server)
    const usage = (await askAt(first.server.port, "/v1/usage", { headers: bearer(SECRETS.north) })).json.total
    for (const points of [told.hour, told.day]) {
      assert.deepStrictEqual(
        ["messages", "runs", "modelCalls", "tokens", "costMicros"].map((name) => sum(points, name)),
        [3, 3, usage.calls, usage.tokens, usage.costMicros]
      )
    }
    assert.deepStrictEqual([told.hour.length, told.day.length], [60, 96])
    assert.isAbove(usage.tokens, 0)
    const heard = told.feed.filter(({ tone }: Loose) => tone === "heard")
    assert.deepStrictEqual(
      heard.map(({ assistant, subject, text }: Loose) => [assistant, subject, text]),
      [
        ["desk", "ann", "Thanks."],
        ["desk", "ann", "What can you do?"],
        ["desk", "ann", "Hello."]
      ]
    )
    assert.strictEqual(told.feed.filter(({ tone }: Loose) => tone === "said").length, 3)
    assert.deepInclude(await pulseAt(first.server, SECRETS.south), { feed: [] })
    assert.strictEqual(sum((await pulseAt(first.server, SECRETS.south)).day, "messages"), 0)
    await first.server.close()
    await first.fleet.close()

    const second = await opened(data)
    const again = await pulseAt(second.server)
    assert.deepStrictEqual(again.feed, told.feed)
    for (const name of ["messages", "runs", "modelCalls", "tokens"]) {
      assert.strictEqual(sum(again.day, name), sum(told.day, name), name)
    }
    await second.fleet.forget({ person: "ann" })
    assert.notInclude(JSON.stringify((await pulseAt(second.server)).feed), "What can you do?")
    await second.server.close()
    await second.fleet.close()
  })

  it("U4 tells data as words", async () => {
    const { fleet, server } = await opened(aPath())
    await fleet.answer("desk", 'Keep {"berth":"elm","metres":[3,4]} free.', { from: "ann" })
    const heard = (await pulseAt(server)).feed.find(({ tone }: Loose) => tone === "heard")
    assert.strictEqual(heard?.text, "Keep berth elm, metres 3; 4 free.")
    await server.close()
    await fleet.close()
  })

  it("U1 of a busier day it reads the newest entries, and says since when it knows", async () => {
    const entries = 60_000
    const rowAt = (seq: number) => {
      const at = NOW - (entries - seq) * 1_000
      const entry = {
        no: seq,
        at,
        tick: 1,
        iteration: 0,
        cause: { kind: "job", id: "1" },
        status: "awake.idle",
        messages: []
      }
      return { seq, address: { tenant: "t", assistant: "a" }, entry } as unknown as OutboxRow
    }
    const read = async (after: number, limit: number) =>
      Array.from({ length: Math.min(limit, entries - after) }, (_, place) => rowAt(after + place + 1))
    const pulse = await Pulse.begin({ tenant: "t", outbox: { end: async () => entries, read } }, NOW, () => {})
    assert.strictEqual(pulse.view(NOW).since, NOW - 49_999_000)
  })

  const aRow = fc.record({
    tenant: fc.constantFrom("t", "other"),
    assistant: fc.constantFrom("a", "b"),
    after: fc.nat(20 * MINUTE),
    kind: fc.constantFrom("message", "end", "answer", "failure")
  })

  const rowsOf = (made: ReadonlyArray<{ tenant: string; assistant: string; after: number; kind: string }>) => {
    let at = NOW - made.reduce((all, { after }) => all + after, 0)
    return made.map(({ after, assistant, kind, tenant }, index) => {
      at += after
      const spent = { model: "m", calls: 1, inputTokens: 10, cachedTokens: 0, outputTokens: 3, reasoningTokens: 0 }
      const more = {
        message: {
          cause: { kind: "envelope", lane: "mail", seq: index, id: `e-${index}` },
          messages: [{ role: "user", content: "Hello.", at, tokens: 1, name: "ann" }]
        },
        end: { tickEnd: { envelope: "e", outcome: "answered", iterations: 1, reply: "Yes." } },
        answer: {
          step: {
            id: "1",
            kind: "infer",
            name: "infer",
            ok: true,
            elapsedMs: 40,
            spent: [{ ...spent, costMicros: 5, unpricedCalls: 0 }]
          }
        },
        failure: { step: { id: "1", kind: "infer", name: "infer", ok: false, elapsedMs: 900 } }
      }[kind]
      const entry = {
        no: index + 1,
        at,
        tick: 1,
        iteration: 1,
        cause: { kind: "job", id: "1" },
        event: null,
        status: "awake.idle",
        messages: [],
        ...more
      }
      return { seq: index + 1, address: { tenant, assistant }, entry } as unknown as OutboxRow
    })
  }

  it("U2 U3 begun anywhere in a life, it is what it would be from the beginning of the day; other tenants are not in it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aRow, { maxLength: 120 }), fc.nat(), async (made, cut) => {
        const rows = rowsOf(made)
        const at = cut % (rows.length + 1)
        let held: Pulse | undefined
        let isTold = false
        const source = {
          tenant: "t",
          outbox: {
            end: async () => at,
            read: async (after: number, limit: number) => {
              // What is committed while it reads comes before it has read all of it.
              if (!isTold && held !== undefined) {
                isTold = true
                for (const row of rows.slice(at)) if (String(row.address.tenant) === "t") held.tell(row)
              }
              return rows.slice(after, Math.min(rows.length, after + Math.min(limit, 7)))
            }
          }
        }
        const pulse = await Pulse.begin(source, NOW, (one) => (held = one))
        if (!isTold) for (const row of rows.slice(at)) if (String(row.address.tenant) === "t") pulse.tell(row)
        const { day, feed, hour, since } = pulse.view(NOW)
        assert.strictEqual(since, NOW - 1_440 * MINUTE)
        const own = rows.filter(({ address }) => String(address.tenant) === "t")
        const within = (minutes: number, step: number) => {
          const newest = Math.floor(NOW / MINUTE / step) * step
          return own.filter(({ entry }) => Math.floor(entry.at / MINUTE) > newest - minutes + step - 1)
        }
        for (const [points, minutes, step] of [
          [hour, 60, 1],
          [day, 1_440, 15]
        ] as const) {
          const known = within(minutes, step)
          assert.deepStrictEqual(
            [sum(points, "messages"), sum(points, "runs"), sum(points, "modelFailed"), sum(points, "tokens")],
            [
              known.filter(({ entry }) => entry.messages.length > 0).length,
              known.filter(({ entry }) => entry.tickEnd !== undefined).length,
              known.filter(({ entry }) => entry.step?.ok === false).length,
              known.filter(({ entry }) => entry.step?.spent !== undefined).length * 13
            ]
          )
        }
        assert.isAtMost(feed.length, 60)
        assert.deepStrictEqual(
          feed.map(({ seq }) => seq),
          feed.map(({ seq }) => seq).toSorted((a, b) => b - a)
        )
      }),
      { numRuns: 150 }
    )
  })
})
