// Block store mutants: stores that are each wrong in one way, which the block store laws must kill.

import {
  type BlockRows,
  BlockStore,
  type BlockTransactions,
  type BlockView,
  EVERYBODY,
  keepBlocks,
  type KeptBlock
} from "@reverie/memory"
import { TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FreshLayer } from "../law.ts"
import { type BlockDisk, blockDisk, memoryTransactions, rowsOf } from "../memory-block-store.ts"
import { throughUtf8 } from "./mutant.ts"

type Store = BlockStore["Service"]

/** A store over rows that lie. */
const overRows =
  (lie: (rows: BlockRows, disk: BlockDisk) => Partial<BlockRows>) =>
  (_right: Store, disk: BlockDisk): Partial<Store> => {
    const right = rowsOf(disk)
    const rows = { ...right, ...lie(right, disk) }
    const wrong: BlockTransactions = {
      look: (_operation, run) => Effect.suspend(() => Effect.fromResult(run(rows))),
      write: (_operation, run) => Effect.suspend(() => Effect.fromResult(run(rows, () => {})))
    }
    return keepBlocks(wrong, { documents: 0 })
  }

type Mistake = (right: Store, disk: BlockDisk) => Partial<Store>

const edited = (body: string, edit: (block: KeptBlock) => Partial<KeptBlock>): string => {
  const block = JSON.parse(body) as KeptBlock
  return JSON.stringify({ ...block, ...edit(block) })
}

/** Every block as rows give it, through a lens. */
const seenAs = (edit: (block: KeptBlock) => Partial<KeptBlock>): Mistake =>
  overRows(({ block, blocks }) => ({
    block: (tenant, id) => {
      const body = block(tenant, id)
      return body === undefined ? undefined : edited(body, edit)
    },
    blocks: (tenant, by) => blocks(tenant, by).map((body) => edited(body, edit))
  }))

/** Every block as it is reported, through a lens. */
const toldAs =
  (lens: (block: BlockView) => Partial<BlockView>): Mistake =>
  ({ list, load }) => ({
    load: (viewer, id) => Effect.map(load(viewer, id), (block) => block && { ...block, ...lens(block) }),
    list: (viewer, filter) => Effect.map(list(viewer, filter), (all) => all.map((each) => ({ ...each, ...lens(each) })))
  })

const anyTenant = TenantId.make("any")

