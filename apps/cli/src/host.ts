// Host: an open fleet in the hands of a command.
// Owns opening, waiting for rest within a time, and what a halted or waiting fleet means for the exit code.
// Leaves the work itself to the fleet.
// H1  Every wait ends: with rest, with the asking to stop, with the time limit, or with what broke.

import { defined } from "@reverie/protocol"
import { Fleet, type FleetDefinition, type HostFailure, type ModelChoice, type Notice } from "reverie"
import { modelAway } from "./running/away.ts"
import { CommandFailed, failureOf } from "./failure.ts"
import type { ListedView } from "./backend/backend.ts"
import type { Stop } from "./running/stop.ts"

export interface HostOptions {
  readonly fleet: FleetDefinition
  /** None: what the environment names. */
  readonly data: string | undefined
  readonly tenant?: string
  readonly model?: ModelChoice
  /** Open a directory though it holds less than was acknowledged. */
  readonly force?: boolean
  readonly stop: Stop
  /** Told of every notice from the first one on. */
  readonly onNotice?: (notice: Notice) => void
}

/** What is wrong with one assistant while the rest works. */
const unhosted = (assistant: string, failure: HostFailure): CommandFailed => {
  if (failure._tag !== "DefinitionMissing") {
    const { hint } = failureOf(failure)
    return new CommandFailed("assistant-unhosted", `assistant "${assistant}" can not work: ${failure.message}`, {
      hint
    })
  }
  const lacking = `the definition "${failure.definition}", which the fleet file does not have`
  return new CommandFailed("assistant-unhosted", `assistant "${assistant}" was made from ${lacking}`)
}

export class Host implements AsyncDisposable {
  readonly fleet: Fleet
  readonly #stop: Stop
  readonly #trouble: Promise<never>

  private constructor(fleet: Fleet, stop: Stop, trouble: Promise<never>) {
    this.fleet = fleet
    this.#stop = stop
    this.#trouble = trouble
  }

  static async open({ data, fleet, force = false, model, onNotice, stop, tenant }: HostOptions): Promise<Host> {
    const trouble = Promise.withResolvers<never>()
    trouble.promise.catch(() => {})
    const opened = await Fleet.open({
      fleet,
      acceptLoss: force,
      ...defined({ data, model, onNotice, tenant }),
      onError: (address, failure) => {
        if (failure.recovery === "stop" || failure.recovery === "tell-owner") {
          trouble.reject(unhosted(address.assistant, failure))
        }
      }
    })
    return new Host(opened, stop, trouble.promise)
  }

  /** The value, unless someone asks to stop, an assistant can not be hosted, the store fails, or time runs out. */
  async within<A>(work: Promise<A>, timeoutMs?: number): Promise<A> {
    work.catch(() => {})
    const ended = this.fleet.ended.then((failure) => {
      throw failure ?? new CommandFailed("unexpected", "the fleet was closed")
    })
    const racing = this.#stop.orAsked(Promise.race([work, this.#trouble, ended]))
    if (timeoutMs === undefined) return racing
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const seconds = timeoutMs / 1_000
      timer = setTimeout(() => reject(new CommandFailed("timeout", `not finished within ${seconds} s`)), timeoutMs)
    })
    try {
      return await Promise.race([racing, late])
    } finally {
      clearTimeout(timer)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.fleet.close()
  }
}

/** What a fleet at rest still needs from a person; undefined when all is well. */
export const unfinished = (assistants: ReadonlyArray<ListedView>): CommandFailed | undefined => {
  for (const { haltReason, id } of assistants) {
    if (haltReason === undefined) continue
    if (haltReason.startsWith("ModelDenied")) {
      return new CommandFailed("model-denied", `the model refuses us, ${id} is halted: ${haltReason}`)
    }
  }
  const away = modelAway(assistants)
  if (away !== undefined) return away
  const asking = assistants.find(({ approvals }) => approvals.length > 0)
  const [asked] = asking?.approvals ?? []
  if (asking === undefined || asked === undefined) return undefined
  return new CommandFailed("approval-needed", `${asking.id} waits for approval of ${asked.tool} (${asked.approval})`)
}
