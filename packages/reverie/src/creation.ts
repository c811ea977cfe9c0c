// Creation: how an assistant comes to be from a definition of the fleet.
// Owns creation, sleep schedule and blocks, in this order. Leaves the first entry to the runtime.
// C1  Doing it again changes nothing that has been lived: what was left out by a crash is made up for, no more.
// C2  Who lives at the address from another definition is not touched.

import { type CreationEntry, Ledger } from "@reverie/ledger"
import type { AssistantId, OpenTimer, TenantId } from "@reverie/protocol"
import { arrive, sleepTimerIn, creationOf } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createBlocks } from "./fleet/blocks.ts"
import type { AssistantDefinition } from "./define-assistant.ts"
import { DefinitionUnknown } from "./errors.ts"
import { envelopeOf } from "./letter.ts"
import type { Profile } from "./opening/deployment.ts"

/** Tells an assistant of its sleep schedule when they are no longer those that it was told. */
const refresh = Effect.fnUntraced(function* ({ address, state }: CreationEntry) {
  const lived = yield* (yield* Ledger).inspect(address)
  if (lived === undefined || lived.state.status === "retired") return
  const scheduleIn = (timers: ReadonlyArray<OpenTimer>) => sleepTimerIn(timers)?.schedule
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

/** The definition of that name. @throws DefinitionUnknown */
export const definitionNamed = (
  { assistants }: { readonly assistants: ReadonlyArray<AssistantDefinition> },
  definition: string
): AssistantDefinition => {
  const found = assistants.find(({ name }) => name === definition)
  if (found !== undefined) return found
  const known = assistants.map(({ name }) => name)
  const message = `there is no definition ${JSON.stringify(definition)}; the fleet has ${known.join(", ")}`
  throw new DefinitionUnknown({ definition, known, message })
}

export interface Creation {
  readonly tenant: TenantId
  readonly id: AssistantId
  readonly definition: AssistantDefinition
  readonly keepHours: Profile["keepHours"]
}

/** Brings an assistant to life, or up to date with its definition. */
export const bringToLife = Effect.fnUntraced(function* ({ definition, id, keepHours, tenant }: Creation) {
  const ledger = yield* Ledger
  const creation = yield* creationOf({ tenant, assistant: id }, definition)
  const isNew = (yield* ledger.create(creation)) === "created"
  if (!isNew) {
    const lived = yield* ledger.inspect(creation.address)
    if (lived?.state.definition !== definition.name) return "exists" as const
    yield* refresh(creation)
  }
  if (definition.sleep?.enabled === true) yield* keepHours(creation.address, definition.sleep)
  yield* createBlocks(tenant, id, definition.blocks ?? [])
  return isNew ? ("created" as const) : ("exists" as const)
})
