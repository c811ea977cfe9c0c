// Delegating: handing tasks on from outside, in the hands of a user's program.
// Owns the order, waiting for its admission and its report, and ending it. Leaves everything that follows to the statechart.
// D1  `delegate` resolves when the task was admitted and its grant is durable, and rejects with the refusal when it was not.
// D2  A report is that of the last try.

import { isOpen } from "@reverie/assistant"
import type { AssignmentReport, AssignmentRequest, Event, Receipt, TenantId } from "@reverie/protocol"
import { orderCall, subAgentId } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import { DelegationRefused } from "./errors.ts"
import { contextIn, type SubAgentsView, subAgentTreeOf, reportIn } from "./sub-agents.ts"
import { Records, type RunReading } from "./records.ts"

/** A task that was handed on. */
export interface Delegated {
  /** The sub-agent that was sent first. */
  readonly child: string
  /** What stands for its call. */
  readonly call: string
  /** Resolves when it has ended, whichever way; undefined when it ended without a word. */
  readonly report: () => Promise<AssignmentReport | undefined>
}

const POLL_MILLIS = 20

export abstract class Delegating extends Records {
  readonly #run: RunReading

  constructor(run: RunReading, tenant: TenantId) {
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

  /** An assistant with its budget and everybody below it; undefined when there is no such assistant. */
  subAgents(id: string): Promise<SubAgentsView | undefined> {
    return subAgentTreeOf(id, (each) => this.inspect(each))
  }

  /** Ends a sub-agent and everybody below it; what it did not spend goes back. */
  cancel(child: string, reason: string = "it was called back"): Promise<Receipt> {
    return this.post(child, { type: "retire", reason }, { from: "person", id: `cancel/${child}` })
  }

  /** Why an order was refused; undefined when it was not. Waits until it was heard. */
  async #admitted(parent: string, envelope: string): Promise<string | undefined> {
    while (true) {
      for await (const { entry } of this.newest(parent)) {
        const end = entry.settled?.find(({ id }) => id === envelope)
        if (end !== undefined) return end.outcome === "handled" ? undefined : (end.reason ?? end.outcome)
      }
      await this.#pause()
    }
  }

  async #reported(parent: string, call: string): Promise<AssignmentReport | undefined> {
    while (true) {
      const line = contextIn(await this.inspect(parent))?.subAgents.find((each) => each.call === call)
      if (line === undefined || !isOpen(line)) return this.#lastReport(parent, call)
      await this.#pause()
    }
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

  #pause(): Promise<void> {
    return this.#run(Effect.sleep(POLL_MILLIS))
  }
}
