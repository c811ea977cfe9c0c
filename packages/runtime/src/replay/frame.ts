// ReplayFrame: one commit as a person follows it.
// Owns its shape, and where a replay stops. Leaves the replay itself to compact.ts.
// M1  It holds no text of messages: that is in the entry of the same number.

import { createHash } from "node:crypto"
import { Buffer } from "node:buffer"
import { type Decoded, persist, statusOf } from "@reverie/assistant"
import {
  type Cause,
  type Command,
  type Entry,
  isJsonObject,
  type Json,
  type StepRecord,
  defined
} from "@reverie/protocol"
import type { ReplayState, ReplayStep } from "./state.ts"

/** The state of an assistant after one commit. */
export interface ReplayFrame {
  /** The number of the commit. */
  readonly no: number
  /** The tick in hand, or the last one. */
  readonly tick: number
  /** The model call of the tick, from 1 on; 0 before the first. */
  readonly iteration: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** What began the step. */
  readonly cause: Cause
  /** The machine state before and after. */
  readonly before: string
  /** The machine state that it left. */
  readonly after: string
  /** Of the machine event; null where the statechart was not asked. */
  readonly eventType: string | null
  /** What the statechart asked for, e.g. `StartJob infer`. */
  readonly commands: ReadonlyArray<string>
  /** The effect that it records, where it records one. */
  readonly step?: Pick<StepRecord, "kind" | "name" | "ok">
  /** Of the snapshot after, as the store would write it. */
  readonly bytes: number
  /** SHA-256 of that snapshot. */
  readonly hash: string
  /** What of the entry does not agree with its own event. */
  readonly problem?: string
  /** What the statechart keeps after it, where the range asks for it. */
  readonly snapshot?: Json
}

/** Where a replay stops: at the first frame of which all that is said holds. */
export interface Breakpoint {
  /** A state, or the beginning of its path: `awake` stops at `awake.idle`. */
  readonly status?: string
  /** The type of a machine event. */
  readonly eventType?: string
  /** The number of a tick. */
  readonly tick?: number
}

/** Which snapshot a frame carries. */
export interface SnapshotMark {
  /** The length of its JSON. */
  readonly bytes: number
  /** SHA-256 of its JSON. */
  readonly hash: string
}

/** The snapshot as the store writes it. */
export const snapshotText = (decoded: Decoded): string => JSON.stringify(persist(decoded))

/** Size and SHA-256 of a snapshot's text. */
export const markOf = (text: string): SnapshotMark => ({
  bytes: Buffer.byteLength(text),
  hash: createHash("sha256").update(text).digest("hex")
})

const commandName = (command: Command): string => {
  switch (command._tag) {
    case "Emit":
      return `Emit ${command.event.type}`
    case "Action":
      return `Action ${command.type}`
    case "Send":
      return `Send ${command.to}`
    default:
      return `${command._tag} ${command.name}`
  }
}

export const eventTypeOf = ({ event }: Pick<Entry, "event">): string | null =>
  isJsonObject(event) && typeof event["type"] === "string" ? event["type"] : null

export const frameOf = (
  before: ReplayState,
  { commands, state }: ReplayStep,
  entry: Entry,
  problem?: string
): ReplayFrame => {
  const { at, cause, iteration, no, step, tick } = entry
  return {
    no,
    tick,
    iteration,
    at,
    cause,
    before: statusOf(before.decoded),
    after: statusOf(state.decoded),
    eventType: eventTypeOf(entry),
    commands: commands.map(commandName),
    ...defined({ step: step === undefined ? undefined : { kind: step.kind, name: step.name, ok: step.ok } }),
    ...markOf(snapshotText(state.decoded)),
    ...defined({ problem })
  }
}

const isIn = (status: string, path: string): boolean => status === path || status.startsWith(`${path}.`)

/** True when a replay with this breakpoint stops after the frame. A breakpoint that says nothing stops nowhere. */
export const isStop = ({ after, eventType, tick }: ReplayFrame, until: Breakpoint = {}): boolean => {
  const { eventType: wantedType, status, tick: wantedTick } = until
  if (status === undefined && wantedType === undefined && wantedTick === undefined) return false
  return (
    (status === undefined || isIn(after, status)) &&
    (wantedType === undefined || eventType === wantedType) &&
    (wantedTick === undefined || tick === wantedTick)
  )
}
