// House: every port of one store, and where further empty ones come from.
// Owns the shape, so that laws about moving can be told of any two stores. Leaves making them to each adapter.

import { PromptStore } from "@reverie/context"
import { Ledger, Bundles } from "@reverie/ledger"
import { BlockStore } from "@reverie/memory"
import { Mailbox } from "@reverie/mailbox"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type BlockDisk, blockDisk, memoryBlockStore } from "./memory-block-store.ts"
import { MemoryDisk } from "./memory-disk.ts"
import { memoryPromptStore, type PromptDisk } from "./memory-prompt-store.ts"
import { type MemoryHouse, memoryHouse, memoryBundles } from "./memory-bundles.ts"
import { memoryStore } from "./memory-store.ts"

export interface House {
  readonly mailbox: Mailbox["Service"]
  readonly ledger: Ledger["Service"]
  readonly prompts: PromptStore["Service"]
  readonly blocks: BlockStore["Service"]
  readonly bundles: Bundles["Service"]
}

/** Builds houses, each empty and apart from every other one. */
export class Houses extends Context.Service<Houses, { readonly build: Effect.Effect<House, unknown, Scope.Scope> }>()(
  "@reverie/testkit/Houses"
) {}

export type HousePorts = Mailbox | Ledger | PromptStore | BlockStore | Bundles

export const housesLayer = (build: Effect.Effect<House, unknown, Scope.Scope>): Layer.Layer<Houses> =>
  Layer.succeed(Houses, { build })

/** Does something with the ports of a house. */
export const inHouse =
  ({ blocks, ledger, mailbox, prompts, bundles }: House) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, HousePorts>> =>
    Effect.provide(
      effect,
      Context.make(Mailbox, mailbox).pipe(
        Context.add(Ledger, ledger),
        Context.add(PromptStore, prompts),
        Context.add(BlockStore, blocks),
        Context.add(Bundles, bundles)
      )
    ) as Effect.Effect<A, E, Exclude<R, HousePorts>>

export const houseOver = (place: MemoryHouse): House => ({
  ...memoryStore(place.disk),
  prompts: memoryPromptStore(place.prompts),
  blocks: memoryBlockStore(place.blocks),
  bundles: memoryBundles(place)
})

export const aMemoryHouse = (
  disk = new MemoryDisk(),
  blocks: BlockDisk = blockDisk(),
  prompts: PromptDisk = new Map()
) => houseOver(memoryHouse(disk, blocks, prompts))

export const memoryHousesLayer = (): Layer.Layer<Houses> => housesLayer(Effect.sync(() => aMemoryHouse()))
