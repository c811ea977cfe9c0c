import { openPostgresStore } from "@reverie/store-postgres"
import { dataStoresLayer, bundleLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const postgres = sharePostgres({ fsync: false })

let count = 0

postgres.describe("PostgreSQL", () => {
  prove("bundle laws", bundleLaws, () =>
    dataStoresLayer(
      Effect.suspend(() =>
        openPostgresStore(Redacted.make(postgres.server().url), {
          schema: `bundles_${++count}`,
          clock: "effect",
          connections: 3
        })
      )
    )
  )
})
