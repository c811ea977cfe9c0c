// Recall: the port of the index in which memories are found again.
// Owns what an index is given and asked, and what a hit says. Leaves what is indexed to the runtime, which reads it from
// the ledger, and understanding a question by meaning to the embedder.
// I1  No one finds what he may not read: another tenant's entries never, another assistant's only when it lets him.
// I2  Changes are applied only where the index stands at the position that they were made from, by number and digest;
//     elsewhere nothing is. Either way `apply` answers where the index stands then, so a lost answer does no harm.
// I3  Lexical search ranks by the one recipe of `text/`: every adapter gives the same hits for the same entries, nearly
//     in the same order.
// I4  Every hit says why it was found.
// I5  An erased assistant leaves nothing: its entries, facts, vectors and position are gone.
// I6  Vectors of another model can be filled in while searches go on with the present one; promoting switches at once.
// I7  An entry is found by its words as soon as it was applied, whether it has a vector or not.
// I8  What the facts attached to an entry say finds the entry. A second put keeps them; null takes one away.
// I9  A question in both rounds finds what the two searches come to (`inRounds`), and how sure it is of it.
// I10 What an index says of itself is so: who it knows, where each of them stands, and how much it holds.

import { type Address, type AssistantId, defined, type RecordChange } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type {
  IndexPosition,
  IndexSnapshots,
  IndexSpan,
  IndexStanding,
  IndexStatus,
  VectorModel
} from "./indexing/index-status.ts"
import { entryId, type MemoryEntry, type MemoryKind, OF_NO_ONE } from "./indexing/messages.ts"
import type { RecallUnavailable, VectorsUnfit } from "./errors.ts"
import { Origin } from "./fact.ts"

/** Changes of one assistant's entries, applied in their order. */
export type IndexChange =
  /**
   * An entry as it is from now on. `around` are the ids of the entries of the same owner whose texts its context is
   * (`contextOf`): an index that keeps these need not keep the context as well.
   */
  | { readonly type: "put"; readonly entry: MemoryEntry; readonly around?: ReadonlyArray<string> }
  | { readonly type: "remove"; readonly id: string }
  /** What the fact says that came from the entry `of`; null when it holds no longer. Without such an entry: nothing. */
  | { readonly type: "fact"; readonly of: string; readonly fact: string; readonly text: string | null }

/** fts: words. vector: meaning. hybrid: both, fused. */
export type SearchKind = "fts" | "vector" | "hybrid"

/**
 * own: the viewer's entries. shared: also those whose `readers` name the viewer. fleet: also those that the whole tenant
 * may read.
 */
export const recallScopes = ["own", "shared", "fleet"] as const
/** Whose memories are looked into. */
export type RecallScope = (typeof recallScopes)[number]

export interface RecallQuery {
  readonly text: string
  /** Of the current vector model; needed by `vector` and `hybrid`, which without it search for words. */
  readonly vector?: ReadonlyArray<number>
  readonly search: SearchKind
  readonly scope: RecallScope
  /** Most hits, at least 1. */
  readonly limit: number
  /** `episodicKinds` when not said. */
  readonly kinds?: ReadonlyArray<MemoryKind>
  /** Bounds of `at`, inclusive, in milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  /** The latest `at` of messages and answers, inclusive: those after it are in view already. Other kinds are not held to it. */
  readonly messagesUntil?: number
  /** One of these must be among the entry's; compared without regard to case. */
  readonly entities?: ReadonlyArray<string>
  readonly tags?: ReadonlyArray<string>
  /** The conversation that it belongs to, or one of these. */
  readonly thread?: string | ReadonlyArray<string>
  readonly minTrust?: number
  /** The present, for the slight preference of what is recent. */
  readonly now: number
}

/** Why a hit was found. */
export interface Why {
  /** Words of the question that it contains, as they stand in the question. */
  readonly terms: ReadonlyArray<string>
  /** Its place (1 is first) and score in the search for words. */
  readonly lexical?: { readonly rank: number; readonly score: number }
  /** Its place and its nearness, -1 to 1, in the search for meaning. */
  readonly vector?: { readonly rank: number; readonly score: number }
  /** Ids of attached facts that contain words of the question. */
  readonly facts: ReadonlyArray<string>
  /** What moved it besides: `recent`, `important`, `speaker`, `time` (of the time, or of the side of something, that is asked for), `reply` (of a question that has the words), `neighbour`,
   * `related` (found by other words for the same). */
  readonly boosts: ReadonlyArray<string>
}

