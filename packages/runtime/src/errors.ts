import { Address, addressKey } from "@reverie/protocol"
import * as Schema from "effect/Schema"

/** The assistant was born from a definition that this process does not have. Its mail waits until it does. */
export class DefinitionMissing extends Schema.TaggedError<DefinitionMissing>()("DefinitionMissing", {
  address: Address,
  definition: Schema.String
}) {
  readonly recovery = "tell-owner" as const
  override get message(): string {
    return `${addressKey(this.address)} was born from the definition "${this.definition}", which this process does not have`
  }
}
