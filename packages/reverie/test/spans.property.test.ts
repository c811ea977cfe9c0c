import { assert, describe, it } from "@effect/vitest"
import type { OutboxRow } from "@reverie/ledger"
import type { Entry } from "@reverie/protocol"
import * as fc from "fast-check"
import { type Span, type SpanKind, spansOf } from "../src/timeline/spans.ts"
import { spansBefore } from "../src/fleet/watching.ts"

type Line = Partial<Entry> & { readonly tick: number }

/** A piece of a life, and the kinds of the spans that it makes. */
interface Piece {
  readonly lines: (tick: number) => ReadonlyArray<Line>
  readonly kinds: ReadonlyArray<SpanKind>
  readonly begins: boolean
}

const by = (lane: "control" | "reply" | "mail") => ({ kind: "envelope", lane, seq: 1, id: "e" }) as never
const job = { kind: "job", id: "1/x" } as const
const step = (kind: "infer" | "tool" | "dream" | "compact") => ({
  id: "1/x",
  kind,
  name: kind,
  ok: true,
  elapsedMs: 1
})
const tickEnd = (outcome: "answered" | "slept") => ({ envelope: "e", outcome, iterations: 1, reply: "" }) as never
const order = (type: string): Omit<Line, "tick"> => ({ cause: by("control"), event: { type }, status: "awake.idle" })

const aTick = fc
  .array(fc.constantFrom("infer", "tool", "halt", "compact" as const), { maxLength: 6 })
  .map((within): Piece => ({
    begins: true,
    kinds: ["tick"],
    lines: (tick) => [
      { tick, cause: by("mail"), event: { type: "message" }, status: "awake.thinking.inferring" },
      ...within.map((what) =>
        what === "halt"
          ? { tick, ...order("halt"), status: "halted" }
          : { tick, step: step(what as "infer"), status: "awake.acting.running" }
      ),
      { tick, step: step("infer"), tickEnd: tickEnd("answered"), status: "awake.idle" }
    ]
  }))

const aNight = fc
  .record({ steps: fc.nat(4), compacts: fc.nat(2), wakes: fc.boolean() })
  .map(({ compacts, steps, wakes }): Piece => ({
    begins: true,
    kinds: compacts === 0 ? ["dream"] : ["dream", "compaction"],
    lines: (tick) => [
      {
        tick,
        cause: by("mail"),
        event: { type: "sleep" },
        status: "dreaming.consolidating",
        tickEnd: tickEnd("slept")
      },
      ...Array.from({ length: steps }, () => ({ tick, step: step("dream"), status: "dreaming.pausing" })),
      ...Array.from({ length: compacts }, () => ({ tick, step: step("compact"), status: "compacting.replacing" })),
      ...(wakes ? [{ tick, cause: by("reply"), event: { type: "wake" }, status: "awake.idle" }] : [])
    ]
  }))

const anOrder = fc
  .constantFrom("halt", "resume", "retire", "delegate")
  .map((type): Piece => ({ begins: false, kinds: ["order"], lines: (tick) => [{ tick, ...order(type) }] }))

const aCompaction = fc.nat(3).map((steps): Piece => ({
  begins: false,
  kinds: ["compaction"],
  lines: (tick) => [
    { tick, cause: by("mail"), event: { type: "compact" }, status: "compacting.extracting" },
    ...Array.from({ length: steps }, () => ({ tick, step: step("compact"), status: "compacting.replacing" }))
  ]
}))

/** Overheard, or ignored: it settles and begins nothing. */
const aPassing = fc.constantFrom("ambientMessages", "ignored").map((what): Piece => ({
  begins: false,
  kinds: [],
  lines: (tick) => [
    {
      tick,
      cause: by("mail"),
      event: what === "ignored" ? { type: "sleep" } : null,
      settled: [{ id: "e" as never, outcome: what === "ignored" ? "ignored" : "handled" }],
      status: "awake.idle"
    }
  ]
}))

const aLife = fc.array(fc.oneof(aTick, aTick, aNight, aCompaction, anOrder, aPassing), { maxLength: 25 })

const created = { kind: "creation" } as const

const rowsOf = (life: ReadonlyArray<Piece>): ReadonlyArray<OutboxRow> => {
  let tick = 0
  const lines: Array<Line> = [{ tick: 0, cause: created, event: null }]
  for (const piece of life) {
    if (piece.begins) tick++
    lines.push(...piece.lines(tick))
  }
  return lines.map((line, index) => ({
    seq: index + 1,
    address: { tenant: "t", assistant: "a" } as never,
    entry: {
      v: 1,
      no: index + 1,
      at: index,
      epoch: 1,
      iteration: 0,
      cause: job,
      event: { type: "xstate.done.actor.x" },
      status: "awake.idle",
      messages: [],
      ...line
    }
  }))
}

const historyOf = (rows: ReadonlyArray<OutboxRow>) => ({
  version: rows.length,
  read: async (from: number, limit: number) => rows.slice(Math.max(0, from - 1), Math.max(0, from - 1) + limit)
})

const numbersOf = ({ kind, rows }: Span): string => `${kind} ${rows.map(({ entry }) => entry.no).join(",")}`

describe("spans of a life", () => {
  it("S2 S3 every tick, dream, compaction and order is one span, and none lies over another", () => {
    let seen = 0
    fc.assert(
      fc.property(aLife, (life) => {
        const rows = rowsOf(life)
        const spans = spansOf(rows)
        assert.deepStrictEqual(
          spans.map(({ kind }) => kind),
          life.flatMap(({ kinds }) => kinds)
        )
        const numbers = spans.flatMap((span) => span.rows.map(({ entry }) => entry.no))
        assert.deepStrictEqual(
          numbers,
          [...new Set(numbers)].toSorted((a, b) => a - b)
        )
        for (const { rows } of spans) for (const { entry } of rows) assert.strictEqual(entry.tick, rows[0]?.entry.tick)
        seen += spans.length
      }),
      { seed: 7, numRuns: 300 }
    )
    assert.isAbove(seen, 1_000)
  })

  it("S1 T1 pages of any size tell the same spans once", async () => {
    await fc.assert(
      fc.asyncProperty(aLife, fc.integer({ min: 1, max: 9 }), async (life, limit) => {
        const history = historyOf(rowsOf(life))
        const told: Array<Span> = []
        let before: number | null = history.version + 1
        while (before !== null) {
          const page: Awaited<ReturnType<typeof spansBefore>> = await spansBefore(history, before, limit)
          assert.isAtMost(page.spans.length, limit)
          told.push(...page.spans)
          before = page.next
        }
        const whole = spansOf(rowsOf(life)).toReversed()
        // Where a page ends inside a night, what came after its last step is on neither page.
        const begin = ({ kind, rows }: Span) => `${kind} ${rows[0]?.entry.no}`
        assert.deepStrictEqual(told.map(begin), whole.map(begin))
        for (const [index, span] of told.entries()) {
          const one = whole[index]
          assert.ok(one)
          if (span.kind === "tick") assert.strictEqual(numbersOf(span), numbersOf(one))
        }
      }),
      { seed: 7, numRuns: 300 }
    )
  })
})
