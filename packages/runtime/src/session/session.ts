// Session: what a worker holds in memory of an assistant it has claimed.
// Owns the decoded state, the window of history, what is kept of open work, and every change of a field: it is read-only
// elsewhere. Leaves the moment of a change to who asks for it.
// I1  It equals the durable state after each commit; when it may not, it is thrown away and built anew from the store.
// I2  Only advance takes over what a commit has written, once it is durable. Nothing is changed for a commit beforehand.

import {
  contextOf,
  creation,
  type Decoded,
  persist,
  receives,
  restore,
  type Signals,
  type SnapshotUnfit,
  statusOf,
  type SubAgentStart
} from "@reverie/assistant"
import {
  append,
  type Content,
  conversationTokens,
  countMessage,
  type Fill,
  HISTORY_START_KEY,
  historyHoldKeys,
  isHistoryHeld,
  openPriceBook,
  type PluggedIn,
  type PriceBook,
  type Window
} from "@reverie/context"
import { type CreationEntry, Ledger, type LedgerUnavailable, type UnreadableRecord } from "@reverie/ledger"
import { Tokens, type ToolOffer } from "@reverie/model"
import {
  type Address,
  type Claim,
  type Cursors,
  defined,
  ENTRY_VERSION,
  type Hold,
  type Json,
  type Message,
  type MessagePlace,
  type OpenJob,
  type OpenTimer,
  ownKinds,
  type RecordChange,
  REFUSED,
  STATE_VERSION,
  type ToolCall
} from "@reverie/protocol"
import { crashIn, type ToolCache, toolCache } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Clock from "effect/Clock"
import { NO_SUSPICION, stillTrying, type Suspicion, suspicionOf, type Tries, withLost } from "../blame/suspicion.ts"
import { type BlocksInView, besideTokens, NO_BLOCKS, openHistory } from "../prompt/blocks-in-view.ts"
import { type Definition, Definitions, firstRendering, type Rendering } from "./definition.ts"
import {
  type CommittedRecords,
  isTakenBack,
  openOwnRecords,
  type OwnRecords,
  recordsAfterCommit,
  recordsAfterRun,
  recordsOf
} from "./own-records.ts"
import { DefinitionMissing } from "../errors.ts"
import { noteKept, openRecollection, type Recollection } from "../recall/recollection.ts"
import { sentDefinition } from "../sub-agents/sent-definition.ts"
import { addSleepTimer, type Turn } from "../commit/turn.ts"
import type { UncountedMessage } from "../commit/commit-draft.ts"
import { openTrace, type TurnTrace } from "../telemetry/telemetry.ts"

export interface RememberedText {
  /** What it was rendered from. */
  readonly sources: ReadonlyArray<object>
  readonly content: Content
}

export interface Session {
  readonly address: Address
  readonly definition: Definition
  readonly count: (message: UncountedMessage) => number
  /** What work makes that counts; a long text in it does not hold the event loop. It must be work that may be done twice. */
  readonly inSlices: Tokens["Service"]["inSlices"]
  /** Prices of what stays the same from one prompt to the next, its texts, and the offers of tools. */
  readonly book: PriceBook
  readonly texts: Map<string, RememberedText>
  /** What the tenant put between the static components, as this tick sees it. */
  readonly plugged: ReadonlyArray<PluggedIn>
  /** Memory blocks as this tick sees them. */
  readonly blocks: BlocksInView
  readonly rendering: Rendering
  readonly offers: Map<string, ReadonlyArray<ToolOffer>>
  /** What the assistant keeps about itself and its work. */
  readonly own: OwnRecords
  readonly ownLock: Semaphore.Semaphore
  /** Results that stand for an equal call; lost with the session. */
  readonly cache: ToolCache
  /** What the conversation of the tick at hand has been about. */
  readonly topics: string
  /** What has come to mind for the tick at hand. */
  readonly recollection: Recollection
  readonly claim: Claim
  /** How long the claim lasts after it was renewed. */
  readonly leaseMillis: number
  readonly version: number
  readonly cursors: Cursors
  readonly decoded: Decoded
  readonly jobs: ReadonlyArray<OpenJob>
  readonly timers: ReadonlyArray<OpenTimer>
  /** What is known of holders that were lost; nothing any more after the first commit. */
  readonly suspicion: Suspicion
  /** Ids of the jobs that run under suspicion. */
  readonly underTrial: ReadonlySet<string>
  readonly window: Window
  /** Where the messages of the window stand in the ledger. */
  readonly places: WeakMap<Message, MessagePlace>
  /** Tokens of the last prompt, the offered tools included. */
  readonly promptTokens: number
  /** Of them, what was no conversation: instructions, memory, tools. */
  readonly prefixTokens: number
  /** What traces show of the turn at hand. */
  readonly trace: TurnTrace
}

