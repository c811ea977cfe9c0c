// BundleSteps: a life with one of everything in it, what its data store tells of it, and the way from data store to data store.
// Owns these. Leaves every assertion to the laws.

import * as assert from "node:assert/strict"
import { PromptStore } from "@reverie/context"
import {
  Allowance,
  digestOf,
  isHead,
  Ledger,
  type Bundle,
  type BundleHead,
  BundleRefused,
  Bundles,
  type LimitChanges
} from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { BlockStore } from "@reverie/memory"
import { type Address, addressKey, type Claim, type Entry, LANES, recordKinds, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { aJob, aMessage, anAddress, anEnvelope } from "../fixtures.ts"
import { DataStores, inDataStore } from "../data-store.ts"
import {
  burying,
  claimBy,
  commitOn,
  give,
  handling,
  hostileTexts,
  inLane,
  LEASE_MILLIS,
  pendingOf,
  send,
  startingWith
} from "./steps.ts"

export const harbor = TenantId.make("harbor")
export const pier = TenantId.make("pier")
export const mover = anAddress("ada", "harbor")
export const neighbour = anAddress("bob", "harbor")
/** The same name in another tenant. */
export const namesake = anAddress("ada", "pier")

const write = (claim: Claim, version: number, entry: Partial<Entry>, state: Parameters<typeof commitOn>[2] = {}) =>
  commitOn(claim, version, { entry: { ...entry, no: version + 1 }, ...state })

const mailFor = (address: Address) => [
  ...["m-1", "m-2", "m-3", "m-4"].map((id) => inLane.mail(id, address)),
  ...["r-1", "r-2"].map((id) => inLane.reply(id, address)),
  inLane.control("c-1", address),
  ...hostileTexts.map((text, index) =>
    anEnvelope({ id: `hostile ${index} ${text}`, to: address, event: { type: "message", text } })
  )
]

/** What a model call used. */
const using = (model: string, inputTokens: number): Pick<Entry, "step"> => ({
  step: {
    id: "1/infer",
    kind: "infer",
    name: "infer",
    ok: true,
    elapsedMs: 1,
    spent: [
      {
        model,
        calls: 1,
        inputTokens,
        cachedTokens: 1,
        outputTokens: 2,
        reasoningTokens: 1,
        costMicros: 3,
        unpricedCalls: 0
      }
    ]
  }
})

const textsIn = (address: Address, no: number) =>
  hostileTexts.map((text, index) => aMessage(text, { at: no * 100 + index, name: `${address.assistant} ${text}` }))

/** What an assistant keeps beside its mail and its ledger: three blocks, one of them deleted. */
const blocksOf = (address: Address, reader: string) =>
  Effect.gen(function* () {
    const store = yield* BlockStore
    const viewer = { tenant: address.tenant, by: "tester", isSystem: true, at: 7 }
    const owner = address.assistant
    const made: Array<string> = []
    for (const label of ["persona", "notes", "gone"]) {
      const draft = { owner, label, type: "core" as const, content: `${label} of ${address.tenant}` }
      const { block } = yield* store.create(draft, { ...viewer, key: `${owner}-${label}` })
      made.push(block)
    }
    const [persona = "", notes = "", gone = ""] = made
    for (const [index, text] of ["first\u0000", "second \u{1f469}", "third"].entries()) {
      yield* store.change(persona, { ...viewer, key: `${owner}-set-${index}` }, { op: "set_text", text })
    }
    yield* store.undo(persona, { ...viewer, key: `${owner}-undo` })
    yield* store.configure(
      notes,
      { ...viewer, key: `${owner}-share` },
      { set: "share", with: reader, permission: "ReadOnly" }
    )
    yield* store.delete(gone, { ...viewer, key: `${owner}-delete` })
  })

/** The key of one record of each kind. */
export const EVERY = "every"

/** Bytes that a message and an entry of a life refer to, and others that nothing does. */
export const blobsOf = (address: Address): ReadonlyArray<Uint8Array> =>
  ["mail", "entry", "nothing"].map((place) =>
    Uint8Array.from([0, 255, 128, ...Buffer.from(addressKey(address) + place)])
  )

const partOf = (bytes: Uint8Array) =>
  ({ type: "file", digest: digestOf(bytes), mediaType: "application/pdf", bytes: bytes.length }) as const

/** A life with everything in it that a store can keep; answers the claim under which it was led. */
export const live = (address: Address, friend: Address) =>
  Effect.gen(function* () {
    yield* give(address, { snapshot: { created: address.tenant } })
    const blobs = blobsOf(address)
    const [inMail, inEntry] = blobs.map(partOf)
    assert.ok(inMail && inEntry)
    yield* Ledger.use((ledger) => ledger.blobs.keep(address.tenant, blobs))
    for (const envelope of mailFor(address)) yield* send(envelope)
    yield* send(anEnvelope({ id: "with a part", to: address, event: { type: "message", text: "", parts: [inMail] } }))
    const { claim } = yield* claimBy("worker-1", address)
    const [first] = yield* pendingOf(address, ["mail"])
    assert.ok(first)
    const sends = ["s-1", "s-2"].map((id) =>
      anEnvelope({ id: `${address.tenant} ${id}`, to: friend, from: `assistant:${address.assistant}` })
    )
    const records = [
      { kind: "goal" as const, key: "z\u0000", value: { open: true, texts: hostileTexts } },
      { kind: "goal" as const, key: "a", value: "of no importance" },
      { kind: "fact" as const, key: "f/1", value: { says: address.tenant } },
      ...recordKinds.map((kind) => ({ kind, key: EVERY, value: { of: kind, by: address.tenant } }))
    ]
    yield* write(claim, 1, {
      ...startingWith(first),
      messages: textsIn(address, 2),
      records,
      sends,
      ...using("small", 10)
    })
    yield* write(claim, 2, {
      cause: { kind: "job", id: "1/infer" },
      settled: [{ id: first.id, outcome: "handled" }],
      records: [{ kind: "goal", key: "a", value: null }],
      ...using("small", 11)
    })
    const [second] = yield* pendingOf(address, ["mail"])
    assert.ok(second)
    yield* write(claim, 3, burying(second, "poison \u0000"))
    const [reply] = yield* pendingOf(address, ["reply"])
    assert.ok(reply)
    const state = {
      snapshot: { texts: hostileTexts, deep: [[[{ n: 1e21, m: -0.5 }]]] },
      jobs: [aJob()],
      timers: [{ name: "tea", dueAt: 4_000_000_000_000, event: { type: "timer", name: "tea" } }],
      receives: ["control" as const, "mail" as const],
      status: "awake.acting"
    }
    yield* write(
      claim,
      4,
      { ...handling(reply), messages: [aMessage("done", { role: "assistant", parts: [inEntry] })] },
      { state }
    )
    yield* blocksOf(address, friend.assistant)
    return claim
  })

export const limit = (tenant: TenantId, changes: LimitChanges) =>
  Allowance.use((allowance) => allowance.limit(tenant, changes))

export const limitsOf = (tenant: TenantId) => Allowance.use((allowance) => allowance.limits(tenant))

/** Limits of a tenant, and prompts: one with two versions, one that was taken away. */
export const furnish = (tenant: TenantId) =>
  Effect.gen(function* () {
    const store = yield* PromptStore
    const line = { kind: "template" as const, key: "greeting" }
    yield* store.append(tenant, [{ ...line, expected: 0, body: { text: `one of ${tenant}` } }])
    yield* store.append(tenant, [{ ...line, expected: 1, body: { text: hostileTexts.join(" ") }, restores: 1 }])
    yield* store.append(tenant, [{ kind: "component", key: "gone", expected: 0, body: 1 }])
    yield* store.append(tenant, [{ kind: "component", key: "gone", expected: 1, body: null }])
    yield* limit(tenant, { callsPerDay: 7, costMicrosPerMinute: 0 })
  })

const openSendsOf = (ledger: Ledger["Service"], { assistant, tenant }: Address) =>
  Effect.map(ledger.openSends(1_000), (sends) =>
    sends
      .map(({ envelope }) => envelope)
      .filter(({ from, to }) => from === `assistant:${assistant}` && to.tenant === tenant)
  )

const blocksTold = (tenant: TenantId, owner?: string) =>
  Effect.gen(function* () {
    const store = yield* BlockStore
    const viewer = { tenant, by: "tester", isSystem: true }
    const blocks = yield* store.list(viewer, owner === undefined ? {} : { owner })
    return yield* Effect.forEach(blocks, (block) =>
      Effect.gen(function* () {
        const versions = yield* store.versions(viewer, block.id)
        const readings = yield* Effect.forEach(versions, ({ version }) => store.read(viewer, block.id, version))
        return { block, versions, readings, newest: yield* store.read(viewer, block.id) }
      })
    )
  })

/** Everything that the ports tell of an assistant, but for the numbers that a data store gives out for all. */
export const toldOf = (address: Address) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const mailbox = yield* Mailbox
    const record = yield* ledger.inspect(address)
    const { assistant, tenant } = address
    return {
      record: record === undefined ? undefined : [record.address, record.state, record.version, record.waiting],
      entries: (yield* ledger.entries(address, 1, 1_000)).map(({ entry }) => entry),
      outbox: (yield* ledger.outbox(0, 10_000))
        .filter((row) => row.address.assistant === assistant && row.address.tenant === tenant)
        .map(({ entry }) => entry),
      recent: yield* ledger.recent(address, 1_000_000),
      usage: yield* ledger.usage({ ...address, by: ["hour", "model", "purpose"], limit: 1_000 }),
      records: yield* ledger.records(address, recordKinds),
      sends: yield* openSendsOf(ledger, address),
      deadLetters: (yield* ledger.deadLetters(1_000)).filter(
        (letter) => letter.address.assistant === assistant && letter.address.tenant === tenant
      ),
      pending: yield* Effect.forEach(LANES, (lane) =>
        Effect.map(mailbox.pending(address, [lane], 64), (rows) => rows.map(({ seq: _, ...row }) => row))
      ),
      blocks: yield* blocksTold(tenant, assistant),
      blobs: yield* Effect.forEach(blobsOf(address).slice(0, 2), (bytes) => ledger.blobs.read(tenant, digestOf(bytes)))
    }
  })

