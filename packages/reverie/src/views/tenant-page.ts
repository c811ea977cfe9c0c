// TenantPage: the assistants of one tenant, page by page.
// Owns where they begin and end in the order of all addresses. Leaves reading to the ledger.
// T1  No assistant of another tenant is ever on a page.
// T2  A page with fewer than were asked for is the last one.

import { type AssistantRecord, Ledger } from "@reverie/ledger"
import type { AssistantId, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"

/** Before every id. */
const BEGINNING = "" as AssistantId

/** The assistants of a tenant in the order of their ids, after the given one. */
export const tenantPage = (
  tenant: TenantId,
  after: AssistantId | undefined,
  limit: number
): Effect.Effect<ReadonlyArray<AssistantRecord>, Effect.Error<ReturnType<Ledger["Service"]["list"]>>, Ledger> =>
  Ledger.use((ledger) =>
    Effect.map(ledger.list({ tenant, assistant: after ?? BEGINNING }, limit), (page) =>
      page.filter(({ address }) => address.tenant === tenant)
    )
  )