/** Builds the session of a hold that was just granted. `woken`: the trace of the wake-up that brought it about. */
export const openSession = Effect.fnUntraced(function* (
  hold: Hold,
  leaseMillis: number,
  woken?: string
): Effect.fn.Return<
  Session,
  LedgerUnavailable | UnreadableRecord | SnapshotUnfit | DefinitionMissing,
  Ledger | Tokens | Definitions
> {
  const { address } = hold.claim
  const definitions = yield* Definitions
  const found = definitions.find(hold.state.definition)
  if (found === undefined) return yield* new DefinitionMissing({ address, definition: hold.state.definition })
  const decoded = yield* Effect.fromResult(restore(hold.state.snapshot))
  const { assignment } = contextOf(decoded)
  const definition = assignment === null ? found : sentDefinition(found, assignment, definitions)
  const { inSlices, ready } = yield* Tokens
  const countText = yield* ready
  const own = openOwnRecords(yield* (yield* Ledger).records(address, ownKinds))
  const count = (message: UncountedMessage) => countMessage(message, countText, definition.accepts)
  const { placed, window } = yield* openHistory(address, definition, own, isInHand(decoded))
  const suspicion = suspicionOf(hold)
  return {
    address,
    definition,
    count,
    inSlices,
    book: openPriceBook(count),
    texts: new Map(),
    plugged: [],
    blocks: NO_BLOCKS,
    rendering: firstRendering(address, definition),
    offers: new Map(),
    own,
    ownLock: yield* Semaphore.make(1),
    cache: toolCache(),
    topics: "",
    recollection: openRecollection(),
    claim: hold.claim,
    leaseMillis,
    version: hold.version,
    cursors: hold.cursors,
    decoded,
    jobs: withLost(hold.state.jobs, suspicion),
    timers: hold.state.timers,
    suspicion,
    underTrial: new Set(),
    promptTokens: 0,
    prefixTokens: 0,
    trace: openTrace(woken),
    window,
    places: new WeakMap(placed.map(({ message, place }) => [message, place]))
  }
})

/** Fields are written here only. */
const change = (session: Session, fields: Partial<Session>): void => {
  Object.assign(session, fields)
}

export const renewClaim = (session: Session, claim: Claim): void => change(session, { claim })

/** What the prompts of the tick at hand are made of, and what they come to. */
export type Shown = Pick<
  Session,
  "blocks" | "plugged" | "prefixTokens" | "promptTokens" | "rendering" | "topics" | "window"
>

export const noteShown = (session: Session, shown: Partial<Shown>): void => change(session, shown)

export const noteTries = (session: Session, tries: Tries): void =>
  change(session, { suspicion: { ...session.suspicion, tries } })

export const beginTrial = (session: Session, job: string): void =>
  change(session, { underTrial: new Set([...session.underTrial, job]) })

export const endTrial = (session: Session, ...jobs: ReadonlyArray<string>): void =>
  change(session, { underTrial: new Set([...session.underTrial].filter((job) => !jobs.includes(job))) })

/** A turn of the conversation is not yet over. */
const isInHand = ({ machine }: Decoded): boolean => !machine.hasTag("atRest")

/** Opens the window anew when a commit has moved the beginning of the history. */
export const reopenHistory = (session: Session, records: ReadonlyArray<RecordChange> = []) =>
  records.some(({ key, kind }) => kind === "state" && key === HISTORY_START_KEY) ? reopened(session) : Effect.void

const reopened = Effect.fnUntraced(function* (session: Session) {
  const { placed, window } = yield* openHistory(
    session.address,
    session.definition,
    session.own,
    isInHand(session.decoded)
  )
  for (const { message, place } of placed) session.places.set(message, place)
  change(session, { window })
})

/** Takes over the records of a commit. What it was not to carry of runs that it ended is gone. */
const advanceRecords = (session: Session, { entry, state }: Turn): void => {
  const { cause, records: changes = [] } = entry
  const commit: CommittedRecords = {
    changes,
    ended: cause.kind === "job" ? cause.id : undefined,
    open: new Set(state.jobs.map(({ id }) => id))
  }
  const takenBack = isTakenBack(session.own, commit)
  change(session, { own: recordsAfterCommit(session.own, commit) })
  if (takenBack) session.cache.onRecordChange()
}

/** Notes what a run has changed: the next runs read it, and the commit of its end carries it. A late run changes nothing. */
export const noteRun = (session: Session, { id }: OpenJob, changes: ReadonlyArray<RecordChange> = []): void => {
  if (!session.jobs.some((job) => job.id === id)) return
  change(session, { own: recordsAfterRun(session.own, { job: id, changes }) })
}

/** Takes over what a commit has made durable. */
export const advance = (session: Session, turn: Turn, decoded: Decoded): void => {
  advanceRecords(session, turn)
  const { entry, state } = turn
  const { cause, messages, no } = entry
  for (const [index, message] of messages.entries()) session.places.set(message, { no, index })
  noteKept(session.recollection, entry)
  const isPassed = cause.kind === "envelope" || cause.kind === "dead-letter"
  change(session, {
    version: no,
    decoded,
    jobs: state.jobs,
    timers: state.timers,
    suspicion: session.underTrial.size === 0 ? NO_SUSPICION : stillTrying(session.underTrial),
    window: messages.length > 0 ? append(session.window, messages) : session.window,
    cursors: isPassed ? { ...session.cursors, [cause.lane]: cause.seq } : session.cursors
  })
}

