import type { Recall } from "@reverie/memory"
import { recallLaws, recallThreadLaws } from "@reverie/testkit"
import { atLength } from "@reverie/testkit/length"
import { prove } from "@reverie/testkit/prove"
import { sharePgvector, sharePostgres } from "@reverie/testkit/shared-servers"
import type { PostgresServer } from "@reverie/testkit/servers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { recallTuned } from "../src/recall.ts"

let schemas = 0

/** An index of its own in the database of a server. */
const indexOf = (server: () => PostgresServer, extension: boolean, tuning: { readonly many?: number } = {}) =>
  Layer.unwrap(
    Effect.sync((): Layer.Layer<Recall> => {
      const url = Redacted.make(server().url)
      return recallTuned({ url, schema: `laws_recall_${++schemas}`, extension }, tuning)
    })
  )

// What is asked and found crosses to another thread there, and vectors are kept there.
const crossing = recallLaws.filter(({ id }) => /^I(?:1|3\.hostile|4|6|7|9)/.test(id))
const onThread = atLength(recallThreadLaws, crossing)

const postgres = sharePostgres({ fsync: false })

postgres.describe("PostgreSQL without an extension", () => {
  prove("F107 recall laws", recallLaws, () => indexOf(postgres.server, false))
  prove("F107 recall laws of what is found, searched on a thread", onThread, () =>
    indexOf(postgres.server, false, { many: 0 })
  )
})

const pgvector = await sharePgvector({ fsync: false })

pgvector.describe("PostgreSQL with the extension", () => {
  prove("F107 N2 recall laws", recallLaws, () => indexOf(pgvector.server, true))
  prove("F107 N2 recall laws of what is found, searched on a thread", onThread, () =>
    indexOf(pgvector.server, true, { many: 0 })
  )
})
