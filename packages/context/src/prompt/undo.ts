// Undo: the past of a template or a component, and the way back.
// Owns telling the versions of one, and bringing an earlier one back. Leaves which one it is to `history.ts`.
// U1  What is brought back is as it was then, times included; the version that brings it back has a time of its own.
// U2  A component comes back to the id it had, or, when another has that by now, to the lowest free one of its range.

import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { NothingToUndo, PromptConflict, PromptUnreadable } from "./errors.ts"
import { shownBy, undone } from "./store/history.ts"
import type { PromptChange, PromptVersion } from "./store/prompt-store.ts"
import { findSeat, leaveSeat, type NoSeat } from "./seats.ts"
import type { Decision, Overrides, StoreFailure } from "./overrides.ts"
import {
  type PluggableComponent,
  readComponent,
  readTemplate,
  type StoredTemplate,
  writeComponent
} from "./store/stored.ts"

export type DefinitionKind = "template" | "component"

export interface PastVersion {
  readonly version: number
  readonly at: number
  readonly change: "written" | "deleted" | "restored"
  /** Of a restored one: the version it shows again, 0 for the time before the first. */
  readonly restores?: number
  /** Absent when there was none from then on. */
  readonly definition?: StoredTemplate | PluggableComponent
}

export interface Undo {
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

export const undoOf = (overrides: Overrides): Undo => ({
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
