// Creation: how an assistant comes to be from a definition of the fleet.
// Owns birth, hours of sleep and blocks, in this order. Leaves the first entry to the runtime.
// C1  Doing it again changes nothing that has been lived: what was left out by a crash is made up for, no more.
// C2  Who lives at the address from another definition is not touched.

import { type Birth, Ledger } from "@reverie/ledger"
import type { AssistantId, OpenTimer, TenantId } from "@reverie/protocol"
import { arrive, bedtimeIn, birthOf } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { bearBlocks } from "./blocks.ts"
import type { AssistantDefinition } from "./define-assistant.ts"
import { envelopeOf } from "./letter.ts"
import type { Profile } from "./ports.ts"

/** Tells an assistant of its hours of sleep when they are no longer those that it was told. */
const refresh = Effect.fnUntraced(function* ({ address, state }: Birth) {
  const lived = yield* (yield* Ledger).inspect(address)
  if (lived === undefined || lived.state.status === "retired") return
  const scheduleIn = (timers: ReadonlyArray<OpenTimer>) => bedtimeIn(timers)?.schedule
  if (scheduleIn(state.timers) === scheduleIn(lived.state.timers)) return
  const id = `refresh-${lived.version}`
  const envelope = envelopeOf({
    id,
    tenant: address.tenant,
    to: address.assistant,
    from: "fleet",
    event: { type: "refresh" }
  })
  if (Result.isSuccess(envelope)) yield* arrive(envelope.success)
})

export interface Creation {
  readonly tenant: TenantId
  readonly id: AssistantId
  readonly definition: AssistantDefinition
  readonly keepHours: Profile["keepHours"]
}

/** Brings an assistant to life, or up to date with its definition. */
export const bringToLife = Effect.fnUntraced(function* ({ definition, id, keepHours, tenant }: Creation) {
  const ledger = yield* Ledger
  const birth = yield* birthOf({ tenant, assistant: id }, definition)
  const isNew = (yield* ledger.birth(birth)) === "born"
  if (!isNew) {
    const lived = yield* ledger.inspect(birth.address)
    if (lived?.state.definition !== definition.name) return "exists" as const
    yield* refresh(birth)
  }
  if (definition.sleep?.enabled === true) yield* keepHours(birth.address, definition.sleep)
  yield* bearBlocks(tenant, id, definition.blocks ?? [])
  return isNew ? ("created" as const) : ("exists" as const)
})
