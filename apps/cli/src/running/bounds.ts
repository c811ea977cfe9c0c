// Bounds: how much one prompt may take before it is stopped.
// Owns counting model calls and money of one assistant. Leaves budgets that hold across processes to the fleet.
// B1  Who passes a bound is halted, so that nothing more is spent; what it did is kept, and --resume lets it go on.

import { CommandFailed } from "../failure.ts"
import type { Backend, View } from "../backend/backend.ts"
import { counted } from "../texts/table.ts"

export interface Bounds {
  /** Model calls. */
  readonly maxTurns?: number
  /** In money, as the prices of the fleet count it. */
  readonly maxCost?: number
}

const MICROS = 1_000_000
const POLL_MILLIS = 50

const isGoingOn = (view: View | undefined): boolean =>
  view !== undefined && view.state !== "halted" && view.state !== "retired"

const spentMicros = async (backend: Backend, id: string): Promise<number> =>
  (await backend.subAgentTree(id))?.spent.costMicros ?? 0

interface Bounded {
  /** Rejects when a bound is passed; never resolves. */
  readonly passed: Promise<never>
  /** Why it was halted; the halt itself may be heard of first. */
  readonly because: () => CommandFailed | undefined
  /** Stops counting. */
  readonly release: () => void
}

/** Counts from now on. */
export const bounded = async (backend: Backend, id: string, { maxCost, maxTurns }: Bounds): Promise<Bounded> => {
  const passed = Promise.withResolvers<never>()
  passed.promise.catch(() => {})
  if (maxTurns === undefined && maxCost === undefined) {
    return { passed: passed.promise, because: () => undefined, release: () => {} }
  }
  const before = maxCost === undefined ? 0 : await spentMicros(backend, id)
  let turns = 0
  let because: CommandFailed | undefined
  const end = async (failure: CommandFailed): Promise<void> => {
    because = failure
    await backend.order(id, "halt", { reason: failure.message })
    // Told and not yet heard, it would go on with the next start.
    while (isGoingOn(await backend.view(id))) await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
    passed.reject(failure)
  }
  const judge = async (isLast: boolean): Promise<void> => {
    turns++
    if (isLast) return
    if (maxTurns !== undefined && turns >= maxTurns) {
      await end(new CommandFailed("turns-spent", `${id} is halted after ${counted(turns, "model call")}`))
    } else if (maxCost !== undefined && (await spentMicros(backend, id)) - before >= maxCost * MICROS) {
      await end(new CommandFailed("cost-spent", `${id} is halted: it has spent ${maxCost}`))
    }
  }
  const release = backend.listen((notice) => {
    if (notice.address.assistant !== id || notice.type !== "model-replied") return
    judge(notice.calls.length === 0).catch(passed.reject)
  })
  return { passed: passed.promise, because: () => because, release }
}
