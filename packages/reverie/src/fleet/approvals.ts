// Approvals: what waits for a person's word, exactly as it would run.
// Owns finding the arguments, the time that is left, and what triggered it. Leaves deciding to the fleet.
// A1  The arguments are those of the call in the ledger, whole: what is approved is what was shown.
// A2  The person who decides learns when something in them can not be seen.

import { type AssistantContext, callId } from "@reverie/assistant"
import type { AssistantRecord, OutboxRow } from "@reverie/ledger"
import { holdsInvisible } from "@reverie/memory"
import {
  type AcceptedEnvelope,
  type EnvelopeId,
  isJsonObject,
  type Json,
  type ToolCall,
  type ToolCategory,
  defined
} from "@reverie/protocol"
import { orderCall, rowsOfTick } from "@reverie/runtime"
import { textOfEvent } from "../views/mail-view.ts"
import { beginsTick } from "../timeline/spans.ts"
import { clipped } from "../timeline/tick-view.ts"
import { lettersBy } from "./dead-letters.ts"
import type { Core } from "./entry-source.ts"
import { contextIn } from "./sub-agents.ts"

/** A sender whose message led to it. */
export interface Requester {
  /** The name of a person or the id of an assistant. */
  readonly who: string
  /** The assistant that heard it. */
  readonly to: string
  /** What was said, where it is a text. */
  readonly text?: string
}

/** A tool call that waits for a person. */
export interface ApprovalAsked {
  /** The id of the assistant that waits. */
  readonly assistant: string
  /** What `fleet.approve` and `fleet.deny` decide. */
  readonly approval: string
  /** The tool that would run. */
  readonly tool: string
  /** The id of the call. */
  readonly call: string
  /** JSON, as the tool would get it. */
  readonly arguments: string
  /** That of the tool. */
  readonly category: ToolCategory
  /** Why a hook has a person asked; absent where it is the tool that asks. */
  readonly reason?: string
  /** Milliseconds since the epoch. */
  readonly askedAt: number
  /** When it is denied by itself; not said while nothing runs, as with a halted assistant. */
  readonly expiresAt?: number
  /** The tick that waits. */
  readonly tick: number
  /** The claim under which it was asked. */
  readonly epoch: number
  /** Who said what, the nearest first: the tick's own message, then those of the assistants above. */
  readonly chain: ReadonlyArray<Requester>
  /** The arguments hold characters that can not be seen, or that turn the direction of reading. */
  readonly invisible: boolean
}

const MAX_CHAIN = 16
const MAX_TEXT_CHARS = 2_000
/** How far back an order is looked for. */
const MAX_LOOK = 2_000

const stringsIn = (value: Json): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(stringsIn)
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, each]) => [key, ...stringsIn(each)]) : []
}

const isHiding = (call: ToolCall): boolean => [call.tool, ...stringsIn(call.arguments)].some(holdsInvisible)

const isApprovalTimer = (name: string): boolean => name.startsWith("xstate.after.approval.")

/** What the hook said that has a person asked about this call. */
const reasonOf = (rows: ReadonlyArray<OutboxRow>, id: string): string | undefined =>
  rows.flatMap(({ entry: { hooks = [] } }) => hooks).find(({ call, did }) => call === id && did === "asked")?.reason

/** The open approvals of one assistant, out of the entries of its tick. */
const asksIn = (
  { address, state }: AssistantRecord,
  context: AssistantContext,
  rows: ReadonlyArray<OutboxRow>,
  chain: ReadonlyArray<Requester>
): ReadonlyArray<ApprovalAsked> => {
  const { calls, iteration, tick } = context
  const expiresAt = state.timers.find(({ name }) => isApprovalTimer(name))?.dueAt
  return calls.flatMap(({ approval, askedIn = 0, category, phase, tool }, index) => {
    if (phase !== "asking" || approval === undefined) return []
    const id = callId(tick, iteration, index)
    const found = rows.flatMap(({ entry }) =>
      entry.messages.flatMap((message) => (message.calls ?? []).map((call) => ({ call, at: entry.at })))
    )
    const asked = found.findLast(({ call }) => call.id === id)
    if (asked === undefined) return []
    return [
      {
        assistant: address.assistant,
        approval,
        tool,
        call: id,
        arguments: JSON.stringify(asked.call.arguments),
        category,
        askedAt: asked.at,
        ...defined({ expiresAt, reason: reasonOf(rows, id) }),
        tick,
        epoch: askedIn,
        chain,
        invisible: isHiding(asked.call)
      }
    ]
  })
}