const rights: Readonly<Record<string, Mistake>> = {
  knowsNoTenants: overRows((rows) => ({
    answer: (_, key) => rows.answer(anyTenant, key),
    block: (_, id) => rows.block(anyTenant, id),
    isTaken: (_, owner, label) => rows.isTaken(anyTenant, owner, label),
    blocks: (_, by) => rows.blocks(anyTenant, by),
    snapshot: (_, id) => rows.snapshot(anyTenant, id),
    patches: (_, id, after) => rows.patches(anyTenant, id, after),
    versions: (_, id, before, limit) => rows.versions(anyTenant, id, before, limit),
    putAnswer: (_, key, answer) => rows.putAnswer(anyTenant, key, answer),
    putBlock: (_, block) => rows.putBlock(anyTenant, block),
    putVersion: (_, id, version, body, patch) => rows.putVersion(anyTenant, id, version, body, patch),
    putSnapshot: (_, id, bytes) => rows.putSnapshot(anyTenant, id, bytes),
    remove: (_, id) => rows.remove(anyTenant, id)
  })),
  showsAnybodyEverything: seenAs(({ shares }) => ({
    shares: [...shares, { with: EVERYBODY, permission: "ReadOnly" as const }]
  })),
  forgetsWhoWasGivenIt: seenAs(() => ({ shares: [] })),
  neverTakesBack: ({ configure }) => ({
    configure: (id, request, setting) =>
      setting.set === "unshare"
        ? configure(id, request, { set: "pinned", pinned: true })
        : configure(id, request, setting)
  }),
  givesToNobodyByName: ({ configure }) => ({
    configure: (id, request, setting) =>
      configure(id, request, setting.set === "share" ? { ...setting, with: EVERYBODY } : setting)
  }),
  givesToNamesAlone: overRows(({ blocks }) => ({
    blocks: (tenant, by) =>
      blocks(tenant, by).filter((body) => {
        const { owner, shares } = JSON.parse(body) as KeptBlock
        return by === undefined || owner === by || shares.some((share) => share.with === by)
      })
  })),
  listsTwice: ({ list }) => ({
    list: (viewer, filter) =>
      Effect.map(list(viewer, filter), (all) =>
        all.flatMap((block) => (viewer.by === "bob" && block.sharedFrom !== undefined ? [block, block] : [block]))
      )
  }),
  tellsWhomElse: toldAs(({ sharedFrom }) =>
    sharedFrom === undefined ? {} : { shares: [{ with: "bob", permission: "Append" as const }] }
  ),
  hidesTheOwner: ({ list }) => ({
    list: (viewer, filter) =>
      Effect.map(list(viewer, filter), (all) => all.map(({ sharedFrom: _, ...block }): BlockView => block))
  }),
  takesEverybodyForTheSystem: ({ change, delete: remove }) => ({
    change: (id, request, operation) => change(id, { ...request, isSystem: true }, operation),
    delete: (id, request) => remove(id, { ...request, isSystem: true })
  }),
  takesTheSystemForAnybody: ({ change }) => ({
    change: (id, request, operation) => change(id, { ...request, by: "ada", isSystem: false }, operation)
  }),
  allowsWhatTheShareAllows: overRows(({ block }) => ({
    block: (tenant, id) => {
      const body = block(tenant, id)
      return body === undefined
        ? undefined
        : edited(body, ({ permission, shares }) => ({ permission: shares[0]?.permission ?? permission }))
    }
  })),
  asksNobody: ({ change }) => ({
    change: (id, request, operation) => change(id, { ...request, hasConsent: true }, operation)
  }),
  asksAgain: ({ change }) => ({
    change: (id, request, operation) => change(id, { ...request, hasConsent: false }, operation)
  }),
  letsAnybodyDelete: ({ delete: remove }) => ({ delete: (id, request) => remove(id, { ...request, isSystem: true }) }),
  letsAnybodySet: ({ configure }) => ({
    configure: (id, request, setting) => configure(id, { ...request, isSystem: true }, setting)
  }),
  createsForAnybody: ({ create }) => ({ create: (draft, request) => create(draft, { ...request, isSystem: true }) }),
  takesALabelTwice: overRows(() => ({ isTaken: () => false })),
  knowsNoMarks: seenAs(({ schema }) =>
    schema.kind === "composite"
      ? {
          schema: {
            ...schema,
            sections: schema.sections.map(({ readOnly: _, ...section }) => ({
              ...section,
              schema:
                section.schema.kind === "map"
                  ? {
                      ...section.schema,
                      fields: section.schema.fields.map(({ readOnly: _read, ...field }) => field)
                    }
                  : section.schema
            }))
          }
        }
      : {}
  )
}

