// Allowance: what a tenant may still ask of models.
// Owns the port: reserve before a call, settle after it. Leaves the arithmetic of windows to account.ts, limits, prices and
// what becomes of a call that is refused to whoever asks.
// G1  A grant never brings what is spent and reserved in a window above its limit, nor more calls under way than may be,
//     whoever asks at the same time.
// G2  While a reservation is open, asking again under its key is granted, and reserves nothing more.
// G3  Settled, what was used counts in place of what was reserved, more of it too. A reservation is settled once.
// G4  A reservation that is not settled within its lease counts in full, and is under way no longer: its process may have
//     died after the call was made.
// G5  Windows are the minutes and days of UTC; nothing is spent in a new one. What is settled counts where it was reserved.
// G6  What one tenant spends is nothing to another.
// G7  A refusal reserves nothing. It names a limit, and from when on asking again may help; no time when it never can.

import type { Amount, TenantId } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LedgerUnavailable } from "./errors.ts"

export const NOTHING_SPENT: Amount = { calls: 0, tokens: 0, costMicros: 0 }

/** What is not said is not limited. */
export interface TenantLimits {
  readonly callsPerMinute?: number
  readonly callsPerDay?: number
  readonly tokensPerMinute?: number
  readonly tokensPerDay?: number
  readonly costMicrosPerMinute?: number
  readonly costMicrosPerDay?: number
  /** Calls under way at the same time. */
  readonly concurrentCalls?: number
}

export type LimitName = keyof TenantLimits

export interface Asking {
  readonly tenant: TenantId
  /** Names the call among those of the tenant. */
  readonly key: string
  /** Most that the call may use. */
  readonly amounts: Amount
  readonly limits: TenantLimits
  /** Within which the call is settled, or its process is taken for dead. */
  readonly leaseMillis: number
}

export type AllowanceAnswer =
  | { readonly outcome: "granted" }
  | { readonly outcome: "refused"; readonly limit: LimitName; readonly until?: number }

/** What is spent and reserved in the present windows. */
export interface AllowanceView {
  readonly inMinute: Amount
  readonly inDay: Amount
  /** Reservations that are open. */
  readonly underWay: number
}

export class Allowance extends Context.Service<
  Allowance,
  {
    readonly reserve: (asking: Asking) => Effect.Effect<AllowanceAnswer, LedgerUnavailable>
    readonly settle: (tenant: TenantId, key: string, used: Amount) => Effect.Effect<void, LedgerUnavailable>
    readonly look: (tenant: TenantId) => Effect.Effect<AllowanceView, LedgerUnavailable>
  }
>()("@reverie/ledger/Allowance") {}
