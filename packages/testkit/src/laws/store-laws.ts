// Store laws: what concerns mailbox and ledger together, and no single invariant of either.

import * as assert from "node:assert/strict"
import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { anEnvelope } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { MemoryDisk } from "../memory-disk.ts"
import { memoryStore } from "../memory-store.ts"
import { playDay } from "./day.ts"
import { ada, bob, claimBy, commitOn, give } from "./steps.ts"

const DAYS = 12

/** What a reader finds, each fact read in its turn: a later one may know more than an earlier one, never less. */
const reads = Effect.gen(function* () {
  const ledger = yield* Ledger
  const version = Effect.map(ledger.inspect(ada), (record) => record?.version ?? 0)
  const entries = Effect.map(ledger.entries(ada, 1, 1_000), (rows) => rows.length)
  const outbox = Effect.map(ledger.outbox(0, 1_000), (rows) => rows.length)
  const sends = Effect.map(ledger.openSends(1_000), (open) => open.length + 1)
  const facts = { version, entries, outbox, sends }
  const found: Array<readonly [string, number]> = []
  for (const order of [
    ["version", "entries", "outbox", "sends"] as const,
    ["sends", "outbox", "entries", "version"] as const
  ]) {
    for (const name of order) found.push([name, yield* facts[name]])
    for (const [index, [name, count]] of found.entries()) {
      const before = found[index - 1]
      assert.ok(
        before === undefined || count >= before[1],
        `${name} knows ${count} commits, ${before?.[0]} knew ${before?.[1]}`
      )
    }
  }
})

export const storeLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "S1.halves",
    says: "who reads while commits are being written finds each of them whole or not at all (ledger I1)",
    check: Effect.gen(function* () {
      yield* give(ada)
      const { claim } = yield* claimBy("worker-1")
      const reader = yield* Effect.forkChild(Effect.forever(Effect.andThen(reads, Effect.yieldNow)))
      for (let version = 1; version <= 20; version++) {
        yield* commitOn(claim, version, { entry: { sends: [anEnvelope({ id: `s-${version}`, to: bob })] } })
        yield* Effect.yieldNow
      }
      if (reader.pollUnsafe() !== undefined) return yield* Fiber.join(reader)
      yield* Fiber.interrupt(reader)
      yield* reads
    })
  },
  {
    id: "S2.days",
    says: "on any day of work it tells what the store in memory tells (mailbox I1-I7, ledger I1-I7)",
    check: Effect.gen(function* () {
      const judged = { mailbox: yield* Mailbox, ledger: yield* Ledger }
      const right = memoryStore(new MemoryDisk())
      for (let seed = 1; seed <= DAYS; seed++) {
        const expected = yield* playDay(seed, right)
        const told = yield* playDay(seed, judged)
        for (const [index, line] of expected.entries()) assert.equal(told[index], line, `seed ${seed}, line ${index}`)
        assert.equal(told.length, expected.length)
      }
    })
  }
]