const keeping: Readonly<Record<string, Mistake>> = {
  listsInOrderOfWriting: (_, disk) => ({
    list: ({ isSystem, ...viewer }, filter) =>
      Effect.map(
        keepBlocks(memoryTransactions(disk)).list({ ...viewer, ...(isSystem === true ? { isSystem } : {}) }, filter),
        (all) => all.toSorted((a, b) => a.id.localeCompare(b.id))
      )
  }),
  listsAllTypes: ({ list }) => ({
    list: (viewer, filter = {}) => list(viewer, filter.owner === undefined ? {} : { owner: filter.owner })
  }),
  listsAllOwners: ({ list }) => ({
    list: (viewer, { types } = {}) => list(viewer, types === undefined ? {} : { types })
  }),
  forgetsTheDescription: toldAs(() => ({ description: "" })),
  pinsNothing: ({ create }) => ({ create: (draft, request) => create({ ...draft, pinned: false }, request) }),
  forgetsKeys: overRows(() => ({ answer: () => undefined, putAnswer: () => {} })),
  forgetsKeysOfTheGone: overRows(({ remove }, disk) => ({
    remove: (tenant, id) => {
      remove(tenant, id)
      disk.answers.clear()
    }
  })),
  remembersRefusals: (right) => {
    const refused = new Map<string, unknown>()
    return {
      change: (id, request, operation) =>
        Effect.suspend(() => {
          const before = refused.get(request.key)
          if (before !== undefined) return Effect.fail(before as never)
          return Effect.tapError(right.change(id, request, operation), (error) =>
            Effect.sync(() => refused.set(request.key, error))
          )
        })
    }
  },
  answersAnyChangeUnderAKey: ({ change, configure, create, delete: remove, undo }) => {
    const answered = new Map<string, unknown>()
    const onceOnly =
      <Args extends ReadonlyArray<unknown>, A, E>(
        keyOf: (...args: Args) => string,
        verb: (...args: Args) => Effect.Effect<A, E>
      ) =>
      (...args: Args): Effect.Effect<A, E> =>
        Effect.suspend(() => {
          const key = keyOf(...args)
          if (answered.has(key)) return Effect.succeed(answered.get(key) as A)
          return Effect.tap(verb(...args), (value) => Effect.sync(() => answered.set(key, value)))
        })
    return {
      change: onceOnly((_id, { key, tenant }) => `${tenant} ${key}`, change),
      configure: onceOnly((_id, { key, tenant }) => `${tenant} ${key}`, configure),
      create: onceOnly((_draft, { key, tenant }) => `${tenant} ${key}`, create),
      delete: onceOnly((_id, { key, tenant }) => `${tenant} ${key}`, remove),
      undo: onceOnly((_id, { key, tenant }) => `${tenant} ${key}`, undo)
    }
  },
  undoesEveryTime: ({ undo }) => {
    let count = 0
    return { undo: (id, request) => undo(id, { ...request, key: `${request.key} ${count++}` }) }
  },
  createsEveryTime: ({ create }) => {
    let count = 0
    return { create: (draft, request) => create(draft, { ...request, key: `${request.key} ${count++}` }) }
  },
  changesEveryTime: ({ change }) => {
    let count = 0
    return {
      change: (id, request, operation) => change(id, { ...request, key: `${request.key} ${count++}` }, operation)
    }
  },
  tellsVersionsForwards: ({ versions }) => ({
    versions: (viewer, id, page) => Effect.map(versions(viewer, id, page), (all) => all.toReversed())
  }),
  tellsAllVersions: ({ versions }) => ({ versions: (viewer, id) => versions(viewer, id, { limit: 1_000 }) }),
  forgetsWhy: ({ versions }) => ({
    versions: (viewer, id, page) =>
      Effect.map(versions(viewer, id, page), (all) => all.map(({ message: _, ...version }) => version))
  }),
  readsTheNewestOnly: ({ read }) => ({ read: (viewer, id) => read(viewer, id) }),
  forgetsWhatCameBeforeASnapshot: overRows(() => ({ snapshot: () => new Uint8Array() })),
  losesPatches: overRows(({ patches }) => ({ patches: (tenant, id, after) => patches(tenant, id, after).slice(1) })),
  undoesToTheBeginning: seenAs(({ past }) => ({ past: past.slice(0, 1) })),
  keepsRedoForEver: seenAs(({ future, past, version }) => ({
    future: future.length === 0 && past.length > 0 && version > 2 ? [version - 1] : future
  })),
  undoesForAnybody: ({ redo, undo }) => ({
    undo: (id, request) => undo(id, { ...request, isSystem: true }),
    redo: (id, request) => redo(id, { ...request, isSystem: true })
  }),
  overlaysWhatCameSince: ({ change }) => ({
    change: (id, { seen: _, ...request }, operation) => change(id, request, operation)
  }),
  losesInARace: ({ change }) => ({
    change: (id, request, operation) =>
      operation.op === "increment_counter" && request.by === "bob"
        ? Effect.map(change(id, request, { ...operation, by: 0 }), (done) => ({ ...done, changed: true }))
        : change(id, request, operation)
  }),
  knowsNoLimit: seenAs(() => ({ charLimit: 1_000_000 })),
  knowsNoMostItems: seenAs(({ schema }) => (schema.kind === "list" ? { schema: { kind: "list" } } : {})),
  dropsTheNewest: ({ change }) => ({
    change: (id, request, operation) =>
      change(id, request, operation.op === "insert_item" ? { ...operation, index: 99, op: "insert_item" } : operation)
  }),
  showsEveryEntry: seenAs(({ schema }) => (schema.kind === "log" ? { schema: { ...schema, displayLimit: 100 } } : {})),
  keepsOnlyWhatIsShown: ({ read }) => ({
    read: (viewer, id, version) =>
      Effect.map(read(viewer, id, version), (reading) => ({
        ...reading,
        content: Array.isArray(reading.content) ? reading.content.slice(0, 2) : reading.content
      }))
  }),
  writesLogsOver: seenAs(({ type }) => (type === "log" ? { type: "working" } : {})),
  damagesText: ({ read }) => ({ read: (viewer, id, version) => Effect.map(read(viewer, id, version), throughUtf8) }),
  sortsMembers: ({ read }) => ({
    read: (viewer, id, version) =>
      Effect.map(read(viewer, id, version), (reading) => ({
        ...reading,
        content: JSON.parse(
          JSON.stringify(reading.content, (_, value: unknown) =>
            typeof value === "object" && value !== null && !Array.isArray(value)
              ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
              : value
          )
        ) as typeof reading.content
      }))
  }),
  hidesInsteadOfDeleting: ({ list, load, delete: remove }) => {
    const hidden = new Set<string>()
    return {
      delete: (id, request) =>
        Effect.gen(function* () {
          const block = yield* load(request, id)
          if (block?.access.delete !== "allowed") return yield* remove(id, request)
          hidden.add(id)
          return { block: id, version: block.version, changed: true, dropped: 0 }
        }),
      load: (viewer, id) => (hidden.has(id) ? Effect.succeed(undefined) : load(viewer, id)),
      list: (viewer, filter) => Effect.map(list(viewer, filter), (all) => all.filter((block) => !hidden.has(block.id)))
    }
  }
}

