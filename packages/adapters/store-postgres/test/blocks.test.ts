import { assert, it } from "@effect/vitest"
import { anAddress } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import { postgresBlocks } from "../src/ports/blocks.ts"
import type { Database } from "../src/database.ts"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

const { tenant } = anAddress()
const asked = (by: string) => ({ tenant, by, isSystem: true, key: `key of ${by}`, at: 1 })
const add = (by: number) => ({ op: "increment_counter", field: "n", by }) as const

postgres.describe("blocks", () => {
  it.effect("I4 what a change made of a document is no one's ground until it is written", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      yield* openAt(url(), { schema })
      const real = yield* tablesAt(url(), schema)
      // Between the judgement and the writing of the first change.
      let meanwhile: Effect.Effect<unknown, unknown> = Effect.void
      const slow: Database = {
        ...real,
        query: <Row>(sql: string, values: ReadonlyArray<unknown> = []) =>
          Effect.suspend(() => {
            const first = sql.includes("write_blocks(") ? meanwhile : Effect.void
            if (sql.includes("write_blocks(")) meanwhile = Effect.void
            return Effect.andThen(Effect.ignore(first), real.query<Row>(sql, values))
          })
      }
      const [ours, theirs] = [postgresBlocks(slow), postgresBlocks(real)]
      const counter = { kind: "map", fields: [{ name: "n", type: "counter" }] } as const
      const draft = { owner: "ada", label: "totals", type: "core", schema: counter } as const
      const { block } = yield* theirs.create(draft, asked("owner"))
      yield* ours.change(block, asked("warm"), add(1_000))
      meanwhile = Effect.andThen(
        theirs.change(block, asked("ada"), add(1)),
        ours.change(block, asked("cora"), add(100))
      )
      yield* ours.change(block, asked("bob"), add(10))
      const { text } = yield* postgresBlocks(real).read({ tenant, by: "owner", isSystem: true }, block)
      assert.strictEqual(text, "n: 1111")
    })
  )
})
