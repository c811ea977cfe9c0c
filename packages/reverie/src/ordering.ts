// Ordering: orders and decisions, in the hands of a user's program.
// Owns the events that each of them is, one assistant or all of a tenant. Leaves what they do to the statechart.
// O1  An order resolves when it is durable; whether the assistant has heard it is for a reading to tell.

import { Ledger } from "@reverie/ledger"
import { type EnvelopeId, type Receipt, type TenantId, defined } from "@reverie/protocol"
import type * as Effect from "effect/Effect"
import { againId, deadLetterUnderId, discarded } from "./dead-letters.ts"
import { Delegating } from "./delegating.ts"
import { haltAll, resumeAll } from "./orders.ts"
import type { Services } from "./ports.ts"

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
