// MemoryBundles: moving between data stores over the disks of the stores in memory.
// Owns gathering a life from the rows and putting it down, each without a pause in it. Keeps nothing itself.

import {
  type AssistantHead,
  type BlockRows,
  bundleOfParts,
  byOwner,
  bytesOf,
  judgeBundle,
  type MoveMark,
  type BundlePlace,
  droppedDigests,
  nobodyAt,
  occupiedBy,
  rewritten,
  type Bundle,
  type BundleHead,
  type BundlePart,
  Bundles,
  lifeParts,
  tenantOf,
  limitChangesOf,
  tenantParts,
  textOf
} from "@reverie/ledger"
import {
  addressKey,
  type AssistantState,
  type Entry,
  type Envelope,
  type Json,
  LANES,
  type RecordRow,
  type TenantId,
  usageOf
} from "@reverie/protocol"
import type { PromptVersion } from "@reverie/context"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type BlockDisk, blockDisk } from "./memory-block-store.ts"
import {
  appendMail,
  aResident,
  copy,
  type DeadLetteredRow,
  fileEntry,
  type MemoryDisk,
  type Resident
} from "./memory-disk.ts"
import { blobName } from "./memory-ledger.ts"
import { type PromptDisk, promptsOf } from "./memory-prompt-store.ts"
import { type AllowanceDisk, changeLimits, limitedIn, limitsIn } from "./memory-allowance.ts"

/** Everything that one data store keeps. */
export interface MemoryDataStore {
  readonly disk: MemoryDisk
  readonly blocks: BlockDisk
  readonly prompts: PromptDisk
  readonly purses: AllowanceDisk
  mark: MoveMark | undefined
}

export const memoryDataStore = (disk: MemoryDisk, blocks: BlockDisk = blockDisk(), prompts: PromptDisk = new Map()) =>
  ({ disk, blocks, prompts, purses: new Map(), mark: undefined }) as MemoryDataStore

const MOVER = "bundle"
const FOR_EVER = Number.MAX_SAFE_INTEGER

/** Whose rows stay only because they are counted. */
const NOBODY = { tenant: "", assistant: "" } as unknown as Resident["address"]
const emptyLetter: DeadLetteredRow = {
  address: NOBODY,
  envelope: "" as Envelope["id"],
  reason: "",
  at: 0,
  discarded: true
}

const splitName = (name: string): readonly [string, string] => JSON.parse(name) as readonly [string, string]

/** Blocks of a tenant. */
const blocksOf = ({ blocks }: MemoryDataStore, tenant: TenantId): ReadonlyArray<BlockRows> =>
  [...blocks.blocks]
    .filter(([name]) => splitName(name)[0] === tenant)
    .map(([name, row]) => ({
      ...row,
      id: splitName(name)[1],
      versions: blocks.versions.get(name) ?? [],
      snapshot: blocks.snapshots.get(name)
    }))

const answersOf = ({ blocks }: MemoryDataStore, tenant: TenantId) =>
  [...blocks.answers]
    .map(([name, answer]) => ({ tenant: splitName(name)[0], key: splitName(name)[1], answer }))
    .filter((row) => row.tenant === tenant)

const lifeOf = (dataStore: MemoryDataStore, resident: Resident): Bundle => {
  const { address, cursors, entries, epoch, mail, records, state, version } = resident
  const { assistant, tenant } = address
  const handled = { control: cursors.control, reply: cursors.reply, mail: cursors.mail }
  const head: AssistantHead = { kind: "assistant", address: { tenant, assistant }, epoch, version, handled, state }
  return bundleOfParts(
    lifeParts({
      head: copy(head),
      mail: LANES.flatMap((lane) =>
        mail[lane].map(({ acceptedAt, envelope, id }) => ({ lane, id, acceptedAt, body: textOf(envelope as Json) }))
      ),
      entries: entries.map(({ entry }) => ({ body: JSON.stringify(entry) })),
      records: [...records.values()].map(({ key, kind, value }) => ({ kind, key, body: JSON.stringify(value) })),
      sends: [...dataStore.disk.sends.values()].map(({ envelope }) => ({ body: JSON.stringify(envelope) })),
      deadLetters: dataStore.disk.deadLetters
        .filter((letter) => addressKey(letter.address) === addressKey(address))
        .map(({ address: _, discarded = false, ...letter }) => ({
          body: JSON.stringify(letter),
          isDiscarded: discarded
        })),
      blocks: blocksOf(dataStore, tenant).filter(({ owner }) => owner === assistant),
      answers: answersOf(dataStore, tenant),
      blob: (digest) => dataStore.disk.blobs.get(blobName(tenant, digest))
    })
  )
}

