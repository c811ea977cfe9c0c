// Registry: the templates and components of one tenant.
// Owns putting its parts together. Leaves keeping them to the store.
// R1  A registry has no state of its own: however often it is opened, and wherever, it shows what the store has.
// R2  Whatever is changed names the version it was read at, so that nobody writes over what he has not seen.

import type { TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { type Bridge, bridgeOf } from "./bridge.ts"
import { type Components, componentsOf } from "./components.ts"
import { PromptStore } from "./prompt-store.ts"
import { openOverrides } from "./overrides.ts"
import { type Templates, templatesOf } from "./templates.ts"
import { type Undo, undoOf } from "./undo.ts"

export interface PromptRegistry extends Templates, Components, Bridge, Undo {}

/** The registry of a tenant. */
export const getPromptRegistry = (tenant: TenantId): Effect.Effect<PromptRegistry, never, PromptStore> =>
  Effect.map(PromptStore, (store) => {
    const overrides = openOverrides(store, tenant)
    const templates = templatesOf(overrides)
    const components = componentsOf(overrides)
    return { ...templates, ...components, ...bridgeOf(overrides, templates, components), ...undoOf(overrides) }
  })
