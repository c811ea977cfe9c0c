// Status: what the schema tells of itself.
// Owns asking for it. Leaves what it means to who asks.

import { AssistantId, defined, TenantId } from "@reverie/protocol"
import type { IndexPosition, Recall, VectorModel } from "@reverie/memory"
import * as Effect from "effect/Effect"
import type { OpenIndex } from "./database.ts"
import { FORMAT } from "./tables.ts"

const STANDINGS = "SELECT tenant, assistant, no::float8 AS no, digest FROM owners WHERE NOT gone"

const SIZES = `
  SELECT (SELECT coalesce(sum(entries), 0)::float8 FROM owners WHERE NOT gone) AS memories,
    (SELECT count(*)::float8 FROM wanting w JOIN models m ON m.key = w.model WHERE m.state = 'current') AS wanting,
    (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 FROM pg_class c
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r') AS bytes`

interface StandingRow extends IndexPosition {
  readonly tenant: string
  readonly assistant: string
}

interface SizeRow {
  readonly memories: number
  readonly wanting: number
  readonly bytes: number
}

interface Both {
  readonly current?: VectorModel
  readonly next?: VectorModel
}

export const telling = (
  { isNear, query }: OpenIndex,
  vectorModels: Recall["Service"]["vectorModels"]
): Required<Pick<Recall["Service"], "standings" | "status">> => ({
  standings: Effect.map(query<StandingRow>("standings", STANDINGS), (rows) =>
    rows.map(({ assistant, digest, no, tenant }) => ({
      address: { tenant: TenantId.make(tenant), assistant: AssistantId.make(assistant) },
      position: { no, digest }
    }))
  ),
  status: Effect.gen(function* () {
    const [{ bytes, memories, wanting } = { bytes: 0, memories: 0, wanting: 0 }] = yield* query<SizeRow>(
      "status",
      SIZES
    )
    const { current, next }: Both = yield* vectorModels
    return {
      kind: "postgres" as const,
      state: "green" as const,
      warnings: [],
      format: FORMAT,
      newestFormat: FORMAT,
      memories,
      bytes,
      compared: (yield* isNear) ? ("database" as const) : ("process" as const),
      ...defined({
        vectors: current === undefined ? undefined : memories - wanting,
        embedder: current,
        nextEmbedder: next
      })
    }
  })
})