/** One memory that was found. */
export interface Hit {
  /** The assistant whose memory it is. */
  readonly owner: AssistantId
  /** Without its context. */
  readonly entry: MemoryEntry
  /** Greater is better; comparable within one answer only. */
  readonly score: number
  /** By which search it was found, and what counted. */
  readonly why: Why
  /** What a passage was put away with besides its text; an index has none of it. */
  readonly metadata?: NonNullable<Passage["metadata"]>
}

/** The hits of both rounds in one order, and how far they answer the question, 0 to 1, as far as words tell. */
export interface Joined {
  readonly hits: ReadonlyArray<Hit>
  readonly certainty?: number
}

export class Recall extends Context.Service<
  Recall,
  {
    /**
     * Applies changes, all or nothing, where the index stands at `span.from`: then it stands at `span.to`. Answers where
     * it stands.
     */
    readonly apply: (
      address: Address,
      changes: ReadonlyArray<IndexChange>,
      span: IndexSpan
    ) => Effect.Effect<IndexPosition, RecallUnavailable>
    /** How far an assistant's ledger was indexed. */
    readonly position: (address: Address) => Effect.Effect<IndexPosition, RecallUnavailable>
    /** The best hits first. No words and no vector: no hits. */
    readonly search: (viewer: Address, query: RecallQuery) => Effect.Effect<ReadonlyArray<Hit>, RecallUnavailable>
    /**
     * Both rounds of a question at once (`inRounds`), of an index that searches on a thread, where what comes of it crosses over
     * once, or at a server, where both are one request. Of any other index it is asked with `search`; one that searches in
     * another's place leaves this out.
     */
    readonly searchInRounds?: (viewer: Address, query: RecallQuery) => Effect.Effect<Joined, RecallUnavailable>
    /** How many entries of an assistant there are. */
    readonly count: (address: Address) => Effect.Effect<number, RecallUnavailable>
    readonly erase: (address: Address) => Effect.Effect<void, RecallUnavailable>
    /** Gives back the room in its file of what is no longer there; an index without a file of its own leaves this out. */
    readonly compact?: (
      isTrial?: boolean
    ) => Effect.Effect<{ readonly bytesBefore: number; readonly bytesAfter: number }, RecallUnavailable>
    /** What it tells of itself; one that has nothing to tell leaves this out, and the next two where it can not do that. */
    readonly status?: Effect.Effect<IndexStatus, RecallUnavailable>
    /** Where every assistant stands whom it knows. */
    readonly standings?: Effect.Effect<ReadonlyArray<IndexStanding>, RecallUnavailable>
    readonly snapshots?: IndexSnapshots
    /** The vector model that searches use, and the one that is being filled in. */
    readonly vectorModels: Effect.Effect<
      { readonly current?: VectorModel; readonly next?: VectorModel },
      RecallUnavailable
    >
    /**
     * Makes room for vectors of a model. The first one is current at once, another one is next until it is promoted. The
     * present ones again: nothing happens.
     */
    readonly prepareVectors: (model: VectorModel) => Effect.Effect<void, RecallUnavailable>
    /** Entries without a vector of that model, of any assistant; none when the model is neither current nor next. */
    readonly missingVectors: (
      model: string,
      limit: number
    ) => Effect.Effect<
      ReadonlyArray<{ readonly address: Address; readonly id: string; readonly text: string }>,
      RecallUnavailable
    >
    readonly putVectors: (
      model: string,
      vectors: ReadonlyArray<{
        readonly address: Address
        readonly id: string
        readonly vector: ReadonlyArray<number>
      }>
    ) => Effect.Effect<void, RecallUnavailable | VectorsUnfit>
    /** From now on searches use this model; the vectors of the one before are dropped. */
    readonly promoteVectors: (model: string) => Effect.Effect<void, RecallUnavailable | VectorsUnfit>
  }
>()("@reverie/memory/Recall") {}

// Recalled: what someone asks of an assistant's memory, and what comes back.

