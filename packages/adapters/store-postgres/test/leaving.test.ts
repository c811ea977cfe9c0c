// Leaving bytes behind: what it looks through, however much a tenant has said.

import { assert, it } from "@effect/vitest"
import { digestOf } from "@reverie/ledger"
import { aMessage, anAddress, anEntry, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import { leaveBlobs } from "../src/ports/blobs.ts"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

postgres.describe("PostgreSQL", () => {
  it.effect(
    "bytes are left in one statement, behind one that holds them; it looks through what refers to bytes alone, and keeps what is referred to",
    () =>
      Effect.gen(function* () {
        const schema = aSchema()
        const { ledger } = yield* openAt(url(), { schema })
        const ada = anAddress("ada")
        const bytes = Array.from({ length: 20 }, (_, each) => new TextEncoder().encode(`picture ${each}`))
        const digests = yield* ledger.blobs.keep(ada.tenant, bytes)
        const part = { type: "image", mediaType: "image/png", digest: digests[7] ?? "", bytes: 9 } as never
        yield* ledger.create({
          address: ada,
          state: aState(),
          entry: anEntry({ messages: [{ ...aMessage("look"), parts: [part] }] })
        })
        const { transaction } = yield* tablesAt(url(), schema)
        const asked: Array<string> = []
        yield* transaction(20_000, (query) =>
          leaveBlobs(
            (sql, values) => {
              asked.push(sql)
              return query(sql, values)
            },
            ada.tenant,
            digests
          )
        )
        assert.strictEqual(asked.length, 2)
        const left = yield* Effect.forEach(digests, (digest) => ledger.blobs.read(ada.tenant, digest))
        assert.deepStrictEqual(
          left.flatMap((each) => (each === undefined ? [] : [digestOf(each)])),
          [digests[7]]
        )
        const plan = yield* transaction(20_000, (query) =>
          Effect.gen(function* () {
            yield* query(`PREPARE look AS ${asked[1] ?? ""}`)
            return yield* query<object>("EXPLAIN EXECUTE look (NULL, NULL)")
          })
        )
        const lines = plan.map((row) => String(Object.values(row)[0]))
        assert.deepStrictEqual(
          lines.filter((line) => /Seq Scan on/.test(line)),
          [],
          lines.join("\n")
        )
        for (const index of ["envelopes_parts", "ledger_parts", "segments_parts"])
          assert.include(lines.join("\n"), index)
      }).pipe(Effect.scoped)
  )
})
