// Components: what a tenant may do with the components that stand between the static ones.
// Owns creating, changing, moving and listing them, and the choice of an id. Leaves sharing to `registry.ts`.
// C1  A component has a key for life, and an id that moving changes; no two of a tenant have the same of either.
// C2  A component and the id it takes or leaves are written together or not at all.

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { NoPlaceAfter, type PlacesTaken } from "../errors.ts"
import {
  allocatePluggableId,
  isReservedId,
  isStaticId,
  pluggableRange,
  type PromptComponent,
  STATIC_COMPONENTS,
  staticBefore
} from "../layout/scheme.ts"
import { changedComponent, type ComponentDraft, type ComponentPatch, newComponent } from "./definition.ts"
import { KeyTaken, type PromptConflict, type PromptInvalid, PromptUnknown } from "./errors.ts"
import type { PromptChange } from "./store/prompt-store.ts"
import { type Decision, expected, type Overrides, type StoreFailure, type Versioned } from "./templates.ts"
import { type PluggableComponent, writeComponent } from "./store/stored.ts"

// Seats: which id a component takes and leaves.
// E1  An id is taken by a version that expects it free: of two who take it at once, one has to look for another.
// E2  The id is the one wished for if that is free and lies in the range; otherwise the lowest free one of the range.

export type NoSeat = NoPlaceAfter | PlacesTaken

const lineOf = (id: number) => ({ kind: "place" as const, key: String(id) })

const isWithin = (afterStatic: number, id: number): boolean => {
  const range = pluggableRange(afterStatic)
  if (Result.isFailure(range) || isReservedId(id)) return false
  return Number.isInteger(id) && id >= range.success.first && id <= range.success.last
}

/** The key of the component at an id. */
const keyAt = (overrides: Overrides, id: number): Effect.Effect<string | undefined, StoreFailure> =>
  Effect.map(overrides.newest(lineOf(id)), (place) => (typeof place?.body === "string" ? place.body : undefined))

interface Seat {
  readonly id: number
  /** What takes it; nothing when the component sits there already. */
  readonly changes: ReadonlyArray<PromptChange>
}

interface SeatRequest {
  /** The id that is best. */
  readonly id?: number
  /** The id that the component has, and may keep. */
  readonly own?: number | undefined
}

/** A free id after a static component, for the component of this key. */
export const findSeat = (
  overrides: Overrides,
  key: string,
  afterStatic: number,
  { id: request, own }: SeatRequest = {}
): Effect.Effect<Seat, NoSeat | StoreFailure> =>
  Effect.gen(function* () {
    const taken = new Set((yield* overrides.components).map(({ id }) => id))
    if (own !== undefined) taken.delete(own)
    const isWished = request !== undefined && isWithin(afterStatic, request) && !taken.has(request)
    let id = isWished ? request : yield* Effect.fromResult(allocatePluggableId(taken, afterStatic))
    for (;;) {
      if (id === own) return { id, changes: [] }
      const place = yield* overrides.newest(lineOf(id))
      if (place === undefined || place.body === null) {
        return { id, changes: [{ ...lineOf(id), expected: place?.version ?? 0, body: key }] }
      }
      // Taken since the components were read.
      taken.add(id)
      id = yield* Effect.fromResult(allocatePluggableId(taken, afterStatic))
    }
  })

/** The change that leaves an id. */
export const leaveSeat = (overrides: Overrides, id: number): Effect.Effect<PromptChange, StoreFailure> =>
  Effect.map(overrides.newest(lineOf(id)), (place) => ({ ...lineOf(id), expected: place?.version ?? 0, body: null }))

/** A component as it is kept, and its version. */
export type KeptComponent = Versioned<PluggableComponent>

export interface Components {
  /** Gives it the lowest free id after the static component. */
  readonly createComponent: (
    draft: ComponentDraft
  ) => Effect.Effect<KeptComponent, PromptInvalid | KeyTaken | NoSeat | PromptConflict | StoreFailure>
  /** The component of that number, a user's own. */
  readonly getComponent: (id: number) => Effect.Effect<KeptComponent, PromptUnknown | StoreFailure>
  /** The component of that key, a user's own. */
  readonly getComponentByKey: (key: string) => Effect.Effect<KeptComponent, PromptUnknown | StoreFailure>
  /** Changes what the patch says. `version` is the one that was looked at: a newer one is a PromptConflict. */
  readonly updateComponent: (
    id: number,
    version: number,
    patch: ComponentPatch
  ) => Effect.Effect<KeptComponent, PromptInvalid | PromptUnknown | PromptConflict | StoreFailure>
  /** Takes it out of every prompt; `undo` brings it back. */
  readonly deleteComponent: (
    id: number,
    version: number
  ) => Effect.Effect<void, PromptUnknown | PromptConflict | StoreFailure>
  /** Gives it the lowest free id after another static component, and its old id to the one who comes next. */
  readonly moveComponent: (
    id: number,
    version: number,
    afterStatic: number
  ) => Effect.Effect<KeptComponent, PromptUnknown | NoSeat | PromptConflict | StoreFailure>
  /** In the order of their ids; with the static ones, unless told otherwise. */
  readonly listComponents: (options?: {
    readonly includeStatic?: boolean
  }) => Effect.Effect<ReadonlyArray<PromptComponent>, StoreFailure>
  /** The user's own, in the order of their ids. */
  readonly listPluggableComponents: Effect.Effect<ReadonlyArray<KeptComponent>, StoreFailure>
  /** The user's own that stand after a static component, in the order of their ids. */
  readonly listComponentsAfter: (
    afterStatic: number
  ) => Effect.Effect<ReadonlyArray<KeptComponent>, NoPlaceAfter | StoreFailure>
}