/** What the chain is read with. */
interface ChainReadings {
  readonly context: (id: string) => Promise<AssistantContext | undefined>
  readonly entriesOfTick: (id: string, tick: number) => Promise<ReadonlyArray<OutboxRow>>
  readonly newest: (id: string) => AsyncIterable<OutboxRow>
  readonly letter: (id: string, envelope: string) => Promise<AcceptedEnvelope | undefined>
}

/** The envelope behind a call that handed a task on: that of its tick, or the order. */
const envelopeBehind = async (read: ChainReadings, id: string, call: string): Promise<string | undefined> => {
  const tick = /^(\d+)\.\d+\.\d+$/.exec(call)?.[1]
  if (tick !== undefined) {
    const begin = (await read.entriesOfTick(id, Number(tick))).find(({ entry }) => beginsTick(entry))
    return begin?.entry.cause.kind === "envelope" ? begin.entry.cause.id : undefined
  }
  let looked = 0
  for await (const { entry } of read.newest(id)) {
    if (entry.cause.kind === "envelope" && orderCall(entry.cause.id) === call) return entry.cause.id
    if (++looked >= MAX_LOOK) return undefined
  }
  return undefined
}

/** Who brought the tick in hand about, the nearest first. */
const chainOf = async (
  read: ChainReadings,
  id: string,
  context: AssistantContext
): Promise<ReadonlyArray<Requester>> => {
  const chain: Array<Requester> = []
  let to = id
  let envelope = context.envelope ?? undefined
  let { assignment } = context
  while (chain.length < MAX_CHAIN) {
    const letter = envelope === undefined ? undefined : await read.letter(to, envelope)
    if (letter !== undefined) {
      const text = textOfEvent(letter.event)
      chain.push({
        who: letter.from,
        to,
        ...defined({ text: text === undefined ? undefined : clipped(text, MAX_TEXT_CHARS) })
      })
    }
    if (assignment === null) return chain
    to = assignment.parent
    envelope = await envelopeBehind(read, to, assignment.call)
    assignment = (await read.context(to))?.assignment ?? null
  }
  return chain
}

const PAGE = 500

/** Only a state in which a call was asked for holds one: all others are left unread. */
const mayAsk = ({ state }: AssistantRecord): boolean => JSON.stringify(state.snapshot).includes('"asking"')

/** `fleet.approvals`: tool calls that wait for a person; `fleet.approve` and `fleet.deny` decide them. */
export interface ApprovalReadings {
  /**
   * The open approvals of one assistant, with exactly what would run and who wanted it; without an id those of the tenant, the
   * oldest first. Rejects with IdInvalid.
   * @example for (const { approval, assistant } of await fleet.approvals.list()) await fleet.approve(assistant, approval)
   */
  readonly list: (id?: string) => Promise<ReadonlyArray<ApprovalAsked>>
}

export const approvalsIn = (core: Core): ApprovalReadings => {
  const ofTick = (id: string, tick: number) => core.run(rowsOfTick(core.address(id), tick))
  const readings: ChainReadings = {
    context: async (id) => contextIn(await core.inspect(id)),
    entriesOfTick: ofTick,
    newest: core.newest,
    letter: async (id, envelope) =>
      (await core.run(lettersBy(core.address(id), [envelope as EnvelopeId]))).get(envelope)
  }
  const of = async (id: string): Promise<ReadonlyArray<ApprovalAsked>> => {
    const record = await core.inspect(id)
    const context = contextIn(record)
    if (record === undefined || context === undefined || !mayAsk(record)) return []
    const rows = (await ofTick(id, context.tick)).filter(({ entry }) => entry.no <= record.version)
    return asksIn(record, context, rows, await chainOf(readings, id, context))
  }
  const all = async (): Promise<ReadonlyArray<ApprovalAsked>> => {
    const found: Array<ApprovalAsked> = []
    let after: string | undefined
    while (true) {
      const page = await core.list(after, PAGE)
      for (const record of page) if (mayAsk(record)) found.push(...(await of(record.address.assistant)))
      after = page.at(-1)?.address.assistant
      if (page.length < PAGE) return found.toSorted((a, b) => a.askedAt - b.askedAt)
    }
  }
  return { list: (id) => (id === undefined ? all() : of(id)) }
}
