// ToolCache: results that may stand for an equal call of the same assistant.
// Owns keeping, finding and forgetting them. Leaves to the runtime to ask before a call runs, and to record the answer.
// I1  Equal means the same tool and the same arguments, whatever the order of their keys.
// I2  Only a result that is ok and left nothing behind is kept: no sends, no records, no later report.
// I3  A result never outlives its scope: tick ends with the tick, ttl with its time, session with this cache.
// I4  What was read from the records is forgotten as soon as they change.
// I5  At most `capacity` results are kept; the one longest unused goes first.
// A cache lives in memory: after a crash, or on another worker, every call runs again.

import { createHash } from "node:crypto"
import type { Json } from "@reverie/protocol"
import { canonicalJson } from "./approval.ts"
import type { Tool, ToolResult } from "./tool.ts"

export const DEFAULT_CACHED_RESULTS = 128

/** `now` is in milliseconds since the epoch. */
export interface ToolCache {
  readonly find: (tool: Tool, args: Json, now: number) => ToolResult | undefined
  /** True when the result was kept. */
  readonly keep: (tool: Tool, args: Json, result: ToolResult, now: number) => boolean
  /** To be told at each tick, before its first call; the same tick again changes nothing. */
  readonly onTick: (tick: number) => void
  /** To be told when records of the assistant have changed. */
  readonly onRecordChange: () => void
  readonly size: () => number
}

interface Kept {
  readonly tool: Tool
  readonly result: ToolResult
  readonly keptAt: number
}

/** Throws when the capacity is no whole number of at least 1. */
export const toolCache = (capacity: number = DEFAULT_CACHED_RESULTS): ToolCache => {
  if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError("a tool cache needs a capacity of at least 1")
  // In the order of their last use: a Map keeps the order in which keys were set.
  const kept = new Map<string, Kept>()
  let current: number | undefined
  const forget = (when: (entry: Kept) => boolean) => {
    for (const [key, entry] of kept) if (when(entry)) kept.delete(key)
  }
  return {
    find: (tool, args, now) => {
      if (tool.cache === undefined) return undefined
      const key = keyOf(tool, args)
      const entry = kept.get(key)
      if (entry === undefined) return undefined
      kept.delete(key)
      if (entry.tool !== tool || hasExpired(entry, now)) return undefined
      kept.set(key, entry)
      return entry.result
    },
    keep: (tool, args, result, now) => {
      if (tool.cache === undefined || !isPlain(result)) return false
      const key = keyOf(tool, args)
      kept.delete(key)
      kept.set(key, { tool, result, keptAt: now })
      for (const oldest of kept.keys()) {
        if (kept.size <= capacity) break
        kept.delete(oldest)
      }
      return true
    },
    onTick: (tick) => {
      if (tick === current) return
      current = tick
      forget(({ tool }) => tool.cache?.scope === "tick")
    },
    onRecordChange: () => forget(({ tool }) => tool.usesRecords === true),
    size: () => kept.size
  }
}

// Arguments can be long; a cache must not hold them.
const keyOf = (tool: Tool, args: Json): string =>
  `${tool.name}:${createHash("sha256").update(canonicalJson(args)).digest("hex")}`

const isPlain = ({ ok, pending, records = [], report, sends }: ToolResult): boolean =>
  ok && pending === undefined && report === undefined && sends.length === 0 && records.length === 0

// A clock that was set back says nothing of how old a result is.
const hasExpired = ({ keptAt, tool }: Kept, now: number): boolean =>
  tool.cache?.scope === "ttl" && (now < keptAt || now - keptAt >= tool.cache.ttlMillis)
