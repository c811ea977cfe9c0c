import { Address, addressKey } from "@reverie/protocol"
import * as Schema from "effect/Schema"

/**
 * The assistant was created from a definition that this process does not have. Its mail waits until it does.
 * @example if (error instanceof DefinitionMissing) console.error(error.message)
 */
export class DefinitionMissing extends Schema.TaggedError<DefinitionMissing>()("DefinitionMissing", {
  address: Address,
  definition: Schema.String
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `${addressKey(this.address)} was created from the definition "${this.definition}", which this process does not have`
  }
}

/**
 * A bug ended the work on an assistant. It is tried again when its lease has run out, and given up in the end.
 * @example if (error instanceof HostBroken) console.error(error.message)
 */
export class HostBroken extends Schema.TaggedError<HostBroken>()("HostBroken", {
  address: Address,
  problem: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  readonly recovery = "retry" as const
  override get message(): string {
    return `the work on ${addressKey(this.address)} broke: ${this.problem}`
  }
}

/**
 * Memories were asked for in a way that there is none of, or by an assistant whose definition does not grant it those of others.
 * @example if (error instanceof RecallRefused) console.error(error.message)
 */
export class RecallRefused extends Schema.TaggedError<RecallRefused>()("RecallRefused", {
  scope: Schema.String,
  message: Schema.String
}) {
  readonly recovery = "tell-owner" as const
}
