// BlocksOfThen: the memory blocks that an assistant could see at a moment of the past, and the tenant's prompts of then.
// Owns finding the versions. Leaves keeping them to their stores.
// T1  Texts are those of the newest version of then; who may see a block, and what it is for, is as it is now.

import { type PromptStore, type PromptVersion } from "@reverie/context"
import { Bundles } from "@reverie/ledger"
import { BlockRefused, BlockStore, type BlockView } from "@reverie/memory"
import type { Address, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

type Viewer = { readonly tenant: TenantId; readonly by: string }

const MAX_VERSIONS = 10_000

const versionAt = Effect.fnUntraced(function* (store: BlockStore["Service"], viewer: Viewer, id: string, at: number) {
  const versions = yield* store.versions(viewer, id, { limit: MAX_VERSIONS })
  return versions.find((version) => version.at <= at)?.version
})

/** The blocks in view at a moment, in milliseconds since the epoch; none where none are kept, or they can not be read. */
export const blocksOfThen = Effect.fnUntraced(function* ({ assistant, tenant }: Address, at: number) {
  const found = yield* Effect.serviceOption(BlockStore)
  if (Option.isNone(found)) return []
  const store = found.value
  const viewer: Viewer = { tenant, by: assistant }
  const then = Effect.fnUntraced(function* (block: BlockView) {
    if (block.createdAt > at) return []
    if (block.updatedAt <= at) return [block]
    const version = yield* versionAt(store, viewer, block.id, at)
    if (version === undefined) return []
    const { text } = yield* store.read(viewer, block.id, version)
    return [{ ...block, version, text }]
  })
  return yield* Effect.orElseSucceed(
    Effect.flatMap(store.list(viewer), (blocks) => Effect.map(Effect.forEach(blocks, then), (each) => each.flat())),
    (): ReadonlyArray<BlockView> => []
  )
})

/** The newest version of each line that was written by then. */
export const promptsOfThen = Effect.fnUntraced(function* (tenant: TenantId, at: number) {
  const found = yield* Effect.serviceOption(Bundles)
  if (Option.isNone(found)) return []
  const newest = new Map<string, PromptVersion>()
  const read = found.value.packTenant(tenant).pipe(
    Stream.runForEach((part) =>
      Effect.sync(() => {
        if (part.kind !== "prompt" || part.at > at) return
        const { at: writtenAt, body, key, of, version } = part
        const line = JSON.stringify([of, key])
        if ((newest.get(line)?.version ?? 0) >= version) return
        newest.set(line, { kind: of as PromptVersion["kind"], key, version, at: writtenAt, body })
      })
    )
  )
  yield* Effect.ignore(read)
  return [...newest.values()].filter(({ body }) => body !== null)
})

const refused = (block: string) =>
  Effect.fail(new BlockRefused({ block, reason: "read-only", message: "blocks of the past do not change" }))

/** A store in which these blocks stand still. */
export const stillBlocks = (blocks: ReadonlyArray<BlockView>): BlockStore["Service"] => ({
  create: ({ label }) => refused(label),
  load: (_, id) => Effect.succeed(blocks.find((block) => block.id === id)),
  list: (_, { owner, types } = {}) =>
    Effect.succeed(
      blocks.filter(
        (block) => (owner === undefined || block.owner === owner) && (types === undefined || types.includes(block.type))
      )
    ),
  read: (_, id) => {
    const block = blocks.find((each) => each.id === id)
    return block === undefined
      ? refused(id)
      : Effect.succeed({ version: block.version, text: block.text, content: block.text })
  },
  versions: () => Effect.succeed([]),
  change: refused,
  undo: refused,
  redo: refused,
  configure: refused,
  delete: refused,
  subscribe: () => () => {}
})

/** A registry in which these versions stand still. */
export const stillPrompts = (versions: ReadonlyArray<PromptVersion>): PromptStore["Service"] => ({
  append: () => Effect.void,
  current: (_, kind) =>
    Effect.succeed(versions.filter((version) => version.kind === kind).toSorted((a, b) => (a.key < b.key ? -1 : 1))),
  history: (_, { key, kind }) =>
    Effect.succeed(versions.filter((version) => version.kind === kind && version.key === key))
})
