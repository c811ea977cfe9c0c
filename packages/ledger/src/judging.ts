// Judging: may a bundle be put down in this data store, and what of it?
// Owns the order of the questions and the words of a refusal. Leaves what is here, and what else is in the way, to stores.

import { type Address, addressKey, type TenantId } from "@reverie/protocol"
import * as Result from "effect/Result"
import { BundleRefused } from "./errors.ts"
import { clashOf, missingOf, newParts } from "./present.ts"
import { flawOfBundle, type Bundle, type BundleHead, type BundlePart } from "./bundle-part.ts"

export const tenantOf = (head: BundleHead): TenantId => (head.kind === "tenant" ? head.tenant : head.address.tenant)

const whoOf = (head: BundleHead): string =>
  head.kind === "tenant" ? `tenant ${head.tenant}` : addressKey(head.address)

const refused = (reason: BundleRefused["reason"], who: string, why: string): BundleRefused =>
  new BundleRefused({ reason, who, message: `${who}: ${why}` })

export const nobodyAt = (address: Address): BundleRefused =>
  refused("nobody", addressKey(address), "there is no such assistant")

/** `what` stands where something of the bundle would be put. */
export const occupiedBy = (head: BundleHead, what: string): BundleRefused =>
  refused("occupied", whoOf(head), `there is ${what} here already`)

/** What is to be put down of a bundle over what is here of its life or tenant; undefined when all of it is here already. */
export const judgeBundle = (
  bundle: Bundle,
  here: Bundle | undefined
): Result.Result<ReadonlyArray<BundlePart> | undefined, BundleRefused> => {
  const { head, parts } = bundle
  const flaw = flawOfBundle(bundle)
  if (flaw !== undefined) return Result.fail(refused("broken", whoOf(head), flaw))
  if (here === undefined) return Result.succeed(parts)
  const missing = missingOf(bundle, here)
  if (missing === undefined) return Result.succeed(undefined)
  if (head.kind === "assistant") {
    return Result.fail(refused("occupied", whoOf(head), `another life is led here, without ${missing}`))
  }
  const clash = clashOf(bundle, here)
  return clash === undefined
    ? Result.succeed(newParts(bundle, here))
    : Result.fail(occupiedBy(head, `another ${clash}`))
}