/** Stores that tell listeners wrongly. */
const telling: Readonly<Record<string, Mistake>> = {
  tellsNobody: () => ({ subscribe: () => () => {} }),
  tellsForEver: ({ subscribe }) => ({
    subscribe: (tenant, listener) => {
      subscribe(tenant, listener)
      return () => {}
    }
  }),
  tellsEveryTenant: (right) => {
    const listeners = new Set<Parameters<Store["subscribe"]>[1]>()
    const told = right.subscribe
    const tenants = new Set<string>()
    return {
      create: (draft, request) => {
        if (!tenants.has(request.tenant)) {
          tenants.add(request.tenant)
          told(request.tenant, (kept) => {
            for (const listener of listeners) listener(kept)
          })
        }
        return right.create(draft, request)
      },
      subscribe: (_tenant, listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      }
    }
  },
  tellsBeforeItKeeps: (right) => {
    const listeners = new Set<Parameters<Store["subscribe"]>[1]>()
    return {
      change: (id, request, operation) => {
        const kept = { block: id, version: 2, what: "change", by: request.by, at: request.at } as const
        for (const listener of listeners) {
          try {
            listener(kept)
          } catch {
            continue
          }
        }
        return Effect.andThen(Effect.yieldNow, right.change(id, request, operation))
      },
      subscribe: (_tenant, listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      }
    }
  },
  oneListenerStopsTheOthers: (right) => {
    const listeners: Array<Parameters<Store["subscribe"]>[1]> = []
    return {
      subscribe: (tenant, listener) => {
        listeners.push(listener)
        return listeners.length > 1
          ? () => {}
          : right.subscribe(tenant, (kept) => {
              for (const each of listeners) each(kept)
            })
      }
    }
  }
}

export const blockStoreMutants: Readonly<Record<string, FreshLayer<BlockStore>>> = Object.fromEntries(
  Object.entries({ ...rights, ...keeping, ...telling }).map(([name, mistake]) => [
    name,
    () => {
      const disk = blockDisk()
      const right = keepBlocks(memoryTransactions(disk))
      return Layer.succeed(BlockStore, { ...right, ...mistake(right, disk) })
    }
  ])
)
