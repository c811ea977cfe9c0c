// BundlePart: one thing of what a store keeps, as it travels from one data store to another.
// Owns the closed list of parts, their order and the check of what comes from outside. Leaves gathering and putting them
// down to an adapter, the lines of a file to anyone who writes one.
// M1  A part is JSON: it can be written on a line and read again without loss; bytes are base64.
// M2  A bundle is a head and what belongs to it: head first, then its parts in the order of `partKinds`.
// M3  Places are counted within the bundle, never in the store that it came from: a lane from its first envelope on.

import { Buffer } from "node:buffer"
import {
  Address,
  AssistantId,
  ENTRY_VERSION,
  isDigest,
  isJsonObject,
  type Json,
  LANES,
  STATE_VERSION,
  TenantId
} from "@reverie/protocol"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { limitNames } from "./account.ts"
import { digestOf } from "./blobs.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Ordinal = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
const Lane = Schema.Literals(LANES)
// What is inside was parsed from JSON, so that it is JSON needs no second look.
const AnyJson = Schema.Unknown as unknown as Schema.Codec<Json>
const isBase64 = (text: string): boolean => !/[^A-Za-z0-9+/=]/.test(text) && !/=[^=]|={3}/.test(text)
const Base64 = Schema.String.check(Schema.makeFilter(isBase64, { message: "expected base64" }))

const State = Schema.Struct({
  v: Schema.Literal(STATE_VERSION),
  snapshot: AnyJson,
  jobs: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, src: Schema.String, input: AnyJson })),
  timers: Schema.Array(Schema.Struct({ name: Schema.String, dueAt: Schema.Finite, event: AnyJson })),
  receives: Schema.Array(Lane),
  status: Schema.String,
  definition: Schema.String
})

const Message = Schema.Struct({
  role: Schema.Literals(["system", "user", "assistant", "tool"]),
  content: Schema.String,
  at: Schema.Finite,
  tokens: Schema.Finite
})

const Settlement = Schema.Struct({
  id: Schema.String,
  outcome: Schema.Literals(["handled", "ignored", "dead"]),
  reason: Schema.optionalKey(Schema.String)
})

const Entry = Schema.Struct({
  v: Schema.Literal(ENTRY_VERSION),
  no: Ordinal,
  at: Schema.Finite,
  epoch: Count,
  tick: Count,
  iteration: Count,
  cause: Schema.Struct({ kind: Schema.Literals(["creation", "envelope", "job", "timer", "dead-letter"]) }),
  event: AnyJson,
  status: Schema.String,
  messages: Schema.Array(Message),
  settled: Schema.optionalKey(Schema.Array(Settlement)),
  sends: Schema.optionalKey(Schema.Array(Schema.Struct({ id: Schema.String, to: Address })))
})

const shapes = {
  /** The head of an assistant's bundle: how it stands, and how many envelopes of each lane are behind it. */
  assistant: Schema.Struct({
    kind: Schema.Literal("assistant"),
    address: Address,
    /** The highest that was ever granted. */
    epoch: Count,
    version: Ordinal,
    handled: Schema.Struct({ control: Count, reply: Count, mail: Count }),
    state: State
  }),
  /** The head of what a tenant has besides its assistants. */
  tenant: Schema.Struct({ kind: Schema.Literal("tenant"), tenant: TenantId }),
  /** Accepted, by lane and in the order of acceptance, handled ones among them. `body` is a text where it is no JSON. */
  envelope: Schema.Struct({
    kind: Schema.Literal("envelope"),
    lane: Lane,
    id: Schema.String,
    acceptedAt: Schema.Finite,
    body: AnyJson
  }),
  entry: Schema.Struct({ kind: Schema.Literal("entry"), entry: Entry }),
  record: Schema.Struct({ kind: Schema.Literal("record"), of: Schema.String, key: Schema.String, value: AnyJson }),
  /** Open: written by a commit and not yet delivered. */
  send: Schema.Struct({
    kind: Schema.Literal("send"),
    envelope: Schema.Struct({ id: Schema.String, to: Address, from: Schema.String })
  }),
  "dead-letter": Schema.Struct({
    kind: Schema.Literal("dead-letter"),
    envelope: Schema.String,
    reason: Schema.String,
    at: Schema.Finite,
    /** Someone has discarded it. */
    discarded: Schema.optionalKey(Schema.Literal(true))
  }),
  /** Bytes that its messages refer to. */
  blob: Schema.Struct({ kind: Schema.Literal("blob"), digest: Schema.String, bytes: Base64 }),
  block: Schema.Struct({
    kind: Schema.Literal("block"),
    id: Schema.String,
    owner: AssistantId,
    label: Schema.String,
    readers: Schema.Array(Schema.String),
    body: AnyJson
  }),
  /** What one version of the block before added, by version from 1 on. */
  "block-version": Schema.Struct({
    kind: Schema.Literal("block-version"),
    block: Schema.String,
    version: Ordinal,
    body: AnyJson,
    patch: Base64
  }),
  "block-snapshot": Schema.Struct({ kind: Schema.Literal("block-snapshot"), block: Schema.String, bytes: Base64 }),
  /** What was answered to a change under a key, so that it is not made twice. */
  "block-answer": Schema.Struct({ kind: Schema.Literal("block-answer"), key: Schema.String, answer: AnyJson }),
  /** A version of a tenant's template or component; a null body takes it away. */
  prompt: Schema.Struct({
    kind: Schema.Literal("prompt"),
    of: Schema.String,
    key: Schema.String,
    version: Ordinal,
    at: Schema.Finite,
    restores: Schema.optionalKey(Count),
    body: AnyJson
  }),
  /** What was set for a tenant in the place of what a program says. */
  limit: Schema.Struct({ kind: Schema.Literal("limit"), name: Schema.Literals(limitNames), most: Count })
} as const

