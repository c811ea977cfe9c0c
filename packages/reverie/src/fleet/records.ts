// Readings: what can be asked of a store, in groups, for a fleet and for a reader beside it.
// Owns putting the groups together and the readings of one assistant's row. Leaves each group to its own file, writing to the fleet.
// R1  A reading changes nothing and waits for no claim.
// R2  A reading shows this tenant only; `outbox` and `monitor` say where they are about the whole store.
// R3  A group is made when it is first asked for: a fleet that only answers loads none.

import { contextIn, contextTypes } from "@reverie/context"
import { type AssistantRecord, Ledger, type LoosePart } from "@reverie/ledger"
import {
  type AcceptedEnvelope,
  type Address,
  addressKey,
  AssistantId,
  type Envelope,
  type Receipt,
  recordKinds,
  type TenantId,
  unknownName
} from "@reverie/protocol"
import { isDeepStrictEqual } from "node:util"
import { Mailbox } from "@reverie/mailbox"
import { type Definition, DefinitionMissing } from "@reverie/runtime"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ID_FORM } from "../define-assistant.ts"
import { ApprovalUnknown, EnvelopeInvalid, IdInvalid, IdReused } from "../errors.ts"
import { type FormOption, keepParts } from "../letter.ts"
import type { AskOptions } from "../fleet-options.ts"
import { tickSourceOf } from "../forking/tick-source.ts"
import { usagePage, type UsagePage, type UsageQuestion } from "../views/usage.ts"
import { type AssistantView, viewOf } from "../views/view.ts"
import { type ApprovalReadings, approvalsIn } from "./approvals.ts"
import { type Blocks, blocksOf } from "./blocks.ts"
import { type DeadLetterReadings, deadLettersIn, lettersBy } from "./dead-letters.ts"
import { type Core, newestFirst, type RunReading, tenantPage } from "./entry-source.ts"
import { type CompactionReadings, compactionsIn, type FleetMemory, memoryIn } from "./memories.ts"
import { flawOfMemoryOrder } from "../checks/memory-orders.ts"
import { type Prompts, promptsOf } from "./prompts.ts"
import { decisionKey } from "./ordering.ts"
import { type ReminderReadings, remindersIn } from "./reminders.ts"
import { type ReplayReadings, replayIn } from "./replay.ts"
import { type SubAgentReadings, subAgentsIn } from "./sub-agents.ts"
import {
  type FleetHistory,
  historyIn,
  type MonitorReadings,
  monitorIn,
  type OutboxReadings,
  outboxIn
} from "./watching.ts"

/** What `Fleet` and `FleetReader` have in common. Every reading rejects with FleetClosed after the end of the fleet. */
export interface FleetReadings {
  /** The tenant whose assistants these are. */
  readonly tenant: TenantId
  /** What is stored of an assistant; undefined when there is none. Rejects with IdInvalid. */
  readonly inspect: (id: string) => Promise<AssistantRecord | undefined>
  /** At most `limit` assistants (100 when left out) in the order of their ids, after the given one. Rejects with IdInvalid. */
  readonly list: (after?: string, limit?: number) => Promise<ReadonlyArray<AssistantRecord>>
  /** Every assistant of the tenant as a person wants to see it, in the order of their ids. */
  readonly views: () => Promise<ReadonlyArray<AssistantView>>
  /** Tool calls that wait for a person. */
  readonly approvals: ApprovalReadings
  /** Messages that could not be handled. */
  readonly deadLetters: DeadLetterReadings
  /** Sub-agents, and what they have spent. */
  readonly subAgents: SubAgentReadings
  /** What assistants remember: facts, profiles, passages, dreams, their own records. */
  readonly memory: FleetMemory
  /** How histories were compacted. */
  readonly compactions: CompactionReadings
  /** Times that assistants are to be reminded of something. */
  readonly reminders: ReminderReadings
  /** What assistants have done: ticks, ledger entries, use, errors, and the mail that waits. */
  readonly history: FleetHistory
  /** The bytes of a part that a message refers to, by its digest; undefined when this tenant keeps none under it. */
  readonly blob: (digest: string) => Promise<Uint8Array | undefined>
  /**
   * What model calls have used, summed by assistant, hour, model or purpose: of all assistants of the tenant, the retired too, or
   * of one; over time too, where a `step` is asked for. Rejects with IdInvalid.
   * @example const { rows, total } = await fleet.usage({ by: "model", from: Date.now() - 7 * 86_400_000 })
   */
  readonly usage: (question?: UsageQuestion) => Promise<UsagePage>
  /** Assistants gone through again from their ledger. */
  readonly replay: ReplayReadings
  /** The memory blocks of the tenant. */
  readonly blocks: Blocks
  /** The prompt registry of the tenant: templates, and components that stand in every prompt of its assistants. */
  readonly prompts: Prompts
  /** The ledger of all assistants, in one order. */
  readonly outbox: OutboxReadings
  /** Figures of the whole store. */
  readonly monitor: MonitorReadings
}

