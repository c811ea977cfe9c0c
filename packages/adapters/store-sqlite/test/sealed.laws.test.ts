import { IN_MEMORY, openSqliteStore, storeSqliteLayer } from "@reverie/store-sqlite"
import {
  allowanceLaws,
  archiveLaws,
  blockStoreLaws,
  bundleLaws,
  dataStoresLayer,
  ledgerLaws,
  mailboxLaws,
  promptStoreLaws,
  storeLaws
} from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { aDirectory } from "./directories.ts"
import { anEncryption } from "./encryption.ts"

const sealed = { encryption: anEncryption() }

prove("sealed SQLite in memory: mailbox laws", mailboxLaws, () => storeSqliteLayer(IN_MEMORY, sealed))
prove("sealed SQLite in memory: ledger laws", ledgerLaws, () => storeSqliteLayer(IN_MEMORY, sealed))
prove("sealed SQLite in memory: store laws", storeLaws, () => storeSqliteLayer(IN_MEMORY, sealed))
prove("sealed SQLite in a directory: store laws", storeLaws, () => storeSqliteLayer(aDirectory(), sealed))
prove("sealed SQLite in memory: prompt store laws", promptStoreLaws, () => storeSqliteLayer(IN_MEMORY, sealed))
prove("sealed SQLite in memory: allowance laws", allowanceLaws, () => storeSqliteLayer(IN_MEMORY, sealed))
prove("sealed SQLite in memory: block store laws", blockStoreLaws, () => storeSqliteLayer(IN_MEMORY, sealed))
prove("sealed SQLite in memory: bundle laws", bundleLaws, () => dataStoresLayer(openSqliteStore(IN_MEMORY, sealed)))
prove("sealed SQLite in memory: archive laws", archiveLaws, () => storeSqliteLayer(IN_MEMORY, sealed))
