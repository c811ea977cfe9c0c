import { recallPostgresLayer } from "@reverie/recall-postgres"
import { recallLaws, recallThreadLaws } from "@reverie/testkit"
import { atLength } from "@reverie/testkit/length"
import { prove } from "@reverie/testkit/prove"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { recallTuned } from "../src/recall.ts"

const postgres = sharePostgres({ fsync: false })

let schemas = 0

postgres.describe("PostgreSQL", () => {
  prove("F107 recall laws", recallLaws, () =>
    Layer.unwrap(
      Effect.sync(() =>
        recallPostgresLayer({ url: Redacted.make(postgres.server().url), schema: `laws_recall_${++schemas}` })
      )
    )
  )
  // What is asked and found crosses to another thread there, and vectors are kept there.
  const crossing = recallLaws.filter(({ id }) => /^I(?:1|3\.hostile|4|6|7|9)/.test(id))
  const onThread = atLength(recallThreadLaws, crossing)
  prove("F107 recall laws of what is found, searched on a thread", onThread, () =>
    Layer.unwrap(
      Effect.sync(() =>
        recallTuned({ url: Redacted.make(postgres.server().url), schema: `laws_recall_${++schemas}` }, { many: 0 })
      )
    )
  )
})
