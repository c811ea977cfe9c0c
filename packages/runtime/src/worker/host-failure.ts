// HostFailure: what the work on one assistant can end with.
// Owns the closed list, who learns of it, and which of it concerns more than one assistant. Leaves acting on it to host.ts.

import type { SnapshotUnfit } from "@reverie/assistant"
import type { CommitFenced, LedgerUnavailable, UnreadableRecord } from "@reverie/ledger"
import type { ClaimHeld, LeaseLost, MailboxUnavailable, StateUnreadable, UnknownAssistant } from "@reverie/mailbox"
import type { Address } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import { type DefinitionMissing, HostBroken } from "../errors.ts"

export type StoreFailure = MailboxUnavailable | LedgerUnavailable

/** Why an assistant can not be worked on, as `onError` gets it. */
export type HostFailure =
  | StoreFailure
  | ClaimHeld
  | LeaseLost
  | CommitFenced
  | UnknownAssistant
  | StateUnreadable
  | UnreadableRecord
  | SnapshotUnfit
  | DefinitionMissing
  | HostBroken

/** Called for every host that ended with an error; by default it does nothing. */
export const HostFailures = Context.Reference<(address: Address, failure: HostFailure) => void>(
  "@reverie/runtime/HostFailures",
  { defaultValue: () => () => {} }
)

/** The store itself failed: no one in this process can go on. What passes by itself ends one lease session, and the sweep begins anew. */
export const isFatal = (failure: HostFailure): failure is StoreFailure =>
  (failure._tag === "MailboxUnavailable" || failure._tag === "LedgerUnavailable") && failure.recovery === "stop"

/** Trying again can not help before someone has acted. */
export const isLasting = ({ recovery }: HostFailure): boolean => recovery === "tell-owner" || recovery === "stop"

/** What a host ended with, a bug included. */
export const failureOf = (address: Address, cause: Cause.Cause<HostFailure>): HostFailure =>
  Option.getOrElse(Cause.findErrorOption(cause), () => {
    const defect = Cause.squash(cause)
    const problem = defect instanceof Error ? defect.message : String(defect)
    return new HostBroken({ address, problem, cause: defect })
  })
