// Registry: the templates and components of one tenant.
// Owns putting its parts together. Leaves keeping them to the store.
// R1  A registry has no state of its own: however often it is opened, and wherever, it shows what the store has.
// R2  Whatever is changed names the version it was read at, so that nobody writes over what he has not seen.

import { defined, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Clock from "effect/Clock"
import {
  changingComponent,
  type Components,
  componentsOf,
  keepingComponent,
  type KeptComponent,
  lineOfComponent
} from "./components.ts"
import { type PromptChange, PromptStore } from "./store/prompt-store.ts"
import { openOverrides, type Overrides, type StoreFailure, type Versioned } from "./overrides.ts"
import { type ImportOptions, type Templates, templatesOf } from "./templates.ts"
import { type Undo, undoOf } from "./undo.ts"
import { changedComponent, newComponent } from "./definition.ts"
import { type ImportRefused, KeyTaken, type PromptConflict, type PromptInvalid, type PromptUnknown } from "./errors.ts"
import { componentText, readComponentText } from "./store/exchange.ts"
import { findSeat, leaveSeat, type NoSeat } from "./seats.ts"
import type { PluggableComponent, StoredTemplate } from "./store/stored.ts"

// Bridge: from templates to components and back, and components as text to be shared.
// B1  What is copied is the text with its gaps: neither side changes with the other afterwards.
// B2  An imported component has the id it was exported with if that is free, or else the lowest free one after the same
//     static component. One that is overwritten keeps the id it has, unless it stood after another static component.

interface Bridge {
  readonly applyTemplateToComponent: (
    templateKey: string,
    id: number,
    version: number
  ) => Effect.Effect<KeptComponent, PromptUnknown | PromptInvalid | PromptConflict | StoreFailure>
  /** The gaps of the content are the placeholders of the template. */
  readonly saveComponentAsTemplate: (
    id: number,
    template: {
      readonly key: string
      readonly name: string
      readonly description?: string
      readonly category?: string
    }
  ) => Effect.Effect<
    Versioned<StoredTemplate>,
    PromptInvalid | PromptUnknown | KeyTaken | PromptConflict | StoreFailure
  >
  readonly exportComponentJson: (id: number) => Effect.Effect<string, PromptUnknown | StoreFailure>
  readonly importComponentJson: (
    json: string,
    options?: ImportOptions
  ) => Effect.Effect<KeptComponent, ImportRefused | PromptInvalid | KeyTaken | NoSeat | PromptConflict | StoreFailure>
}

/** An id for an imported component, and the changes that give it. */
const seatOf = (
  overrides: Overrides,
  { afterStatic, key }: Pick<PluggableComponent, "afterStatic" | "key">,
  request: number,
  present: PluggableComponent | undefined
): Effect.Effect<{ readonly id: number; readonly beside: ReadonlyArray<PromptChange> }, NoSeat | StoreFailure> =>
  Effect.gen(function* () {
    if (present?.afterStatic === afterStatic) return { id: present.id, beside: [] }
    const { changes, id } = yield* findSeat(overrides, key, afterStatic, { id: request })
    return { id, beside: present === undefined ? changes : [yield* leaveSeat(overrides, present.id), ...changes] }
  })

const importing = (overrides: Overrides): Pick<Bridge, "importComponentJson"> => ({
  importComponentJson: (json, { overwrite = false } = {}) =>
    overrides.change(
      Effect.gen(function* () {
        const { id: request, ...draft } = yield* Effect.fromResult(readComponentText(json))
        const now = yield* Clock.currentTimeMillis
        const component = yield* Effect.fromResult(newComponent(draft, now))
        const { value, version } = yield* overrides.component(component.key)
        if (value !== undefined && !overwrite) return yield* new KeyTaken(lineOfComponent(component.key))
        const { beside, id } = yield* seatOf(overrides, component, request, value)
        return keepingComponent({ ...component, id, createdAt: value?.createdAt ?? now }, version, beside)
      })
    )
})

const bridgeOf = (
  overrides: Overrides,
  { createTemplate, getTemplate }: Pick<Templates, "createTemplate" | "getTemplate">,
  { getComponent }: Pick<Components, "getComponent">
): Bridge => ({
  applyTemplateToComponent: (templateKey, id, version) =>
    changingComponent(overrides, id, version, (present, now) =>
      Effect.flatMap(getTemplate(templateKey), ({ content }) =>
        Effect.fromResult(changedComponent(present, { content }, now))
      )
    ),
  saveComponentAsTemplate: (id, { category, description, key, name }) =>
    Effect.flatMap(getComponent(id), (component) =>
      createTemplate({
        key,
        name,
        content: component.content,
        description: description ?? component.description,
        ...defined({ category })
      })
    ),
  exportComponentJson: (id) => Effect.map(getComponent(id), componentText),
  ...importing(overrides)
})

export interface PromptRegistry extends Templates, Components, Bridge, Undo {}

/** The registry of a tenant. */
export const getPromptRegistry = (tenant: TenantId): Effect.Effect<PromptRegistry, never, PromptStore> =>
  Effect.map(PromptStore, (store) => {
    const overrides = openOverrides(store, tenant)
    const templates = templatesOf(overrides)
    const components = componentsOf(overrides)
    return { ...templates, ...components, ...bridgeOf(overrides, templates, components), ...undoOf(overrides) }
  })
