// BlocksInView: the memory blocks of one tick, as its prompt shows them.
// Owns which of them are shown and their texts. Leaves reading them to `blocks.ts`, the form of one to `context`.
// V1  A text that says the same is the same object, so that the prompt's part is neither rendered nor counted again.
// V2  Nothing is hidden in what is shown.

import {
  type Address,
  defined,
  FORGOTTEN,
  isBefore,
  isJsonObject,
  type Json,
  type Message,
  type MessagePlace,
  type PlacedMessage,
  type RecordChange
} from "@reverie/protocol"
import {
  type Absent,
  type BlockOptions,
  type Component,
  type Content,
  historyStartOf,
  type Marks,
  openWindow,
  PLACES,
  type PromptBlock,
  renderBlock,
  shownBlocks,
  type ShownPart,
  type Window,
  withinMemory
} from "@reverie/context"
import { type BlockView, cleanText } from "@reverie/memory"
import { Ledger } from "@reverie/ledger"
import * as Effect from "effect/Effect"
import type { Definition } from "../session/definition.ts"
import { type OwnRecords, recordsOf } from "../session/own-records.ts"

export interface BlocksInView {
  /** The tick that they were read for; -1 for none. */
  readonly tick: number
  /** Everything the assistant may see, as it was when the tick began or after its own last change. */
  readonly known: ReadonlyArray<BlockView>
  readonly core: Content
  readonly working: Content
  readonly absent: ReadonlyArray<Absent>
}

export const NO_BLOCKS: BlocksInView = { tick: -1, known: [], core: "", working: "", absent: [] }

const BETWEEN_BLOCKS = "\n\n"

const promptBlock = (block: BlockView): PromptBlock => {
  const { description, id, label, permission, pinned, schema, sharedFrom, text, type } = block
  return {
    id,
    label,
    type,
    permission,
    content: cleanText(text),
    description: cleanText(description),
    schema,
    pinned,
    ...defined({ sharedFrom })
  }
}

const contentOf = (blocks: ReadonlyArray<PromptBlock>, before: Content, options: BlockOptions): Content => {
  const pieces = blocks.map((block) => renderBlock(block, options))
  if (pieces.length === 0) return ""
  const known = typeof before === "string" ? [] : before.pieces
  const isSame = known.length === pieces.length && pieces.every((piece, index) => piece === known[index])
  return isSame ? before : { pieces, separator: BETWEEN_BLOCKS }
}

/** What a tick shows of the blocks: those that are always shown, and those that it refers to. */
export const inView = (
  before: BlocksInView,
  tick: number,
  known: ReadonlyArray<BlockView>,
  referred: ReadonlyArray<string>,
  { maxTokens, ...options }: BlockOptions & { readonly maxTokens: number },
  tokensOf: (text: string) => number
): BlocksInView => {
  const all = shownBlocks(known.map(promptBlock), new Set(referred))
  const { absent, shown } = withinMemory(all, maxTokens, (block) => tokensOf(renderBlock(block, options)))
  return {
    tick,
    known,
    core: contentOf(shown.core, before.core, options),
    working: contentOf(shown.working, before.working, options),
    absent
  }
}

// History: what of an assistant's past stands in its window.
// H1  The window is the marker of what was compacted, if anything was, and the newest messages after it.
// H2  One whose beginning was cut off begins at the same message in another process: a prompt goes on where it was.

/** Under this key of the kind `shown` stands where the window begins, once its beginning was cut off. */
export const WINDOW_BEGIN = "begin"

interface OpenHistory {
  readonly window: Window
  readonly placed: ReadonlyArray<PlacedMessage>
}

/** Tokens of history that a prompt may have. */
const limitOf = ({ maxContextTokens, reservedResponseTokens }: Definition): number =>
  Math.max(1, maxContextTokens - reservedResponseTokens)

/** Reads as much as the context window could hold, so that what overflows it is counted too (F65). */
export const openHistory = Effect.fnUntraced(function* (
  address: Address,
  definition: Definition,
  own: OwnRecords,
  isInHand: boolean
) {
  const start = historyStartOf(recordsOf(own, "state"))
  const all = yield* (yield* Ledger).recent(address, definition.maxContextTokens, start?.from)
  const placed = remembered(all, isInHand)
  const messages = placed.map(({ message }) => message)
  const opened: OpenHistory = { window: windowOn(messages, definition, own, firstShown(own, placed)), placed }
  return opened
})