const PAGE = 500

const decodeId = Schema.decodeUnknownOption(AssistantId)

export const coreOf = (run: RunReading, tenant: TenantId): Core => {
  const address = (id: string): Address => {
    const decoded = decodeId(id)
    if (Option.isSome(decoded)) return { tenant, assistant: decoded.value }
    throw new IdInvalid({ id, message: `${JSON.stringify(id)} is the id of no assistant: it has ${ID_FORM}` })
  }
  const inspect: Core["inspect"] = async (id) => run(Ledger.use((ledger) => ledger.inspect(address(id))))
  const entries: Core["entries"] = async (id, from = 1, limit = 100) =>
    run(Ledger.use((ledger) => ledger.entries(address(id), from, limit)))
  const list: Core["list"] = async (after, limit = 100) => {
    const last = after === undefined ? undefined : address(after).assistant
    return run(tenantPage(tenant, last, limit))
  }
  return {
    tenant,
    run,
    address,
    inspect,
    entries,
    list,
    views: async () => {
      const views: Array<AssistantView> = []
      let after: string | undefined
      while (true) {
        const page = await list(after, PAGE)
        views.push(...page.map(viewOf))
        after = page.at(-1)?.address.assistant
        if (page.length < PAGE) return views
      }
    },
    async *newest(id) {
      const version = (await inspect(id))?.version ?? 0
      yield* newestFirst({ version, read: (from, limit) => entries(id, from, limit) })
    },
    // What a replay goes on from is nothing that it keeps for itself.
    records: async (id, kinds = recordKinds.filter((kind) => kind !== "checkpoint")) =>
      run(Ledger.use((ledger) => ledger.records(address(id), kinds)))
  }
}

// Judged: an event before it is accepted.
// J1  An approval that names nothing, an order about a memory that there is none of, a kind of context that there is none of, a form that is asked of a team, and a message to
//     an assistant whose definition is gone are refused before anything is written; what waits is kept.
// J2  An id stands for one message: with another one it is refused, and never taken for an answer to the new one.
// J3  What is sent to one assistant is accepted in the order of the calls, however long each takes to be judged.
// J4  The bytes of its parts are durable before a message is accepted; one that refers to bytes that are not kept is refused.
// J5  Of two decisions about one approval one is accepted: by their id, which is one for an approval; where one was given, by what waits.

/** What the judging knows of the open fleet. */
export interface Judging {
  readonly core: Core
  readonly definition: { readonly assistants: ReadonlyArray<Definition> }
  /** For the key of an address the name of its definition, which never changes. */
  readonly known: Map<string, string>
  /** For the key of an address the last one that is being judged. */
  readonly turns: Map<string, Promise<void>>
  /** The parts of the message at hand that came with their bytes. */
  readonly loose: ReadonlyArray<LoosePart>
}

const MAX_KNOWN = 100_000

const knownOptions: Readonly<Record<keyof Required<AskOptions>, true>> = {
  id: true,
  from: true,
  blocks: true,
  parts: true,
  traceparent: true,
  context: true,
  output: true,
  signal: true,
  after: true,
  timeoutMs: true
}

/** Throws EnvelopeInvalid about an option that there is none of, or a time that is none. */
export const judgeOptions = (options: AskOptions<FormOption>): void => {
  const strange = Object.keys(options).find((key) => !Object.hasOwn(knownOptions, key))
  const { timeoutMs = 1 } = options
  const message =
    strange === undefined
      ? `timeoutMs must be a whole number of at least 1, and is ${timeoutMs}`
      : `there is no option ${unknownName(strange, Object.keys(knownOptions))}`
  if (strange !== undefined || !Number.isSafeInteger(timeoutMs) || timeoutMs < 1) throw new EnvelopeInvalid({ message })
}

