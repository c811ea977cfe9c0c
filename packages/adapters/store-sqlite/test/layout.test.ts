import { join } from "node:path"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import { assert, it } from "@effect/vitest"
import { openSqliteStore } from "@reverie/store-sqlite"
import { aJob, anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { describe, test } from "vitest"
import { migrate } from "../src/format.ts"
import { formats } from "../src/formats.ts"
import { sqliteLedger } from "../src/ledger/ledger.ts"
import { Leases } from "../src/ledger/assistants.ts"
import { sqliteMailbox } from "../src/mailbox/mailbox.ts"
import { sqlitePrompts } from "../src/store.ts"
import { Writer } from "../src/writer.ts"
import { aDirectory } from "./directories.ts"

class Recording extends DatabaseSync {
  readonly prepared = new Set<string>()
  override prepare(sql: string): StatementSync {
    this.prepared?.add(sql)
    return super.prepare(sql)
  }
}

/** Tables that are read from an end, a limited number of rows: going along them is no search. */
const readFromAnEnd = new Set(["SCAN ledger", "SCAN sends", "SCAN dead_letters USING INDEX dead_letters_told"])

const plans = () => {
  const database = new Recording(":memory:")
  migrate(database, 0, formats)
  const writer = new Writer(database, 1)
  sqliteMailbox(database, writer, new Leases())
  sqliteLedger(database, writer)
  sqlitePrompts(database, writer)
  const queries = [...database.prepared].filter((sql) => /^(SELECT|UPDATE|DELETE|INSERT)/.test(sql))
  return queries.map((sql) => {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    return { sql, steps: steps.map(({ detail }) => String(detail)) }
  })
}

describe("queries", () => {
  test("none of them scans or sorts what grows", () => {
    const found = plans()
    assert.isAbove(found.length, 15)
    const slow = found.filter(({ sql, steps }) =>
      steps.some(
        (step) =>
          step.includes("TEMP B-TREE") ||
          (step.startsWith("SCAN") &&
            // One row without a table, which is made of subqueries with steps of their own.
            step !== "SCAN CONSTANT ROW" &&
            // What another step has found is limited already.
            !(step.startsWith("SCAN (subquery") && sql.includes("LIMIT ?)")) &&
            !(readFromAnEnd.has(step) && /ORDER BY seq( DESC)? LIMIT/.test(sql)))
      )
    )
    assert.deepStrictEqual(slow, [])
  })

  test("the landmarks and the wakes are looked up in their small indexes", () => {
    const steps = plans().flatMap((plan) => plan.steps)
    for (const index of ["ledger_landmark", "assistants_wake", "envelopes_lane"]) {
      assert.isTrue(
        steps.some((step) => step.startsWith("SEARCH") && step.includes(index)),
        index
      )
    }
  })
})

const cellsOf = (directory: string, index: string): number => {
  const database = new DatabaseSync(join(directory, "reverie.db"), { readOnly: true })
  const row = database.prepare("SELECT sum(ncell) AS cells FROM dbstat WHERE name = ?").get(index)
  database.close()
  return Number(row?.["cells"])
}

const stateBytes = (directory: string): number => {
  const database = new DatabaseSync(join(directory, "reverie.db"), { readOnly: true })
  const row = database.prepare("SELECT octet_length(state) AS bytes FROM assistants").get()
  database.close()
  return Number(row?.["bytes"])
}

const freePages = (directory: string): number => {
  const database = new DatabaseSync(join(directory, "reverie.db"), { readOnly: true })
  const row = database.prepare("PRAGMA freelist_count").get()
  database.close()
  return Number(row?.["freelist_count"])
}

describe("rows", () => {
  it.effect("I4 who rests is in no index of wakes", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const { ledger, mailbox } = yield* openSqliteStore(directory)
      for (let index = 0; index < 50; index++) {
        yield* ledger.create({ address: anAddress(`a-${index}`), state: aState(), entry: anEntry() })
      }
      assert.strictEqual(cellsOf(directory, "assistants_wake"), 0)
      const address = anAddress("a-7")
      yield* mailbox.accept(anEnvelope({ to: address }))
      assert.strictEqual(cellsOf(directory, "assistants_wake"), 1)
      const { claim } = yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
      const cause = { kind: "envelope", lane: "mail", seq: 1, id: anEnvelope().id } as const
      yield* ledger.commit(claim, { entry: anEntry({ no: 2, cause }), state: aState() })
      assert.strictEqual(cellsOf(directory, "assistants_wake"), 0)
    })
  )

  it.effect("I2 a state that shrinks and grows again is written over in place: no page is ever set free", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const { ledger, mailbox } = yield* openSqliteStore(directory)
      const address = anAddress()
      yield* ledger.create({ address, state: aState({ snapshot: "x".repeat(2_000) }), entry: anEntry() })
      const { claim } = yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
      for (let no = 2; no < 40; no++) {
        const state = aState({
          snapshot: "é".repeat((no * 37) % 1_000),
          receives: no % 2 === 0 ? [] : ["control", "mail"]
        })
        yield* ledger.commit(claim, { entry: anEntry({ no }), state })
        assert.deepStrictEqual((yield* ledger.inspect(address))?.state, state)
      }
      assert.strictEqual(freePages(directory), 0)
    })
  )

  it.effect("I2 a state that was very large for once does not stay so", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const { ledger, mailbox } = yield* openSqliteStore(directory)
      const address = anAddress()
      yield* ledger.create({ address, state: aState({ snapshot: "x".repeat(60_000) }), entry: anEntry() })
      const { claim } = yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
      yield* ledger.commit(claim, { entry: anEntry({ no: 2 }), state: aState() })
      assert.isBelow(stateBytes(directory), 1_000)
    })
  )

  it.effect("I2 a commit within a tick writes the assistant's page and the ledger's, and no other", () =>
    Effect.gen(function* () {
      const { ledger, mailbox, stats } = yield* openSqliteStore(aDirectory())
      const address = anAddress()
      const state = aState({ jobs: [aJob()], receives: ["control"] })
      yield* ledger.create({ address, state, entry: anEntry() })
      const { claim } = yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
      const before = yield* stats
      yield* ledger.commit(claim, { entry: anEntry({ no: 2 }), state })
      assert.strictEqual((yield* stats).walFrames - before.walFrames, 2)
    })
  )

  it.effect("a cursor never moves back", () =>
    Effect.gen(function* () {
      const { ledger, mailbox } = yield* openSqliteStore(":memory:")
      const address = anAddress()
      yield* ledger.create({ address, state: aState(), entry: anEntry() })
      for (const id of ["m-1", "m-2"]) yield* mailbox.accept(anEnvelope({ id, to: address }))
      const { claim } = yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
      const [first, second] = yield* mailbox.pending(address, ["mail"], 2)
      assert.isTrue(first !== undefined && second !== undefined)
      for (const [index, row] of [second, first].entries()) {
        const { id, seq } = row ?? { id: anEnvelope().id, seq: 0 }
        const entry = anEntry({ no: index + 2, cause: { kind: "envelope", lane: "mail", seq, id } })
        yield* ledger.commit(claim, { entry, state: aState() })
      }
      assert.deepStrictEqual(yield* mailbox.pending(address, ["mail"], 2), [])
    })
  )

  it.effect("E1 entries far back are found from a landmark, not by going along all that is newer", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const { ledger, mailbox } = yield* openSqliteStore(directory)
      const address = anAddress()
      yield* ledger.create({ address, state: aState(), entry: anEntry() })
      const { claim } = yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
      for (let no = 2; no <= 60; no++) yield* ledger.commit(claim, { entry: anEntry({ no }), state: aState() })
      const cut = new DatabaseSync(join(directory, "reverie.db"))
      cut.exec("DELETE FROM ledger WHERE no = 40")
      cut.close()
      assert.deepStrictEqual(
        (yield* ledger.entries(address, 10, 5)).map(({ entry }) => entry.no),
        [10, 11, 12, 13, 14]
      )
    })
  )

  it.effect("ledger I3 entries are found from landmark to landmark as from the first to the last", () =>
    Effect.gen(function* () {
      const { ledger, mailbox } = yield* openSqliteStore(":memory:")
      const address = anAddress()
      yield* ledger.create({ address, state: aState(), entry: anEntry() })
      const { claim } = yield* mailbox.claim({ address, worker: "worker-1", leaseMillis: 1_000 })
      const last = 53
      for (let no = 2; no <= last; no++) yield* ledger.commit(claim, { entry: anEntry({ no }), state: aState() })
      for (let from = 0; from <= last + 2; from++) {
        for (const limit of [0, 1, 15, 16, 17, 1_000]) {
          const numbers = (yield* ledger.entries(address, from, limit)).map(({ entry }) => entry.no)
          const first = Math.max(1, from)
          const count = Math.max(0, Math.min(limit, last - first + 1))
          assert.deepStrictEqual(
            numbers,
            Array.from({ length: count }, (_, index) => first + index),
            `${limit} from ${from}`
          )
        }
      }
    })
  )
})