const isAt = (record: Json | undefined, { index, no }: MessagePlace): boolean =>
  record !== undefined && isJsonObject(record) && record["no"] === no && record["index"] === index

/** The message that a window began with whose beginning was cut off; undefined where none was. */
const firstShown = (own: OwnRecords, placed: ReadonlyArray<PlacedMessage>): Message | undefined => {
  const begin = recordsOf(own, "shown").get(WINDOW_BEGIN)
  return begin === undefined ? undefined : placed.find(({ place }) => isAt(begin, place))?.message
}

/** Without turns that were forgotten: a model would take them for the way to answer. A turn that is in hand stays. */
const remembered = (placed: ReadonlyArray<PlacedMessage>, isInHand: boolean): ReadonlyArray<PlacedMessage> => {
  if (!placed.some(({ message }) => message.content === FORGOTTEN)) return placed
  const turn = isInHand ? placed.findLastIndex(({ message }) => message.role === "user") : placed.length
  const results = placed.filter(({ message: { content, role } }) => role === "tool" && content === FORGOTTEN)
  const gone = new Set(results.flatMap(({ message: { call = [] } }) => call))
  const isGone = ({ message: { calls = [], content, role } }: PlacedMessage): boolean =>
    content === FORGOTTEN ||
    (role === "assistant" && content === "" && calls.length > 0 && calls.every(({ id }) => gone.has(id)))
  return placed.filter((each, at) => at >= turn || !isGone(each))
}

/** A window on all that was said since the last compaction, whatever of it other prompts had no room for. */
export const windowOn = (
  messages: ReadonlyArray<Message>,
  definition: Definition,
  own: OwnRecords,
  first?: Message
): Window => openWindow(messages, limitOf(definition), historyStartOf(recordsOf(own, "state"))?.marker, first)

/** Every message since the last compaction, with its place. */
export const wholeHistory = Effect.fnUntraced(function* (address: Address, own: OwnRecords) {
  const start = historyStartOf(recordsOf(own, "state"))
  return yield* (yield* Ledger).recent(address, Number.MAX_SAFE_INTEGER, start?.from)
})

// Beside: what was shown beside the events of the window, and stays there.
// E1  It is written with the reply that it was first used for, as a record of its own kind: it is no message, so no one has
//     said it, and it is neither found, extracted, compacted nor counted among them.
// E2  It stands before its event in the same bytes as long as the window has that, and is gone with it.
// E3  A record that does not fit shows nothing.

/** What was shown beside one event. */
export interface ShownBeside {
  readonly place: MessagePlace
  readonly parts: ReadonlyArray<ShownPart>
  readonly components: ReadonlyArray<Component>
  readonly tokens: number
}

type CountMessage = (message: Omit<Message, "tokens">) => number

/** By the record as it is kept. */
const readBefore = new WeakMap<object, ShownBeside>()

const isPart = (part: Json): boolean =>
  isJsonObject(part) &&
  typeof part["key"] === "string" &&
  typeof part["text"] === "string" &&
  isJsonObject(part["marks"] ?? null)

const idOf = (key: string): number => Object.values(PLACES).find((place) => place.key === key)?.id ?? -1

const readShown = (record: Json, count: CountMessage): ShownBeside | undefined => {
  if (!isJsonObject(record)) return undefined
  const known = readBefore.get(record)
  if (known !== undefined) return known
  const { index, no, parts } = record
  if (typeof no !== "number" || typeof index !== "number" || !Array.isArray(parts) || !parts.every(isPart)) return
  const read = parts as unknown as ReadonlyArray<ShownPart>
  const components = read.map(({ key, text }): Component => {
    const message = { role: "user", content: text } as const
    return { id: idOf(key), key, enabled: true, message, tokens: count({ ...message, at: 0 }) }
  })
  const tokens = components.reduce((sum, component) => sum + component.tokens, 0)
  const shown = { place: { no, index }, parts: read, components, tokens }
  readBefore.set(record, shown)
  return shown
}

/** Of whose prompts it is. */
interface Viewer {
  readonly own: OwnRecords
  readonly window: Window
  readonly places: WeakMap<Message, MessagePlace>
  readonly count: CountMessage
}

