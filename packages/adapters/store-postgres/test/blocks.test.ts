import { assert, it } from "@effect/vitest"
import { anAddress } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import { postgresBlocks } from "../src/ports/blocks.ts"
import { type Database, PgFailure } from "../src/database.ts"
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
      const [ours, theirs] = [postgresBlocks(slow, () => Infinity), postgresBlocks(real, () => Infinity)]
      const counter = { kind: "map", fields: [{ name: "n", type: "counter" }] } as const
      const draft = { owner: "ada", label: "totals", type: "core", schema: counter } as const
      const { block } = yield* theirs.create(draft, asked("owner"))
      yield* ours.change(block, asked("warm"), add(1_000))
      meanwhile = Effect.andThen(
        theirs.change(block, asked("ada"), add(1)),
        ours.change(block, asked("cora"), add(100))
      )
      yield* ours.change(block, asked("bob"), add(10))
      const { text } = yield* postgresBlocks(real, () => Infinity).read({ tenant, by: "owner", isSystem: true }, block)
      assert.strictEqual(text, "n: 1111")
    })
  )

  it.live("I5 a write that was repeated because no answer came is not carried out later, over what came after it", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      yield* openAt(url(), { schema })
      const real = yield* tablesAt(url(), schema)
      let late: Effect.Effect<unknown, PgFailure> | undefined
      const losing: Database = {
        ...real,
        query: <Row>(sql: string, values: ReadonlyArray<unknown> = []) => {
          if (late !== undefined || !sql.includes("write_blocks(")) return real.query<Row>(sql, values)
          late = real.query(sql, values)
          return Effect.fail(new PgFailure("passing", "no answer"))
        }
      }
      const until = (): number => Date.now() + 200
      const { block } = yield* postgresBlocks(losing, until).create(
        { owner: "ada", label: "notes", type: "core", content: "noon" },
        asked("ada")
      )
      // As forgetting does it: nothing is left of the block, nor of its answer.
      for (const table of ["block_answers", "block_versions", "block_snapshots", "block_readers", "blocks"]) {
        yield* real.query(`DELETE FROM ${table}`)
      }
      yield* Effect.sleep(300)
      const { kind, message } = yield* Effect.flip(late ?? Effect.die("nothing was written"))
      assert.deepStrictEqual([kind, message.includes("later than it was waited for")], ["passing", true])
      const left = yield* real.query("SELECT id FROM blocks")
      assert.deepStrictEqual([left, typeof block], [[], "string"])
    })
  )
})
