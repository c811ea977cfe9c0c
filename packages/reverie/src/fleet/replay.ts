// Replay: an assistant gone through again from its ledger, for reading only.
// Owns reading the entries page by page, up to the version of the moment, and the bound on a page of frames. Leaves the
// replay to the runtime.
// R1  What commits meanwhile is left out: a replay and its verdict are of one moment.
// R2  Nothing is called, sent or written: the ledger is read, and nothing else.
// R3  What is late in a life is reached from the checkpoint before it.

import { Ledger } from "@reverie/ledger"
import { UnknownAssistant } from "@reverie/mailbox"
import {
  checkpointBefore,
  type Entries,
  type ReplayFrame,
  replayFrames,
  type ReplayRange,
  type ReplayVerdict,
  verifyReplay
} from "@reverie/runtime"
import type { Model } from "@reverie/model"
import type { FleetDefinition } from "../fleet-options.ts"
import type { PromptQuestion, TickPrompt } from "../forking/exact-prompt.ts"
import type { Fork, ForkRequest } from "../forking/fork.ts"
import type { EvalCaseRequest, ForkBeginning, SavedCase } from "../forking/tick-case.ts"
import type { TickSource } from "../forking/tick-source.ts"
import { type Core, entriesUpTo, recordOf, settingsKept } from "./entry-source.ts"
import { MAX_FRAMES } from "../forking/errors.ts"

const DEFAULT_FRAMES = 100

const checkpointsOf = (core: Core, id: string, keys: ReadonlyArray<string>) =>
  core.run(Ledger.use((ledger) => ledger.records(core.address(id), ["checkpoint"], { keys })))

/** Frames from the creation to the newest commit, or of a range. Rejects with UnknownAssistant. */
async function* replayOf(core: Core, id: string, range: ReplayRange = {}): AsyncGenerator<ReplayFrame> {
  const record = await recordOf(core, id)
  const entries: Entries = (from) => entriesUpTo(core, id, record.version, from)
  // Where it stops at something that may lie before the range, all of it is gone through.
  const key = range.until === undefined ? checkpointBefore(Math.min(range.from ?? 1, record.version)) : undefined
  const keys = key === undefined ? [] : [key]
  const [kept] = key === undefined ? [] : await checkpointsOf(core, id, keys)
  yield* replayFrames(entries, range, { settings: settingsKept(record), checkpoint: kept?.value })
}

/** One page of a replay. */
export interface FramePage {
  /** One for each commit, in their order. */
  readonly frames: ReadonlyArray<ReplayFrame>
  /** Where the next page begins; absent when this was the last one. */
  readonly next?: number
}

/** One page of frames: at most `limit`, itself at most MAX_FRAMES. */
const framePageOf = async (
  core: Core,
  id: string,
  { limit = DEFAULT_FRAMES, ...range }: ReplayRange & { readonly limit?: number } = {}
): Promise<FramePage> => {
  const most = Math.min(MAX_FRAMES, Math.max(1, Math.trunc(limit)))
  const frames: Array<ReplayFrame> = []
  for await (const frame of replayOf(core, id, range)) {
    if (frames.length === most) return { frames, next: frame.no }
    frames.push(frame)
  }
  return { frames }
}

/** Replays a life to its end and holds it against what the store keeps. Rejects with UnknownAssistant. */
const verdictOf = async (core: Core, id: string): Promise<ReplayVerdict> => {
  const record = await recordOf(core, id)
  const { version } = record
  const entries: Entries = (from) => entriesUpTo(core, id, version, from)
  const checkpoint = async (key: string) => (await checkpointsOf(core, id, [key]))[0]?.value
  const verdict = await verifyReplay(entries, record.state, { version, checkpoint })
  if (verdict === undefined) throw new UnknownAssistant({ address: core.address(id) })
  return verdict
}

/** The readings of `fleet.replay`: nothing is called, sent or written. Each rejects with IdInvalid and UnknownAssistant. */
export interface ReplayReadings {
  /** An assistant gone through again from its entries, a frame a commit. */
  readonly frames: (id: string, range?: ReplayRange) => AsyncIterable<ReplayFrame>
  /** One page of frames, at most 500; 100 when no `limit` is given. */
  readonly page: (id: string, range?: ReplayRange & { readonly limit?: number }) => Promise<FramePage>
  /**
   * Replays an assistant to its newest commit and compares it with what the store keeps.
   * @example const { equal } = await fleet.replay.verify("desk")
   */
  readonly verify: (id: string) => Promise<ReplayVerdict>
  /** Everything that a tick began from, for `forkTick`, `promptOfTick` and `fixtureOfTick`. Rejects with ForkRefused. */
  readonly source: (id: string, tick: number) => Promise<TickSource>
}

export const replayIn = (core: Core, source: ReplayReadings["source"]): ReplayReadings => ({
  frames: (id, range) => replayOf(core, id, range),
  page: (id, range) => framePageOf(core, id, range),
  verify: (id) => verdictOf(core, id),
  source
})

/** `fleet.replay`: assistants gone through again, and single ticks with changes. */
export interface FleetReplay extends ReplayReadings {
  /**
   * Goes through one tick again beside the fleet, with other instructions, another model or other tool results, and compares.
   * Nothing outside sees it. Its `signal` stops it, with the call of the model in flight. Rejects with ForkRefused and
   * UnknownAssistant, and with the reason of the signal.
   */
  readonly fork: (request: ForkRequest) => Promise<Fork>
  /**
   * What a fork of a tick begins with: what the assistant was told in it, and the key under which the prompt registry keeps other
   * words. Rejects with ForkRefused and UnknownAssistant.
   * @example const { instructions } = await fleet.replay.beginning("desk", 12)
   */
  readonly beginning: (id: string, tick: number) => Promise<ForkBeginning>
  /**
   * A tick as a case of an eval: its JSON is a line of a file for `reverie eval FILE.jsonl --fleet FILE`. It carries the whole life
   * before the tick, up to 5,000 commits. Rejects with ForkRefused and UnknownAssistant.
   * @example const line = JSON.stringify(await fleet.replay.evalCase({ assistant: "desk", tick: 12, expected: ["berth 7"] }))
   */
  readonly evalCase: (request: EvalCaseRequest) => Promise<SavedCase>
  /** The exact words that a model was shown with one call; undefined when there was none. Rejects with ForkRefused. */
  readonly prompt: (question: PromptQuestion & { readonly iteration?: number }) => Promise<TickPrompt | undefined>
}

export const openReplay = (
  replay: ReplayReadings,
  definition: FleetDefinition,
  model: () => Promise<Model["Service"]>
): FleetReplay => ({
  ...replay,
  fork: async (request) => {
    const { forkTick } = await import("../forking/fork.ts")
    return forkTick({ replay }, definition, { ...request, model: request.model ?? (await model()) })
  },
  beginning: async (id, tick) => {
    const { beginningOf } = await import("../forking/tick-case.ts")
    return beginningOf({ replay }, definition, id, tick)
  },
  evalCase: async (request) => {
    const { evalCaseOf } = await import("../forking/tick-case.ts")
    return evalCaseOf({ replay }, definition, request)
  },
  prompt: async (question) => {
    const { promptOfTick } = await import("../forking/exact-prompt.ts")
    return promptOfTick({ replay }, definition, question)
  }
})