/** Where the messages begin that the model sees; undefined when it sees none. */
export const windowBegin = ({ places, window }: Pick<Viewer, "places" | "window">): MessagePlace | undefined => {
  const first = window.messages.find(({ role }) => role !== "system")
  return first === undefined ? undefined : places.get(first)
}

const keyOf = ({ index, no }: MessagePlace): string => `${no}/${index}`

/** What stands beside the events of the window, the oldest first, and what is left of those that are not in it any more. */
const shownIn = (viewer: Viewer) => {
  const begin = windowBegin(viewer)
  const kept: Array<ShownBeside> = []
  const stale: Array<string> = []
  for (const [key, record] of recordsOf(viewer.own, "shown")) {
    if (key === WINDOW_BEGIN) continue
    const shown = readShown(record, viewer.count)
    if (shown === undefined || (begin !== undefined && isBefore(shown.place, begin))) stale.push(key)
    else kept.push(shown)
  }
  return { kept: kept.toSorted((a, b) => (isBefore(a.place, b.place) ? -1 : 1)), stale }
}

export interface Beside {
  /** Where the event of the tick at hand stands. */
  readonly place: MessagePlace | undefined
  /** What is shown beside it, once that is recorded. */
  readonly recorded: ShownBeside | undefined
  readonly marks: Marks
  /** By the message of each earlier event. */
  readonly components: ReadonlyMap<Message, ReadonlyArray<Component>>
  readonly stale: ReadonlyArray<string>
}

/** `seen`: what of the window is shown; the rest shows nothing beside it either. */
export const besideEvents = (viewer: Viewer, seen: Window = viewer.window): Beside => {
  const { places, window } = viewer
  const event = window.messages.findLast(({ role }) => role === "user")
  const place = event === undefined ? undefined : places.get(event)
  const { kept, stale } = shownIn(viewer)
  const earlier = new Map(kept.map((shown) => [keyOf(shown.place), shown]))
  const recorded = place === undefined ? undefined : earlier.get(keyOf(place))
  if (place !== undefined) earlier.delete(keyOf(place))
  const components = new Map<Message, ReadonlyArray<Component>>()
  const marks = new Map<string, string>()
  if (earlier.size > 0) {
    for (const message of seen.messages) {
      const at = message.role === "user" ? places.get(message) : undefined
      const shown = at === undefined ? undefined : earlier.get(keyOf(at))
      if (shown === undefined) continue
      components.set(message, shown.components)
      for (const { key, marks: said } of shown.parts) {
        for (const [id, mark] of Object.entries(said)) marks.set(`${key} ${id}`, mark)
      }
    }
  }
  return { place, recorded, marks, components, stale }
}

/** Where the window begins, as far as that is not written yet. */
const beginChange = (viewer: Pick<Viewer, "own" | "places" | "window">): ReadonlyArray<RecordChange> => {
  const known = recordsOf(viewer.own, "shown").get(WINDOW_BEGIN)
  const begin = viewer.window.overLimit.messages === 0 ? undefined : windowBegin(viewer)
  if (begin === undefined) return known === undefined ? [] : [{ kind: "shown", key: WINDOW_BEGIN, value: null }]
  return isAt(known, begin) ? [] : [{ kind: "shown", key: WINDOW_BEGIN, value: { ...begin } }]
}

/** What the commit of a reply writes of what it was shown, and takes away of what no one is shown any more. */
export const besideChanges = (
  viewer: Viewer,
  { place, recorded, stale }: Beside,
  parts: ReadonlyArray<ShownPart>
): ReadonlyArray<RecordChange> => {
  const gone = [...beginChange(viewer), ...stale.map((key): RecordChange => ({ kind: "shown", key, value: null }))]
  if (place === undefined || recorded !== undefined || parts.length === 0) return gone
  const tokens = parts.reduce((sum, { text }) => sum + viewer.count({ role: "user", content: text, at: 0 }), 0)
  const value = { ...place, parts, tokens } as unknown as Json
  return [...gone, { kind: "shown", key: keyOf(place), value }]
}

/** Tokens of all that stands beside the events of the window, or beside those from a place on. */
export const besideTokens = (viewer: Viewer, from?: MessagePlace): number =>
  shownIn(viewer).kept.reduce(
    (sum, { place, tokens }) => (from !== undefined && isBefore(place, from) ? sum : sum + tokens),
    0
  )
