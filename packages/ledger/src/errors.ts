import { Address, addressKey } from "@reverie/protocol"
import * as Schema from "effect/Schema"

/**
 * The store can not be reached or written. Nothing of the commit was kept.
 * @example if (error instanceof LedgerUnavailable) console.error(error.message)
 */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>()("LedgerUnavailable", {
  operation: Schema.String,
  message: Schema.String,
  /** It ends by itself: a lost connection, a server that restarts. Whether the call was kept is not known then. */
  isPassing: Schema.optionalKey(Schema.Boolean),
  /** A part of what is stored is damaged. It is in the way of this assistant; the work of others goes on. */
  isDamaged: Schema.optionalKey(Schema.Boolean),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  get recovery(): "retry" | "tell-owner" | "stop" {
    if (this.isDamaged === true) return "tell-owner"
    return this.isPassing === true ? "retry" : "stop"
  }
}

/** A commit under an epoch that is no longer the highest, or on a version that is no longer the last: nothing was written. */
export class CommitFenced extends Schema.TaggedError<CommitFenced>()("CommitFenced", {
  address: Address,
  heldEpoch: Schema.Int,
  currentEpoch: Schema.Int,
  expectedVersion: Schema.Int,
  currentVersion: Schema.Int
}) {
  readonly recovery = "drop-tick" as const
  override get message(): string {
    const { address, currentEpoch, currentVersion, expectedVersion, heldEpoch } = this
    const held = `epoch ${heldEpoch} on version ${expectedVersion}`
    return `a commit for ${addressKey(address)} came too late: ${held}, now epoch ${currentEpoch} on version ${currentVersion}`
  }
}

/**
 * A row was written by a newer Reverie, or is damaged. A person must upgrade or restore.
 * @example if (error instanceof UnreadableRecord) console.error(error.message)
 */
export class UnreadableRecord extends Schema.TaggedError<UnreadableRecord>()("UnreadableRecord", {
  record: Schema.String,
  message: Schema.String,
  /** Of an entry in a segment that cannot be read: the numbers of all entries that it has, both included. */
  lost: Schema.optionalKey(Schema.Struct({ from: Schema.Int, to: Schema.Int }))
}) {
  readonly recovery = "stop" as const
}

/**
 * An assistant can not be exported or imported as asked. Nothing was changed.
 * @example if (error instanceof BundleRefused) console.error(error.message)
 */
export class BundleRefused extends Schema.TaggedError<BundleRefused>()("BundleRefused", {
  /** no one: there is no such assistant to pack. occupied: another life is led there. broken: it is no whole bundle. */
  reason: Schema.Literals(["unknown", "occupied", "broken"]),
  /** The assistant or tenant, for people. */
  who: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}

/** Bytes that are none, or too many: nothing was kept. */
export class BlobRefused extends Schema.TaggedError<BlobRefused>()("BlobRefused", { message: Schema.String }) {
  readonly recovery = "tell-owner" as const
}

/** The place where older segments lie does not answer, or refuses. Nothing of the store was changed. */
export class SegmentPlaceUnavailable extends Schema.TaggedError<SegmentPlaceUnavailable>()("SegmentPlaceUnavailable", {
  operation: Schema.Literals(["put", "get", "remove", "list"]),
  /** The place, for people. */
  place: Schema.String,
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  readonly recovery = "retry" as const
}

/** A segment is missing where it was put, or is no longer what was written. A person must put it back. */
export class SegmentLost extends Schema.TaggedError<SegmentLost>()("SegmentLost", {
  key: Schema.String,
  /** withheld: no place is named, so it may well be whole. */
  why: Schema.Literals(["missing", "damaged", "withheld"]),
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}
