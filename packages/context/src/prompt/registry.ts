// Registry: the templates and components of one tenant.
// Owns putting its parts together. Leaves keeping them to the store.
// R1  A registry has no state of its own: however often it is opened, and wherever, it shows what the store has.
// R2  A change names the version that its author read, so that no author writes over an unseen change.

import { defined, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Clock from "effect/Clock"
import * as Result from "effect/Result"
import {
  changingComponent,
  type Components,
  componentsOf,
  findSeat,
  keepingComponent,
  type KeptComponent,
  leaveSeat,
  lineOfComponent,
  type NoSeat
} from "./components.ts"
import { type PromptChange, PromptStore, type PromptVersion, shownBy, undone } from "./store/prompt-store.ts"
import {
  type Decision,
  openOverrides,
  type Overrides,
  type StoreFailure,
  type Templates,
  templatesOf,
  type Versioned
} from "./templates.ts"
import { changedComponent, newComponent } from "./definition.ts"
import {
  type ImportRefused,
  type KeyTaken,
  NothingToUndo,
  PromptConflict,
  type PromptInvalid,
  type PromptUnknown,
  PromptUnreadable
} from "./errors.ts"
import { assertImportable, componentText, type ImportOptions, readComponentText } from "./store/exchange.ts"
import {
  type PluggableComponent,
  readComponent,
  readTemplate,
  type StoredTemplate,
  writeComponent
} from "./store/stored.ts"

// Undo: the past of a template or a component, and the way back.
// U1  What is brought back is as it was then, times included; the version that brings it back has a time of its own.
// U2  A component comes back to the id it had, or, when another has that by now, to the lowest free one of its range.

type DefinitionKind = "template" | "component"

interface PastVersion {
  readonly version: number
  readonly at: number
  readonly change: "written" | "deleted" | "restored"
  /** Of a restored one: the version it shows again, 0 for the time before the first. */
  readonly restores?: number
  /** Absent when there was none from then on. */
  readonly definition?: StoredTemplate | PluggableComponent
}

interface Undo {
  /** Newest first. */
  readonly history: (
    kind: DefinitionKind,
    key: string,
    page?: { readonly before?: number; readonly limit?: number }
  ) => Effect.Effect<ReadonlyArray<PastVersion>, StoreFailure>
  /** Undoes the change that the newest version shows; answers what there is after it, undefined for nothing. */
  readonly undo: (
    kind: DefinitionKind,
    key: string,
    version?: number
  ) => Effect.Effect<
    StoredTemplate | PluggableComponent | undefined,
    NothingToUndo | NoSeat | PromptConflict | StoreFailure
  >
}

const DEFAULT_LIMIT = 50

type Line = PromptVersion & { readonly kind: DefinitionKind }

const reading = <A>(
  { body, key, kind }: Pick<PromptVersion, "body" | "key" | "kind">,
  read: (body: NonNullable<PromptVersion["body"]>) => Result.Result<A, string>
): Result.Result<A | undefined, PromptUnreadable> =>
  body === null
    ? Result.succeed(undefined)
    : Result.mapError(read(body), (reason) => new PromptUnreadable({ kind, key, reason }))

const definitionOf = (line: Line): Result.Result<PastVersion["definition"], PromptUnreadable> =>
  line.kind === "template" ? reading(line, readTemplate) : reading(line, readComponent)

const past = (line: Line): Result.Result<PastVersion, PromptUnreadable> =>
  Result.map(definitionOf(line), (definition) => ({
    version: line.version,
    at: line.at,
    change: line.restores !== undefined ? "restored" : definition === undefined ? "deleted" : "written",
    ...defined({ restores: line.restores, definition })
  }))

/** What an undo of `newest` brings back; undefined when nothing is left to undo. */
const target = (overrides: Overrides, newest: PromptVersion) =>
  Effect.gen(function* () {
    const [before] = yield* overrides.history(newest, { before: shownBy(newest), limit: 1 })
    const restores = undone(newest, before)
    return restores === undefined ? undefined : { restores, body: before?.body ?? null }
  })

/** The component with an id that is free for it, and the changes of seats that go with it. */
const seated = (
  overrides: Overrides,
  present: PluggableComponent | undefined,
  back: PluggableComponent | undefined
): Effect.Effect<
  { readonly back?: PluggableComponent; readonly beside: ReadonlyArray<PromptChange> },
  NoSeat | StoreFailure
> =>
  Effect.gen(function* () {
    const left = present === undefined ? [] : [yield* leaveSeat(overrides, present.id)]
    if (back === undefined) return { beside: left }
    const { changes, id } = yield* findSeat(overrides, back.key, back.afterStatic, { id: back.id, own: present?.id })
    return { back: { ...back, id }, beside: id === present?.id ? [] : [...left, ...changes] }
  })

const undoing = (
  overrides: Overrides,
  newest: PromptVersion
): Effect.Effect<Decision<StoredTemplate | PluggableComponent | undefined>, NothingToUndo | NoSeat | StoreFailure> =>
  Effect.gen(function* () {
    const { key, version } = newest
    const earlier = yield* target(overrides, newest)
    if (newest.kind === "template") {
      const line = { kind: newest.kind, key }
      if (earlier === undefined) return yield* new NothingToUndo(line)
      const answer = yield* Effect.fromResult(reading({ ...line, ...earlier }, readTemplate))
      return { changes: [{ ...line, ...earlier, expected: version }], answer }
    }
    const line = { kind: "component" as const, key }
    if (earlier === undefined) return yield* new NothingToUndo(line)
    const present = yield* Effect.fromResult(reading(newest, readComponent))
    const wanted = yield* Effect.fromResult(reading({ ...line, ...earlier }, readComponent))
    const { back, beside } = yield* seated(overrides, present, wanted)
    const body = back === undefined ? null : writeComponent(back)
    return { changes: [{ ...line, ...earlier, body, expected: version }, ...beside], answer: back }
  })

const undoOf = (overrides: Overrides): Undo => ({
  history: (kind, key, { before, limit = DEFAULT_LIMIT } = {}) =>
    Effect.flatMap(overrides.history({ kind, key }, { limit, ...defined({ before }) }), (versions) =>
      Effect.fromResult(Result.all(versions.map((version) => past({ ...version, kind }))))
    ),
  undo: (kind, key, version) =>
    Effect.gen(function* () {
      const line = { kind, key }
      const known = version ?? (yield* overrides.newest(line))?.version
      return yield* overrides.change(
        Effect.gen(function* () {
          const newest = yield* overrides.newest(line)
          if (newest === undefined || known === undefined) return yield* new NothingToUndo(line)
          if (newest.version !== known) {
            return yield* new PromptConflict({ ...line, expected: known, current: newest.version })
          }
          return yield* undoing(overrides, newest)
        })
      )
    })
})

// Bridge: from templates to components and back, and components as text to be shared.
// B1  What is copied is the text with its gaps: neither side changes with the other afterwards.
// B2  An imported component has the id it was exported with if that is free, or else the lowest free one after the same
//     static component. One that is overwritten keeps the id it has, unless it stood after another static component.

interface Bridge {
  /** Gives a component the content of a template. `version` is the one of the component that was looked at. */
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
  /** As JSON, for `importComponentJson` of this or another tenant. */
  readonly exportComponentJson: (id: number) => Effect.Effect<string, PromptUnknown | StoreFailure>
  /** Keeps what `exportComponentJson` wrote; what is there already is refused unless the options say otherwise. */
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
  importComponentJson: (json, options = {}) =>
    overrides.change(
      Effect.gen(function* () {
        const { id: request, ...draft } = yield* Effect.fromResult(readComponentText(json))
        const now = yield* Clock.currentTimeMillis
        const component = yield* Effect.fromResult(newComponent(draft, now))
        const { value, version } = yield* overrides.component(component.key)
        yield* assertImportable(lineOfComponent(component.key), options, { value, version })
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

/** The registry of a tenant. `gaps`: those that a running assistant fills; a built-in template is replaced by none with another. */
export const getPromptRegistry = (
  tenant: TenantId,
  gaps?: ReadonlyArray<string>
): Effect.Effect<PromptRegistry, never, PromptStore> =>
  Effect.map(PromptStore, (store) => {
    const overrides = openOverrides(store, tenant)
    const templates = templatesOf(overrides, gaps)
    const components = componentsOf(overrides)
    return { ...templates, ...components, ...bridgeOf(overrides, templates, components), ...undoOf(overrides) }
  })
