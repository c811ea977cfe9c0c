// Fixture: a tick put away as a test: what it began from, what the model and the tools said, and what it came to.
// Owns its form, making one, and going through one again. Leaves living to sandbox.ts, comparing to digest.ts.
// P1  Going through a fixture asks no model and runs no tool: both answer as they did.
// P2  A fixture without its beginning is gone through only on the ledger that it was taken from, known by its hash.

import { createHash } from "node:crypto"
import type { Settings } from "@reverie/assistant"
import type { PromptVersion } from "@reverie/context"
import type { BlockView } from "@reverie/memory"
import { Address, defined, type Entry, type Envelope, isJsonObject } from "@reverie/protocol"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { FleetDefinition } from "../fleet-options.ts"
import type { FleetHistory } from "../fleet/watching.ts"
import { compareTicks, digestOf, pricesFor, type ForkComparison, type TickDigest } from "./digest.ts"
import { FIXTURE_VERSION, ForkRefused, MAX_FIXTURE_COMMITS } from "./errors.ts"
import type { TickSource, TickSources } from "./tick-source.ts"

/** JSON through and through: it is kept in a file, and read again in another year. */
export interface TickFixture {
  /** The version of this form. */
  readonly v: typeof FIXTURE_VERSION
  /** The assistant that lived it. */
  readonly address: Address
  /** The number of the tick. */
  readonly tick: number
  /** The name of the definition that it was created from. */
  readonly definition: string
  /** Of the creation, for a ledger that does not tell them. */
  readonly settings: Partial<Settings>
  /** Its life before the tick. */
  readonly prefix: {
    readonly commits: number
    /** SHA-256 of the entries before the tick, each as its JSON and a line break. */
    readonly hash: string
    /** Present in a fixture that stands alone. */
    readonly entries?: ReadonlyArray<Entry>
  }
  /** What began the tick. */
  readonly envelope: Envelope
  /** Those that came while the tick was in hand. */
  readonly envelopes: ReadonlyArray<Envelope>
  /** The memory blocks as they stood then. */
  readonly blocks: ReadonlyArray<BlockView>
  /** The registry of prompts as it stood then. */
  readonly prompts: ReadonlyArray<PromptVersion>
  /** What its messages refer to, in base64; none where they refer to nothing. */
  readonly blobs?: ReadonlyArray<{ readonly digest: string; readonly bytes: string }>
  /** The tick as it was recorded: its events, the replies of the model, the results of tools. */
  readonly entries: ReadonlyArray<Entry>
  /** What the tick came to. */
  readonly expected: TickDigest
}

const refuse = (message: string): never => {
  throw new ForkRefused({ reason: "fixture", message })
}

const hashOf = (entries: ReadonlyArray<Entry>): string => {
  const hash = createHash("sha256")
  for (const entry of entries) hash.update(`${JSON.stringify(entry)}\n`)
  return hash.digest("hex")
}

/** Which tick is put away. */
export interface FixtureRequest {
  /** The id of the assistant. */
  readonly assistant: string
  /** The number of the tick. */
  readonly tick: number
  /** Carries what stands before the tick, so that it needs no ledger. */
  readonly isWhole?: boolean
}

const packedBlob = ({ bytes, digest }: TickSource["blobs"][number]) => ({
  digest,
  bytes: Buffer.from(bytes).toString("base64")
})

/** Puts a tick away. Rejects with UnknownAssistant or ForkRefused. */
export const fixtureOfTick = async (
  records: TickSources,
  fleet: FleetDefinition,
  { assistant, isWhole = false, tick }: FixtureRequest
): Promise<TickFixture> => {
  const source = await records.replay.source(assistant, tick)
  const { address, blobs, blocks, definition, envelope, envelopes, prompts, recorded } = source
  const { entries, isEnded, prefix } = recorded
  if (!isEnded) refuse(`tick ${tick} of ${assistant} is still in hand`)
  if (isWhole && prefix.length > MAX_FIXTURE_COMMITS) {
    refuse(`${prefix.length} commits stand before the tick; a fixture carries at most ${MAX_FIXTURE_COMMITS}`)
  }
  return {
    v: FIXTURE_VERSION,
    address,
    tick,
    definition,
    settings: recorded.settings,
    prefix: { commits: prefix.length, hash: hashOf(prefix), ...defined({ entries: isWhole ? prefix : undefined }) },
    envelope,
    envelopes: [...envelopes.values()],
    blocks,
    prompts,
    ...defined({ blobs: blobs.length === 0 ? undefined : blobs.map(packedBlob) }),
    entries,
    expected: digestOf(entries, { tick, ...pricesFor(fleet, definition) })
  }
}

