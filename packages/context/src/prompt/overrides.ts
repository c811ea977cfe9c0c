// Shelf: one tenant's part of the store, read as values and changed in one step.
// Owns reading bodies, and trying again when somebody else wrote in between. Leaves what to change to the operations.
// L1  A change is decided on what was read, and written only if that still stands; otherwise it is decided anew.
// L2  A caller who names the version he knows is told of a conflict, his change is not tried on another version.

import type { Json, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { PromptConflict, type PromptStoreUnavailable, PromptUnknown, PromptUnreadable } from "./errors.ts"
import type { PromptChange, PromptLine, PromptStore, PromptVersion } from "./store/prompt-store.ts"
import { type PluggableComponent, readComponent, readTemplate, type StoredTemplate } from "./store/stored.ts"

/** A value and the version it was read at, which a change of it must name. */
export type Versioned<A> = A & { readonly version: number }

export type StoreFailure = PromptStoreUnavailable | PromptUnreadable

export interface Decision<A> {
  readonly changes: ReadonlyArray<PromptChange>
  readonly answer: A
}

/** What a line of versions comes to. */
export interface Found<A> {
  /** The newest version, 0 when there is none. */
  readonly version: number
  /** Absent when there is none, or the newest takes it away. */
  readonly value?: A
}

export interface Overrides {
  readonly newest: (line: PromptLine) => Effect.Effect<PromptVersion | undefined, StoreFailure>
  readonly history: (
    line: PromptLine,
    page: { readonly before?: number; readonly limit: number }
  ) => Effect.Effect<ReadonlyArray<PromptVersion>, StoreFailure>
  readonly template: (key: string) => Effect.Effect<Found<StoredTemplate>, StoreFailure>
  readonly component: (key: string) => Effect.Effect<Found<PluggableComponent>, StoreFailure>
  readonly templates: Effect.Effect<ReadonlyArray<Versioned<StoredTemplate>>, StoreFailure>
  /** In the order of their ids. */
  readonly components: Effect.Effect<ReadonlyArray<Versioned<PluggableComponent>>, StoreFailure>
  readonly change: <A, E>(
    decide: Effect.Effect<Decision<A>, E>
  ) => Effect.Effect<A, E | PromptConflict | PromptStoreUnavailable>
}

type Read<A> = (body: Json) => Result.Result<A, string>

const unreadable = ({ key, kind }: PromptLine, reason: string) => new PromptUnreadable({ kind, key, reason })

const readBody = <A>(line: PromptLine, body: Json, read: Read<A>): Effect.Effect<A, PromptUnreadable> =>
  Effect.fromResult(Result.mapError(read(body), (reason) => unreadable(line, reason)))

/** How often a change is decided anew before the conflict is told. */
const MOST_RETRIES = 8

const retrying = <A, E>(
  append: (changes: ReadonlyArray<PromptChange>) => Effect.Effect<void, PromptConflict | PromptStoreUnavailable>,
  decide: Effect.Effect<Decision<A>, E>,
  retries: number
): Effect.Effect<A, E | PromptConflict | PromptStoreUnavailable> =>
  Effect.flatMap(decide, ({ answer, changes }) =>
    Effect.catchTag(Effect.as(append(changes), answer), "PromptConflict", (conflict) =>
      retries > 0 ? retrying(append, decide, retries - 1) : Effect.fail(conflict)
    )
  )

export const openOverrides = (store: PromptStore["Service"], tenant: TenantId): Overrides => {
  const history: Overrides["history"] = (line, page) => store.history(tenant, line, page)
  const newest: Overrides["newest"] = (line) => Effect.map(history(line, { limit: 1 }), ([version]) => version)
  const found = <A>(line: PromptLine, read: Read<A>): Effect.Effect<Found<A>, StoreFailure> =>
    Effect.flatMap(newest(line), (last) =>
      last === undefined || last.body === null
        ? Effect.succeed({ version: last?.version ?? 0 })
        : Effect.map(readBody(line, last.body, read), (value) => ({ version: last.version, value }))
    )
  const all = <A>(kind: "template" | "component", read: Read<A>) =>
    Effect.flatMap(store.current(tenant, kind), (versions) =>
      Effect.forEach(versions, (line) =>
        Effect.map(readBody(line, line.body, read), (value): Versioned<A> => ({ ...value, version: line.version }))
      )
    )
  return {
    newest,
    history,
    template: (key) => found({ kind: "template", key }, readTemplate),
    component: (key) => found({ kind: "component", key }, readComponent),
    templates: all("template", readTemplate),
    components: Effect.map(all("component", readComponent), (components) => components.toSorted((a, b) => a.id - b.id)),
    change: (decide) => retrying((changes) => store.append(tenant, changes), decide, MOST_RETRIES)
  }
}

/** What was found, if it is there and as the caller knows it. */
export const expected = <A>(
  line: PromptLine & { readonly kind: PromptUnknown["kind"] },
  found: Found<A>,
  version: number
): Result.Result<A, PromptUnknown | PromptConflict> => {
  const { value, version: current } = found
  if (value === undefined) return Result.fail(new PromptUnknown({ kind: line.kind, key: line.key }))
  return version === current
    ? Result.succeed(value)
    : Result.fail(new PromptConflict({ ...line, expected: version, current }))
}
