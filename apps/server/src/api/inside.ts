// Inside: the groups about one assistant's mind: what it did, and what it remembers.
// Owns their schemas and endpoints.

import { ContentPart } from "@reverie/protocol"
import { EntityProfile, Fact } from "reverie/forms"
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import {
  bodyParsing,
  BlockEdit,
  cursor,
  Key,
  keyed,
  limit,
  LostSpans,
  ofAssistant,
  page,
  Receipt,
  Text,
  Usage,
  WholeFromQuery
} from "./words.ts"
import { failures } from "./errors.ts"
import { Hook, LedgerEntry, Why } from "./entry.ts"

const Json = Schema.Json
const ofTick = { ...ofAssistant, tick: WholeFromQuery }

/** A model that was asked before the one that answered. */
const EarlierModel = Schema.Struct({
  model: Schema.String,
  server: Schema.optionalKey(Schema.String),
  reason: Schema.String
})
export const ModelCall = Schema.Struct({
  iteration: Schema.Int,
  at: Schema.Finite,
  ok: Schema.Boolean,
  model: Schema.optionalKey(Schema.String),
  server: Schema.optionalKey(Schema.String),
  earlier: Schema.optionalKey(Schema.Array(EarlierModel)),
  elapsedMs: Schema.Finite,
  /** From its start to the first token of the reply; absent where it was not measured. */
  firstTokenMs: Schema.optionalKey(Schema.Finite),
  usage: Schema.optionalKey(Usage),
  costMicros: Schema.optionalKey(Schema.Finite),
  /** No one has said what this model costs. */
  unpriced: Schema.optionalKey(Schema.Literal(true)),
  finishReason: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String),
  /** What of its answer does not fit, where that has another form than it must have. */
  misfit: Schema.optionalKey(Schema.String)
})
export const ToolRun = Schema.Struct({
  call: Schema.String,
  tool: Schema.String,
  at: Schema.Finite,
  ok: Schema.Boolean,
  elapsedMs: Schema.Finite,
  arguments: Schema.optionalKey(Schema.String),
  result: Schema.optionalKey(Schema.String),
  /** When that came, where it is later than the run. */
  resultAt: Schema.optionalKey(Schema.Finite),
  pending: Schema.optionalKey(Schema.Boolean)
})
const { before: _before, edits: _edits, ...deed } = Hook.fields
/** What a hook did. */
const HookDone = Schema.Struct({ ...deed, at: Schema.Finite, before: Schema.optionalKey(Schema.String) })
/** One row of the timeline; of `tick` the long texts are cut, the one that is opened has them whole. */
export const TickView = Schema.Struct({
  kind: Schema.Literals(["tick", "dream", "compaction", "order"]),
  tick: Schema.Int,
  /** Numbers of its first and last commit. */
  from: Schema.Int,
  to: Schema.Int,
  sender: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String),
  beganAt: Schema.Finite,
  endedAt: Schema.optionalKey(Schema.Finite),
  outcome: Schema.optionalKey(Schema.String),
  iterations: Schema.Int,
  reply: Schema.optionalKey(Schema.String),
  parts: Schema.optionalKey(Schema.Array(ContentPart)),
  waitMs: Schema.optionalKey(Schema.Finite),
  models: Schema.Array(ModelCall),
  tools: Schema.Array(ToolRun),
  steps: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      kind: Schema.String,
      at: Schema.Finite,
      ok: Schema.Boolean,
      elapsedMs: Schema.Finite,
      model: Schema.optionalKey(Schema.String),
      usage: Schema.optionalKey(Usage),
      costMicros: Schema.optionalKey(Schema.Finite),
      unpriced: Schema.optionalKey(Schema.Literal(true)),
      /** The sub-agent that it created, and the call that asked for it. */
      child: Schema.optionalKey(Schema.Struct({ id: Schema.String, call: Schema.String })),
      earlier: Schema.optionalKey(Schema.Array(EarlierModel)),
      note: Schema.optionalKey(Schema.String)
    })
  ),
  /** What hooks did. */
  hooks: Schema.optionalKey(Schema.Array(HookDone)),
  states: Schema.Array(Schema.Struct({ at: Schema.Finite, state: Schema.String }))
})
export type TickView = typeof TickView.Type

