// TickSource: everything that a tick began from, read out of the data store that it was lived in.
// Owns gathering it. Leaves the tick among the entries to the runtime, living through it again to sandbox.ts.
// S1  Reading it changes nothing: entries, envelopes, blocks and prompts are read, and nothing else.
// S2  The envelope is the one that was accepted, where it is still kept; otherwise it is made again from what was written.

import { type PromptVersion } from "@reverie/context"
import { Bundles, deletedText, digestsIn, Ledger } from "@reverie/ledger"
import type { BlockView } from "@reverie/memory"
import {
  type Address,
  ENVELOPE_VERSION,
  type Entry,
  type Envelope,
  type EnvelopeId,
  type Event,
  isJsonObject,
  type Json,
  readEnvelope,
  defined
} from "@reverie/protocol"
import { readTick, type RecordedTick } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { contextReportOf } from "../views/context-report.ts"
import { entriesUpTo, recordOf, settingsKept, type EntrySource } from "../fleet/entry-source.ts"
import { blocksOfThen, promptsOfThen } from "./blocks-of-then.ts"
import { ForkRefused, MAX_COMMITS_BEFORE } from "./errors.ts"

/** Everything that a tick began from. */
export interface TickSource {
  /** The assistant that lived it. */
  readonly address: Address
  /** The name of the definition that the assistant was created from. */
  readonly definition: string
  /** The tick as the ledger tells it, and the state before it. */
  readonly recorded: RecordedTick
  /** What began the tick. */
  readonly envelope: Envelope
  /** Whether the envelope is the accepted one. */
  readonly isOriginal: boolean
  /** Those that came while the tick was in hand, by id. */
  readonly envelopes: ReadonlyMap<EnvelopeId, Envelope>
  /** What its messages refer to. */
  readonly blobs: ReadonlyArray<{ readonly digest: string; readonly bytes: Uint8Array }>
  /** The memory blocks as they stood then. */
  readonly blocks: ReadonlyArray<BlockView>
  /** The registry of prompts as it stood then. */
  readonly prompts: ReadonlyArray<PromptVersion>
}

/** Where the sources of ticks are read: a `Fleet`, a `FleetReader`. */
export interface TickSources {
  /** `source` reads everything that a tick began from. Rejects with ForkRefused. */
  readonly replay: { readonly source: (id: string, tick: number) => Promise<TickSource> }
}

type Run = <A, E>(reading: Effect.Effect<A, E>) => Promise<A>

/** Envelopes stand at the beginning of a bundle, so little more than they is read. */
const acceptedEnvelopes = Effect.fnUntraced(function* (address: Address, ids: ReadonlySet<string>) {
  const found = new Map<EnvelopeId, Envelope>()
  const bundles = yield* Effect.serviceOption(Bundles)
  if (Option.isNone(bundles)) return found
  const read = bundles.value.pack(address).pipe(
    Stream.takeWhile(({ kind }) => kind === "assistant" || kind === "envelope"),
    Stream.runForEach((part) =>
      Effect.sync(() => {
        if (part.kind !== "envelope" || !ids.has(part.id)) return
        const envelope = readEnvelope(JSON.stringify(part.body))
        if (Result.isSuccess(envelope)) found.set(envelope.success.id, envelope.success)
      })
    )
  )
  yield* Effect.ignore(read)
  return found
})

const textIn = (value: Json | undefined): string => (typeof value === "string" ? value : "")

/** The event that an entry was written of, as far as the entry tells it. */
const eventIn = ({ event, messages }: Entry): Event | undefined => {
  const heard = isJsonObject(event) ? event : {}
  const [said] = messages
  const text = said?.content ?? ""
  switch (heard["type"]) {
    case "message": {
      const { blocks = [], output, parts } = said ?? {}
      return { type: "message", text, ...defined({ blocks: blocks.length === 0 ? undefined : blocks, output, parts }) }
    }
    case "timer":
      return { type: "timer", name: textIn(heard["name"]), note: text.replace(/^\[timer [^\]]*\] /, "") }
    case "approval": {
      const decision = heard["decision"] === "approved" ? "approved" : "denied"
      return { type: "approval", decision }
    }
    case "report": {
      const call = typeof heard["call"] === "string" ? { call: heard["call"] } : {}
      const tool = typeof heard["tool"] === "string" ? { tool: heard["tool"] } : {}
      return { type: "report", ...call, ...tool, outcome: "reported", content: text }
    }
    case "halt":
      return { type: "halt", reason: textIn(heard["reason"]).slice(0, 2_000) }
    case "resume":
      return { type: "resume" }
    case "wake":
      return { type: "wake" }
    default:
      return undefined
  }
}