/** What the statechart learns of the surroundings with an event. */
export const signalsOf = (session: Session, mailWaiting: boolean): Signals => ({
  tokenRatio: Math.round(historyShare(session) * 1_000) / 1_000,
  mailWaiting,
  ...defined({ historyHeld: isHeld(session) || undefined })
})

/** Tokens of the conversation, with what stands beside its events. */
export const historyTokens = (session: Session): number => {
  const beside = recordsOf(session.own, "shown").size === 0 ? 0 : besideTokens(session)
  return conversationTokens(session.window) + beside
}

/** Share of the context window that the conversation has, with what stands beside its events. */
export const historyShare = (session: Session): number => historyTokens(session) / session.definition.maxContextTokens

/** How full the window is. What prompts hold besides the conversation is known from the last one. */
export const fillOf = (session: Session): Fill => {
  const { maxContextTokens, reservedResponseTokens } = session.definition
  const room = maxContextTokens - reservedResponseTokens - session.prefixTokens
  return { tokens: historyTokens(session), maxContextTokens, room }
}

/** Asked for at every signal, and true of hardly anyone: what is full is counted only where a record holds. */
const isHeld = (session: Session): boolean => {
  const records = recordsOf(session.own, "state")
  return historyHoldKeys.some((key) => records.has(key)) && isHistoryHeld(records, fillOf(session))
}

/** The message that holds the call, and the call itself. */
export const callInWindow = (session: Session, index: number) => {
  const { iteration, tick } = contextOf(session.decoded)
  const id = `${tick}.${iteration}.${index}`
  for (const message of session.window.messages.toReversed()) {
    const call = message.calls?.find((each) => each.id === id)
    if (call !== undefined) return call
  }
  return undefined
}

/** What tools have answered in the tick at hand, the newest first. What is older is not looked at. */
const answersOfTick = function* ({ decoded, window }: Session): Generator<Message> {
  const ofTick = `${contextOf(decoded).tick}.`
  for (let at = window.messages.length - 1; at >= 0; at--) {
    const message = window.messages[at]
    if (message === undefined) continue
    const { call, calls, role } = message
    if (role === "tool" && call?.startsWith(ofTick) === true) yield message
    // A model's calls of another tick: the tick at hand began after them. An answer may belong to an older tick.
    if (role === "assistant" && calls?.[0]?.id.startsWith(ofTick) === false) return
  }
}

/** Tools that were called in the tick at hand and have answered, refused ones left out. */
export const toolsOfTick = (session: Session): ReadonlyArray<string> => {
  if (contextOf(session.decoded).envelope === null) return []
  const names: Array<string> = []
  for (const { content, name = "" } of answersOfTick(session)) if (!content.startsWith(REFUSED)) names.push(name)
  return names.toReversed()
}

/** How often calls of a tool were cut off by a crash in the tick at hand, and whether one is held to have caused it. */
export const crashesOfTick = (session: Session, tool: string) => {
  let cutOff = 0
  let isCause = false
  for (const { content, name } of answersOfTick(session)) {
    if (name !== tool) continue
    const end = crashIn(content)
    if (end === "cut-off") cutOff++
    isCause ||= end === "caused"
  }
  return { cutOff, isCause }
}

/** What an approval of this call is bound to, its epoch left out. */
export const approvalSubject = (address: Address, tick: number, call: ToolCall) => ({
  ...address,
  tick,
  call: call.id,
  tool: call.tool,
  arguments: call.arguments
})

// CreationEntry: the first entry of an assistant.

/** Share of its time after which a sub-agent learns that it is late. */
const SOFT_SHARE = 0.8

/** The soft deadline of a sub-agent. */
const lateAt = ({ assignment: { millis, until } }: SubAgentStart): OpenTimer => ({
  name: "late",
  dueAt: Math.round(until - millis * (1 - SOFT_SHARE)),
  event: { type: "news", what: "late" }
})

const begun = ({ settings }: Definition, subAgentStart?: SubAgentStart): Json =>
  ({ settings, ...subAgentStart }) as unknown as Json

/** What the ledger writes when an assistant of this definition comes to be; with a commission it is a sub-agent. */
export const creationOf = (
  address: Address,
  definition: Definition,
  subAgentStart?: SubAgentStart
): Effect.Effect<CreationEntry> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { next } = creation(definition.settings, subAgentStart)
    const status = statusOf(next)
    return {
      address,
      state: {
        v: STATE_VERSION,
        snapshot: persist(next),
        jobs: [],
        timers: addSleepTimer(subAgentStart === undefined ? [] : [lateAt(subAgentStart)], definition.sleep, now),
        receives: receives(next),
        status,
        definition: definition.name
      },
      entry: {
        v: ENTRY_VERSION,
        no: 1,
        at: now,
        epoch: 0,
        tick: 0,
        iteration: 0,
        cause: { kind: "creation" },
        // What it begins with, so that its life can be told from its entries alone.
        event: begun(definition, subAgentStart),
        status,
        messages: []
      }
    }
  })
