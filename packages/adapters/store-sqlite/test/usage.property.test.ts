import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import type { UsageDimension, UsageQuery, UsageSum } from "@reverie/ledger"
import { HOUR_MILLIS } from "@reverie/protocol"
import { anAddress, anEntry, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { migrate } from "../src/format.ts"
import { formats } from "../src/formats.ts"
import { sqliteLedger } from "../src/ledger/ledger.ts"
import { sqliteUsage, usageAdding } from "../src/ledger/usage.ts"
import { Writer } from "../src/writer.ts"

const TENANTS = ["harbor", "pier"]
const MODELS = ["small", "large", "\u{1f469}"]

const someUse = fc.array(
  fc.record({
    assistant: fc.nat(9),
    tenant: fc.nat(1),
    hour: fc.nat(5),
    model: fc.nat(2),
    kind: fc.constantFrom("infer", "compact"),
    // Few amounts: the greatest are often equal.
    amount: fc.nat(3)
  }),
  { maxLength: 60 }
)
type Use = typeof someUse extends fc.Arbitrary<infer All> ? All : never

const addressOf = (use: Use[number]) => anAddress(`a-${use.assistant}`, TENANTS[use.tenant])

const entryOf = ({ amount, hour, kind, model }: Use[number], no: number) =>
  anEntry({
    no,
    at: hour * HOUR_MILLIS,
    step: {
      id: "1/infer",
      kind,
      name: kind,
      ok: true,
      elapsedMs: 1,
      spent: [
        {
          model: MODELS[model] ?? "",
          calls: 1,
          inputTokens: amount,
          cachedTokens: 0,
          outputTokens: amount * 2,
          reasoningTokens: 0,
          costMicros: amount,
          unpricedCalls: amount === 0 ? 1 : 0
        }
      ]
    }
  } as Parameters<typeof anEntry>[0])

/** The format that brought the table of totals. */
const WITH_TOTALS = 3

/** A database in which this was used, brought to the newest format after that where it begins with an older one. */
const used = (all: Use, format: number) =>
  Effect.gen(function* () {
    const database = new DatabaseSync(":memory:")
    migrate(database, 0, formats)
    const ledger = sqliteLedger(database, new Writer(database, 1))
    const add = usageAdding(database)
    const key = database.prepare("SELECT key FROM assistants WHERE tenant = ? AND id = ?")
    for (const [index, use] of all.entries()) {
      const address = addressOf(use)
      yield* ledger.create({ address, state: aState(), entry: anEntry() })
      add(Number(key.get(address.tenant, address.assistant)?.["key"]), address.tenant, entryOf(use, index + 2))
    }
    if (format < WITH_TOTALS) {
      database.exec("DROP TABLE usage_totals")
      migrate(database, format, formats.slice(0, WITH_TOTALS))
    }
    return database
  })

const asked: ReadonlyArray<Omit<UsageQuery, "limit">> = [
  { by: ["assistant"] },
  { by: ["assistant"], order: "greatest" },
  { by: ["assistant"], from: 2, to: 5 },
  { by: ["assistant"], order: "greatest", from: 1, model: "\u{1f469}" },
  { by: ["assistant"], purpose: "compact" },
  { by: ["assistant"], after: ["a-4"] }
]

const sums = (database: DatabaseSync, query: UsageQuery, sliceRows?: number) =>
  sqliteUsage(database, sliceRows).usage(query)

const totalsOf = (all: ReadonlyArray<UsageSum>, place: number): ReadonlyArray<readonly [string, number, number]> => {
  const found = new Map<string, readonly [number, number]>()
  for (const { costMicros, key, lastNo } of all) {
    const name = String(key[place])
    const [cost, no] = found.get(name) ?? [0, 0]
    found.set(name, [cost + costMicros, Math.max(no, lastNo)])
  }
  return [...found]
    .map(([name, [cost, no]]) => [name, cost, no] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
}

describe("usage", () => {
  it.effect("U3 what is read in slices is what one reading finds, whatever is asked, in any order and to any end", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(someUse, fc.constantFrom(1, 2, 7), fc.constantFrom(1, 3, 100), async (all, rows, limit) => {
          await Effect.runPromise(
            Effect.gen(function* () {
              const database = yield* used(all, formats.length)
              for (const question of asked) {
                const query: UsageQuery = { ...question, tenant: anAddress("a", "harbor").tenant, limit }
                assert.deepStrictEqual(yield* sums(database, query, rows), yield* sums(database, query))
              }
            })
          )
        }),
        { numRuns: 60 }
      )
    )
  )

  it.effect("U1 U2 totals are the sums of the rows they stand for, also those of data of an older format", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(someUse, fc.constantFrom(WITH_TOTALS - 1, WITH_TOTALS), async (all, format) => {
          await Effect.runPromise(
            Effect.gen(function* () {
              const database = yield* used(all, format)
              const dimensions: ReadonlyArray<UsageDimension> = ["tenant", "hour", "model", "purpose"]
              for (const dimension of dimensions) {
                const rows = yield* sums(database, { by: ["assistant", dimension], limit: 1_000 })
                const totals = yield* sums(database, { by: [dimension], limit: 1_000 })
                assert.deepStrictEqual(totalsOf(totals, 0), totalsOf(rows, 1))
              }
            })
          )
        }),
        { numRuns: 40 }
      )
    )
  )
})