/** auto: hybrid where there is an embedder with vectors, else fts. */
export const searchModes = ["auto", "fts", "vector", "hybrid"] as const
/** How a search is asked for. */
export type SearchMode = (typeof searchModes)[number]

/** How a search is done in fact: what needs an embedder becomes the search for words where there is none (F107). */
export const effectiveMode = (mode: SearchMode, hasEmbedder: boolean): SearchKind =>
  hasEmbedder ? (mode === "auto" ? "hybrid" : mode) : "fts"

/** How a question may be asked. Every condition given must hold. */
export interface RecallOptions {
  /** "auto" when not said. */
  readonly mode?: SearchMode
  /** "shared" when not said. */
  readonly scope?: RecallScope
  /** Most hits, at least 1; 10 when not said, and never more than 100. */
  readonly limit?: number
  /** All but profiles when not said. */
  readonly kinds?: ReadonlyArray<MemoryKind>
  /** Bounds of when it happened, inclusive, in milliseconds since the epoch. */
  readonly since?: number
  /** The later bound, inclusive. */
  readonly until?: number
  /** One of these must be among those of the memory; compared without regard to case. */
  readonly entities?: ReadonlyArray<string>
  /** One of these must be among its tags. */
  readonly tags?: ReadonlyArray<string>
  /** The conversation that it must belong to. */
  readonly thread?: string
  /** Least trust, 0 to 1. */
  readonly minTrust?: number
}

export const DEFAULT_RECALL_LIMIT = 10
export const MAX_RECALL_LIMIT = 100

/** What a question found. */
export interface Recalled {
  /** The best first. */
  readonly hits: ReadonlyArray<Hit>
  /** How it was searched in fact. */
  readonly mode: SearchKind
  /**
   * How far the best of them answer the question, 0 to 1, by its words: low where nothing that is remembered does. Not
   * there when only meaning was searched for.
   */
  readonly certainty?: number
  /** Why the answer may be poorer than usual, in one line; not there when it is not. */
  readonly degraded?: string
}

// Passage: a text that an assistant put away to be searched for, its archival memory.
// P1  A passage that is no passage is not indexed, and what stood under its key leaves the index.
// P2  Its own tags and readers go with it; no one else may read it unless it says so.

/** Longest text of a passage, in UTF-16 units. */
export const MAX_PASSAGE_CHARS = 8_000

/** As it is kept, under its id, as a record of the kind `passage`. */
export const Passage = Schema.Struct({
  id: Schema.String,
  text: Schema.String,
  /** When it was put away, in milliseconds since the epoch. */
  at: Schema.Finite,
  tags: Schema.Array(Schema.String),
  /** Besides its owner: no one, or every assistant of the tenant. */
  readers: Schema.Literals(["owner", "fleet"]),
  origin: Origin,
  trust: Schema.Finite,
  importance: Schema.Finite,
  /** Who began the tick that put it away. */
  thread: Schema.optionalKey(Schema.String),
  /** Of one that a dream put away while it read: the ids of all that it had before it. */
  sources: Schema.optionalKey(Schema.Array(Schema.String)),
  /** What its author said of it besides. No one searches by it. */
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
})
export type Passage = typeof Passage.Type

export const isPassage = Schema.is(Passage)

/**
 * Whose conversation a passage belongs to: what its owner put away may be of the one who spoke; what others put there, or all may read, is no
 * secret. Undefined where no one spoke.
 */
export const threadOfPassage = ({ origin, readers, thread }: Passage): string | undefined =>
  readers === "fleet" || origin.type !== "self" ? OF_NO_ONE : thread

/** What a changed passage means for an index. */
export const passageChanges = ({ key, value }: RecordChange): ReadonlyArray<IndexChange> => {
  const id = entryId("passage", key)
  if (!isPassage(value)) return [{ type: "remove", id }]
  const passage: Passage = value
  const { at, importance, origin, readers, tags, text, trust } = passage
  const thread = threadOfPassage(passage)
  return [
    {
      type: "put",
      entry: {
        id,
        kind: "passage",
        at,
        text,
        ...defined({ speaker: origin.type === "self" ? undefined : origin.name, thread }),
        entities: [],
        tags,
        trust,
        importance,
        readers
      }
    }
  ]
}