const beginsWork = (event: Envelope["event"]): boolean =>
  event.type === "message" || event.type === "timer" || event.type === "delegate"

const definitionOf = async ({ core, known }: Judging, { to }: Envelope): Promise<string | undefined> => {
  const key = addressKey(to)
  const name = known.get(key) ?? (await core.inspect(to.assistant))?.state.definition
  if (name === undefined) return undefined
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, name)
  return name
}

const judgeWork = async (judging: Judging, { event, to }: Envelope): Promise<void> => {
  // A door that was given no definitions at all, like that of a command without a fleet's file, knows none to be missing.
  if (judging.definition.assistants.length === 0) return
  const name = await definitionOf(judging, { event, to } as Envelope)
  if (name === undefined) return
  const definition = judging.definition.assistants.find((each) => each.name === name)
  if (definition === undefined) throw new DefinitionMissing({ address: to, definition: name })
  if (definition.team !== undefined && event.type === "message" && event.output !== undefined) {
    const message = `${to.assistant} is a team, which answers as its members do: ask it without output, or ask one of them`
    throw new EnvelopeInvalid({ message })
  }
  const asked = event.type === "message" || event.type === "timer" ? event.context : undefined
  if (asked === undefined || contextIn(definition, asked) !== undefined) return
  const names = [...new Set([...contextTypes, ...Object.keys(definition.contexts ?? {})])].join(", ")
  throw new EnvelopeInvalid({ message: `${to.assistant} has no context ${JSON.stringify(asked)}; there are ${names}` })
}

const letterOf = async ({ core }: Judging, { id, to }: Envelope): Promise<AcceptedEnvelope | undefined> =>
  (await core.run(lettersBy(to, [id]))).get(id)

const MOST_WAITING = 64

/** Whether a decision waits to be heard. */
const isDecided = async ({ core }: Judging, to: Address, approval: string): Promise<boolean> => {
  const waiting = await core.run(Mailbox.use((mailbox) => mailbox.pending(to, ["reply"], MOST_WAITING)))
  return waiting.some((each) => "event" in each && each.event.type === "approval" && each.event.approval === approval)
}

const decidedBefore = ({ assistant }: Address, approval: string): ApprovalUnknown =>
  new ApprovalUnknown({ assistant, approval, open: [], message: `${assistant}: ${approval} was decided already` })

const judgeApproval = async (judging: Judging, envelope: Envelope): Promise<void> => {
  const { event, to } = envelope
  // One that names none is for what waits; where nothing does, it is on record as ignored, with the reason.
  if (event.type !== "approval" || event.approval === undefined) return
  const record = await judging.core.inspect(to.assistant)
  if (record === undefined) return
  const open = viewOf(record).approvals.map(({ approval }) => approval)
  const { approval } = event
  // The same decision once more is a duplicate, also when it has long been heard.
  if ((await letterOf(judging, envelope)) !== undefined) return
  if (open.includes(approval)) {
    if (await isDecided(judging, to, approval)) throw decidedBefore(to, approval)
    return
  }
  const others = open.length === 0 ? "nothing waits for approval" : `what waits is ${open.join(", ")}`
  const what = `no approval ${JSON.stringify(approval)}`
  throw new ApprovalUnknown({
    assistant: to.assistant,
    approval,
    open,
    message: `${to.assistant} asks for ${what}: ${others}`
  })
}

const judgeMemory = async (judging: Judging, envelope: Envelope): Promise<void> => {
  const flaw = await flawOfMemoryOrder(judging.core, envelope)
  // The same order once more is a duplicate, also when what it was about is gone.
  if (flaw !== undefined && (await letterOf(judging, envelope)) === undefined) throw flaw
}

const judge = async (judging: Judging, envelope: Envelope): Promise<void> => {
  if (beginsWork(envelope.event)) await judgeWork(judging, envelope)
  if (envelope.event.type === "approval") await judgeApproval(judging, envelope)
  await judgeMemory(judging, envelope)
  if (envelope.event.type === "message" && envelope.event.parts !== undefined) {
    await judging.core.run(keepParts(envelope, judging.loose))
  }
}

