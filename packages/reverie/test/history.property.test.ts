// H1 against a walk over every entry, for histories of any shape and any number that is asked for.

import type { OutboxRow } from "@reverie/ledger"
import { AssistantId, type Entry, TenantId } from "@reverie/protocol"
import { entriesOfTick } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { assert, describe, test } from "vitest"
import { type History, newestFirst } from "../src/fleet/entry-source.ts"

const address = { tenant: TenantId.make("default"), assistant: AssistantId.make("clerk") }

const entryOf = (no: number, tick: number): Entry => ({
  v: 1,
  no,
  at: no,
  epoch: 1,
  tick,
  iteration: 0,
  cause: { kind: "job", id: `${no}` },
  event: null,
  status: "awake.idle",
  messages: []
})

/** A history whose ticks have so many entries each, and how often it was read. */
const historyOf = (sizes: ReadonlyArray<number>) => {
  const ticks = sizes.flatMap((size, tick) => Array.from({ length: size }, () => tick))
  const rows: ReadonlyArray<OutboxRow> = ticks.map((tick, at) => ({ seq: at, address, entry: entryOf(at + 1, tick) }))
  let readings = 0
  const history: History = {
    version: rows.length,
    read: (from, limit) => {
      readings++
      return Promise.resolve(rows.slice(from - 1, from - 1 + limit))
    }
  }
  return { rows, history, readings: () => readings }
}

const ofTick = ({ read, version }: History, tick: number) =>
  Effect.runPromise(entriesOfTick({ version, read: (from, limit) => Effect.promise(() => read(from, limit)) }, tick))

const sizes = fc.array(fc.oneof({ weight: 9, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.nat(450) }))

describe("History", () => {
  test("H1 the entries of a tick are those of a walk over all", async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: -1, max: 12 }), async (lengths, tick) => {
        const { history, rows } = historyOf(lengths)
        assert.deepStrictEqual(
          await ofTick(history, tick),
          rows.filter(({ entry }) => entry.tick === tick)
        )
      })
    )
  })

  test("H1 the newest first are all entries, each once", async () => {
    await fc.assert(
      fc.asyncProperty(sizes, async (lengths) => {
        const { history, rows } = historyOf(lengths)
        assert.deepStrictEqual(await Array.fromAsync(newestFirst(history)), rows.toReversed())
      })
    )
  })

  test("a tick is found without reading what is far from it", async () => {
    const { history, readings } = historyOf(Array.from({ length: 20_000 }, () => 5))
    assert.strictEqual((await ofTick(history, 7_777)).length, 5)
    assert.isBelow(readings(), 25)
  })
})
