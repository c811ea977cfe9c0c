// Blocks: the memory blocks of a tenant, in promises.
// Owns the form, and the blocks an assistant is created with. Leaves every rule to the store of blocks in `memory`.
// B1  A program that holds the fleet acts as the system: permissions do not bind it, limits and schemas do.
// B2  A block of a definition is made once: when a person deletes it, it stays deleted.

import {
  type BlockChange,
  type BlockDraft,
  type BlockOperation,
  type BlockPermission,
  type BlockReading,
  BlockRefused,
  BlockUnreadable,
  type BlockRequest,
  type BlockSetting,
  BlockStore,
  type BlockVersion,
  type BlockView,
  type KeptChange
} from "@reverie/memory"
import type { AssistantId, TenantId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { CreatedBlock } from "../define-assistant.ts"

/** For every change of a block. */
export interface EditOptions {
  /** Idempotency key: the same change under the same key is made once. A fresh one when not said. */
  readonly key?: string
  /** Who does it, for readers of the versions. "person" when not said. */
  readonly by?: string
  /** Why it was changed, for those who read the versions. */
  readonly message?: string
  /** The version that was looked at; what came since is merged. The newest when not said. */
  readonly seen?: number
}

/** Changes answer the number of the newest version. Rejections are the typed errors of the store. */
export interface Blocks {
  /** Answers the new block's id with its first version. */
  readonly create: (draft: BlockDraft, options?: EditOptions) => Promise<BlockChange>
  /** All of the tenant, or those of one owner. */
  readonly list: (owner?: string) => Promise<ReadonlyArray<BlockView>>
  /** What an assistant's prompt may show: its own first, then those shared with it, with its permission and `sharedFrom`. */
  readonly readBy: (reader: string) => Promise<ReadonlyArray<BlockView>>
  /** The block of that label among the owner's; undefined when there is none. */
  readonly find: (owner: string, label: string) => Promise<BlockView | undefined>
  /** The block of that id; undefined when there is none. */
  readonly load: (id: string) => Promise<BlockView | undefined>
  /** Its content now, or as it was in a version. Rejects with BlockUnknown. */
  readonly read: (id: string, version?: number) => Promise<BlockReading>
  /**
   * Changes the content, by one of the operations that its form allows. Rejects with BlockUnknown and BlockRefused.
   * @example const { version } = await fleet.blocks.edit("block-1", { op: "append_text", text: " Berth 7 is free." })
   */
  readonly edit: (id: string, operation: BlockOperation, options?: EditOptions) => Promise<BlockChange>
  /** Changes what surrounds the content: description, limit, permission, schema, who shares it. Rejects with BlockRefused. */
  readonly configure: (id: string, setting: BlockSetting, options?: EditOptions) => Promise<BlockChange>
  /** `to` is an assistant, or `*` for every one. */
  readonly share: (id: string, to: string, permission: BlockPermission) => Promise<BlockChange>
  /** Takes the share away again; a prompt that is under way still shows the block. Rejects with BlockUnknown. */
  readonly unshare: (id: string, to: string) => Promise<BlockChange>
  /** Newest first. */
  readonly versions: (
    id: string,
    page?: { readonly before?: number; readonly limit?: number }
  ) => Promise<ReadonlyArray<BlockVersion>>
  /** Shows the content before the last change again, as a new version. Rejects with BlockRefused when there is none. */
  readonly undo: (id: string, options?: EditOptions) => Promise<BlockChange>
  /** Takes the last `undo` back. Rejects with BlockRefused when there is none. */
  readonly redo: (id: string, options?: EditOptions) => Promise<BlockChange>
  /** Takes it out of every prompt; its versions stay in the ledger. Rejects with BlockUnknown. */
  readonly delete: (id: string, options?: EditOptions) => Promise<BlockChange>
  /**
   * Calls back after each change of a block that this process has made durable, by an assistant or by a person. Resolves when
   * it listens, with how to stop. What other processes change is not heard.
   * @example const stop = await fleet.blocks.subscribe(({ block, by }) => console.log(`${by} changed ${block}`))
   */
  readonly subscribe: (listener: (kept: KeptChange) => void) => Promise<() => void>
}

type Run = <Value, Failure>(effect: Effect.Effect<Value, Failure, BlockStore>) => Promise<Value>

const SYSTEM = { by: "person", isSystem: true } as const

/** The blocks of a tenant. `run` carries effects out, `freshKey` names what has no key of its own. */
export const blocksOf = (tenant: TenantId, run: Run, freshKey: Effect.Effect<string>): Blocks => {
  const viewer = { ...SYSTEM, tenant }
  type Store = BlockStore["Service"]
  const asked = <A, E>(
    { key, ...options }: EditOptions,
    change: (store: Store, request: BlockRequest) => Effect.Effect<A, E>
  ) =>
    run(
      Effect.gen(function* () {
        const at = yield* Clock.currentTimeMillis
        const request = { ...viewer, ...options, key: key ?? (yield* freshKey), at }
        return yield* change(yield* BlockStore, request)
      })
    )
  const looking = <A, E>(look: (store: Store) => Effect.Effect<A, E>) => run(BlockStore.use(look))
  const list: Blocks["list"] = (owner) => looking((store) => store.list(viewer, owner === undefined ? {} : { owner }))
  const configure: Blocks["configure"] = (id, setting, options = {}) =>
    asked(options, (store, request) => store.configure(id, request, setting))
  return {
    create: (draft, options = {}) => asked(options, (store, request) => store.create(draft, request)),
    list,
    readBy: (reader) => looking((store) => store.list({ tenant, by: reader })),
    find: async (owner, label) => (await list(owner)).find((block) => block.label === label),
    load: (id) => looking((store) => store.load(viewer, id)),
    read: (id, version) => looking((store) => store.read(viewer, id, version)),
    edit: (id, operation, options = {}) => asked(options, (store, request) => store.change(id, request, operation)),
    configure,
    share: (id, to, permission) => configure(id, { set: "share", with: to, permission }),
    unshare: (id, to) => configure(id, { set: "unshare", with: to }),
    versions: (id, page) => looking((store) => store.versions(viewer, id, page)),
    undo: (id, options = {}) => asked(options, (store, request) => store.undo(id, request)),
    redo: (id, options = {}) => asked(options, (store, request) => store.redo(id, request)),
    delete: (id, options = {}) => asked(options, (store, request) => store.delete(id, request)),
    subscribe: (listener) => looking((store) => Effect.sync(() => store.subscribe(tenant, listener)))
  }
}

/** Makes those blocks of a definition that were never made. */
export const createBlocks = Effect.fnUntraced(function* (
  tenant: TenantId,
  owner: AssistantId,
  blocks: ReadonlyArray<CreatedBlock>
) {
  if (blocks.length === 0) return
  const store = yield* BlockStore
  const at = yield* Clock.currentTimeMillis
  const viewer = { tenant, by: "definition", isSystem: true }
  const present = new Set((yield* store.list(viewer, { owner })).map(({ label }) => label))
  for (const block of blocks.filter(({ label }) => !present.has(label))) {
    const request = { ...viewer, key: `created/${owner}/${block.label}`, at }
    // It was made once in another form, and has been deleted since; or the data keys are destroyed that it was sealed with.
    const wasMade = (failure: unknown) =>
      failure instanceof BlockUnreadable ||
      (failure instanceof BlockRefused && ["key-reused", "label-taken"].includes(failure.reason))
    yield* Effect.catchIf(store.create({ ...block, owner }, request), wasMade, () => Effect.void)
  }
})
