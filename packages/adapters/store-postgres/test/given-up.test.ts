// What becomes of a transaction that is given up between its statements, or in one of them, and of who comes after it.

import { assert, it } from "@effect/vitest"
import { postgresSays } from "@reverie/testkit/servers"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { type Database, openDatabase, type Query } from "../src/database.ts"
import { aSchema } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })

/** One connection, so that who comes after is sure to have that of who was before. */
const opened = Effect.gen(function* () {
  const [url, schema] = [postgres.server().url, aSchema()]
  yield* Effect.promise(() =>
    postgresSays(url, `CREATE SCHEMA "${schema}"`, `CREATE TABLE "${schema}".notes (said text)`)
  )
  const database = yield* openDatabase(Redacted.make(url), { schema, connections: 1, deadlineMillis: 5_000 })
  const seen = Effect.promise(async () => (await postgresSays(url, `SELECT said FROM "${schema}".notes`)).flat())
  return { database, seen }
})

const note = (query: Query, text: string) => query("INSERT INTO notes VALUES ($1)", [text])

/** Ways to be given up in the middle: by the deadline, or by who asked. */
const ways: Readonly<
  Record<string, (database: Database, rest: (query: Query) => Effect.Effect<unknown>) => Effect.Effect<void>>
> = {
  "by its deadline": ({ transaction }, rest) =>
    Effect.ignore(transaction(300, (query) => Effect.andThen(note(query, "given up"), rest(query)))),
  "by who asked": ({ transaction }, rest) =>
    Effect.gen(function* () {
      const asking = yield* Effect.forkChild(
        Effect.ignore(transaction(5_000, (query) => Effect.andThen(note(query, "given up"), rest(query))))
      )
      yield* Effect.sleep(300)
      yield* Fiber.interrupt(asking)
    })
}

const rests: Readonly<Record<string, (query: Query) => Effect.Effect<unknown>>> = {
  "between two statements": () => Effect.sleep(20_000),
  "in a statement": (query) => Effect.ignore(query("SELECT pg_sleep(20)"))
}

postgres.describe("given up", () => {
  for (const [way, giveUp] of Object.entries(ways)) {
    for (const [where, rest] of Object.entries(rests)) {
      it.live(`D4 a transaction that is given up ${way} ${where} is over before anyone has its connection`, () =>
        Effect.gen(function* () {
          const { database, seen } = yield* opened
          yield* giveUp(database, rest)
          yield* note(database.query, "accepted")
          assert.deepStrictEqual(yield* seen, ["accepted"])
        })
      )
    }
  }

  it.live("D4 a look that is given up leaves no one after it in its moment", () =>
    Effect.gen(function* () {
      const { database, seen } = yield* opened
      const looking = yield* Effect.forkChild(
        Effect.ignore(database.moment((query) => Effect.andThen(query("SELECT said FROM notes"), Effect.sleep(20_000))))
      )
      yield* Effect.sleep(300)
      yield* Fiber.interrupt(looking)
      yield* note(database.query, "accepted")
      const found = yield* database.moment((query) => query<{ readonly said: string }>("SELECT said FROM notes"))
      assert.deepStrictEqual([found.map(({ said }) => said), yield* seen], [["accepted"], ["accepted"]])
    })
  )
})
