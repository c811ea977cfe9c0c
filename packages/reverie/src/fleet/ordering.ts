// Ordering: orders and decisions, in the hands of a user's program.
// Owns the events that each of them is, one assistant or all of a tenant. Leaves what they do to the statechart.
// O1  An order resolves when it is durable; whether the assistant has heard it is for a reading to tell.

import { type AssistantRecord, Ledger } from "@reverie/ledger"
import {
  addressKey,
  type AssignmentReport,
  type AssignmentRequest,
  type AssistantId,
  defined,
  type EnvelopeId,
  type Event,
  type Receipt,
  type TenantId
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { arrive, lookedFor, orderCall, subAgentId } from "@reverie/runtime"
import { isOpen } from "@reverie/assistant"
import { againId, deadLetterUnderId, discarded } from "./dead-letters.ts"
import type { Services } from "../opening/deployment.ts"
import { envelopeOf } from "../ask.ts"
import { tenantPage } from "../views/tenant-page.ts"
import { DelegationRefused } from "../errors.ts"
import { contextIn, reportIn } from "./sub-agents.ts"
import { Records } from "./records.ts"

// Delegating: handing tasks on from outside, in the hands of a user's program.
// D1  `delegate` resolves when the task was admitted and its grant is durable, and rejects with the refusal when it was not.
// D2  A report is that of the last try.
// D3  What is waited for comes with a commit of the parent, so it looks again after notices about the parent only.

/** A task that was handed on. */
export interface Delegated {
  /** The sub-agent that was sent first. */
  readonly child: string
  /** What stands for its call. */
  readonly call: string
  /** Resolves when it has ended, whichever way; undefined when it ended without a word. */
  readonly report: () => Promise<AssignmentReport | undefined>
}

abstract class Delegating extends Records {
  readonly #run: RunWork

  constructor(run: RunWork, tenant: TenantId) {
    super(run, tenant)
    this.#run = run
  }

  abstract post(to: string, event: Event, options?: { readonly id?: string; readonly from?: string }): Promise<Receipt>

  /** Hands a task on to a new sub-agent of an assistant, as its own delegate_task would. */
  async delegate(
    parent: string,
    request: string | AssignmentRequest,
    options: { readonly id?: string; readonly from?: string } = {}
  ): Promise<Delegated> {
    const asked = typeof request === "string" ? { task: request } : request
    const { envelope } = await this.post(parent, { type: "delegate", ...asked }, { from: "person", ...options })
    const refused = await this.#admitted(parent, envelope)
    if (refused !== undefined) throw new DelegationRefused({ message: `${parent} refused the task: ${refused}` })
    const call = orderCall(envelope)
    return { call, child: subAgentId(parent, call, 1), report: () => this.#reported(parent, call) }
  }

  /** Ends a sub-agent and everybody below it; what it did not spend goes back. */
  cancel(child: string, reason: string = "it was called back"): Promise<Receipt> {
    return this.post(child, { type: "retire", reason }, { from: "person", id: `cancel/${child}` })
  }

  /** Why an order was refused; undefined when it was not. Waits until it was heard. */
  async #admitted(parent: string, envelope: string): Promise<string | undefined> {
    const { outcome, reason } = await this.#lookedFor(parent, async () => {
      for await (const { entry } of this.newest(parent)) {
        const end = entry.settled?.find(({ id }) => id === envelope)
        if (end !== undefined) return end
      }
      return undefined
    })
    return outcome === "handled" ? undefined : (reason ?? outcome)
  }

  async #reported(parent: string, call: string): Promise<AssignmentReport | undefined> {
    await this.#lookedFor(parent, async () => {
      const line = contextIn(await this.inspect(parent))?.subAgents.find((each) => each.call === call)
      return line === undefined || !isOpen(line) ? true : undefined
    })
    return this.#lastReport(parent, call)
  }

  /** What a look finds, now or after a commit of this assistant. Rejects when the fleet ends, and with what the look does. */
  #lookedFor<A>(id: string, look: () => Promise<A | undefined>): Promise<A> {
    const key = addressKey(this.address(id))
    // A look fails as a run of the fleet does; its reason is passed on as it is.
    return this.#run(
      lookedFor(
        ({ address }) => addressKey(address) === key,
        Effect.promise(() => look())
      )
    )
  }

  async #lastReport(parent: string, call: string): Promise<AssignmentReport | undefined> {
    let report: AssignmentReport | undefined
    for (let tries = 1; ; tries++) {
      const child = subAgentId(parent, call, tries)
      if ((await this.inspect(child)) === undefined) return report
      for await (const { entry } of this.newest(child)) {
        report = reportIn(entry)
        if (report !== undefined) break
      }
    }
  }
}

// Orders: one event for every assistant of a tenant.
// O1  Everybody who lives there when the order is given gets it; whoever has retired does not.

const PAGE = 500
const AT_ONCE = 16

/** Gives the order to each that it concerns; answers to how many. `id` names the order, and with it each envelope. */
const tellAll = Effect.fnUntraced(function* (
  tenant: TenantId,
  id: string,
  event: Event,
  concerns: (record: AssistantRecord) => boolean
) {
  let after: AssistantId | undefined
  let told = 0
  while (true) {
    const page = yield* tenantPage(tenant, after, PAGE)
    const meant = page.filter(concerns)
    yield* Effect.forEach(
      meant,
      ({ address: { assistant } }) =>
        Effect.flatMap(
          Effect.fromResult(envelopeOf({ id: `${id}/${assistant}`, tenant, to: assistant, from: "person", event })),
          // Whoever has retired since the page was read needs no order.
          (envelope) => Effect.catchTag(Effect.asVoid(arrive(envelope)), "UnknownAssistant", () => Effect.void)
        ),
      { concurrency: AT_ONCE, discard: true }
    )
    told += meant.length
    after = page.at(-1)?.address.assistant
    if (page.length < PAGE) return told
  }
})

