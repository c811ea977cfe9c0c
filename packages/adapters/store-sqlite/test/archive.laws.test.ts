// The laws of the archive; and Z1: every law of the other ports, of stores whose whole past lies in segments whenever something was
// committed.

import { Archive, Bundles, Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { IN_MEMORY, openSqliteStore, type SqliteStore } from "@reverie/store-sqlite"
import { archiveLaws, bundleLaws, dataStoresLayer, ledgerLaws, mailboxLaws, storeLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { aDirectory } from "./directories.ts"

const EVERYTHING = Number.MAX_SAFE_INTEGER

/** A store in which each commit is in a segment as soon as it has returned. */
const archiving = (store: SqliteStore["Service"]): SqliteStore["Service"] => {
  const { archive, bundles, ledger } = store
  const archiveAll = (address: Parameters<typeof archive.archive>[0]) => archive.archive(address, EVERYTHING, 1)
  return {
    ...store,
    ledger: {
      ...ledger,
      create: (creation) => Effect.tap(ledger.create(creation), () => archiveAll(creation.address)),
      commit: (claim, commit) => Effect.tap(ledger.commit(claim, commit), () => archiveAll(claim.address))
    },
    bundles: {
      ...bundles,
      unpack: (bundle, options) =>
        Effect.tap(bundles.unpack(bundle, options), () =>
          bundle.head.kind === "assistant" ? archiveAll(bundle.head.address) : Effect.void
        )
    }
  }
}

const opened = (directory: string) => Effect.map(openSqliteStore(directory), archiving)

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
}
prove("SQLite, archived: bundle laws", bundleLaws, () => dataStoresLayer(Effect.suspend(() => opened(aDirectory()))))
