// Status: what the file tells of itself.
// Owns asking for it. Leaves what it means to who asks.

import type { DatabaseSync } from "node:sqlite"
import { defined } from "@reverie/protocol"
import type { IndexStanding, IndexStatus } from "@reverie/memory"
import type { AssistantId, TenantId } from "@reverie/protocol"
import { FORMAT } from "./tables.ts"
import type { Models } from "./entries/entries.ts"

interface StandingRow {
  readonly tenant: TenantId
  readonly assistant: AssistantId
  readonly position: number
  readonly digest: string
}

const numberOf = (database: DatabaseSync, statement: string, ...values: ReadonlyArray<number>): number =>
  Number(Object.values(database.prepare(statement).get(...values) ?? { n: 0 })[0] ?? 0)

export const standingsIn = (database: DatabaseSync): ReadonlyArray<IndexStanding> =>
  (
    database
      .prepare("SELECT tenant, assistant, position, digest FROM groups WHERE kind = 'own'")
      .all() as unknown as ReadonlyArray<StandingRow>
  ).map(({ assistant, digest, position, tenant }) => ({
    address: { tenant, assistant },
    position: { no: position, digest }
  }))

export const statusIn = (database: DatabaseSync, models: Models): IndexStatus => {
  const { current, next } = models.both()
  const memories = numberOf(database, "SELECT coalesce(sum(entries), 0) FROM groups WHERE kind = 'own'")
  const key = current === undefined ? undefined : models.named(current.id)?.key
  const wanting = key === undefined ? 0 : numberOf(database, "SELECT count(*) FROM wanting WHERE model = ?", key)
  return {
    kind: "sqlite",
    state: "green",
    warnings: [],
    format: FORMAT,
    newestFormat: FORMAT,
    memories,
    bytes: numberOf(database, "PRAGMA page_count") * numberOf(database, "PRAGMA page_size"),
    ...defined({
      vectors: key === undefined ? undefined : memories - wanting,
      embedder: current,
      nextEmbedder: next
    })
  }
}
