import { Address, addressKey } from "@reverie/protocol"
import * as Schema from "effect/Schema"

/**
 * The store can not be reached or written: full disk, lost connection, broken file. Nothing of the call was kept.
 * @example if (error instanceof MailboxUnavailable) console.error(error.message)
 */
export class MailboxUnavailable extends Schema.TaggedError<MailboxUnavailable>()("MailboxUnavailable", {
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

/**
 * What is stored of one assistant can not be read: it is damaged, or a newer Reverie wrote it. The others are well.
 * @example if (error instanceof StateUnreadable) console.error(error.message)
 */
export class StateUnreadable extends Schema.TaggedError<StateUnreadable>()("StateUnreadable", {
  address: Address,
  problem: Schema.String
}) {
  readonly recovery = "stop" as const
  override get message(): string {
    return `the state of ${addressKey(this.address)} can not be read: ${this.problem}`
  }
}

/**
 * No assistant has this address, or it has retired: the sender must correct it.
 * @example if (error instanceof UnknownAssistant) console.error(error.message)
 */
export class UnknownAssistant extends Schema.TaggedError<UnknownAssistant>()("UnknownAssistant", { address: Address }) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `there is no assistant ${addressKey(this.address)}, or it has retired`
  }
}

/** Another worker holds a live claim; it ends at the latest when its lease does. */
export class ClaimHeld extends Schema.TaggedError<ClaimHeld>()("ClaimHeld", {
  address: Address,
  worker: Schema.String,
  leaseUntil: Schema.Int
}) {
  readonly recovery = "retry" as const
  override get message(): string {
    return `${addressKey(this.address)} is held by ${this.worker}`
  }
}

/** A newer epoch exists: whatever the holder of this claim has in memory is out of date. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {
  address: Address,
  heldEpoch: Schema.Int,
  currentEpoch: Schema.Int
}) {
  readonly recovery = "drop-tick" as const
  override get message(): string {
    return `the claim on ${addressKey(this.address)} under epoch ${this.heldEpoch} ended: epoch ${this.currentEpoch} was granted`
  }
}
