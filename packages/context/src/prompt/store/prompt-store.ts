// PromptStore: the versions of everything that tenants write for their prompts.
// Owns what a version is and who may write the next one. Leaves what a body says to `registry.ts`.
// P1  Versions of a tenant's kind and key are numbered 1, 2, 3 ... without gap; a written one never changes or goes away.
// P2  An append is all or nothing. As soon as one key in it is not at the version it expects, nothing is written, and
//     the conflict says what that key is at. Of two that expect the same, one is written.
// P3  Current is the newest version of each key, in the order of the keys, but for those that take the key away.
// P4  A tenant sees and changes its own versions only, and a kind those of its own.
// P5  A body comes back exactly as it was given, whatever text is in it.
// P6  A version bears the time at which it was appended.

import { defined, type Json, parseJson, type TenantId } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type PromptConflict, type PromptStoreUnavailable, PromptUnreadable } from "../errors.ts"

/** `place`: which component has an id, so that no two have the same. */
export const promptKinds = ["template", "component", "place"] as const
export type PromptKind = (typeof promptKinds)[number]

/** Which line of versions. A key is of letters, digits, dot, hyphen and underscore. */
export interface PromptLine {
  readonly kind: PromptKind
  readonly key: string
}

export interface PromptChange extends PromptLine {
  /** The newest version that the writer knows, 0 for none. What is appended has the next number. */
  readonly expected: number
  /** Null takes the key away. */
  readonly body: Json | null
  /** The earlier version whose body this one brings back, 0 for the time before the first. */
  readonly restores?: number
}

export interface PromptVersion extends PromptLine {
  readonly version: number
  readonly at: number
  readonly body: Json | null
  readonly restores?: number
}

export class PromptStore extends Context.Service<
  PromptStore,
  {
    /** Durable when it returns. Names no line twice. */
    readonly append: (
      tenant: TenantId,
      changes: ReadonlyArray<PromptChange>
    ) => Effect.Effect<void, PromptConflict | PromptStoreUnavailable>
    readonly current: (
      tenant: TenantId,
      kind: PromptKind
    ) => Effect.Effect<ReadonlyArray<PromptVersion>, PromptStoreUnavailable | PromptUnreadable>
    /** Versions of one line, newest first, those that take it away among them; without `before` from the newest on. */
    readonly history: (
      tenant: TenantId,
      line: PromptLine,
      page: { readonly before?: number; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<PromptVersion>, PromptStoreUnavailable | PromptUnreadable>
  }
>()("@reverie/context/PromptStore") {}

// History: what undoing means on a line of versions that only grows.
// H1  An undo is a version itself, and shows what the version before the undone change showed.
// H2  Undoing again goes one change further back, never forth: after as many undos as there were changes the line
//     shows what it showed before the first.
// H3  A change after an undo is undone to what it was made on.

/** The version whose body a version shows: itself, or the one it brought back. 0 is the time before the first. */
export const shownBy = ({ restores, version }: Pick<PromptVersion, "version" | "restores">): number =>
  restores ?? version

/**
 * The version that was shown before the change that `newest` shows. `before` is the version just ahead of that change,
 * absent when there is none. Undefined when no change is left to undo.
 */
export const undone = (
  newest: Pick<PromptVersion, "version" | "restores">,
  before: Pick<PromptVersion, "version" | "restores"> | undefined
): number | undefined => {
  if (shownBy(newest) === 0) return undefined
  return before === undefined ? 0 : shownBy(before)
}

// PromptRow: a version of a line as a store keeps it, and how it is read back.

export interface PromptRow {
  readonly key: string
  readonly version: number
  readonly at: number
  readonly restores: number | null
  /** Null takes the key away. */
  readonly body: string | null
}

export const readPromptRow = (kind: PromptKind, row: PromptRow): Result.Result<PromptVersion, PromptUnreadable> => {
  const { at, body, key, restores, version } = row
  const facts = { kind, key, version, at, ...defined({ restores: restores === null ? undefined : restores }) }
  if (body === null) return Result.succeed({ ...facts, body })
  return Result.mapBoth(parseJson(body), {
    onSuccess: (value) => ({ ...facts, body: value }),
    onFailure: (reason) => new PromptUnreadable({ kind, key, reason: `version ${version}: ${reason}` })
  })
}