type Shapes = typeof shapes
export type PartKind = keyof Shapes
export type PartOf<Kind extends PartKind> = Shapes[Kind]["Type"]
export type BundlePart = { [Kind in PartKind]: PartOf<Kind> }[PartKind]
export type AssistantHead = PartOf<"assistant">
export type TenantHead = PartOf<"tenant">
export type BundleHead = AssistantHead | TenantHead

/** The order of parts in a bundle; versions and the snapshot of a block stand behind it. */
const partKinds = Object.keys(shapes) as ReadonlyArray<PartKind>

export const isHead = (part: BundlePart): part is BundleHead => part.kind === "assistant" || part.kind === "tenant"

const isKind = (kind: unknown): kind is PartKind => typeof kind === "string" && Object.hasOwn(shapes, kind)

const decoders = Object.fromEntries(
  Object.entries(shapes).map(([kind, shape]) => [kind, Schema.decodeUnknownResult(shape as Schema.Codec<unknown>)])
) as Readonly<Record<PartKind, (value: unknown) => Result.Result<unknown, Schema.SchemaError>>>

/** A member that no one here knows would be lost; inside of what assistants wrote it travels along. */
const unknownMember = (kind: PartKind, value: object): string | undefined =>
  Object.keys(value).find((name) => !Object.hasOwn(shapes[kind].fields, name))

/** A part from outside, checked; fails with one sentence that names the place. The value itself is kept as it is. */
export const readPart = (value: unknown): Result.Result<BundlePart, string> => {
  if (!isJsonObject(value)) return Result.fail("a part is an object")
  const { kind } = value
  if (!isKind(kind)) return Result.fail(`no part is called ${JSON.stringify(kind)}`)
  const unknown = unknownMember(kind, value)
  if (unknown !== undefined) return Result.fail(`a part of kind ${kind} has no member ${JSON.stringify(unknown)}`)
  return Result.mapBoth(decoders[kind](value), {
    onSuccess: () => value as unknown as BundlePart,
    onFailure: ({ message }) => message.replaceAll(/\s+/g, " ")
  })
}

/** The same part, its members in the order of its kind, so that equal parts are equal texts. */
export const inOrder = (part: BundlePart): BundlePart =>
  Object.fromEntries(
    Object.keys(shapes[part.kind].fields).flatMap((name) =>
      Object.hasOwn(part, name) ? [[name, Reflect.get(part, name)]] : []
    )
  ) as BundlePart

/** A bundle: one head and what belongs to it. */
export interface Bundle {
  readonly head: BundleHead
  readonly parts: ReadonlyArray<BundlePart>
}

const kindsOf: Readonly<Record<BundleHead["kind"], ReadonlyArray<PartKind>>> = {
  assistant: partKinds.filter((kind) => !["assistant", "tenant", "prompt", "limit"].includes(kind)),
  tenant: ["block", "block-version", "block-snapshot", "block-answer", "prompt", "limit"]
}