const tenantOfStore = (dataStore: MemoryDataStore, tenant: TenantId): Bundle => {
  const living = new Set(
    [...dataStore.disk.residents.values()].flatMap(({ address }) =>
      address.tenant === tenant ? [address.assistant as string] : []
    )
  )
  const { others, owned } = byOwner(living, blocksOf(dataStore, tenant))
  const answers = answersOf(dataStore, tenant)
  const prompts = promptsOf(dataStore.prompts, tenant)
  const limits = limitsIn(dataStore.purses, tenant)
  return bundleOfParts(tenantParts({ tenant, living, owned, blocks: others, answers, prompts, limits }))
}

/** What a bundle would be laid over; undefined when its place is empty. */
const obstacleOf = (
  dataStore: MemoryDataStore,
  tenant: TenantId,
  parts: ReadonlyArray<BundlePart>
): string | undefined => {
  for (const part of parts) {
    if (part.kind === "block") {
      if (dataStore.blocks.blocks.has(JSON.stringify([tenant, part.id]))) return `block ${part.id}`
      if (blocksOf(dataStore, tenant).some(({ label, owner }) => owner === part.owner && label === part.label)) {
        return `a block ${part.label} of ${part.owner}`
      }
    } else if (part.kind === "block-answer") {
      const before = dataStore.blocks.answers.get(JSON.stringify([tenant, part.key]))
      if (before !== undefined && before !== JSON.stringify(part.answer)) return `an answer under ${part.key}`
    }
  }
  return undefined
}

const putDown = (dataStore: MemoryDataStore, tenant: TenantId, parts: ReadonlyArray<BundlePart>): void => {
  const { answers, blocks, snapshots, versions } = dataStore.blocks
  changeLimits(dataStore.purses, tenant, limitChangesOf(parts))
  for (const part of parts) {
    if (part.kind === "block") {
      const { body, id, label, owner, readers } = part
      blocks.set(JSON.stringify([tenant, id]), { owner, label, readers, body: JSON.stringify(body) })
    } else if (part.kind === "block-version") {
      const name = JSON.stringify([tenant, part.block])
      const version = { body: JSON.stringify(part.body), patch: bytesOf(part.patch) }
      versions.set(name, [...(versions.get(name) ?? []), version])
    } else if (part.kind === "block-snapshot") {
      snapshots.set(JSON.stringify([tenant, part.block]), bytesOf(part.bytes))
    } else if (part.kind === "blob") {
      dataStore.disk.blobs.set(blobName(tenant, part.digest), bytesOf(part.bytes))
    } else if (part.kind === "block-answer") {
      answers.set(JSON.stringify([tenant, part.key]), JSON.stringify(part.answer))
    } else if (part.kind === "prompt") {
      const { kind: _, of, ...rest } = part
      const name = JSON.stringify([tenant, of, part.key])
      const version = copy({ kind: of, ...rest }) as PromptVersion
      dataStore.prompts.set(name, [...(dataStore.prompts.get(name) ?? []), version])
    }
  }
}

const moveIn = (
  { disk }: MemoryDataStore,
  head: AssistantHead,
  parts: ReadonlyArray<BundlePart>,
  now: number
): void => {
  const resident = aResident(head.address, head.state as unknown as AssistantState, now)
  disk.residents.set(addressKey(head.address), resident)
  resident.epoch = head.epoch + 1
  resident.lease = { worker: MOVER, until: FOR_EVER }
  resident.version = head.version
  resident.cursors = { ...head.handled }
  for (const part of parts) {
    if (part.kind === "envelope") {
      const { acceptedAt, body, id, lane } = part
      const envelope = typeof body === "string" ? body : (copy(body) as unknown as Envelope)
      appendMail(disk, resident, { id: id as Envelope["id"], lane, acceptedAt, envelope })
    } else if (part.kind === "entry") {
      // What it sent and dead letters with it comes in parts of its own.
      const entry = copy(part.entry) as unknown as Entry
      const { records: _r, sends: _s, settled = [], ...rest } = entry
      fileEntry(disk, resident, { ...rest, settled: settled.filter(({ outcome }) => outcome !== "dead") } as Entry)
      const row = { ...resident.entries.at(-1)!, entry }
      resident.entries[resident.entries.length - 1] = row
      disk.outbox[disk.outbox.length - 1] = row
    } else if (part.kind === "record") {
      const { key, of, value } = part
      resident.records.set(JSON.stringify([of, key]), copy({ kind: of, key, value }) as RecordRow)
    } else if (part.kind === "send") {
      disk.sendSeq++
      disk.sends.set(disk.sendSeq, { seq: disk.sendSeq, envelope: copy(part.envelope) as unknown as Envelope })
    } else if (part.kind === "dead-letter") {
      const { kind: _, envelope, ...rest } = part
      disk.dead++
      disk.deadLetters.push({ address: resident.address, envelope: envelope as Envelope["id"], ...rest })
    }
  }
}

