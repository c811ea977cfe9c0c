// Block rights laws: who sees a block, and who may do what to it (memory K1).

import * as assert from "node:assert/strict"
import { type BlockPermission, blockPermissions, BlockStore, type BlockViewer } from "@reverie/memory"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Law } from "../law.ts"
import { whoSeesWhat } from "./block-fuzz.ts"
import {
  append,
  as,
  change,
  configure,
  system,
  list,
  load,
  make,
  push,
  read,
  redo,
  refusalOf,
  remove,
  request,
  set,
  share,
  textOf,
  tower,
  undo
} from "./block-steps.ts"

/** Everything that can be asked about one block: each must say that there is none. */
const sees = (viewer: BlockViewer, id: string) =>
  Effect.gen(function* () {
    assert.equal(yield* load(viewer, id), undefined)
    const ids = (yield* list(viewer)).map((block) => block.id)
    assert.ok(!ids.includes(id), "it is listed")
    const attempts: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }, BlockStore>> = [
      read(id, undefined, viewer),
      read(id, 1, viewer),
      BlockStore.use((store) => store.versions(viewer, id)),
      change(viewer, id, append("mine now")),
      undo(viewer, id),
      redo(viewer, id),
      configure(viewer, id, { set: "share", with: viewer.by, permission: "Admin" }),
      configure(viewer, id, { set: "pinned", pinned: true }),
      remove(viewer, id)
    ]
    for (const attempt of attempts) assert.equal(yield* refusalOf(attempt), "BlockUnknown")
  })

const hidden: ReadonlyArray<Law<BlockStore>> = [
  {
    id: "K1.tenant",
    says: "another tenant's block is not there: not for its namesake, not for the system",
    check: Effect.gen(function* () {
      const id = yield* make({ permission: "Admin", content: "of the harbor" })
      yield* share(id, "*", "Admin")
      yield* sees(as("ada", { tenant: tower }), id)
      yield* sees(as("system", { tenant: tower, isSystem: true }), id)
      const other = yield* make({ content: "of the tower" }, { tenant: tower })
      assert.notEqual(other, id)
      assert.equal((yield* load(as("ada", { tenant: tower }), other))?.text, "of the tower")
      assert.equal((yield* load(as("ada"), id))?.text, "of the harbor")
    })
  },
  {
    id: "K1.private",
    says: "an assistant does not see the block of another one that did not give it",
    check: Effect.gen(function* () {
      const id = yield* make({ permission: "Admin", content: "ada's own" })
      yield* share(id, "cora", "Admin")
      yield* sees(as("bob"), id)
      yield* sees(as("ad"), id)
      yield* sees(as("ADA"), id)
    })
  },
  {
    id: "K1.given",
    says: "anyone who was given a block sees it with its owner's name until it is taken back",
    check: Effect.gen(function* () {
      const id = yield* make({ content: "ours" })
      yield* make({ owner: "bob", label: "zebra", content: "bob's" })
      yield* share(id, "bob", "Append")
      const [own, given] = yield* list(as("bob"))
      assert.deepEqual([own?.label, own?.sharedFrom], ["zebra", undefined])
      assert.deepEqual([given?.id, given?.sharedFrom, given?.permission, given?.text], [id, "ada", "Append", "ours"])
      assert.deepEqual(given?.shares, [])
      yield* change("bob", id, append(" both"))
      assert.equal(yield* textOf(id), "ours both")
      assert.deepEqual((yield* load(as("ada"), id))?.shares, [{ with: "bob", permission: "Append" }])
      yield* configure("ada", id, { set: "unshare", with: "bob" })
      yield* sees(as("bob"), id)
    })
  },
  {
    id: "K1.everybody",
    says: "what everybody was given each assistant of the tenant sees once, those who were given it by name too",
    check: Effect.gen(function* () {
      const id = yield* make({ content: "for all" })
      yield* share(id, "*", "ReadOnly")
      yield* share(id, "bob", "ReadWrite")
      assert.deepEqual(
        (yield* list(as("bob"))).map((block) => [block.id, block.permission]),
        [[id, "ReadWrite"]]
      )
      assert.deepEqual(
        (yield* list(as("cora"))).map((block) => [block.id, block.permission]),
        [[id, "ReadOnly"]]
      )
      assert.deepEqual(
        (yield* list(as("ada"))).map((block) => [block.id, block.permission]),
        [[id, "ReadWrite"]]
      )
    })
  },
  {
    id: "K1.fuzz",
    says: "whatever is done by whom in whatever order, no one is shown a word of a block that is not his to see",
    check: whoSeesWhat
  }
]

