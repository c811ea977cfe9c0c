// DataStore: every port of one store, and where further empty ones come from.
// Owns the shape, so that laws about moving can be told of any two stores. Leaves making them to each adapter.

import { PromptStore } from "@reverie/context"
import { Allowance, type Archive, Ledger, Bundles } from "@reverie/ledger"
import { BlockStore } from "@reverie/memory"
import { Mailbox } from "@reverie/mailbox"
import type { Address } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { memoryAllowance } from "./memory-allowance.ts"
import { type BlockDisk, blockDisk, memoryBlockStore } from "./memory-block-store.ts"
import { MemoryDisk } from "./memory-disk.ts"
import { memoryPromptStore, type PromptDisk } from "./memory-prompt-store.ts"
import { type MemoryDataStore, memoryDataStore, memoryBundles } from "./memory-bundles.ts"
import { memoryStore } from "./memory-store.ts"

export interface DataStore {
  readonly mailbox: Mailbox["Service"]
  readonly ledger: Ledger["Service"]
  readonly prompts: PromptStore["Service"]
  readonly blocks: BlockStore["Service"]
  readonly bundles: Bundles["Service"]
  readonly allowance: Allowance["Service"]
}

/** Builds dataStores, each empty and apart from every other one. */
export class DataStores extends Context.Service<
  DataStores,
  { readonly build: Effect.Effect<DataStore, unknown, Scope.Scope> }
>()("@reverie/testkit/data-stores") {}

export type DataStorePorts = Mailbox | Ledger | PromptStore | BlockStore | Bundles | Allowance

export const dataStoresLayer = (build: Effect.Effect<DataStore, unknown, Scope.Scope>): Layer.Layer<DataStores> =>
  Layer.succeed(DataStores, { build })

type Archiving = Pick<DataStore, "bundles" | "ledger"> & { readonly archive: Archive["Service"] }

/** A store of which each commit, and each bundle that came in, is in a segment as soon as it has returned. */
export const archivingStore = <S extends Archiving>(store: S): S => {
  const { archive, bundles, ledger } = store
  const archiveAll = (address: Address) => archive.archive(address, Number.MAX_SAFE_INTEGER, 1)
  return {
    ...store,
    ledger: {
      ...ledger,
      create: (creation) => Effect.tap(ledger.create(creation), () => archiveAll(creation.address)),
      commit: (claim, commit) => Effect.tap(ledger.commit(claim, commit), () => archiveAll(claim.address))
    },
    bundles: {
      ...bundles,
      unpack: (bundle, options) =>
        Effect.tap(bundles.unpack(bundle, options), () =>
          bundle.head.kind === "assistant" ? archiveAll(bundle.head.address) : Effect.void
        )
    }
  }
}

/** Does something with the ports of a data store. */
export const inDataStore =
  ({ allowance, blocks, ledger, mailbox, prompts, bundles }: DataStore) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, DataStorePorts>> =>
    Effect.provide(
      effect,
      Context.make(Mailbox, mailbox).pipe(
        Context.add(Ledger, ledger),
        Context.add(PromptStore, prompts),
        Context.add(BlockStore, blocks),
        Context.add(Bundles, bundles),
        Context.add(Allowance, allowance)
      )
    ) as Effect.Effect<A, E, Exclude<R, DataStorePorts>>

export const dataStoreOver = (place: MemoryDataStore): DataStore => ({
  ...memoryStore(place.disk),
  prompts: memoryPromptStore(place.prompts),
  blocks: memoryBlockStore(place.blocks),
  bundles: memoryBundles(place),
  allowance: memoryAllowance(place.purses)
})

export const aMemoryDataStore = (
  disk = new MemoryDisk(),
  blocks: BlockDisk = blockDisk(),
  prompts: PromptDisk = new Map()
) => dataStoreOver(memoryDataStore(disk, blocks, prompts))

export const memoryDataStoresLayer = (): Layer.Layer<DataStores> =>
  dataStoresLayer(Effect.sync(() => aMemoryDataStore()))