const hereOf = (dataStore: MemoryDataStore, head: BundleHead): Bundle | undefined => {
  if (head.kind === "tenant") return tenantOfStore(dataStore, head.tenant)
  const resident = dataStore.disk.resident(head.address)
  return resident === undefined ? undefined : lifeOf(dataStore, resident)
}

const bundleAt = (dataStore: MemoryDataStore, { assistant, tenant }: BundlePlace): Bundle | undefined =>
  hereOf(
    dataStore,
    assistant === undefined
      ? { kind: "tenant", tenant }
      : ({ kind: "assistant", address: { tenant, assistant } } as AssistantHead)
  )

/** Blocks, answers and prompts of a bundle leave the store. */
const takeUp = (
  { blocks, prompts, purses }: MemoryDataStore,
  tenant: TenantId,
  parts: ReadonlyArray<BundlePart>
): void => {
  changeLimits(purses, tenant, limitChangesOf(parts, true))
  for (const part of parts) {
    if (part.kind === "block") {
      for (const rows of [blocks.blocks, blocks.versions, blocks.snapshots])
        rows.delete(JSON.stringify([tenant, part.id]))
    } else if (part.kind === "block-answer") blocks.answers.delete(JSON.stringify([tenant, part.key]))
    else if (part.kind === "prompt") {
      const name = JSON.stringify([tenant, part.of, part.key])
      const left = (prompts.get(name) ?? []).filter(({ version }) => version !== part.version)
      if (left.length === 0) prompts.delete(name)
      else prompts.set(name, left)
    }
  }
}

const ofKind = <Kind extends BundlePart["kind"]>(parts: ReadonlyArray<BundlePart>, kind: Kind) =>
  parts.filter((part): part is Extract<BundlePart, { readonly kind: Kind }> => part.kind === kind)

/** Mail and entries of a life, in their old places. */
const rewriteRows = (
  { disk }: MemoryDataStore,
  resident: Resident,
  { handled }: AssistantHead,
  parts: ReadonlyArray<BundlePart>
) => {
  let gone = 0
  resident.accepted.clear()
  for (const lane of LANES) {
    const rows = resident.mail[lane]
    const made = ofKind(parts, "envelope").filter((part) => part.lane === lane)
    gone += Math.max(0, rows.length - Math.max(made.length, resident.cursors[lane]))
    rows.length = made.length
    for (const [index, { acceptedAt, body, id }] of made.entries()) {
      const envelope = typeof body === "string" ? body : (copy(body) as unknown as Envelope)
      rows[index] = { id: id as Envelope["id"], lane, seq: index + 1, acceptedAt, envelope }
      resident.accepted.add(id as Envelope["id"])
    }
  }
  resident.cursors = { ...handled }
  const entries = new Map(ofKind(parts, "entry").map(({ entry }) => [entry.no, copy(entry) as unknown as Entry]))
  for (const row of resident.entries.splice(0)) {
    const entry = entries.get(row.entry.no)
    const next = entry === undefined ? undefined : { ...row, entry }
    disk.outbox[disk.outbox.indexOf(row)] = next ?? { ...row, address: NOBODY }
    if (next !== undefined) resident.entries.push(next)
    else resident.used.push({ no: row.entry.no, rows: usageOf(row.entry) })
  }
  return gone
}

