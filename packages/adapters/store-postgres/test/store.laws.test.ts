import { storePostgresLayer } from "@reverie/store-postgres"
import { allowanceLaws, blockStoreLaws, ledgerLaws, mailboxLaws, promptStoreLaws, storeLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Layer from "effect/Layer"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { aSchema } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })

/** A store in a schema of its own. */
const fresh = () =>
  Layer.unwrap(
    Effect.sync(() =>
      storePostgresLayer(Redacted.make(postgres.server().url), { schema: aSchema(), clock: "effect", connections: 4 })
    )
  )

postgres.describe("PostgreSQL", () => {
  prove("mailbox laws", mailboxLaws, fresh)
  prove("ledger laws", ledgerLaws, fresh)
  prove("store laws", storeLaws, fresh)
  prove("allowance laws", allowanceLaws, fresh)
  prove("prompt store laws", promptStoreLaws, fresh)
  prove("block store laws", blockStoreLaws, fresh)
})
