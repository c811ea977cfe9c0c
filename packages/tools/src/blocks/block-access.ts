// BlockAccess: what a run is lent of the memory blocks.
// Owns the form, in promises. Leaves the rules to the store of blocks, who looks and when to the runtime.
// I1  Everything is done as the assistant whose run it is: nobody else's rights, and no more consent than was given.

import type { BlockChange, BlockOperation, BlockReading, BlockSetting, BlockVersion, BlockView } from "@reverie/memory"

/** `key` is the run's: a change is made once under it. */
export interface BlockAccess {
  readonly list: () => Promise<ReadonlyArray<BlockView>>
  readonly read: (id: string, version?: number) => Promise<BlockReading>
  readonly versions: (id: string, limit: number) => Promise<ReadonlyArray<BlockVersion>>
  readonly change: (key: string, id: string, operation: BlockOperation) => Promise<BlockChange>
  readonly undo: (key: string, id: string) => Promise<BlockChange>
  readonly redo: (key: string, id: string) => Promise<BlockChange>
  readonly configure: (key: string, id: string, setting: BlockSetting) => Promise<BlockChange>
}

const nowhere = () => Promise.reject(new Error("there is no store of blocks here"))

/** Where no blocks are kept. */
export const noBlocks: BlockAccess = {
  list: () => Promise.resolve([]),
  read: nowhere,
  versions: nowhere,
  change: nowhere,
  undo: nowhere,
  redo: nowhere,
  configure: nowhere
}
