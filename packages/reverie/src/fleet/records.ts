// Readings: what can be asked of a store, in groups, for a fleet and for a reader beside it.
// Owns putting the groups together and the readings of one assistant's row. Leaves each group to its own file, writing to the fleet.
// R1  A reading changes nothing and waits for no claim.
// R2  A reading shows this tenant only; `outbox` and `monitor` say where they are about the whole store.
// R3  A group is made when it is first asked for: a fleet that only answers loads none.

import { type AssistantRecord, Ledger } from "@reverie/ledger"
import { type Address, AssistantId, recordKinds, type TenantId } from "@reverie/protocol"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ID_FORM } from "../define-assistant.ts"
import { IdInvalid } from "../errors.ts"
import { tickSourceOf } from "../forking/tick-source.ts"
import { usagePage, type UsagePage, type UsageQuestion } from "../views/usage.ts"
import { type AssistantView, viewOf } from "../views/view.ts"
import { type ApprovalReadings, approvalsIn } from "./approvals.ts"
import { type Blocks, blocksOf } from "./blocks.ts"
import { type DeadLetterReadings, deadLettersIn } from "./dead-letters.ts"
import { type Core, newestFirst, type RunReading, tenantPage } from "./entry-source.ts"
import { type CompactionReadings, compactionsIn, type FleetMemory, memoryIn } from "./memories.ts"
import { type Prompts, promptsOf } from "./prompts.ts"
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
