// Execute: one call, one result.
// Owns the order check, run, render, the timeout and what a model learns when any of them goes wrong.
// Leaves recording the result, approvals and retries to the runtime.
// I1  It never fails; it is interrupted when the caller is, and then the signal of the run is aborted.
// I2  A run that has not answered in its time is stopped, told so by its signal, and said to be of unknown effect. An answer
//     that comes later is not taken, also where the run has kept everything else from happening meanwhile.
// I3  A tool that threw is quoted with its message alone.
// I4  What it leaves behind and no one handles fails the call, like a throw (`run-place.ts`).

import { reach } from "@reverie/assistant"
import { defined, type Envelope, type Json, type ToolCall } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import { openRecords, openSends, type RecordAccess, recordsOutside, type Sender, type Sends } from "./sending/sends.ts"
import { CurrentWatch, RunPlace, type Watch } from "./run-place.ts"
import { clipped, messageOf } from "./results/sentences.ts"
import { canonicalJson, type Tool, type ToolResult, type ToolRun } from "./tool.ts"
import { AsyncReport } from "./async-report.ts"
import { capped, isTextWithParts, render } from "./render.ts"

// Result: what a model learns of a run.

const noSends: ReadonlyArray<Envelope> = Object.freeze([])

/** A result that failed. It carries no sends. */
const failed = (failure: NonNullable<ToolResult["failure"]>, content: string): ToolResult => ({
  ok: false,
  content: capped(content),
  sends: noSends,
  failure
})

/** The result of a run that gave `value`. */
const finished = (tool: Tool, value: unknown, sends: ReadonlyArray<Envelope>): ToolResult => {
  const isPending = tool.category === "async_required"
  if (value instanceof AsyncReport) {
    if (!isPending) return unshowable("it is a later report, which only a tool with background: true gives", sends)
    return { ok: true, content: capped(value.acknowledgement), sends, pending: true, report: capped(value.report) }
  }
  if (isTextWithParts(value) && !isPending) return { ok: true, content: capped(value.text), given: value.parts, sends }
  const rendered = render(value)
  if ("problem" in rendered) return unshowable(rendered.problem, sends)
  const result = { ok: true, content: capped(rendered.text), sends }
  return isPending ? { ...result, pending: true } : result
}

const unshowable = (problem: string, sends: ReadonlyArray<Envelope>): ToolResult =>
  failed("not-json", `The tool ran, but its result can not be shown: ${problem}.${unsent(sends.length)}`)

/** The result of a call that was cut off, by a crash or by the end of its process: whether it took effect is not known. */
export const interrupted = (call: ToolCall, by: "crash" | "stop" = "crash"): ToolResult =>
  failed(
    "interrupted",
    `The call of ${nameOf(call)} was ${by === "crash" ? "started before a crash" : "cut off when its process was stopped"}; ` +
      "whether it took effect is unknown. " +
      "Do not assume either; check before repeating it."
  )

/** The result of a call that took its process with it too often. `alone`: the last time no other tool ran. */
export const convicted = (call: ToolCall, times: number, alone: boolean): ToolResult =>
  failed(
    "crashed",
    `The process ended ${times} times while the tool ${nameOf(call)} ran${alone ? ", the last time with no other tool running" : ""}. ` +
      "It is not run again; whether it took effect is unknown."
  )

/** What a tool message says of a crash: whether the call was cut off by one, or is held to have caused it. */
export const crashIn = (content: string): "cut-off" | "caused" | undefined => {
  if (/^The call of "[^"]*" was started before a crash;/.test(content)) return "cut-off"
  return /^The process ended \d+ times while the tool "/.test(content) ? "caused" : undefined
}

/** The result of a call that was not allowed to run. */
export const refused = (call: ToolCall, reason: string): ToolResult =>
  failed("refused", `The call of ${nameOf(call)} was refused and did not run: ${clipped(reason, 2_000)}`)

/** The name as the model gave it, which need not be one. */
const nameOf = (call: ToolCall): string => JSON.stringify(clipped(call.tool, 64))

