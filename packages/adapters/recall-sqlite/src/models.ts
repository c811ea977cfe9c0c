// Models: the vector models, and which entries still want a vector of one.
// Owns which model is current and which is next. Leaves vectors to parts.ts.
// M1  Vectors of a model that is neither current nor next are not in the file.

import type { DatabaseSync } from "node:sqlite"
import { meaningOf, type VectorModel } from "@reverie/memory"
import type { AssistantId, TenantId } from "@reverie/protocol"
import { readEntry } from "./entries/entries.ts"
import { change, query } from "./sql.ts"

export interface ModelRow extends VectorModel {
  readonly key: number
  readonly state: "current" | "next"
}

interface WantingRow {
  readonly entry: string
  readonly tenant: TenantId
  readonly assistant: AssistantId
}

export const modelQueries = (database: DatabaseSync) => {
  const all = query<ModelRow>(database, "SELECT key, id, dimensions, state FROM models")
  const insert = change(database, "INSERT INTO models (id, dimensions, state) VALUES (?, ?, ?)")
  const bundles = ["models WHERE key", "vectors WHERE model", "wanting WHERE model"].map((rows) =>
    change(database, `DELETE FROM ${rows} = ?`)
  )
  const wantAll = change(database, "INSERT INTO wanting (model, entry) SELECT ?, key FROM entries")
  const promote = change(database, "UPDATE models SET state = 'current' WHERE key = ?")
  const wanting = query<WantingRow>(
    database,
    `SELECT entries.entry, tenant, assistant FROM wanting JOIN entries ON entries.key = wanting.entry
     JOIN groups ON groups.key = entries.owner AND groups.kind = 'own' WHERE model = ? LIMIT ?`
  )

  const named = (id: string): ModelRow | undefined => all.all().find((model) => model.id === id)
  const inState = (state: ModelRow["state"]): ModelRow | undefined => all.all().find((model) => model.state === state)
  const drop = (model: ModelRow | undefined): void => {
    if (model !== undefined) for (const remove of bundles) remove(model.key)
  }

  return {
    named,
    current: () => inState("current"),
    both: (): { readonly current?: VectorModel; readonly next?: VectorModel } =>
      Object.fromEntries(all.all().map(({ dimensions, id, state }) => [state, { id, dimensions }] as const)),
    prepare: ({ dimensions, id }: VectorModel): void => {
      if (all.all().some((model) => model.id === id && model.dimensions === dimensions)) return
      drop(inState("next"))
      wantAll(insert(id, dimensions, inState("current") === undefined ? "current" : "next"))
    },
    missing: (id: string, limit: number) => {
      const model = named(id)
      if (model === undefined) return []
      return wanting.all(model.key, Math.max(0, Math.trunc(limit))).map(({ assistant, entry, tenant }) => {
        const kept = readEntry(entry)
        return { address: { tenant, assistant }, id: kept.id, text: meaningOf(kept) }
      })
    },
    /** The model that was next becomes current; the one that was current goes. */
    promote: (next: ModelRow): void => {
      drop(inState("current"))
      promote(next.key)
    }
  }
}

export type Models = ReturnType<typeof modelQueries>
