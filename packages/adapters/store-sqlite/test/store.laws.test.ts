import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { IN_MEMORY, storeSqliteLayer } from "@reverie/store-sqlite"
import { ledgerLaws, mailboxLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { afterAll } from "vitest"

const laws = [
  { port: "mailbox", list: mailboxLaws },
  { port: "ledger", list: ledgerLaws }
] as const

const root = mkdtempSync(join(tmpdir(), "reverie-laws-"))
afterAll(() => rmSync(root, { recursive: true }))
let directories = 0

for (const { port, list } of laws) {
  prove(`SQLite in memory: ${port} laws`, list, () => storeSqliteLayer(IN_MEMORY))
  prove(`SQLite in a directory: ${port} laws`, list, () => storeSqliteLayer(join(root, String(directories++))))
}