/** How long it was in each mode, in milliseconds since `from`: the last hour, or as much of it as its newest entries tell. The present stretch is not among it. */
export const Modes = Schema.Struct({ from: Schema.Finite, millis: Schema.Record(Schema.String, Schema.Finite) })
export type Modes = typeof Modes.Type

export class TimelineGroup extends HttpApiGroup.make("timeline").add(
  HttpApiEndpoint.get("ticks", "/v1/assistants/:id/ticks", {
    params: ofAssistant,
    query: { before: Schema.optionalKey(WholeFromQuery), limit },
    success: Schema.Struct({ items: Schema.Array(TickView), next: Schema.NullOr(Schema.Int) }),
    error: failures
  }),
  HttpApiEndpoint.get("tick", "/v1/assistants/:id/ticks/:tick", {
    params: ofTick,
    success: TickView,
    error: failures
  }),
  HttpApiEndpoint.get("modes", "/v1/assistants/:id/modes", { params: ofAssistant, success: Modes, error: failures }),
  /** The ledger itself: entries from number `from` on. */
  HttpApiEndpoint.get("entries", "/v1/assistants/:id/entries", {
    params: ofAssistant,
    query: { from: Schema.optionalKey(WholeFromQuery), limit },
    success: Schema.Struct({
      items: Schema.Array(LedgerEntry),
      /** Those among them that cannot be read, because the segment that holds them is missing or damaged. */
      lost: Schema.optionalKey(LostSpans),
      next: Schema.NullOr(Schema.Int)
    }),
    error: failures
  })
) {}

export const BlockSummary = Schema.Struct({
  id: Schema.String,
  label: Schema.String,
  /** Whose block it is, when another assistant shares it with this one. */
  sharedFrom: Schema.optionalKey(Schema.String),
  type: Schema.String,
  permission: Schema.String,
  description: Schema.optionalKey(Schema.String),
  pinned: Schema.Boolean,
  version: Schema.Int,
  charLimit: Schema.optionalKey(Schema.Finite),
  chars: Schema.Finite,
  text: Schema.String
})
export const memoryKinds = ["message", "answer", "episode", "fact", "passage", "profile", "block"] as const
const Hit = Schema.Struct({
  owner: Schema.String,
  id: Schema.String,
  kind: Schema.String,
  text: Schema.String,
  at: Schema.Finite,
  score: Schema.Finite,
  speaker: Schema.optionalKey(Schema.String),
  entities: Schema.Array(Schema.String),
  tags: Schema.Array(Schema.String),
  trust: Schema.optionalKey(Schema.Finite),
  importance: Schema.Finite,
  /** What a passage was put away with. */
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Json)),
  why: Why,
  /** The same in words. */
  because: Schema.String
})

const VectorModel = Schema.Struct({ id: Schema.String, dimensions: Schema.Int })

const IndexReport = Schema.Struct({
  kind: Schema.optionalKey(Schema.String),
  state: Schema.optionalKey(Schema.Literals(["green", "yellow", "grey", "red"])),
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  format: Schema.optionalKey(Schema.Int),
  newestFormat: Schema.optionalKey(Schema.Int),
  memories: Schema.optionalKey(Schema.Int),
  points: Schema.optionalKey(Schema.Int),
  vectors: Schema.optionalKey(Schema.Int),
  compared: Schema.optionalKey(Schema.Literals(["database", "process"])),
  bytes: Schema.optionalKey(Schema.Int),
  embedder: Schema.optionalKey(VectorModel),
  nextEmbedder: Schema.optionalKey(VectorModel),
  lag: Schema.Struct({
    entries: Schema.Int,
    assistants: Schema.Int,
    oldestAt: Schema.optionalKey(Schema.Finite),
    lookedAt: Schema.optionalKey(Schema.Int)
  }),
  lagMs: Schema.optionalKey(Schema.Finite)
})

const IndexSnapshot = Schema.Struct({
  name: Schema.String,
  bytes: Schema.Finite,
  at: Schema.optionalKey(Schema.Finite)
})

const IndexCaughtUp = { assistants: Schema.Int, entries: Schema.Int, erased: Schema.Int }

