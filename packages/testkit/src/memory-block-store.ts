// MemoryBlockStore: the store of blocks over maps, for laws and tests.
// Owns the rows and their transactions. Keeps nothing else: drop it, build another over the same disk, and nothing is
// missing. No reference goes in or out: rows are texts, and bytes are copied.

import { type BlockRows, BlockStore, type BlockTransactions, keepBlocks } from "@reverie/memory"
import type { TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export interface BlockRow {
  readonly owner: string
  readonly label: string
  readonly readers: ReadonlyArray<string>
  readonly body: string
}

/** By the name of tenant and block, or tenant and key. */
export interface BlockDisk {
  readonly blocks: Map<string, BlockRow>
  readonly versions: Map<string, ReadonlyArray<{ readonly body: string; readonly patch: Uint8Array }>>
  readonly snapshots: Map<string, Uint8Array>
  readonly answers: Map<string, string>
}

export const blockDisk = (): BlockDisk => ({
  blocks: new Map(),
  versions: new Map(),
  snapshots: new Map(),
  answers: new Map()
})

const nameOf = (tenant: TenantId, key: string): string => JSON.stringify([tenant, key])

const isOf = (name: string, tenant: TenantId): boolean => (JSON.parse(name) as ReadonlyArray<string>)[0] === tenant

const EVERYBODY = "*"

export const rowsOf = (disk: BlockDisk): BlockRows => {
  const of = (tenant: TenantId) => [...disk.blocks].filter(([name]) => isOf(name, tenant)).map(([, row]) => row)
  const versions = (tenant: TenantId, id: string) => disk.versions.get(nameOf(tenant, id)) ?? []
  return {
    answer: (tenant, key) => disk.answers.get(nameOf(tenant, key)),
    block: (tenant, id) => disk.blocks.get(nameOf(tenant, id))?.body,
    isTaken: (tenant, owner, label) => of(tenant).some((row) => row.owner === owner && row.label === label),
    blocks: (tenant, by) =>
      of(tenant)
        .filter(
          ({ owner, readers }) =>
            by === undefined || owner === by || readers.includes(by) || readers.includes(EVERYBODY)
        )
        .map(({ body }) => body),
    snapshot: (tenant, id) => disk.snapshots.get(nameOf(tenant, id))?.slice(),
    patches: (tenant, id, after) =>
      versions(tenant, id)
        .slice(after)
        .map(({ patch }) => patch.slice()),
    versions: (tenant, id, before, limit) =>
      versions(tenant, id)
        .slice(0, Math.max(0, before - 1))
        .toReversed()
        .slice(0, limit)
        .map(({ body }) => body),
    putAnswer: (tenant, key, answer) => {
      disk.answers.set(nameOf(tenant, key), answer)
    },
    putBlock: (tenant, { id, ...row }) => {
      disk.blocks.set(nameOf(tenant, id), row)
    },
    putVersion: (tenant, id, version, body, patch) => {
      disk.versions.set(nameOf(tenant, id), [
        ...versions(tenant, id).slice(0, version - 1),
        { body, patch: patch.slice() }
      ])
    },
    putSnapshot: (tenant, id, bytes) => {
      disk.snapshots.set(nameOf(tenant, id), bytes.slice())
    },
    remove: (tenant, id) => {
      for (const rows of [disk.blocks, disk.versions, disk.snapshots]) rows.delete(nameOf(tenant, id))
    }
  }
}

/** Nothing can happen in between: a transaction is one synchronous run. */
export const memoryTransactions = (disk: BlockDisk): BlockTransactions => {
  const rows = rowsOf(disk)
  return {
    look: (_operation, run) => Effect.suspend(() => Effect.fromResult(run(rows))),
    write: (_operation, run) => Effect.suspend(() => Effect.fromResult(run(rows, () => {})))
  }
}

export const memoryBlockStore = (
  disk: BlockDisk = blockDisk(),
  options: { readonly documents?: number } = {}
): BlockStore["Service"] => keepBlocks(memoryTransactions(disk), options)

export const memoryBlockStoreLayer = (
  disk: BlockDisk = blockDisk(),
  options: { readonly documents?: number } = {}
): Layer.Layer<BlockStore> => Layer.sync(BlockStore, () => memoryBlockStore(disk, options))
