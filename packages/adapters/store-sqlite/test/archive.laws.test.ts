// The laws of the archive; and Z1: every law of the other ports, of stores whose whole past lies in segments whenever something was
// committed, in the store itself and apart from it.

import { Archive, Bundles, Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { IN_MEMORY, openSqliteStore, segmentDirectory } from "@reverie/store-sqlite"
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
import { prove } from "@reverie/testkit/prove"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { aDirectory } from "./directories.ts"

const opened = (directory: string) => Effect.map(openSqliteStore(directory), archivingStore)

/** Stores whose segments lie apart. */
const apart = () => openSqliteStore(IN_MEMORY, { segments: new MemorySegmentPlace().service })
const apartInDirectory = Effect.suspend(() => openSqliteStore(IN_MEMORY, { segments: segmentDirectory(aDirectory()) }))

const layerOf = (open: ReturnType<typeof openSqliteStore>) =>
  Layer.effectContext(
    Effect.map(open, ({ archive, bundles, ledger, mailbox }) =>
      Context.make(Mailbox, mailbox).pipe(
        Context.add(Ledger, ledger),
        Context.add(Bundles, bundles),
        Context.add(Archive, archive)
      )
    )
  )

prove("SQLite in memory: archive laws", archiveLaws, () => layerOf(openSqliteStore(IN_MEMORY)))
prove("SQLite in directories: archive laws", archiveLaws, () =>
  layerOf(Effect.suspend(() => openSqliteStore(aDirectory())))
)

const laws = [
  { port: "mailbox", list: mailboxLaws },
  { port: "ledger", list: ledgerLaws },
  { port: "store", list: storeLaws }
] as const

for (const { port, list } of laws) {
  prove(`SQLite, archived: ${port} laws`, list, () => layerOf(opened(IN_MEMORY)))
  prove(`SQLite, archived apart: ${port} laws`, list, () => layerOf(Effect.map(Effect.suspend(apart), archivingStore)))
}
prove("SQLite, apart: archive laws", archiveLaws, () => layerOf(Effect.suspend(apart)))
prove("SQLite, apart in a directory: archive laws", archiveLaws, () => layerOf(apartInDirectory))
prove("SQLite, archived apart: bundle laws", bundleLaws, () =>
  dataStoresLayer(Effect.map(Effect.suspend(apart), archivingStore))
)
prove("SQLite, archived: bundle laws", bundleLaws, () => dataStoresLayer(Effect.suspend(() => opened(aDirectory()))))
