import { recallPostgresLayer } from "@reverie/recall-postgres"
import { recallLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

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
})