export const toldOfTenant = (tenant: TenantId) =>
  Effect.gen(function* () {
    const prompts = yield* PromptStore
    const page = { limit: 100 }
    return {
      limits: yield* limitsOf(tenant),
      templates: yield* prompts.current(tenant, "template"),
      components: yield* prompts.current(tenant, "component"),
      greeting: yield* prompts.history(tenant, { kind: "template", key: "greeting" }, page),
      gone: yield* prompts.history(tenant, { kind: "component", key: "gone" }, page)
    }
  })

const bundleOf = (parts: ReadonlyArray<Bundle["parts"][number]>): Bundle => {
  const [head, ...rest] = parts
  assert.ok(head !== undefined && isHead(head), "a bundle begins with its head")
  return { head: head satisfies BundleHead, parts: rest }
}

export const packed = (address: Address) =>
  Effect.map(
    Bundles.use((bundles) => Stream.runCollect(bundles.pack(address))),
    bundleOf
  )

export const packedTenant = (tenant: TenantId) =>
  Effect.map(
    Bundles.use((bundles) => Stream.runCollect(bundles.packTenant(tenant))),
    bundleOf
  )

export const unpack = (bundle: Bundle, isTrial = false) => Bundles.use((bundles) => bundles.unpack(bundle, { isTrial }))

