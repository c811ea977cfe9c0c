// Unopened: what goes besides its rows with a life whose data keys are not there.
// Owns its segments, and the bytes that no one refers to any more. Leaves its rows to bundle-writer.ts.
// U1  What it referred to is not known: so all bytes of the tenant are looked for in what is left, and what does not open may need any.

import type { DatabaseSync } from "node:sqlite"
import { type Bundle, isUnopenedLife, tenantOf } from "@reverie/ledger"
import { leaveBlobs } from "../ledger/blobs.ts"
import { segmentWriter } from "../ledger/segment-writer.ts"
import { query } from "../sql.ts"

/** To be called within the transaction that forgets it whole, with its number. */
export const leavingUnopened = (database: DatabaseSync) => {
  const digests = query<{ readonly digest: string }>(database, "SELECT digest FROM blobs WHERE tenant = ?")
  return (key: number, life: Bundle): void => {
    if (!isUnopenedLife(life)) return
    segmentWriter(database).dropAll(key)
    const tenant = tenantOf(life.head)
    leaveBlobs(database)(
      tenant,
      digests.all(tenant).map(({ digest }) => digest)
    )
  }
}
