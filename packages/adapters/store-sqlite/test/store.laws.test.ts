import { IN_MEMORY, storeSqliteLayer } from "@reverie/store-sqlite"
import { allowanceLaws, blockStoreLaws, ledgerLaws, mailboxLaws, promptStoreLaws, storeLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { aDirectory } from "./directories.ts"

const laws = [
  { port: "mailbox", list: mailboxLaws },
  { port: "ledger", list: ledgerLaws },
  { port: "store", list: storeLaws }
] as const

for (const { port, list } of laws) {
  prove(`SQLite in memory: ${port} laws`, list, () => storeSqliteLayer(IN_MEMORY))
  prove(`SQLite in a directory: ${port} laws`, list, () => storeSqliteLayer(aDirectory()))
}

prove("SQLite in memory: prompt store laws", promptStoreLaws, () => storeSqliteLayer(IN_MEMORY))
prove("SQLite in a directory: prompt store laws", promptStoreLaws, () => storeSqliteLayer(aDirectory()))

prove("SQLite in memory: allowance laws", allowanceLaws, () => storeSqliteLayer(IN_MEMORY))
prove("SQLite in a directory: allowance laws", allowanceLaws, () => storeSqliteLayer(aDirectory()))

prove("SQLite in memory: block store laws", blockStoreLaws, () => storeSqliteLayer(IN_MEMORY))
prove("SQLite in a directory: block store laws", blockStoreLaws, () => storeSqliteLayer(aDirectory()))