const decodeAddress = Schema.decodeUnknownResult(Address)

const arrays = ["envelopes", "blocks", "prompts", "entries"] as const

/** A fixture out of a file. Throws ForkRefused with one sentence. What is inside of it was written by a ledger. */
export const readFixture = (value: unknown): TickFixture => {
  if (!isJsonObject(value)) return refuse("a fixture is a JSON object")
  if (value["v"] !== FIXTURE_VERSION) refuse(`it is no fixture of version ${FIXTURE_VERSION}`)
  const address = decodeAddress(value["address"])
  if (Result.isFailure(address)) refuse("its address is none")
  const missing = arrays.find((name) => !Array.isArray(value[name]))
  if (missing !== undefined) refuse(`its ${missing} are no list`)
  const isWhole = ["prefix", "envelope", "expected", "settings"].every((name) => isJsonObject(value[name]))
  if (!isWhole || !Number.isSafeInteger(value["tick"])) refuse("a part of it is missing")
  return value as unknown as TickFixture
}

/** The entries before the tick: its own, or those of the ledger that it was taken from. */
const prefixOf = async (
  { address, prefix }: TickFixture,
  records: { readonly history: Pick<FleetHistory, "entries"> } | undefined
): Promise<ReadonlyArray<Entry>> => {
  const { commits, entries, hash } = prefix
  const { entriesUpTo } = await import("../fleet/entry-source.ts")
  const found =
    entries ??
    (records === undefined
      ? refuse("it does not carry what stands before the tick, and no ledger was named")
      : await Array.fromAsync(entriesUpTo(records.history, address.assistant, commits)))
  if (hashOf(found) !== hash) refuse(`what stands before the tick is not what it was taken from`)
  return found
}

async function* inOrder(...parts: ReadonlyArray<ReadonlyArray<Entry>>): AsyncGenerator<Entry> {
  for (const entries of parts) yield* entries
}

/** The tick of a fixture, ready to be lived through. Rejects with ForkRefused. */
export const sourceOfFixture = async (
  fixture: TickFixture,
  records?: { readonly history: Pick<FleetHistory, "entries"> }
): Promise<TickSource> => {
  const { address, blobs = [], blocks, definition, entries, envelope, envelopes, prompts, settings, tick } = fixture
  const { readTick } = await import("@reverie/runtime")
  const recorded = await readTick(inOrder(await prefixOf(fixture, records), entries), tick, settings)
  if (recorded === undefined) return refuse(`tick ${tick} is not in it`)
  return {
    address,
    definition,
    recorded,
    envelope,
    isOriginal: true,
    envelopes: new Map(envelopes.map((each) => [each.id, each])),
    blobs: blobs.map(({ bytes, digest }) => ({ digest, bytes: new Uint8Array(Buffer.from(bytes, "base64")) })),
    blocks,
    prompts
  }
}

/**
 * Goes through a tick once more as it was put away, with the definitions of today, and holds what it comes to against what
 * it came to then. Rejects with ForkRefused.
 */
export const checkFixture = async (
  fleet: FleetDefinition,
  fixture: TickFixture,
  records?: { readonly history: Pick<FleetHistory, "entries"> }
): Promise<ForkComparison> => {
  // A fixture is also read where no tick is lived through.
  const [{ liveAgain }, { digestOfLived }] = await Promise.all([import("./sandbox.ts"), import("./fork.ts")])
  const source = await sourceOfFixture(fixture, records)
  const lived = await liveAgain(source, { fleet, model: "recorded", order: "free" })
  return compareTicks(fixture.expected, digestOfLived(source, fleet, lived))
}
