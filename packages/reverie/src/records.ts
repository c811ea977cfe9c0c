// Records: what is stored of assistants, for whoever only reads.
// Owns the readings as promises. Leaves writing to the fleet.
// R1  A reading changes nothing and waits for nobody's claim.

import { type AssistantRecord, type DeadLetter, Ledger, type OutboxRow, type Tally } from "@reverie/ledger"
import { type Address, AssistantId, type TenantId } from "@reverie/protocol"
import type * as Effect from "effect/Effect"
import { type AssistantView, viewOf } from "./view.ts"

const PAGE = 500

export type RunReading = <A, E>(reading: Effect.Effect<A, E, Ledger>) => Promise<A>

export class Records {
  readonly tenant: TenantId
  readonly #run: RunReading

  constructor(run: RunReading, tenant: TenantId) {
    this.#run = run
    this.tenant = tenant
  }

  /** What is stored of an assistant; undefined when there is none. */
  inspect(id: string): Promise<AssistantRecord | undefined> {
    return this.#run(Ledger.use((ledger) => ledger.inspect(this.address(id))))
  }

  list(after?: string, limit: number = 100): Promise<ReadonlyArray<AssistantRecord>> {
    return this.#run(Ledger.use((ledger) => ledger.list(after === undefined ? undefined : this.address(after), limit)))
  }

  /** Every assistant of the store, as a person wants to see it, in the order of their ids. */
  async views(): Promise<ReadonlyArray<AssistantView>> {
    const views: Array<AssistantView> = []
    let after: string | undefined
    while (true) {
      const page = await this.list(after, PAGE)
      views.push(...page.map(viewOf))
      after = page.at(-1)?.address.assistant
      if (page.length < PAGE) return views
    }
  }

  entries(id: string, from: number = 1, limit: number = 100): Promise<ReadonlyArray<OutboxRow>> {
    return this.#run(Ledger.use((ledger) => ledger.entries(this.address(id), from, limit)))
  }

  deadLetters(limit: number = 100): Promise<ReadonlyArray<DeadLetter>> {
    return this.#run(Ledger.use((ledger) => ledger.deadLetters(limit)))
  }

  tally(): Promise<Tally> {
    return this.#run(Ledger.use((ledger) => ledger.tally))
  }

  address(id: string): Address {
    return { tenant: this.tenant, assistant: AssistantId.make(id) }
  }
}
