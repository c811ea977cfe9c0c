// BlockSteps: what laws of a block store do over and over, said once.
// Owns the short forms over the port. Leaves every assertion to the law that makes it.

import * as assert from "node:assert/strict"
import {
  type BlockDraft,
  type BlockOperation,
  type BlockRequest,
  type BlockSetting,
  BlockStore,
  type BlockViewer
} from "@reverie/memory"
import { TenantId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

export const harbor = TenantId.make("harbor")
export const tower = TenantId.make("tower")

export interface Request extends Partial<Omit<BlockRequest, "tenant" | "by">> {
  readonly tenant?: TenantId
}

/** Who looks. */
export const as = (by: string, options: Pick<Request, "tenant" | "isSystem"> = {}): BlockViewer => ({
  tenant: harbor,
  by,
  ...options
})

export const system = as("system", { isSystem: true })

let requests = 0

/** A request with a key of its own, now, unless the options says otherwise. */
export const request = (by: string | BlockViewer, options: Request = {}): Effect.Effect<BlockRequest> =>
  Effect.map(Clock.currentTimeMillis, (at) => ({
    ...(typeof by === "string" ? as(by) : by),
    key: `request ${requests++}`,
    at,
    ...options
  }))

export const notes: BlockDraft = { owner: "ada", label: "notes", type: "working" }

/** Creates a block for its owner; answers its id. */
export const make = (draft: Partial<BlockDraft> = {}, options: Request = {}) =>
  Effect.gen(function* () {
    const whole = { ...notes, ...draft }
    const store = yield* BlockStore
    return (yield* store.create(whole, yield* request(system, options))).block
  })

export const change = (by: string | BlockViewer, id: string, operation: BlockOperation, options: Request = {}) =>
  Effect.gen(function* () {
    return yield* (yield* BlockStore).change(id, yield* request(by, options), operation)
  })

export const configure = (by: string | BlockViewer, id: string, setting: BlockSetting, options: Request = {}) =>
  Effect.gen(function* () {
    return yield* (yield* BlockStore).configure(id, yield* request(by, options), setting)
  })

export const undo = (by: string | BlockViewer, id: string) =>
  Effect.gen(function* () {
    return yield* (yield* BlockStore).undo(id, yield* request(by))
  })

export const redo = (by: string | BlockViewer, id: string) =>
  Effect.gen(function* () {
    return yield* (yield* BlockStore).redo(id, yield* request(by))
  })

export const remove = (by: string | BlockViewer, id: string, options: Request = {}) =>
  Effect.gen(function* () {
    return yield* (yield* BlockStore).delete(id, yield* request(by, options))
  })

export const load = (viewer: BlockViewer, id: string) => BlockStore.use((store) => store.load(viewer, id))

export const list = (viewer: BlockViewer) => BlockStore.use((store) => store.list(viewer))

export const read = (id: string, version?: number, viewer: BlockViewer = system) =>
  BlockStore.use((store) => store.read(viewer, id, version))

export const textOf = (id: string) => Effect.map(load(system, id), (block) => block?.text)

export const versionsOf = (id: string, page: { readonly before?: number; readonly limit?: number } = {}) =>
  BlockStore.use((store) => store.versions(system, id, page))

export const share = (id: string, to: string, permission: BlockDraft["permission"] = "ReadWrite") =>
  configure(system, id, { set: "share", with: to, permission })

export const append = (text: string): BlockOperation => ({ op: "append_text", text })
export const set = (text: string): BlockOperation => ({ op: "set_text", text })
export const push = (value: string): BlockOperation => ({ op: "push_item", value })

/** Everything that is kept of two tenants. */
export const witness = Effect.gen(function* () {
  const found: Array<unknown> = []
  for (const tenant of [harbor, tower]) {
    const viewer = { ...system, tenant }
    for (const block of yield* list(viewer)) {
      found.push(block, yield* read(block.id, undefined, viewer))
      found.push(yield* BlockStore.use((store) => store.versions(viewer, block.id, { limit: 1_000 })))
    }
  }
  return JSON.stringify(found)
})

/** What an effect failed with, by its tag and reason; nothing may have changed with it. */
export const refusalOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* witness
    const outcome = yield* Effect.result(effect)
    assert.ok(Result.isFailure(outcome), `it was done: ${JSON.stringify(outcome)}`)
    assert.equal(yield* witness, before, "something was changed by what was refused")
    const error = outcome.failure
    const reason = "reason" in error ? ` ${String(error.reason)}` : "from" in error ? ` ${String(error.from)}` : ""
    return `${error._tag}${reason}`
  })