export const admit = (...addresses: ReadonlyArray<Address>) => Bundles.use((bundles) => bundles.admit(addresses))

/** Claims what is free, and answers how far it got. */
export const claimAs = (worker: string, address: Address) =>
  Mailbox.use((mailbox) => Effect.result(mailbox.claim({ address, worker, leaseMillis: LEASE_MILLIS })))

/** An old data store in which three live, and an empty one. */
export const twoDataStores = Effect.gen(function* () {
  const { build } = yield* DataStores
  const [old, fresh] = [yield* build, yield* build]
  const claim = yield* inDataStore(old)(
    Effect.gen(function* () {
      yield* live(neighbour, mover)
      yield* live(namesake, anAddress("cleo", "pier"))
      return yield* live(mover, neighbour)
    })
  )
  return { old: inDataStore(old), fresh: inDataStore(fresh), claim }
})

export const refusedAs = <A, E>(outcome: Result.Result<A, E>, reason: BundleRefused["reason"]): BundleRefused => {
  assert.ok(Result.isFailure(outcome), "someone moved in who had to be refused")
  const error: unknown = outcome.failure
  assert.ok(error instanceof BundleRefused, `it failed otherwise: ${String(error)}`)
  assert.equal(error.reason, reason)
  return error
}

export const everything = (...addresses: ReadonlyArray<Address>) =>
  Effect.all([
    Effect.forEach(addresses, toldOf),
    toldOfTenant(harbor),
    toldOfTenant(pier),
    Ledger.use((ledger) => ledger.totals)
  ])
