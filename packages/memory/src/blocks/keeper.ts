// Keeper: the store of blocks over any adapter's rows.
// Owns the reading of blocks, and putting each request into one transaction. Leaves judging it to `changing.ts`, the rows
// to an adapter. Its promises are those of the port.

import type { TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import {
  type BlockChange,
  type BlockDraft,
  blockIdOf,
  type BlockReading,
  type BlockRequest,
  type BlockStore,
  type BlockVersion,
  type BlockViewer,
  DEFAULT_CHAR_LIMIT,
  isVisible,
  type KeptBlock,
  type KeptChange,
  viewOf
} from "./block-store.ts"
import { type Bench, changed, deleted, keep, restored, settled } from "./changing.ts"
import type { KeptVersion } from "./document/commit.ts"
import { contentJson, operationsFor } from "./document/content.ts"
import { Documents } from "./document/documents.ts"
import { type ChangeFailure, found, once, readBlock, readVersion, refused, versionAt } from "./kept.ts"
import { loadLoro, peerOf, StructuredDocument } from "./document/document.ts"
import type { BlockTransactions } from "./rows.ts"
import type { BlockRefused, ConsentNeeded } from "../errors.ts"
import { type BlockSchema, PLAIN_TEXT, readBlockSchema } from "./document/schema.ts"
import { flawOfDraft } from "./settings.ts"
import { cleanLine } from "../integrity/clean-text.ts"
import { stopTerms, tokensOf } from "../text/tokens.ts"

// BlockCreation: the first version of a block.
// N1  What a block begins with was put there by the one who made it, within its limit and its schema.

const unwritten = (draft: BlockDraft, schema: BlockSchema, id: string, at: number): KeptBlock => ({
  id,
  owner: draft.owner,
  label: draft.label,
  type: draft.type,
  permission: draft.permission ?? "ReadWrite",
  schema,
  description: (draft.description ?? "").toWellFormed(),
  pinned: draft.pinned ?? false,
  charLimit: draft.charLimit ?? DEFAULT_CHAR_LIMIT,
  shares: [],
  createdAt: at,
  updatedAt: at,
  version: 0,
  text: "",
  chars: 0,
  shows: 0,
  past: [],
  future: [],
  snapshot: { version: 0, bytes: 0, since: 0 },
  place: []
})

const created = (bench: Bench, draft: BlockDraft) =>
  Result.gen(function* () {
    const { loro, request, rows } = bench
    const { content, label, owner } = draft
    const fail = (reason: BlockRefused["reason"], message: string) => Result.fail(refused(draft, reason, message))
    if (request.isSystem !== true && owner !== request.by) return yield* fail("setting", "others make their own blocks")
    const flaw = flawOfDraft(draft)
    if (flaw !== undefined) return yield* fail("setting", flaw)
    if (rows.isTaken(request.tenant, owner, label)) return yield* fail("label-taken", "there is one of that label")
    const asSchema = (message: string): BlockRefused => refused(draft, "schema", message)
    const schema = yield* Result.mapError(readBlockSchema(draft.schema ?? PLAIN_TEXT), asSchema)
    const operations = content === undefined ? [] : yield* Result.mapError(operationsFor(schema, content), asSchema)
    const block = unwritten(draft, schema, blockIdOf(request.tenant, draft, request.key), request.at)
    const document = StructuredDocument.empty(loro, label, schema)
    document.writeAs(peerOf("author", block.id, request.by))
    const from = document.place
    const author = { by: request.by, at: request.at, isSystem: true, accessTo: () => "allowed" as const }
    const made: Result.Result<ReadonlyArray<boolean>, BlockRefused | ConsentNeeded> = Result.all(
      operations.map((operation) => document.change(operation, author))
    )
    yield* made
    return yield* keep(bench, block, document, from, { kind: "edit" })
  })

type Service = BlockStore["Service"]

const DEFAULT_PAGE = 50

/** Shown with the figures of a process (F93). */
const documentsHeld = Metric.gauge("reverie_block_documents", {
  description: "Documents of memory blocks that are held in memory."
})

const measured = (documents: Documents) => Effect.suspend(() => Metric.update(documentsHeld, documents.size))

/** A viewer's own blocks first, then those of others, each in the order of their labels. */
const inOrder =
  ({ by }: BlockViewer) =>
  (one: KeptBlock, other: KeptBlock): number =>
    Number(other.owner === by) - Number(one.owner === by) ||
    compared(one.owner, other.owner) ||
    compared(one.label, other.label)

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const toldVersion = ({ place: _, ...version }: KeptVersion): BlockVersion => version

const looking = (
  { look }: BlockTransactions,
  documents: Documents
): Pick<Service, "load" | "list" | "versions" | "read"> => ({
  load: (viewer, id) =>
    look("load", (rows) => {
      const text = rows.block(viewer.tenant, id)
      if (text === undefined) return Result.succeed(undefined)
      return Result.map(readBlock(text, id), (block) => (isVisible(block, viewer) ? viewOf(block, viewer) : undefined))
    }),
  list: (viewer, { owner, types } = {}) =>
    look("list", (rows) => {
      const texts = rows.blocks(viewer.tenant, viewer.isSystem === true ? undefined : viewer.by)
      return Result.map(Result.all(texts.map((text) => readBlock(text, "?"))), (blocks) =>
        blocks
          .filter((block) => isVisible(block, viewer))
          .filter((block) => owner === undefined || block.owner === owner)
          .filter(({ type }) => types === undefined || types.includes(type))
          .toSorted(inOrder(viewer))
          .map((block) => viewOf(block, viewer))
      )
    }),
  versions: (viewer, id, { before = Number.MAX_SAFE_INTEGER, limit = DEFAULT_PAGE } = {}) =>
    look("versions", (rows) =>
      Result.flatMap(found(rows, viewer, id), () =>
        Result.all(
          rows.versions(viewer.tenant, id, before, limit).map((text) => Result.map(readVersion(text, id), toldVersion))
        )
      )
    ),
  read: (viewer, id, version) =>
    Effect.flatMap(loadLoro, (loro) =>
      look("read", (rows) =>
        Result.gen(function* () {
          const block = yield* found(rows, viewer, id)
          const at = version === undefined ? undefined : yield* versionAt(rows, viewer.tenant, block, version)
          const document = yield* documents.take(loro, rows, viewer.tenant, block)
          const seen = at === undefined ? document : document.at(at.place)
          const reading: BlockReading = {
            version: at?.version ?? block.version,
            text: seen.render(block.charLimit),
            content: contentJson(seen.content())
          }
          if (seen !== document) seen.free()
          documents.keep(id, block.version, document, block.remade)
          return reading
        })
      )
    ).pipe(Effect.tap(measured(documents)))
})

// Listeners: who hears of what was kept (K9).
// L1  One that throws keeps no change from being kept, and no other one from hearing of it.

type Listener = Parameters<Service["subscribe"]>[1]

class Listeners {
  readonly #all = new Set<readonly [tenant: TenantId, listener: Listener]>()

  readonly subscribe: Service["subscribe"] = (tenant, listener) => {
    const each = [tenant, listener] as const
    this.#all.add(each)
    return () => void this.#all.delete(each)
  }

  hear(of: TenantId, kept: KeptChange): Effect.Effect<void> {
    return Effect.forEach(
      [...this.#all].filter(([tenant]) => tenant === of),
      ([, listener]) => Effect.ignoreCause(Effect.sync(() => listener(kept))),
      { discard: true }
    )
  }
}

const changingOver = (
  { write }: BlockTransactions,
  documents: Documents,
  listeners: Listeners
): Pick<Service, "create" | "change" | "undo" | "redo" | "configure" | "delete"> => {
  const judged = Effect.fnUntraced(function* (
    operation: KeptChange["what"],
    request: BlockRequest,
    what: ReadonlyArray<unknown>,
    judge: (bench: Bench) => Result.Result<BlockChange, ChangeFailure>
  ) {
    const loro = yield* loadLoro
    let isNew = false
    const change = yield* write(operation, (rows, onUndo) => {
      isNew = false
      return once(rows, request, [operation, ...what], () => {
        isNew = true
        return judge({ loro, rows, documents, request, onUndo })
      })
    })
    yield* measured(documents)
    if (isNew && change.changed) {
      const { at, by, tenant } = request
      yield* listeners.hear(tenant, { block: change.block, version: change.version, what: operation, by, at })
    }
    return change
  })
  return {
    create: (draft, request) => judged("create", request, [draft], (bench) => created(bench, draft)),
    change: (id, request, operation) =>
      judged("change", request, [id, operation], (bench) => changed(bench, id, operation)),
    undo: (id, request) => judged("undo", request, [id], (bench) => restored(bench, id, "undo")),
    redo: (id, request) => judged("redo", request, [id], (bench) => restored(bench, id, "redo")),
    configure: (id, request, setting) =>
      judged("configure", request, [id, setting], (bench) => settled(bench, id, setting)),
    delete: (id, request) => judged("delete", request, [id], (bench) => deleted(bench, id))
  }
}

/** The port over an adapter's transactions. `documents` is how many are kept in memory. */
export const keepBlocks = (transactions: BlockTransactions, options: { readonly documents?: number } = {}): Service => {
  const documents = new Documents(options.documents)
  const listeners = new Listeners()
  return {
    ...looking(transactions, documents),
    ...changingOver(transactions, documents, listeners),
    subscribe: listeners.subscribe
  }
}

// WorkingMemory: what the conversations of an assistant are about just now (F83).
// W1  At most MAX_CONVERSATIONS, at most MAX_LINES lines of each, at most MAX_LINE_CHARS characters of a line. The
//     conversation in which nothing was noted for longest goes first.
// W2  Lines stand in the order in which they were noted.
// W3  A conversation is over when nothing was noted in it for the time to live, to the millisecond, and not before.
// W4  Topics are words that were said more than once lately; every line makes the others fade.

/** Many times what an assistant can follow, and few enough to be looked through at every line. */
export const MAX_CONVERSATIONS = 64
export const MAX_LINES = 12
export const MAX_LINE_CHARS = 400
const MAX_SPEAKER_CHARS = 100
const READ_CHARS = 8 * MAX_LINE_CHARS

/**
 * A day: every night digests what was said, so that a conversation which is taken up again later is remembered from
 * there, and within the day a pause for work or sleep does not cut it off.
 */
export const WORKING_TTL_MILLIS = 24 * 3_600_000

/** What a word weighs is multiplied by this with each further line. */
const FADE = 0.95
/** A word that is said again while the first time still stands among the lines that are kept. */
const TOPICAL = 1.5
const MAX_WORDS = 32
const MAX_TOPICS = 5
const MIN_TOPIC_CHARS = 3

export interface WorkingLine {
  readonly speaker: string
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A word that may become a topic. */
interface Weighed {
  readonly term: string
  /** As it was last said. */
  readonly word: string
  /** As of the first line: what is said later weighs more, so that a line changes only the words that are in it. */
  readonly weight: number
}

/** Weights are made small again after so many lines, long before they are too large for a number. */
const MOST_LINES_WEIGHED = 4_000

interface Conversation {
  readonly lines: ReadonlyArray<WorkingLine>
  /** What it is about, the weightiest first. */
  readonly topics: ReadonlyArray<string>
  /** When the latest line was said, in milliseconds since the epoch. */
  readonly lastAt: number
  readonly words: ReadonlyArray<Weighed>
  /** Lines since the one that weights are of. */
  readonly since: number
}

/** By conversation; the one in which a line was noted last stands last. */
export type WorkingMemory = ReadonlyMap<string, Conversation>

export const NOTHING_WORKING: WorkingMemory = new Map()

const bounded = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`

const isTelling = (term: string): boolean =>
  term.length >= MIN_TOPIC_CHARS && !stopTerms.has(term) && !/^\p{N}+$/u.test(term)

const weighed = (before: ReadonlyArray<Weighed>, since: number, text: string): ReadonlyArray<Weighed> => {
  const said = new Map<string, string>()
  for (const { term, word } of tokensOf(text)) if (isTelling(term)) said.set(term, word)
  const gained = FADE ** -since
  const words = before.map((each) => {
    const word = said.get(each.term)
    if (word === undefined) return each
    said.delete(each.term)
    return { term: each.term, word, weight: each.weight + gained }
  })
  for (const [term, word] of said) words.push({ term, word, weight: gained })
  return words.toSorted((a, b) => b.weight - a.weight).slice(0, MAX_WORDS)
}

/** Of words that stand in the order of their weights. */
const topicsOf = (words: ReadonlyArray<Weighed>, since: number): ReadonlyArray<string> => {
  const fade = FADE ** since
  return words
    .slice(0, MAX_TOPICS)
    .filter(({ weight }) => weight * fade >= TOPICAL)
    .map(({ word }) => word)
}

/** The next line, and the words as they are weighed then. */
const onward = ({ since, words }: Pick<Conversation, "since" | "words">): Pick<Conversation, "since" | "words"> =>
  since < MOST_LINES_WEIGHED
    ? { since: since + 1, words }
    : { since: 1, words: words.map((each) => ({ ...each, weight: each.weight * FADE ** since })) }

const NEW_CONVERSATION: Conversation = { lines: [], topics: [], lastAt: Number.NEGATIVE_INFINITY, words: [], since: 0 }

/** With one more line. */
export const noteLine = (working: WorkingMemory, conversation: string, line: WorkingLine): WorkingMemory => {
  const said = working.get(conversation) ?? NEW_CONVERSATION
  const { lastAt, lines } = said
  const { since, words: before } = onward(said)
  // Of a long text only the beginning is cleaned: what can not be seen takes no room.
  const text = bounded(cleanLine(bounded(line.text, READ_CHARS)), MAX_LINE_CHARS)
  const words = weighed(before, since, text)
  const after = new Map(working)
  after.delete(conversation)
  after.set(conversation, {
    lines: [...lines, { speaker: bounded(cleanLine(line.speaker), MAX_SPEAKER_CHARS), text, at: line.at }].slice(
      -MAX_LINES
    ),
    topics: topicsOf(words, since),
    lastAt: Math.max(lastAt, line.at),
    words,
    since
  })
  for (const [silent] of after) {
    if (after.size <= MAX_CONVERSATIONS) break
    after.delete(silent)
  }
  return after
}

/** Without the conversations that are over; the same when none is. */
export const expired = (working: WorkingMemory, now: number, ttlMillis: number = WORKING_TTL_MILLIS): WorkingMemory => {
  const live = [...working].filter(([, { lastAt }]) => now - lastAt < ttlMillis)
  return live.length === working.size ? working : new Map(live)
}

/** As it stands in a prompt: the topics, then a line for each line, none of which can pass for another one. */
export const workingText = ({ lines, topics }: Pick<Conversation, "lines" | "topics">): string =>
  [
    ...(topics.length === 0 ? [] : [`Topics: ${topics.join(", ")}`]),
    ...lines.map(({ speaker, text }) => `- ${speaker}: ${text}`)
  ].join("\n")