export const lineOfComponent = (key: string) => ({ kind: "component" as const, key })

const putComponent = (component: PluggableComponent, expected: number): PromptChange => ({
  ...lineOfComponent(component.key),
  expected,
  body: writeComponent(component)
})

/** The next version of a component with whatever is written beside it, and the answer that shows it. */
export const keepingComponent = (
  component: PluggableComponent,
  version: number,
  beside: ReadonlyArray<PromptChange> = []
): Decision<KeptComponent> => ({
  changes: [putComponent(component, version), ...beside],
  answer: { ...component, version: version + 1 }
})

/** A component as assembly takes it. */
export const componentToPromptComponent = (component: PluggableComponent): PromptComponent => {
  const { content, description, enabled, id, isStatic, key, name, role } = component
  return { id, key, name, description, content, isStatic, enabled, role }
}

/** What stands at an id, as the caller knows it. */
const componentAt = (
  overrides: Overrides,
  id: number,
  version: number
): Effect.Effect<PluggableComponent, PromptUnknown | PromptConflict | StoreFailure> =>
  Effect.gen(function* () {
    const key = yield* keyAt(overrides, id)
    if (key === undefined) return yield* new PromptUnknown({ kind: "component", key: String(id) })
    return yield* Effect.fromResult(expected(lineOfComponent(key), yield* overrides.component(key), version))
  })

/** The next version of what stands at an id. */
export const changingComponent = <E>(
  overrides: Overrides,
  id: number,
  version: number,
  change: (present: PluggableComponent, now: number) => Effect.Effect<PluggableComponent, E>
) =>
  overrides.change(
    Effect.gen(function* () {
      const present = yield* componentAt(overrides, id, version)
      return keepingComponent(yield* change(present, yield* Clock.currentTimeMillis), version)
    })
  )

const writing = (
  overrides: Overrides
): Pick<Components, "createComponent" | "updateComponent" | "deleteComponent"> => ({
  createComponent: (draft) =>
    overrides.change(
      Effect.gen(function* () {
        const component = yield* Effect.fromResult(newComponent(draft, yield* Clock.currentTimeMillis))
        const { value, version } = yield* overrides.component(component.key)
        if (value !== undefined) return yield* new KeyTaken(lineOfComponent(component.key))
        const { changes, id } = yield* findSeat(overrides, component.key, component.afterStatic)
        return keepingComponent({ ...component, id }, version, changes)
      })
    ),
  updateComponent: (id, version, patch) =>
    changingComponent(overrides, id, version, (present, now) =>
      Effect.fromResult(changedComponent(present, patch, now))
    ),
  deleteComponent: (id, version) =>
    overrides.change(
      Effect.gen(function* () {
        const { key } = yield* componentAt(overrides, id, version)
        const gone = { ...lineOfComponent(key), expected: version, body: null }
        return { changes: [gone, yield* leaveSeat(overrides, id)], answer: undefined }
      })
    )
})

const moving = (overrides: Overrides): Pick<Components, "moveComponent"> => ({
  moveComponent: (id, version, afterStatic) =>
    overrides.change(
      Effect.gen(function* () {
        const present = yield* componentAt(overrides, id, version)
        const seat = yield* findSeat(overrides, present.key, afterStatic)
        const left = yield* leaveSeat(overrides, id)
        const moved = { ...present, id: seat.id, afterStatic, updatedAt: yield* Clock.currentTimeMillis }
        return keepingComponent(moved, version, [left, ...seat.changes])
      })
    )
})

const looking = (overrides: Overrides): Pick<Components, "getComponent" | "getComponentByKey"> => {
  const getComponentByKey: Components["getComponentByKey"] = (key) =>
    Effect.gen(function* () {
      const { value, version } = yield* overrides.component(key)
      if (value === undefined) return yield* new PromptUnknown(lineOfComponent(key))
      return { ...value, version }
    })
  return {
    getComponentByKey,
    getComponent: (id) =>
      Effect.gen(function* () {
        const key = yield* keyAt(overrides, id)
        if (key === undefined) return yield* new PromptUnknown({ kind: "component", key: String(id) })
        return yield* getComponentByKey(key)
      })
  }
}

const listing = (
  overrides: Overrides
): Pick<Components, "listComponents" | "listPluggableComponents" | "listComponentsAfter"> => ({
  listComponents: ({ includeStatic = true } = {}) =>
    Effect.map(overrides.components, (components) =>
      [...(includeStatic ? STATIC_COMPONENTS : []), ...components.map(componentToPromptComponent)].toSorted(
        (a, b) => a.id - b.id
      )
    ),
  listPluggableComponents: overrides.components,
  listComponentsAfter: (afterStatic) =>
    isStaticId(afterStatic)
      ? Effect.map(overrides.components, (components) =>
          components.filter(({ id }) => staticBefore(id) === afterStatic)
        )
      : Effect.fail(new NoPlaceAfter({ afterStatic }))
})

export const componentsOf = (overrides: Overrides): Components => ({
  ...writing(overrides),
  ...moving(overrides),
  ...looking(overrides),
  ...listing(overrides)
})