export class MemoryGroup extends HttpApiGroup.make("memory").add(
  /** Numbers of everything, and the blocks. */
  HttpApiEndpoint.get("overview", "/v1/assistants/:id/memory", {
    params: ofAssistant,
    success: Schema.Struct({
      facts: Schema.Int,
      quarantined: Schema.Int,
      proposed: Schema.Int,
      profiles: Schema.Int,
      passages: Schema.Int,
      journal: Schema.Int,
      dreams: Schema.Int,
      compactions: Schema.Int,
      blocks: Schema.Array(BlockSummary)
    }),
    error: failures
  }),
  HttpApiEndpoint.get("facts", "/v1/assistants/:id/memory/facts", {
    params: ofAssistant,
    query: {
      state: Schema.optionalKey(Fact.fields.state),
      q: Schema.optionalKey(Text(200)),
      limit,
      cursor
    },
    success: page(Fact),
    error: failures
  }),
  HttpApiEndpoint.get("profiles", "/v1/assistants/:id/memory/profiles", {
    params: ofAssistant,
    query: { limit, cursor },
    success: page(EntityProfile),
    error: failures
  }),
  HttpApiEndpoint.get("journal", "/v1/assistants/:id/memory/journal", {
    params: ofAssistant,
    query: { limit, cursor },
    success: page(Schema.Struct({ key: Schema.String, value: Json })),
    error: failures
  }),
  HttpApiEndpoint.get("recall", "/v1/assistants/:id/memory/recall", {
    params: ofAssistant,
    query: {
      q: Text(2_000),
      limit,
      mode: Schema.optionalKey(Schema.Literals(["auto", "fts", "vector", "hybrid"])),
      scope: Schema.optionalKey(Schema.Literals(["own", "shared", "fleet"])),
      /** Kinds of memories, with commas between them; what was said and answered when not said. */
      kinds: Schema.optionalKey(Text(200)),
      /** Bounds of when it happened, both inclusive. */
      since: Schema.optionalKey(Schema.FiniteFromString),
      until: Schema.optionalKey(Schema.FiniteFromString),
      /** Least trust, 0 to 1. */
      minTrust: Schema.optionalKey(Schema.FiniteFromString),
      /** Names of whom and what it is about, and tags, with commas between them: one of each must be there. */
      entities: Schema.optionalKey(Text(2_000)),
      tags: Schema.optionalKey(Text(2_000))
    },
    success: Schema.Struct({
      items: Schema.Array(Hit),
      /** How it was searched. */
      mode: Schema.Literals(["fts", "vector", "hybrid"]),
      /** How far the best of them answer the question by its words, 0 to 1: low where nothing that is remembered does. */
      certainty: Schema.optionalKey(Schema.Finite),
      degraded: Schema.optionalKey(Schema.String)
    }),
    error: failures
    // A condition that is no condition here would be left out of the search in silence.
  }).annotate(HttpApi.QueryParseOptions, bodyParsing),
  /** A fact is wrong: it is retired with the reason and found no more, once the assistant has heard of it at rest. */
  HttpApiEndpoint.post("retireFact", "/v1/assistants/:id/memory/facts/:fact/retire", {
    params: { ...ofAssistant, fact: Text(128) },
    payload: Schema.Struct({ reason: Schema.optionalKey(Text(2_000)) }),
    success: Receipt,
    error: failures
  }),
  /** A person writes what is right in the place of a fact: the old one is superseded, once the assistant has heard of it at rest. */
  HttpApiEndpoint.post("correctFact", "/v1/assistants/:id/memory/facts/:fact/correct", {
    params: { ...ofAssistant, fact: Text(128) },
    headers: keyed,
    payload: Schema.Struct({ text: Text(2_000) }),
    success: Receipt,
    error: failures
  }),
  /** A person adds a fact, beside all others. */
  HttpApiEndpoint.post("addFact", "/v1/assistants/:id/memory/facts", {
    params: ofAssistant,
    headers: keyed,
    payload: Schema.Struct({ text: Text(2_000) }),
    success: Receipt,
    error: failures
  }),
  /**
   * A person writes into a profile: in the place of an attribute, beside all others where none is named, or nothing at all where there is no
   * text, which removes it. `undo` takes the last of these acts on it back. The entity is the id of a profile, or a name.
   */
  HttpApiEndpoint.post("writeProfile", "/v1/assistants/:id/memory/profiles/:entity", {
    params: { ...ofAssistant, entity: Text(128) },
    headers: keyed,
    payload: Schema.Struct({
      attribute: Schema.optionalKey(Text(128)),
      text: Schema.optionalKey(Text(2_000)),
      undo: Schema.optionalKey(Schema.Boolean)
    }),
    success: Receipt,
    error: failures
  }),
  /** A fact in quarantine, or one that a dream proposes, may be used: a person has read it. */
  HttpApiEndpoint.post("releaseFact", "/v1/assistants/:id/memory/facts/:fact/release", {
    params: { ...ofAssistant, fact: Text(128) },
    success: Receipt,
    error: failures
  }),
  /** Deletes a text that was put away: it is found no more, once the assistant has heard of it at rest. */
  HttpApiEndpoint.delete("deletePassage", "/v1/assistants/:id/memory/passages/:passage", {
    params: { ...ofAssistant, passage: Text(128) },
    success: Receipt,
    error: failures
  }),
  /** Makes the index anew from the ledger: nothing else is changed by it. */
  HttpApiEndpoint.post("rebuild", "/v1/assistants/:id/memory/rebuild", {
    params: ofAssistant,
    success: Schema.Struct({ entries: Schema.Int, memories: Schema.Int }),
    error: failures
  }),
  /**
   * How the index of memories is, and how far it is behind the ledger, of all tenants: this and what follows takes a token of the
   * deployment's own tenant.
   */
  HttpApiEndpoint.get("index", "/v1/index", { success: IndexReport, error: failures }),
  /** The snapshots of an index at a Qdrant server, the newest first. */
  HttpApiEndpoint.get("indexSnapshots", "/v1/index/snapshots", {
    success: Schema.Struct({ items: Schema.Array(IndexSnapshot) }),
    error: failures
  }),
  /** Makes a snapshot, which stays at the server of the index. Where an index keeps none it is refused. */
  HttpApiEndpoint.post("makeIndexSnapshot", "/v1/index/snapshots", { success: IndexSnapshot, error: failures }),
  /** Puts a snapshot that is listed in the place of the index, and brings it up to the ledger. Searches find all the while. */
  HttpApiEndpoint.post("restoreIndex", "/v1/index/restore", {
    payload: Schema.Struct({ snapshot: Text(1_000) }),
    success: Schema.Struct({ snapshot: Schema.String, ...IndexCaughtUp }),
    error: failures
  }),
  /** Brings the index of every assistant up to its ledger. */
  HttpApiEndpoint.post("catchUpIndex", "/v1/index/catch-up", {
    success: Schema.Struct(IndexCaughtUp),
    error: failures
  }),
  HttpApiEndpoint.get("blockVersions", "/v1/blocks/:block/versions", {
    params: { block: Text(128) },
    query: { before: Schema.optionalKey(WholeFromQuery), limit },
    success: Schema.Struct({
      items: Schema.Array(
        Schema.Struct({
          version: Schema.Int,
          at: Schema.Finite,
          by: Schema.String,
          message: Schema.optionalKey(Schema.String),
          restores: Schema.optionalKey(Schema.Int)
        })
      )
    }),
    error: failures
  }),
  HttpApiEndpoint.get("block", "/v1/blocks/:block", {
    params: { block: Text(128) },
    query: { version: Schema.optionalKey(WholeFromQuery) },
    success: Schema.Struct({ version: Schema.Int, text: Schema.String, content: Json }),
    error: failures
  }),
  /** An operation on a block, as `Blocks.edit` of the SDK takes it. */
  HttpApiEndpoint.post("editBlock", "/v1/blocks/:block/edits", {
    params: { block: Text(128) },
    payload: Schema.Struct({ operation: BlockEdit, key: Schema.optionalKey(Key) }),
    success: Schema.Struct({ version: Schema.Int }),
    error: failures
  }),
  HttpApiEndpoint.post("undoBlock", "/v1/blocks/:block/undo", {
    params: { block: Text(128) },
    headers: keyed,
    success: Schema.Struct({ version: Schema.Int }),
    error: failures
  }),
  /** It is listed no more; its versions stay in the store. */
  HttpApiEndpoint.delete("deleteBlock", "/v1/blocks/:block", {
    params: { block: Text(128) },
    headers: keyed,
    success: Schema.Struct({ version: Schema.Int }),
    error: failures
  })
) {}