/** What became of messages that a failed run wanted to send. */
const unsent = (count: number): string => {
  if (count === 0) return ""
  const messages = count === 1 ? "message it wanted to send was" : `${count} messages it wanted to send were`
  return ` The ${messages} not sent.`
}

/** `1.5 s`, `30 s`, `250 ms`. */
export const spelledMillis = (millis: number): string => (millis < 1_000 ? `${millis} ms` : `${millis / 1_000} s`)

// Nearest: the existing names that a wrong name may have meant.
// I1  The work is bounded whatever a model gives as a name.

const MAX_NAME_CHARS = 64
const MAX_NAMES = 5

/** At most five of `names`, the nearest first, in the order given where they are equally near. */
const nearest = (wrong: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const asked = wrong.slice(0, MAX_NAME_CHARS).toLowerCase()
  return names
    .map((name) => ({ name, edits: editsBetween(asked, name.slice(0, MAX_NAME_CHARS).toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
}

const editsBetween = (a: string, b: string): number => {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const line = [row]
    for (let column = 1; column <= b.length; column++) {
      const change = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      line.push(Math.min(change, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1))
    }
    above = line
  }
  return above[b.length] ?? 0
}

/** Where a call comes from. `key` is the same for every attempt at it, and no other call of any assistant has it. */
export interface RunContext extends Sender {
  /** Who began the tick. */
  readonly from?: string | undefined
  /** Where the assistant's own records are read; without it there are none. */
  readonly records?: RecordAccess
  /** The tools that may be called now, to be named to a model that asked for another. */
  readonly names?: ReadonlyArray<string>
  /** Takes secrets out of what a run leaves behind for the log. */
  readonly hide?: (text: string) => string
}

export const execute = (tool: Tool | undefined, call: ToolCall, context: RunContext): Effect.Effect<ToolResult> => {
  if (tool === undefined) return Effect.succeed(unknownTool(call, context.names ?? []))
  if (call.malformed !== undefined) return Effect.succeed(unreadable(call, call.malformed))
  return checkedRun(tool, call, context)
}

/** A statechart keeps it with the call. */
const MAX_UNFIT_CHARS = 400

/**
 * Why a call can not run as it was made, as its model reads it; undefined where it can. A check that breaks, or takes longer than a run
 * of the tool may, says nothing: the run will.
 */
export const unfitness = (tool: Tool, call: ToolCall): Effect.Effect<string | undefined> =>
  call.malformed === undefined
    ? Effect.suspend(() => tool.validate(call.arguments)).pipe(
        Effect.match({
          onSuccess: () => undefined,
          onFailure: (issues) => clipped(misfit(call, issues).content, MAX_UNFIT_CHARS)
        }),
        Effect.catchDefect(() => Effect.undefined),
        Effect.timeoutOption(tool.timeoutMs),
        Effect.map(Option.getOrUndefined)
      )
    : Effect.succeed(unreadable(call, call.malformed).content)

const checkedRun = Effect.fnUntraced(function* (tool: Tool, call: ToolCall, context: RunContext) {
  const place = yield* RunPlace
  const controller = new AbortController()
  let stray: string | undefined
  let running: Fiber.Fiber<unknown, unknown> | undefined
  const { assistant, tenant } = context.address
  const name = { assistant, tenant, tool: tool.name, call: call.id, hide: context.hide ?? ((text: string) => text) }
  const watch = place.watch(name, (problem) => {
    stray ??= problem
    running?.interruptUnsafe()
  })
  const sends = openSends(context)
  const records = openRecords(context.records)
  const run: ToolRun = {
    assistant,
    tenant,
    call: call.id,
    key: context.key,
    signal: controller.signal,
    now: yield* Clock.currentTimeMillis,
    ...defined({ from: context.from }),
    send: sends.send,
    reach: (target) => context.post?.reach(target) ?? reach([], target),
    mayNotWrite: (to) => context.post?.refusal(to, 0),
    records: recordsOutside(records.records, watch.outside)
  }
  const began = yield* Clock.monotonicTimeNanos
  const exit = yield* Effect.withFiber<unknown, unknown>((fiber) => {
    running = fiber
    return answer(tool, call, run, watch)
  }).pipe(
    Effect.onInterrupt(() => Effect.sync(() => watch.inside(() => controller.abort()))),
    Effect.timeoutOption(tool.timeoutMs),
    Effect.ensuring(
      Effect.sync(() => {
        sends.close()
        watch.end()
      })
    ),
    Effect.exit
  )
  const tookMillis = Number((yield* Clock.monotonicTimeNanos) - began) / 1e6
  const result = resultOf(tool, call, sends, tookMillis > tool.timeoutMs ? Exit.succeed(Option.none()) : exit, stray)
  const changed = records.changes()
  return result.ok && changed.length > 0 ? { ...result, records: changed } : result
})

/** Arguments that do not fit, told apart from whatever a run may fail with. */
class Misfit {
  readonly issues: ReadonlyArray<string>
  constructor(issues: ReadonlyArray<string>) {
    this.issues = issues
  }
}

/** What it left behind before it answered counts until that has settled. */
const answer = (tool: Tool, call: ToolCall, run: ToolRun, watch: Watch): Effect.Effect<unknown, unknown> =>
  Effect.suspend(() => watch.inside(() => tool.validate(call.arguments))).pipe(
    Effect.mapError((issues) => new Misfit(issues)),
    Effect.flatMap((args) => tool.effect(args, run)),
    Effect.provideService(CurrentWatch, watch),
    Effect.tap(watch.settled)
  )

const resultOf = (
  tool: Tool,
  call: ToolCall,
  sends: Sends,
  exit: Exit.Exit<Option.Option<unknown>, unknown>,
  stray: string | undefined
): ToolResult => {
  const sent = sends.close()
  if (stray !== undefined) return failed("threw", `The tool ${nameOf(call)} failed: ${stray}${unsent(sent.length)}`)
  if (Exit.isSuccess(exit)) {
    return Option.isSome(exit.value) ? finished(tool, exit.value.value, sent) : tooLate(tool, call, sent.length)
  }
  const thrown = Cause.squash(exit.cause)
  if (thrown instanceof Misfit) return misfit(call, thrown.issues)
  const message = Cause.hasInterruptsOnly(exit.cause) ? "it stopped itself" : messageOf(thrown)
  return failed("threw", `The tool ${nameOf(call)} failed: ${message}${unsent(sent.length)}`)
}

const unknownTool = (call: ToolCall, names: ReadonlyArray<string>): ToolResult => {
  const hints = nearest(call.tool, names)
    .map((name) => JSON.stringify(name))
    .join(", ")
  const hint = hints === "" ? "There are no tools to call now." : `Existing tools nearest to it: ${hints}.`
  return failed("unknown-tool", `There is no tool ${nameOf(call)}. ${hint}`)
}

const unreadable = (call: ToolCall, why: string): ToolResult =>
  failed(
    "arguments",
    `The arguments of ${nameOf(call)} could not be read: ${clipped(why, 300)}. Nothing was run. ` +
      "Call it again with one JSON object."
  )

const misfit = (call: ToolCall, issues: ReadonlyArray<string>): ToolResult =>
  failed(
    "arguments",
    `The arguments of ${nameOf(call)} do not fit. Nothing was run. Correct this and call it again:\n` +
      issues.map((issue) => `- ${issue}`).join("\n")
  )

const tooLate = (tool: Tool, call: ToolCall, unsentCount: number): ToolResult =>
  failed(
    "timeout",
    `The tool ${nameOf(call)} gave no answer within ${spelledMillis(tool.timeoutMs)} and was stopped; ` +
      `whether it took effect is unknown.${unsent(unsentCount)}`
  )

// ToolCache: results that may stand for an equal call of the same assistant.
// I1  Equal means the same tool and the same arguments, whatever the order of their keys.
// I2  Only a result that is ok and left nothing behind is kept: no sends, no records, no later report.
// I3  A result never outlives its scope: tick ends with the tick, ttl with its time, session with this cache.
// I4  What was read from the records is forgotten as soon as they change.
// I5  At most `capacity` results are kept; the one longest unused goes first.
// A cache lives in memory: after a crash, or on another worker, every call runs again.

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
  tool.cache?.scope === "ttl" && (now < keptAt || now - keptAt >= tool.cache.ttlMs)
