import { openPostgresStore } from "@reverie/store-postgres"
import { ApartStore, lostSegmentLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { aSchema } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })

postgres.describe("PostgreSQL", () => {
  prove("lost segment laws", lostSegmentLaws, () => {
    const schema = aSchema()
    return Layer.succeed(ApartStore, {
      open: (segments) =>
        openPostgresStore(Redacted.make(postgres.server().url), {
          clock: "effect",
          connections: 3,
          schema,
          ...(segments && { segments })
        })
    })
  })
})