const flawOfEntries = (head: AssistantHead, entries: ReadonlyArray<PartOf<"entry">>): string | undefined => {
  const wrong = entries.findIndex(({ entry }, index) => entry.no !== index + 1)
  if (wrong >= 0) return `entry ${wrong + 1} is missing`
  return entries.length === head.version
    ? undefined
    : `it is of version ${head.version}, and has ${entries.length} entries`
}

const flawOfMail = ({ handled }: AssistantHead, mail: ReadonlyArray<PartOf<"envelope">>): string | undefined => {
  if (new Set(mail.map(({ id }) => id)).size < mail.length) return "two envelopes have the same id"
  const lane = LANES.find((each) => mail.filter((envelope) => envelope.lane === each).length < handled[each])
  return lane === undefined ? undefined : `more ${lane} envelopes are handled than there are`
}

const versionOf = (body: Json): Json | undefined => (isJsonObject(body) ? body["version"] : undefined)

/** Blocks with what stands behind each of them. */
const flawOfBlocks = (parts: ReadonlyArray<BundlePart>): string | undefined => {
  let block: PartOf<"block"> | undefined
  let version = 0
  const isShort = (): boolean => block !== undefined && versionOf(block.body) !== version
  for (const part of parts) {
    if (part.kind === "block") {
      if (isShort()) break
      block = part
      version = 0
    } else if (part.kind === "block-version" || part.kind === "block-snapshot") {
      if (part.block !== block?.id) return `what belongs to block ${part.block} does not stand behind it`
      if (part.kind === "block-version" && part.version !== ++version) break
    }
  }
  return isShort() ? `versions of block ${block?.id} are missing` : undefined
}

const ofKind = <Kind extends PartKind>(parts: ReadonlyArray<BundlePart>, kind: Kind): ReadonlyArray<PartOf<Kind>> =>
  parts.filter((part) => part.kind === kind) as ReadonlyArray<BundlePart> as ReadonlyArray<PartOf<Kind>>

const refsIn = (carrier: Json | undefined): ReadonlyArray<string> => {
  const parts = isJsonObject(carrier) ? carrier["parts"] : undefined
  return (Array.isArray(parts) ? (parts as ReadonlyArray<Json>) : []).flatMap((part) => {
    const digest = isJsonObject(part) ? part["digest"] : undefined
    return typeof digest === "string" && isDigest(digest) ? [digest] : []
  })
}

/** The digests that an envelope or an entry refers to. */
export const digestsIn = (value: Json): ReadonlyArray<string> => {
  if (!isJsonObject(value)) return []
  const { event, messages } = value
  return [...refsIn(event), ...(Array.isArray(messages) ? (messages as ReadonlyArray<Json>) : []).flatMap(refsIn)]
}

const flawOfBlobs = (parts: ReadonlyArray<BundlePart>): string | undefined => {
  const blobs = ofKind(parts, "blob")
  const wrong = blobs.find(({ bytes, digest }) => digestOf(new Uint8Array(Buffer.from(bytes, "base64"))) !== digest)
  if (wrong !== undefined) return `the bytes of ${wrong.digest.slice(0, 64)} are others`
  const here = new Set(blobs.map(({ digest }) => digest))
  for (const part of parts) {
    const value = part.kind === "envelope" ? part.body : part.kind === "entry" ? part.entry : undefined
    const gone = value === undefined ? undefined : digestsIn(value as Json).find((digest) => !here.has(digest))
    if (gone !== undefined) return `the bytes of ${gone} are missing`
  }
  return undefined
}

/** Why these parts are no whole bundle, in one sentence; undefined when they are. */
export const flawOfBundle = ({ head, parts }: Bundle): string | undefined => {
  const stray = parts.find(({ kind }) => !kindsOf[head.kind].includes(kind))
  if (stray !== undefined)
    return `a ${stray.kind} does not belong to ${head.kind === "tenant" ? "a tenant" : "an assistant"}`
  const flaw = flawOfBlocks(parts)
  if (flaw !== undefined || head.kind === "tenant") return flaw
  const foreign = ofKind(parts, "block").find(({ owner }) => owner !== head.address.assistant)
  if (foreign !== undefined) return `its block ${foreign.id} belongs to ${foreign.owner}`
  return (
    flawOfEntries(head, ofKind(parts, "entry")) ?? flawOfMail(head, ofKind(parts, "envelope")) ?? flawOfBlobs(parts)
  )
}
