// Plugged: what the tenant has put between the static components of every prompt.
// Owns reading it at the beginning of a tick. Leaves keeping and changing it to the registry in `context`.
// I1  A tick sees one state of the registry from its first model call to its last; the next tick sees the newest.
// I2  A registry that can not be read leaves what was last read: a prompt is better without a change than not at all.

import { componentToPromptComponent, getPromptRegistry, type PluggedIn, PromptStore } from "@reverie/context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Session } from "./session.ts"

const isSame = (before: ReadonlyArray<PluggedIn>, after: ReadonlyArray<PluggedIn>): boolean =>
  JSON.stringify(before) === JSON.stringify(after)

export const refreshPlugged = Effect.fnUntraced(function* (session: Session) {
  const store = yield* Effect.serviceOption(PromptStore)
  if (Option.isNone(store)) return
  const registry = yield* Effect.provideService(getPromptRegistry(session.address.tenant), PromptStore, store.value)
  const read = yield* Effect.option(registry.listPluggableComponents)
  if (Option.isNone(read)) return
  const plugged = read.value.map((kept): PluggedIn => ({
    ...componentToPromptComponent(kept),
    afterStatic: kept.afterStatic
  }))
  if (!isSame(session.plugged, plugged)) session.plugged = plugged
})