/** What becomes of appending, overwriting and deleting under each permission. */
const matrix: Readonly<Record<BlockPermission, readonly [string, string, string]>> = {
  ReadOnly: ["BlockRefused permission", "BlockRefused permission", "BlockRefused permission"],
  Partner: ["ConsentNeeded partner", "ConsentNeeded partner", "BlockRefused permission"],
  Human: ["ConsentNeeded human", "ConsentNeeded human", "BlockRefused permission"],
  Append: ["done", "BlockRefused permission", "BlockRefused permission"],
  ReadWrite: ["done", "done", "BlockRefused permission"],
  Admin: ["done", "done", "done"]
}

const told = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const outcome = yield* Effect.result(effect)
    if (Result.isSuccess(outcome)) return "done"
    const error = outcome.failure
    return `${error._tag} ${"reason" in error ? String(error.reason) : "from" in error ? String(error.from) : ""}`
  })

const allowed: ReadonlyArray<Law<BlockStore>> = [
  {
    id: "K1.permission",
    says: "F90: each permission allows an owner to append, overwrite and delete as the matrix says",
    check: Effect.gen(function* () {
      for (const permission of blockPermissions) {
        const id = yield* make({ label: permission, permission, content: "first" })
        const [appends, overwrites, deletes] = matrix[permission]
        assert.equal(yield* told(change("ada", id, append(" a"))), appends, `${permission} append`)
        assert.equal(yield* told(change("ada", id, set("b"))), overwrites, `${permission} overwrite`)
        assert.equal(yield* told(remove("ada", id)), deletes, `${permission} delete`)
        const text = { ReadWrite: "b", Append: "first a", Admin: undefined }[permission as string] ?? "first"
        assert.equal(yield* textOf(id), permission === "Admin" ? undefined : text)
      }
    })
  },
  {
    id: "K1.lesser",
    says: "A33: a share allows no more than the block, and the block no more than the share",
    check: Effect.gen(function* () {
      const admin = yield* make({ label: "admin", permission: "Admin", content: "x" })
      yield* share(admin, "bob", "Append")
      assert.equal(yield* refusalOf(change("bob", admin, set("y"))), "BlockRefused permission")
      yield* change("bob", admin, append("y"))
      const closed = yield* make({ label: "closed", permission: "ReadOnly", content: "x" })
      yield* share(closed, "bob", "Admin")
      assert.equal(yield* refusalOf(change("bob", closed, append("y"))), "BlockRefused permission")
      assert.equal(yield* refusalOf(remove("bob", closed)), "BlockRefused permission")
      const asked = yield* make({ label: "asked", permission: "Human", content: "x" })
      yield* share(asked, "bob", "Append")
      assert.equal(yield* refusalOf(change("bob", asked, append("y"))), "ConsentNeeded human")
      assert.equal(yield* refusalOf(change("bob", asked, set("y"))), "BlockRefused permission")
      assert.deepEqual(
        (yield* list(as("bob"))).map(({ access, permission }) => [permission, access.append, access.overwrite]),
        [
          ["Append", "allowed", "refused"],
          ["Human", "human", "refused"],
          ["ReadOnly", "refused", "refused"]
        ]
      )
    })
  },
  {
    id: "K1.consent",
    says: "with the consent it needs a change is made, and consent opens nothing that is closed",
    check: Effect.gen(function* () {
      const asked = yield* make({ label: "asked", permission: "Partner", content: "x" })
      yield* change("ada", asked, append("y"), { hasConsent: true })
      assert.equal(yield* textOf(asked), "xy")
      assert.equal(yield* refusalOf(remove("ada", asked, { hasConsent: true })), "BlockRefused permission")
      const closed = yield* make({ label: "closed", permission: "ReadOnly", content: "x" })
      const attempt = change("ada", closed, append("y"), { hasConsent: true })
      assert.equal(yield* refusalOf(attempt), "BlockRefused permission")
    })
  },
  {
    id: "K1.system",
    says: "F91: permissions do not bind the system",
    check: Effect.gen(function* () {
      for (const permission of blockPermissions) {
        const id = yield* make({ label: permission, permission, content: "x" })
        yield* change(system, id, set("y"))
        assert.equal(yield* textOf(id), "y")
        yield* remove(system, id)
      }
    })
  },
  {
    id: "K1.settings",
    says: "only the owner makes settings, and what says who may do what only the system",
    check: Effect.gen(function* () {
      const id = yield* make({ permission: "Admin", content: "x" })
      yield* share(id, "bob", "Admin")
      const byBob = [
        configure("bob", id, { set: "share", with: "cora", permission: "Admin" }),
        configure("bob", id, { set: "unshare", with: "bob" }),
        configure("bob", id, { set: "pinned", pinned: true }),
        configure("bob", id, { set: "type", type: "archival" })
      ]
      for (const attempt of byBob) assert.equal(yield* refusalOf(attempt), "BlockRefused setting")
      const byAda = [
        configure("ada", id, { set: "permission", permission: "Admin" }),
        configure("ada", id, { set: "charLimit", charLimit: 9_999 }),
        configure("ada", id, { set: "schema", schema: { kind: "text" } }),
        configure("ada", id, { set: "type", type: "core" })
      ]
      for (const attempt of byAda) assert.equal(yield* refusalOf(attempt), "BlockRefused setting")
      yield* configure("ada", id, { set: "pinned", pinned: true })
      assert.equal((yield* load(as("ada"), id))?.pinned, true)
      yield* configure("ada", id, { set: "type", type: "archival" })
      yield* configure(system, id, { set: "permission", permission: "ReadOnly" })
      const after = yield* load(as("ada"), id)
      assert.deepEqual([after?.type, after?.pinned, after?.permission], ["archival", false, "ReadOnly"])
    })
  },
  {
    id: "K1.creation",
    says: "an assistant makes blocks for itself alone, and no two of its blocks have the same label",
    check: Effect.gen(function* () {
      const store = yield* BlockStore
      const draft = { owner: "ada", label: "notes", type: "working" as const }
      assert.equal(yield* refusalOf(store.create(draft, yield* request("bob"))), "BlockRefused setting")
      yield* store.create(draft, yield* request("ada"))
      assert.equal(yield* refusalOf(store.create(draft, yield* request("ada"))), "BlockRefused label-taken")
      yield* store.create({ ...draft, owner: "bob" }, yield* request("bob"))
      assert.deepEqual(
        (yield* list(system)).map(({ label, owner }) => [owner, label]),
        [
          ["ada", "notes"],
          ["bob", "notes"]
        ]
      )
    })
  },
  {
    id: "K1.marks",
    says: "F101: what is marked read-only the system changes and no one else, whatever his permission",
    check: Effect.gen(function* () {
      const id = yield* make({
        permission: "Admin",
        schema: {
          kind: "composite",
          sections: [
            {
              name: "state",
              schema: {
                kind: "map",
                fields: [
                  { name: "status", type: "text", readOnly: true },
                  { name: "mood", type: "text" }
                ]
              }
            },
            { name: "diagnostics", readOnly: true, schema: { kind: "list" } }
          ]
        }
      })
      const status = { op: "set_field", field: "status", value: "active", section: "state" } as const
      const finding = { ...push("a leak"), section: "diagnostics" } as const
      assert.equal(yield* refusalOf(change("ada", id, status, { hasConsent: true })), "BlockRefused read-only")
      assert.equal(yield* refusalOf(change("ada", id, finding)), "BlockRefused read-only")
      yield* change(system, id, status)
      yield* change(system, id, finding)
      yield* change("ada", id, { ...status, field: "mood", value: "calm" })
      const text = "=== state ===\nstatus [read-only]: active\nmood: calm\n=== diagnostics [read-only] ===\n1. a leak"
      assert.equal(yield* textOf(id), text)
    })
  }
]

export const blockRightsLaws: ReadonlyArray<Law<BlockStore>> = [...hidden, ...allowed]
