// Packing: from the rows of a store to the parts of a bundle, and back.
// Owns which rows make a bundle, and in which order: one reader for every store, which only fetches rows.
// K1  Rows that only grow are taken as they are iterated, so that a store may fetch them page by page.
// K2  Of the open sends an assistant's bundle has those that its entries wrote, and of the blobs of its tenant those that its
//     envelopes and entries refer to.
// K3  Where a row has to be fetched from elsewhere first, a pause comes in its place and is passed on; the row comes after it.

import { Buffer } from "node:buffer"
import { isJsonObject, type Json, type Lane, readKeyText, type TenantId, wholeRecord } from "@reverie/protocol"
import { type LimitChanges, type LimitName, limitNames, type TenantLimits } from "./account.ts"
import { type AssistantHead, type Bundle, type BundlePart, digestsIn, isHead } from "./bundle-part.ts"

/** JSON text as its value. What is no JSON travels as the text that it is, so that it is as unreadable as before. */
export const valueOf = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** The text that `valueOf` was given. */
export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value))

/** A reader of a block as its column has it: quoted, unless it is everybody. */
export const readerOf = (reader: string): string => (reader.startsWith('"') ? readKeyText(reader) : reader)

const bytesText = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"))

/** A memory block as its rows have it, its texts as JSON text. */
export interface BlockRows {
  readonly id: string
  readonly owner: string
  readonly label: string
  readonly readers: ReadonlyArray<string>
  readonly body: string
  /** From version 1 on. */
  readonly versions: ReadonlyArray<{ readonly body: string; readonly patch: Uint8Array }>
  readonly snapshot: Uint8Array | undefined
}

const blockParts = (rows: BlockRows): ReadonlyArray<BundlePart> => {
  const { body, id, label, owner, readers, snapshot, versions } = rows
  return [
    // An owner is an assistant's id: no other is let in.
    { kind: "block", id, owner: owner as never, label, readers: readers.toSorted(), body: valueOf(body) },
    ...versions.map(({ body, patch }, index): BundlePart => ({
      kind: "block-version",
      block: id,
      version: index + 1,
      body: valueOf(body),
      patch: bytesText(patch)
    })),
    ...(snapshot === undefined ? [] : [{ kind: "block-snapshot" as const, block: id, bytes: bytesText(snapshot) }])
  ]
}

/** The block that an answer is about. */
export const blockOfAnswer = (answer: Json): string | undefined => {
  const change = isJsonObject(answer) ? answer["change"] : undefined
  const block = isJsonObject(change) ? change["block"] : undefined
  return typeof block === "string" ? block : undefined
}

export interface AnswerRow {
  readonly key: string
  readonly answer: string
}

const answerParts = (
  rows: ReadonlyArray<AnswerRow>,
  isWanted: (key: string, block: string | undefined) => boolean
): ReadonlyArray<BundlePart> =>
  rows
    .map(({ answer, key }) => ({ key, answer: valueOf(answer) }))
    .filter(({ answer, key }) => isWanted(key, blockOfAnswer(answer)))
    .toSorted(byText(({ key }) => key))
    .map(({ answer, key }) => ({ kind: "block-answer", key, answer }))

export interface LineRow {
  readonly kind: string
  readonly key: string
  readonly version: number
  readonly at: number
  readonly restores: number | null
  readonly body: string | null
}

/** Versions of a tenant's prompts, in their order, by the names of their lines. */
const promptParts = (rows: ReadonlyArray<LineRow>): ReadonlyArray<BundlePart> =>
  rows
    .toSorted(byText(({ key, kind }) => JSON.stringify([kind, key])))
    .map(({ at, body, key, kind, restores, version }): BundlePart => {
      const back = restores === null ? {} : { restores }
      return { kind: "prompt", of: kind, key, version, at, ...back, body: body === null ? null : valueOf(body) }
    })

/** How the keys begin under which the blocks of a definition are made once, for one assistant. */
export const createdKey = (assistant: string): string => `created/${assistant}/`

/** For whom a block was made under such a key; empty for any other key. */
const createdFor = (key: string): string => /^created\/([^/]*)\//.exec(key)?.[1] ?? ""

/** Finds out which open sends an assistant has written, entry by entry. Who settles them is the relay of all. */
const sendNames = (entry: Json): ReadonlyArray<string> => {
  const sends = isJsonObject(entry) ? entry["sends"] : undefined
  return Array.isArray(sends) ? (sends as ReadonlyArray<Json>).map(sendName) : []
}

/** From whom, to whom and under which id. */
const sendName = (envelope: Json): string =>
  isJsonObject(envelope) ? JSON.stringify([envelope["from"], envelope["to"], envelope["id"]]) : ""

/** In the order of their text units, which is the same on every machine. */
const byText =
  <A>(text: (value: A) => string) =>
  (one: A, other: A): number => {
    const [a, b] = [text(one), text(other)]
    return a < b ? -1 : a > b ? 1 : 0
  }

/** Comes before a row that is not at hand. */
export class Pause {
  readonly isPause = true
}

/** The rows of one assistant, names as they are and bodies as JSON text. */
export interface LifeRows {
  readonly head: AssistantHead
  /** By lane and in the order of acceptance. */
  readonly mail: Iterable<
    | {
        readonly lane: Lane
        readonly id: string
        readonly acceptedAt: number
        readonly body: string
      }
    | Pause
  >
  readonly entries: Iterable<{ readonly body: string } | Pause>
  readonly records: ReadonlyArray<{ readonly kind: string; readonly key: string; readonly body: string }>
  /** Every open send of the tenant. */
  readonly sends: ReadonlyArray<{ readonly body: string }>
  readonly deadLetters: ReadonlyArray<{ readonly body: string; readonly isDiscarded: boolean }>
  /** Those that it owns. */
  readonly blocks: ReadonlyArray<BlockRows>
  /** Every answer of the tenant. */
  readonly answers: ReadonlyArray<AnswerRow>
  /** The bytes that the tenant keeps under a digest. */
  readonly blob: (digest: string) => Uint8Array | undefined
}

