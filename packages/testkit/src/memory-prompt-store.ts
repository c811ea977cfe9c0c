// MemoryPromptStore: the prompt store over a map, for laws and tests.
// Owns the rules of an append, without a pause in it, and the reading back. Keeps nothing itself: drop it, build another
// over the same disk, and nothing is missing. No reference goes in or out.

import { type PromptChange, PromptConflict, type PromptLine, PromptStore, type PromptVersion } from "@reverie/context"
import type { LineRow } from "@reverie/ledger"
import type { TenantId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { copy } from "./memory-disk.ts"

/** Every line of versions, oldest first, by the name of the line. */
export type PromptDisk = Map<string, Array<PromptVersion>>

const nameOf = (tenant: TenantId, { key, kind }: PromptLine): string => JSON.stringify([tenant, kind, key])

const isOf = (name: string, tenant: TenantId, kind: string): boolean => {
  const [itsTenant, itsKind] = JSON.parse(name) as ReadonlyArray<string>
  return itsTenant === tenant && itsKind === kind
}

/** Every version of a tenant, as a bundle has it. */
export const promptsOf = (disk: PromptDisk, tenant: TenantId): ReadonlyArray<LineRow> =>
  [...disk]
    .filter(([name]) => (JSON.parse(name) as ReadonlyArray<string>)[0] === tenant)
    .flatMap(([, versions]) => versions)
    .map(({ body, restores = null, ...line }) => ({
      ...line,
      restores,
      body: body === null ? null : JSON.stringify(body)
    }))

const conflictIn = (disk: PromptDisk, tenant: TenantId, changes: ReadonlyArray<PromptChange>) => {
  for (const change of changes) {
    const { expected, key, kind } = change
    const current = disk.get(nameOf(tenant, change))?.length ?? 0
    if (current !== expected) return new PromptConflict({ kind, key, expected, current })
  }
  return undefined
}

export const memoryPromptStore = (disk: PromptDisk = new Map()): PromptStore["Service"] => ({
  append: (tenant, changes) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) => {
      const conflict = conflictIn(disk, tenant, changes)
      if (conflict !== undefined) return Effect.fail(conflict)
      for (const { expected, ...rest } of changes) {
        const name = nameOf(tenant, rest)
        disk.set(name, [...(disk.get(name) ?? []), copy({ ...rest, version: expected + 1, at })])
      }
      return Effect.void
    }),
  current: (tenant, kind) =>
    Effect.sync(() =>
      [...disk]
        .filter(([name]) => isOf(name, tenant, kind))
        .flatMap(([, versions]) => versions.slice(-1))
        .filter(({ body }) => body !== null)
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .map(copy)
    ),
  history: (tenant, line, { before = Number.POSITIVE_INFINITY, limit }) =>
    Effect.sync(() =>
      (disk.get(nameOf(tenant, line)) ?? [])
        .filter(({ version }) => version < before)
        .toReversed()
        .slice(0, limit)
        .map(copy)
    )
})

export const memoryPromptStoreLayer = (disk: PromptDisk = new Map()): Layer.Layer<PromptStore> =>
  Layer.succeed(PromptStore, memoryPromptStore(disk))