/** An envelope made again from the entry of its commit. */
export const rebuiltEnvelope = (to: Address, id: EnvelopeId, entry: Entry): Envelope | undefined => {
  const event = eventIn(entry)
  const from = entry.messages[0]?.name ?? "user"
  const hops = isJsonObject(entry.event) && typeof entry.event["hops"] === "number" ? entry.event["hops"] : 0
  return event === undefined ? undefined : { v: ENVELOPE_VERSION, id, to, from, event, hops }
}

const idsIn = ({ entries }: RecordedTick): ReadonlySet<string> =>
  new Set(entries.flatMap(({ cause }) => (cause.kind === "envelope" ? [cause.id] : [])))

const BLOCK_PARTS: ReadonlySet<string> = new Set(["core_blocks", "working_blocks"])

/** What the model was shown says of no block: then none was in view, whatever may be seen by now. */
const showsBlocks = ({ asks }: RecordedTick): boolean =>
  asks.some(({ entry }) => {
    const { absent = [], parts = [] } = contextReportOf(entry) ?? {}
    return [...parts, ...absent].some(({ key }) => BLOCK_PARTS.has(key))
  })

/** The bytes that entries and envelopes refer to. */
const blobsOf = Effect.fnUntraced(function* ({ tenant }: Address, told: ReadonlyArray<Entry | Envelope>) {
  const ledger = yield* Effect.serviceOption(Ledger)
  const digests = new Set(told.flatMap((each) => digestsIn(each as unknown as Json)))
  if (Option.isNone(ledger)) return []
  const { blobs } = ledger.value
  const found = yield* Effect.forEach([...digests], (digest) =>
    Effect.map(blobs.read(tenant, digest), (bytes) => (bytes === undefined ? [] : [{ digest, bytes }]))
  )
  return found.flat()
})

/** The entries of an assistant, as far as there are not too many before the tick. */
async function* entriesAround(
  entrySource: EntrySource,
  id: string,
  version: number,
  tick: number
): AsyncGenerator<Entry> {
  for await (const entry of entriesUpTo(entrySource, id, version)) {
    if (entry.tick < tick && entry.no > MAX_COMMITS_BEFORE) {
      const message = `more than ${MAX_COMMITS_BEFORE} commits stand before tick ${tick} of ${id}: they are not laid out again`
      throw new ForkRefused({ reason: "too-long", message })
    }
    yield entry
  }
}

const tickIn = async (entrySource: EntrySource, id: string, tick: number): Promise<[RecordedTick, string]> => {
  const record = await recordOf(entrySource, id)
  const recorded = await readTick(entriesAround(entrySource, id, record.version, tick), tick, settingsKept(record))
  if (recorded === undefined) {
    throw new ForkRefused({ reason: "no-tick", message: `${id} has no tick ${tick}` })
  }
  const at = recorded.entries.find(({ deleted }) => deleted !== undefined)?.deleted
  if (at !== undefined) {
    throw new ForkRefused({ reason: "deleted", message: `tick ${tick} of ${id}: ${deletedText(at).slice(1, -1)}` })
  }
  return [recorded, record.state.definition]
}

/** Rejects with UnknownAssistant or ForkRefused. */
export const tickSourceOf = async (
  entrySource: EntrySource,
  run: Run,
  id: string,
  tick: number
): Promise<TickSource> => {
  const address = entrySource.address(id)
  const [recorded, definition] = await tickIn(entrySource, id, tick)
  const { first } = recorded
  const envelopes = await run(acceptedEnvelopes(address, idsIn(recorded)))
  const of = first.cause.kind === "envelope" ? first.cause.id : undefined
  const accepted = of === undefined ? undefined : envelopes.get(of)
  const envelope = accepted ?? (of === undefined ? undefined : rebuiltEnvelope(address, of, first))
  const type = envelope?.event.type
  if (envelope === undefined || (type !== "message" && type !== "timer")) {
    const message = `tick ${tick} of ${id} was begun by ${type ?? first.cause.kind}, and not by a message or a timer`
    throw new ForkRefused({ reason: "no-message", message })
  }
  return {
    address,
    definition,
    recorded,
    envelope,
    isOriginal: accepted !== undefined,
    envelopes,
    blobs: await run(blobsOf(address, [...recorded.prefix, ...recorded.entries, envelope, ...envelopes.values()])),
    blocks: showsBlocks(recorded) ? await run(blocksOfThen(address, first.at)) : [],
    prompts: await run(promptsOfThen(address.tenant, first.at))
  }
}