const rewriteLife = (dataStore: MemoryDataStore, there: Bundle, made: Bundle): void => {
  const { head, parts } = made
  const [tenant, { disk }] = [tenantOf(head), dataStore]
  takeUp(dataStore, tenant, there.parts)
  putDown(dataStore, tenant, parts)
  const resident = head.kind === "assistant" ? disk.resident(head.address) : undefined
  if (head.kind !== "assistant" || resident === undefined) return
  const gone = rewriteRows(dataStore, resident, head, parts)
  resident.state = copy(head.state) as unknown as AssistantState
  resident.version = head.version
  resident.epoch++
  Object.assign(resident, { lease: undefined, note: undefined, attempts: 0 })
  resident.records.clear()
  for (const { key, of, value } of ofKind(parts, "record"))
    resident.records.set(JSON.stringify([of, key]), copy({ kind: of, key, value }) as RecordRow)
  const open = new Set(ofKind(there.parts, "send").map(({ envelope }) => JSON.stringify(envelope)))
  for (const [seq, { envelope }] of disk.sends) if (open.has(JSON.stringify(envelope))) disk.sends.delete(seq)
  for (const { envelope } of ofKind(parts, "send")) {
    disk.sendSeq++
    disk.sends.set(disk.sendSeq, { seq: disk.sendSeq, envelope: copy(envelope) as unknown as Envelope })
  }
  const letters = ofKind(parts, "dead-letter")
  for (const [index, letter] of disk.deadLetters.entries()) {
    if (addressKey(letter.address) !== addressKey(head.address)) continue
    const next = letters.shift()
    disk.deadLetters[index] =
      next === undefined
        ? emptyLetter
        : { ...letter, envelope: next.envelope as Envelope["id"], reason: next.reason, at: next.at }
  }
  disk.dead += gone
  for (let count = 0; count < gone; count++) disk.deadLetters.push(emptyLetter)
  for (const digest of droppedDigests(there, made)) {
    const isUsed = [...disk.residents.values()].some(
      ({ address, entries, mail }) => address.tenant === tenant && JSON.stringify([entries, mail]).includes(digest)
    )
    if (!isUsed) disk.blobs.delete(blobName(tenant, digest))
  }
}

const lined = ({ head, parts }: Bundle): ReadonlyArray<BundlePart> => [head, ...parts]
export const memoryBundles = (dataStore: MemoryDataStore): Bundles["Service"] => ({
  pack: (address) =>
    Stream.suspend(() => {
      const resident = dataStore.disk.resident(address)
      return resident === undefined
        ? Stream.fail(nobodyAt(address))
        : Stream.fromIterable(lined(lifeOf(dataStore, resident)))
    }),
  packTenant: (tenant) => Stream.suspend(() => Stream.fromIterable(lined(tenantOfStore(dataStore, tenant)))),
  tenants: Effect.sync(() => {
    const names = [dataStore.blocks.blocks, dataStore.blocks.answers, dataStore.prompts].flatMap((map) => [
      ...map.keys()
    ])
    const living = [...dataStore.disk.residents.values()].map(({ address }) => address.tenant as string)
    return [
      ...new Set([...living, ...limitedIn(dataStore.purses), ...names.map((name) => splitName(name)[0])])
    ].toSorted() as ReadonlyArray<string> as ReadonlyArray<TenantId>
  }),
  unpack: (bundle, { isTrial = false } = {}) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const { head, parts } = bundle
      const fresh = yield* Effect.fromResult(judgeBundle(bundle, hereOf(dataStore, head)))
      if (fresh === undefined) return "present"
      const obstacle = obstacleOf(dataStore, tenantOf(head), fresh)
      if (obstacle !== undefined) return yield* occupiedBy(head, obstacle)
      if (isTrial) return "unpacked"
      if (head.kind === "assistant") moveIn(dataStore, head, parts, now)
      putDown(dataStore, tenantOf(head), fresh)
      return "unpacked"
    }),
  rewrite: (places, change) =>
    Effect.suspend(() =>
      Effect.map(
        Effect.fromResult(
          Result.all(
            places.map((place) => rewritten(place, bundleAt(dataStore, place), (there) => change(copy(there))))
          )
        ),
        (pairs) =>
          pairs.map(({ made, there }) => {
            rewriteLife(dataStore, there, made)
            return made
          })
      )
    ),
  admit: (addresses) =>
    Effect.sync(() => {
      for (const address of addresses) {
        const resident = dataStore.disk.resident(address)
        if (resident?.lease?.worker === MOVER) resident.lease = undefined
      }
    }),
  mark: (mark) =>
    Effect.sync(() => {
      dataStore.mark = mark === null ? undefined : copy(mark)
    }),
  shred: () => Effect.void,
  marked: Effect.sync(() => dataStore.mark)
})

export const memoryBundlesLayer = (dataStore: MemoryDataStore): Layer.Layer<Bundles> =>
  Layer.sync(Bundles, () => memoryBundles(dataStore))
