// Rendering: what prompts are rendered with besides the messages: plugged-in components, templates, and values of the time.
// Owns reading them anew when a call needs it. Leaves what is made of them to blocks.ts and prompt.ts.

import { contextOf } from "@reverie/assistant"
import { componentToPromptComponent, getPromptRegistry, type PluggedIn, PromptStore } from "@reverie/context"
import type { Model } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { NOT_READ, type Rendering } from "../session/definition.ts"
import { noteShown, type Session } from "../session/session.ts"
import { activityOf, reflectionValues } from "./blocks.ts"

// Plugged: what the tenant has put between the static components of every prompt, and the templates that it wrote.
// I1  A tick sees one state of the registry from its first model call to its last; the next tick sees the newest.
// I2  A registry that can not be read leaves what was last read: a prompt is better without a change than not at all.

const isSame = (before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>): boolean =>
  (before.length === 0 && after.length === 0) || JSON.stringify(before) === JSON.stringify(after)

const noteRendering = (session: Session, rendering: Partial<Rendering>): void =>
  noteShown(session, { rendering: { ...session.rendering, ...rendering } })

const refreshPlugged = Effect.fnUntraced(function* (session: Session) {
  const store = yield* Effect.serviceOption(PromptStore)
  if (Option.isNone(store)) return
  const registry = yield* Effect.provideService(getPromptRegistry(session.address.tenant), PromptStore, store.value)
  const read = yield* Effect.option(
    Effect.all([registry.listPluggableComponents, registry.listTemplates({ includeBuiltin: false })])
  )
  if (Option.isNone(read)) return
  const [components, templates] = read.value
  const { templates: known } = session.rendering
  if (known === NOT_READ || !isSame([...known.values()], templates)) {
    noteRendering(session, { templates: new Map(templates.map((template) => [template.key, template])) })
  }
  const plugged = components.map((kept): PluggedIn => ({
    ...componentToPromptComponent(kept),
    afterStatic: kept.afterStatic
  }))
  if (!isSame(session.plugged, plugged)) noteShown(session, { plugged })
})

/** What a reflection reads of the time since the last one. */
const refreshReflection = (session: Session) => {
  const { contextType, iteration } = contextOf(session.decoded)
  const { values } = session.rendering
  const isKnown = values["reflection"] !== ""
  if (contextType !== "reflection") {
    if (isKnown) noteRendering(session, { values: { ...values, reflection: "" } })
    return Effect.void
  }
  return isKnown && iteration > 1 ? Effect.void : countReflection(session)
}

const countReflection = Effect.fnUntraced(function* (session: Session) {
  const { values } = session.rendering
  const counted = yield* Effect.option(reflectionValues(session))
  if (Option.isSome(counted)) noteRendering(session, { values: { ...values, ...counted.value } })
})

/** Reads what prompts are rendered with, as far as the call at hand needs it anew. */
export const refreshRendering = Effect.fnUntraced(function* (
  session: Session,
  isFirst: boolean,
  { serves }: Model["Service"]
) {
  const { definition, rendering } = session
  if (isFirst || rendering.templates === NOT_READ) yield* refreshPlugged(session)
  const isPlain = serves?.tools === "json"
  if (isPlain !== rendering.isPlain) noteRendering(session, { isPlain })
  yield* refreshReflection(session)
  if (!isFirst || definition.prompt?.activityEntriesLimit === undefined) return
  noteRendering(session, { activity: yield* Effect.orElseSucceed(activityOf(session), () => "") })
})
