// RecordedTick: one tick as the ledger has it, and what stood before it.
// Owns finding it among the entries, and the model calls and tool runs in it. Leaves trying it again to drive.ts.
// T1  What stood before is step from the entries before the first of the tick, and from nothing later.
// T2  A tick reaches from the commit that took its envelope up to the one that ended it, or to the last there is.

import { callId, contextOf, type Settings } from "@reverie/assistant"
import type { Entry, Message, RecordChange, RecordRow, ToolCall } from "@reverie/protocol"
import { type ReplayState, replayEntry, openReplayState } from "../replay/state.ts"

/** One model call, whether the model answered it or not. */
export interface RecordedAsk {
  readonly no: number
  /** Which iteration asked. */
  readonly iteration: number
  readonly entry: Entry
}

/** One run of a tool. */
export interface RecordedRun {
  readonly no: number
  readonly call: ToolCall
  readonly entry: Entry
}

export interface RecordedTick {
  readonly tick: number
  /** As it stood before the tick. */
  readonly before: ReplayState
  readonly prefix: ReadonlyArray<Entry>
  readonly records: ReadonlyArray<RecordRow>
  /** As the definition had them when the tick began. */
  readonly settings: Partial<Settings>
  /** At least one. */
  readonly entries: ReadonlyArray<Entry>
  readonly first: Entry
  readonly last: Entry
  readonly isEnded: boolean
  readonly asks: ReadonlyArray<RecordedAsk>
  readonly runs: ReadonlyArray<RecordedRun>
}

const keyOf = ({ key, kind }: RecordChange): string => JSON.stringify([kind, key])

const noteRecords = (records: Map<string, RecordRow>, { records: changes = [] }: Entry): void => {
  for (const change of changes) {
    const { key, kind, value } = change
    if (value === null) records.delete(keyOf(change))
    else records.set(keyOf(change), { kind, key, value })
  }
}

const callsIn = (entries: ReadonlyArray<Entry>): ReadonlyMap<string, ToolCall> =>
  new Map(
    entries.flatMap(({ messages }) =>
      messages.flatMap(({ calls = [] }) => calls.map((call) => [call.id, call] as const))
    )
  )

/** The index in the name of a tool's job. */
export const indexOfJob = (name: string): number => Number(/^tool\.(\d+)$/.exec(name)?.[1] ?? NaN)

const jobName = (id: string): string => id.slice(id.indexOf("/") + 1)

interface Lived {
  readonly entries: Array<Entry>
  readonly asks: Array<RecordedAsk>
  readonly runs: Array<Omit<RecordedRun, "call"> & { readonly id: string }>
}

const noteStep = (lived: Lived, before: ReplayState, entry: Entry): void => {
  const { no, step } = entry
  const { iteration, tick } = contextOf(before.decoded)
  if (step?.kind === "infer") lived.asks.push({ no, iteration, entry })
  if (step?.kind === "tool") {
    lived.runs.push({ no, entry, id: callId(tick, iteration, indexOfJob(jobName(step.id))) })
  }
}

/** True of the commit with which a tick begins. */
const begins = (before: ReplayState, after: ReplayState, tick: number): boolean =>
  contextOf(before.decoded).tick === tick - 1 && contextOf(after.decoded).tick === tick

/** Undefined when there is no such tick. `settings`: of a creation whose entry does not tell them. */
export const readTick = async (
  entries: AsyncIterable<Entry>,
  tick: number,
  settings?: Partial<Settings>
): Promise<RecordedTick | undefined> => {
  const prefix: Array<Entry> = []
  const records = new Map<string, RecordRow>()
  const lived: Lived = { entries: [], asks: [], runs: [] }
  let state: ReplayState | undefined
  let begun: { readonly before: ReplayState; readonly settings: Partial<Settings> } | undefined
  for await (const entry of entries) {
    const before: ReplayState = state ?? openReplayState(entry, settings)
    const after: ReplayState = state === undefined ? before : replayEntry(before, entry).state
    if (begun === undefined && state !== undefined && begins(before, after, tick)) {
      begun = { before, settings: contextOf(after.decoded).settings }
    }
    state = after
    if (begun === undefined) {
      prefix.push(entry)
      noteRecords(records, entry)
      continue
    }
    lived.entries.push(entry)
    noteStep(lived, before, entry)
    if (entry.tickEnd !== undefined) break
  }
  const [first] = lived.entries
  const last = lived.entries.at(-1)
  if (begun === undefined || first === undefined || last === undefined) return undefined
  const calls = callsIn(lived.entries)
  return {
    tick,
    ...begun,
    prefix,
    records: [...records.values()],
    entries: lived.entries,
    first,
    last,
    isEnded: last.tickEnd !== undefined,
    asks: lived.asks,
    runs: lived.runs.flatMap(({ id, ...run }) => {
      const call = calls.get(id)
      return call === undefined ? [] : [{ ...run, call }]
    })
  }
}

/** What a run answered its call with; undefined when it was left pending. */
export const resultOf = ({ call, entry }: RecordedRun): Message | undefined =>
  entry.messages.find((message) => message.role === "tool" && message.call === call.id)