/** Judges in turn, and begins to accept; waits only for the judging of those before, not for their acceptance. */
const inTurn = async <A>(
  { turns }: Judging,
  to: Envelope["to"],
  judged: () => Promise<void>,
  accept: () => Promise<A>
): Promise<A> => {
  const key = addressKey(to)
  const before = turns.get(key)
  let accepting: Promise<A>
  const turn = (async () => {
    await before?.catch(() => {})
    await judged()
    accepting = accept()
  })()
  turns.set(key, turn)
  try {
    await turn
  } finally {
    if (turns.get(key) === turn) turns.delete(key)
  }
  return accepting!
}

/** Throws what is wrong with an envelope; `accept` makes it durable. */
export const acceptJudged = async (
  judging: Judging,
  envelope: Envelope,
  accept: () => Promise<Receipt>
): Promise<Receipt> => {
  const { event, from, id, to } = envelope
  const receipt = await inTurn(judging, to, () => judge(judging, envelope), accept)
  if (receipt.outcome === "accepted") return receipt
  const before = await letterOf(judging, envelope)
  // A script that is played again may date the same words anew.
  const isSame = before?.from === from && isDeepStrictEqual({ ...before.event, at: 0 }, { ...event, at: 0 })
  if (before === undefined || isSame) return receipt
  if (event.type === "approval" && id === decisionKey(to.assistant, event))
    throw decidedBefore(to, event.approval ?? "")
  const message = `the id ${JSON.stringify(id)} stands for another message to ${to.assistant}; this one was not accepted`
  throw new IdReused({ assistant: to.assistant, id, message })
}

export interface ReadingOptions {
  /** Runs what asks the index of memories; `run` when left out. */
  readonly runWithIndex?: RunReading
  /** Names a change of a block that has no key of its own. */
  readonly freshKey: Effect.Effect<string>
}

type Groups = Omit<FleetReadings, "tenant" | "inspect" | "list" | "views" | "blob">

/** The readings of one tenant. */
export class Readings implements FleetReadings {
  readonly core: Core
  readonly #options: ReadingOptions
  readonly #made: { -readonly [Name in keyof Groups]?: Groups[Name] } = {}
  readonly blob: FleetReadings["blob"] = (digest) =>
    this.core.run(Ledger.use((ledger) => ledger.blobs.read(this.tenant, digest)))

  constructor(run: RunReading, tenant: TenantId, options: ReadingOptions) {
    this.core = coreOf(run, tenant)
    this.#options = options
  }

  get tenant() {
    return this.core.tenant
  }

  get inspect() {
    return this.core.inspect
  }

  get list() {
    return this.core.list
  }

  get views() {
    return this.core.views
  }

  get approvals() {
    return (this.#made.approvals ??= approvalsIn(this.core))
  }

  get deadLetters() {
    return (this.#made.deadLetters ??= deadLettersIn(this.core))
  }

  get subAgents() {
    return (this.#made.subAgents ??= subAgentsIn(this.core))
  }

  get memory() {
    const { runWithIndex = this.core.run } = this.#options
    return (this.#made.memory ??= memoryIn(this.core, runWithIndex))
  }

  get compactions() {
    return (this.#made.compactions ??= compactionsIn(this.core))
  }

  get reminders() {
    return (this.#made.reminders ??= remindersIn(this.core))
  }

  get history() {
    return (this.#made.history ??= historyIn(this.core))
  }

  get usage(): FleetReadings["usage"] {
    const { core, tenant } = this
    return async (question = {}) => {
      if (question.assistant !== undefined) core.address(question.assistant)
      return core.run(usagePage(tenant, question))
    }
  }

  get replay() {
    return (this.#made.replay ??= replayIn(this.core, async (id, tick) =>
      tickSourceOf(this.core, this.core.run, id, tick)
    ))
  }

  get blocks() {
    return (this.#made.blocks ??= blocksOf(this.tenant, this.core.run, this.#options.freshKey))
  }

  get prompts() {
    return (this.#made.prompts ??= promptsOf(this.tenant, this.core.run))
  }

  get outbox() {
    return (this.#made.outbox ??= outboxIn(this.core))
  }

  get monitor() {
    return (this.#made.monitor ??= monitorIn(this.core))
  }
}