/** The digests that the texts of envelopes and entries refer to. */
export const digestsOfTexts = (rows: Iterable<{ readonly body: string }>): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const { body } of rows) if (mayRefer(body)) for (const digest of digestsIn(valueOf(body))) found.add(digest)
  return found
}

/** Few messages have parts, and a text is looked through faster than it is read. */
const mayRefer = (body: string): boolean => body.includes('"digest":')

/** The bundle of an assistant, head first. */
export function* lifeParts(rows: LifeRows): Generator<BundlePart | Pause> {
  const { answers, blob, blocks, deadLetters, entries, head, mail, records, sends } = rows
  const digests = new Set<string>()
  const noteDigests = (body: string, value: Json): void => {
    if (mayRefer(body)) for (const digest of digestsIn(value)) digests.add(digest)
  }
  yield head
  for (const row of mail) {
    if (row instanceof Pause) {
      yield row
      continue
    }
    const { acceptedAt, body, id, lane } = row
    const value = valueOf(body)
    noteDigests(body, value)
    yield { kind: "envelope", lane, id, acceptedAt, body: value }
  }
  const open = sends.map(({ body }) => valueOf(body))
  const names = new Set(open.map(sendName))
  const written = new Set<string>()
  for (const row of entries) {
    if (row instanceof Pause) {
      yield row
      continue
    }
    const { body } = row
    const told = valueOf(body)
    const entry = isJsonObject(told) ? wholeRecord(told) : told
    noteDigests(body, entry)
    if (names.size > 0) for (const name of sendNames(entry)) if (names.has(name)) written.add(name)
    yield { kind: "entry", entry } as unknown as BundlePart
  }
  for (const { body, key, kind } of records.toSorted(byText((record) => `${record.kind}\u0000${record.key}`))) {
    yield { kind: "record", of: kind, key, value: valueOf(body) }
  }
  for (const envelope of open) {
    if (written.has(sendName(envelope))) yield { kind: "send", envelope } as unknown as BundlePart
  }
  for (const { body, isDiscarded } of deadLetters) {
    const mark = isDiscarded ? { discarded: true as const } : {}
    yield { kind: "dead-letter", ...(valueOf(body) as object), ...mark } as BundlePart
  }
  for (const digest of [...digests].toSorted()) {
    const bytes = blob(digest)
    if (bytes !== undefined) yield { kind: "blob", digest, bytes: bytesText(bytes) }
  }
  yield* blocks.toSorted(byText(({ id }) => id)).flatMap(blockParts)
  const own = new Set<string | undefined>(blocks.map(({ id }) => id))
  // Blocks that were never made leave no answers.
  yield* answerParts(answers, (key, block) => own.has(block) || key.startsWith(createdKey(head.address.assistant)))
}

/** What a tenant has, names as they are and bodies as JSON text. */
export interface TenantRows {
  readonly tenant: TenantId
  /** The ids of its assistants. */
  readonly living: ReadonlySet<string>
  /** The ids of the blocks that these own, and the blocks of others. */
  readonly owned: ReadonlySet<string>
  readonly blocks: ReadonlyArray<BlockRows>
  readonly answers: ReadonlyArray<AnswerRow>
  readonly prompts: ReadonlyArray<LineRow>
  /** What was set. */
  readonly limits: TenantLimits
}

/** What was set for a tenant, by the names of the limits. */
const limitParts = (limits: TenantLimits): ReadonlyArray<BundlePart> =>
  limitNames.flatMap((name) => {
    const most = limits[name]
    return most === undefined ? [] : [{ kind: "limit" as const, name, most }]
  })

/** The limits that a bundle has, as changes that set them, or that take them back. */
export const limitChangesOf = (parts: Iterable<BundlePart>, isTakenBack = false): LimitChanges => {
  const changes: { [Name in LimitName]?: number | null } = {}
  for (const part of parts) if (part.kind === "limit") changes[part.name] = isTakenBack ? null : part.most
  return changes
}

/** Blocks by whether their owner lives here. */
export const byOwner = <Row extends { readonly id: string; readonly owner: string }>(
  living: ReadonlySet<string>,
  rows: ReadonlyArray<Row>
): { readonly owned: ReadonlySet<string>; readonly others: ReadonlyArray<Row> } => ({
  owned: new Set(rows.filter(({ owner }) => living.has(owner)).map(({ id }) => id)),
  others: rows.filter(({ owner }) => !living.has(owner))
})

/** The bundle of what a tenant has besides its assistants, head first. */
export const tenantParts = (rows: TenantRows): ReadonlyArray<BundlePart> => {
  const { answers, blocks, limits, living, owned, prompts, tenant } = rows
  return [
    { kind: "tenant", tenant },
    ...blocks.toSorted(byText(({ id }) => id)).flatMap(blockParts),
    ...answerParts(answers, (key, block) => !living.has(createdFor(key)) && (block === undefined || !owned.has(block))),
    ...promptParts(prompts),
    ...limitParts(limits)
  ]
}

/** A bundle out of its parts; a store that gives none is broken. One who can not wait is stopped by a pause. */
export const bundleOfParts = (parts: Iterable<BundlePart | Pause>): Bundle => {
  const all: Array<BundlePart> = []
  for (const part of parts) {
    if (part instanceof Pause) throw part
    all.push(part)
  }
  const [head, ...rest] = all
  if (head === undefined || !isHead(head)) throw new Error("a store gave a bundle without a head")
  return { head, parts: rest }
}
