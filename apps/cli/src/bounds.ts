// Bounds: how much one prompt may take before it is stopped.
// Owns counting model calls and money of one assistant. Leaves budgets that hold across processes to the fleet.
// B1  Who passes a bound is halted, so that nothing more is spent; what it did is kept, and --resume lets it go on.

import { CommandFailed } from "./failure.ts"
import type { Reach } from "./reach/reach.ts"

export interface Bounds {
  /** Model calls. */
  readonly maxTurns?: number
  /** In money, as the prices of the fleet count it. */
  readonly maxCost?: number
}

const MICROS = 1_000_000
const POLL_MILLIS = 50

const spentMicros = async (reach: Reach, id: string): Promise<number> => (await reach.family(id))?.spent.costMicros ?? 0

/** Rejects when a bound is passed; never resolves. `release` stops counting. */
export const bounded = async (
  reach: Reach,
  id: string,
  { maxCost, maxTurns }: Bounds
): Promise<{ readonly passed: Promise<never>; readonly release: () => void }> => {
  const passed = Promise.withResolvers<never>()
  passed.promise.catch(() => {})
  if (maxTurns === undefined && maxCost === undefined) return { passed: passed.promise, release: () => {} }
  const before = maxCost === undefined ? 0 : await spentMicros(reach, id)
  let turns = 0
  const end = async (failure: CommandFailed): Promise<void> => {
    await reach.order(id, "halt", { reason: failure.message })
    // Told and not yet heard, it would go on with the next start.
    while ((await reach.view(id))?.state !== "halted") await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
    passed.reject(failure)
  }
  const judge = async (isLast: boolean): Promise<void> => {
    turns++
    if (isLast) return
    if (maxTurns !== undefined && turns >= maxTurns) {
      await end(new CommandFailed("turns-spent", `${id} is halted after ${turns} model calls`))
    } else if (maxCost !== undefined && (await spentMicros(reach, id)) - before >= maxCost * MICROS) {
      await end(new CommandFailed("cost-spent", `${id} is halted: it has spent ${maxCost}`))
    }
  }
  const release = reach.listen((notice) => {
    if (notice.address.assistant !== id || notice.type !== "model-replied") return
    judge(notice.calls.length === 0).catch(passed.reject)
  })
  return { passed: passed.promise, release }
}
