// Judging: may a parcel be put down in this house, and what of it?
// Owns the order of the questions and the words of a refusal. Leaves what is here, and what else is in the way, to stores.

import { type Address, addressKey, type TenantId } from "@reverie/protocol"
import * as Result from "effect/Result"
import { RemovalRefused } from "./errors.ts"
import { clashOf, missingOf, newParts } from "./present.ts"
import { flawOfParcel, type Parcel, type ParcelHead, type RemovalPart } from "./removal-part.ts"

export const tenantOf = (head: ParcelHead): TenantId => (head.kind === "tenant" ? head.tenant : head.address.tenant)

const whoOf = (head: ParcelHead): string =>
  head.kind === "tenant" ? `tenant ${head.tenant}` : addressKey(head.address)

const refused = (reason: RemovalRefused["reason"], who: string, why: string): RemovalRefused =>
  new RemovalRefused({ reason, who, message: `${who}: ${why}` })

export const nobodyAt = (address: Address): RemovalRefused =>
  refused("nobody", addressKey(address), "there is no such assistant")

/** `what` stands where something of the parcel would be put. */
export const occupiedBy = (head: ParcelHead, what: string): RemovalRefused =>
  refused("occupied", whoOf(head), `there is ${what} here already`)

/** What is to be put down of a parcel over what is here of its life or tenant; undefined when all of it is here already. */
export const judgeParcel = (
  parcel: Parcel,
  here: Parcel | undefined
): Result.Result<ReadonlyArray<RemovalPart> | undefined, RemovalRefused> => {
  const { head, parts } = parcel
  const flaw = flawOfParcel(parcel)
  if (flaw !== undefined) return Result.fail(refused("broken", whoOf(head), flaw))
  if (here === undefined) return Result.succeed(parts)
  const missing = missingOf(parcel, here)
  if (missing === undefined) return Result.succeed(undefined)
  if (head.kind === "assistant") {
    return Result.fail(refused("occupied", whoOf(head), `another life is led here, without ${missing}`))
  }
  const clash = clashOf(parcel, here)
  return clash === undefined
    ? Result.succeed(newParts(parcel, here))
    : Result.fail(occupiedBy(head, `another ${clash}`))
}
