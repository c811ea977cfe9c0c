// The laws of the archive; and Z1: every law of the other ports, of stores whose whole past lies in segments whenever something was
// committed.

import { Archive, Bundles, Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { openPostgresStore } from "@reverie/store-postgres"
import {
  archiveLaws,
  archivingStore,
  bundleLaws,
  dataStoresLayer,
  ledgerLaws,
  mailboxLaws,
  MemorySegmentPlace,
  storeLaws
} from "@reverie/testkit"
import { isLong } from "@reverie/testkit/length"
import { prove } from "@reverie/testkit/prove"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { aSchema } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })

const OWN = { clock: "effect", connections: 3 } as const
/** A store in a schema of its own. */
const fresh = Effect.suspend(() =>
  openPostgresStore(Redacted.make(postgres.server().url), { ...OWN, schema: aSchema() })
)
/** One whose segments lie apart. */
const apart = Effect.suspend(() => {
  const segments = new MemorySegmentPlace().service
  return openPostgresStore(Redacted.make(postgres.server().url), { ...OWN, schema: aSchema(), segments })
})
const archiving = Effect.map(fresh, archivingStore)

const layerOf = (open: typeof fresh) =>
  Layer.effectContext(
    Effect.map(open, ({ archive, bundles, ledger, mailbox }) =>
      Context.make(Mailbox, mailbox).pipe(
        Context.add(Ledger, ledger),
        Context.add(Bundles, bundles),
        Context.add(Archive, archive)
      )
    )
  )

postgres.describe("PostgreSQL", () => {
  prove("archive laws", archiveLaws, () => layerOf(fresh))
  const laws = [
    { port: "mailbox", list: mailboxLaws },
    { port: "ledger", list: ledgerLaws },
    { port: "store", list: storeLaws }
  ] as const
  for (const { port, list } of laws) prove(`archived: ${port} laws`, list, () => layerOf(archiving))
  prove("apart: archive laws", archiveLaws, () => layerOf(apart))
  prove("archived: bundle laws", bundleLaws, () => dataStoresLayer(archiving))
  // What reads a past reads it by the ledger: the others go on for longer.
  for (const { port, list } of laws.filter((each) => isLong || each.port === "ledger"))
    prove(`archived apart: ${port} laws`, list, () => layerOf(Effect.map(apart, archivingStore)))
  if (isLong) prove("archived apart: bundle laws", bundleLaws, () => dataStoresLayer(Effect.map(apart, archivingStore)))
})