const isAlive = ({ state }: AssistantRecord): boolean => state.status !== "retired"

const haltAll = (tenant: TenantId, id: string, reason: string) =>
  tellAll(tenant, `halt-${id}`, { type: "halt", reason }, isAlive)

/** An order to halt may not have been heard yet: whoever has something waiting is told too. */
const resumeAll = (tenant: TenantId, id: string) =>
  tellAll(
    tenant,
    `resume-${id}`,
    { type: "resume" },
    (record) => isAlive(record) && (record.state.status === "halted" || record.waiting > 0)
  )

export interface OrderOptions {
  /** Idempotency key: the same id is accepted once. A fresh one when not said. */
  readonly id?: string
  /** Who gives the order. "person" when not said. */
  readonly from?: string
}

export interface SleepOptions extends OrderOptions {
  /** How long at most; as long as its settings say when neither is said. */
  readonly forMillis?: number
  /** Until when, in milliseconds since the epoch; heard after that, the order means nothing any more. */
  readonly until?: number
}

export type RunWork = <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>

const because = (reason: string | undefined) => (reason === undefined ? {} : { reason })

export abstract class Ordering extends Delegating {
  readonly #run: RunWork
  readonly #freshId: Effect.Effect<string>

  constructor(run: RunWork, tenant: TenantId, freshId: Effect.Effect<string>) {
    super(run, tenant)
    this.#run = run
    this.#freshId = freshId
  }

  /** Decides an approval that was asked for. */
  decide(
    to: string,
    approval: string,
    decision: "approved" | "denied",
    { note, ...options }: OrderOptions & { readonly note?: string } = {}
  ): Promise<Receipt> {
    const said = note === undefined ? {} : { note }
    return this.post(to, { type: "approval", approval, decision, ...said }, { from: "person", ...options })
  }

  halt(to: string, reason: string, options: OrderOptions = {}): Promise<Receipt> {
    return this.post(to, { type: "halt", reason }, { from: "person", ...options })
  }

  resume(to: string, options: OrderOptions = {}): Promise<Receipt> {
    return this.post(to, { type: "resume" }, { from: "person", ...options })
  }

  /** Sends it to sleep. The order waits behind the mail that came before it. */
  sleep(to: string, { forMillis, until, ...options }: SleepOptions = {}): Promise<Receipt> {
    const bounds = defined({ forMillis, until })
    return this.post(to, { type: "sleep", ...bounds }, { from: "person", ...options })
  }

  /** Wakes a sleeper; means nothing to whoever is awake. */
  wake(to: string, reason?: string, options: OrderOptions = {}): Promise<Receipt> {
    return this.post(to, { type: "wake", ...because(reason) }, { from: "person", ...options })
  }

  /** Ends it for good, and everybody below it. What still waits is dead-lettered. */
  retire(to: string, reason?: string, options: OrderOptions = {}): Promise<Receipt> {
    return this.post(to, { type: "retire", ...because(reason) }, { from: "person", ...options })
  }

  /**
   * Sends dead letters again, as it was: under `again/<its id>/1`, so that doing it twice sends it once. A second try
   * that was dead-lettered too goes on as `again/<its id>/2`. What was sent again is no dead letter any more.
   */
  async redeliver(id: string, envelope: string): Promise<Receipt> {
    const address = this.address(id)
    const { event, from } = await this.#run(deadLetterUnderId(address, envelope))
    const receipt = await this.post(id, event, { id: againId(envelope), from })
    // Whoever sends it a second time finds it discarded, and that is no failure.
    await this.#run(Ledger.use((ledger) => ledger.discard(address, envelope as EnvelopeId)))
    return receipt
  }

  /**
   * Takes a letter off the list of the dead without sending it: somebody has seen to it. That it was dead-lettered, and why, stays
   * in the history. `already` when it was discarded before.
   */
  async discard(id: string, envelope: string): Promise<"discarded" | "already"> {
    return this.#run(discarded(this.address(id), envelope))
  }

  /** Halts every assistant of the tenant: none of them writes anything any more. Resolves with their number. */
  async haltAll(reason: string): Promise<number> {
    return this.#run(haltAll(this.tenant, await this.#run(this.#freshId), reason))
  }

  /** Lets every halted assistant of the tenant go on, for whatever reason it was halted. Resolves with their number. */
  async resumeAll(): Promise<number> {
    return this.#run(resumeAll(this.tenant, await this.#run(this.#freshId)))
  }

  /**
   * Has it fold the older part of its history, however much of the window that takes; awake or asleep, it goes on where it
   * was. The order waits behind the mail that came before it, and is passed over with the reason when nothing can be compacted.
   */
  compact(to: string, options: OrderOptions = {}): Promise<Receipt> {
    return this.post(to, { type: "compact" }, { from: "person", ...options })
  }

  /** Takes a compaction of the history back, and those that were made after it. The same order twice is one. */
  undoCompaction(to: string, compaction: string): Promise<Receipt> {
    return this.post(to, { type: "undoCompaction", compaction }, { from: "person", id: `unfold/${to}/${compaction}` })
  }
}
