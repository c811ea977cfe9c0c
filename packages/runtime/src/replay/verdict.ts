// Verdict: a whole life told again, and held against what its store keeps.
// Owns the comparison, and going around what cannot be read. Leaves one step to state.ts, frames and contradictions to replay.ts.
// P2  The verdict is equal when the last snapshot and the open jobs are those that are stored, byte for byte, and no entry
//     contradicts its own event. Otherwise it names a commit wherever one can be named.
// P3  A snapshot that was stored by an older version is raised before it is compared, as a claim raises it.
// P4  Commits that are in a segment that cannot be read are named, with those behind them that no checkpoint leads to; the rest is
//     replayed from the next checkpoint on.

import { contextOf, persist, restore, type Settings } from "@reverie/assistant"
import { UnreadableRecord } from "@reverie/ledger"
import { type AssistantState, defined, type Entry, isJsonObject, type Json } from "@reverie/protocol"
import * as Result from "effect/Result"
import { CHECKPOINT_COMMITS } from "../commit/turn.ts"
import { type Difference, differenceAt, differingPaths, Watch } from "./difference.ts"
import { markOf, type SnapshotMark, snapshotText } from "./frame.ts"
import { contradiction, type Entries, isFirst, resumed } from "./replay.ts"
import { beginningOf, openReplayState, replayEntry, type ReplayState } from "./state.ts"

/** A commit that does not agree with what is recorded of it. */
export interface Mismatch {
  /** The number of the commit. */
  readonly no: number
  /** What differs, in a sentence. */
  readonly what: string
}

/** Commits that could not be replayed: they are in a segment that cannot be read, or behind it and before the next checkpoint. */
export interface UnknownCommits {
  /** The number of the first. */
  readonly from: number
  /** The number of the last. */
  readonly to: number
  /** Why, in a sentence that names the segment. */
  readonly why: string
}

/** Whether a replay gives what is stored. */
export interface ReplayVerdict {
  /** How many were gone through. */
  readonly commits: number
  /** The replayed state is the stored one, byte for byte. */
  readonly equal: boolean
  /** The state that the replay came to. */
  readonly replayed: SnapshotMark
  /** The state that the store keeps. */
  readonly stored: SnapshotMark
  /** Where the settings of the creation are from: its entry, what the store keeps, or a guess, for they changed since. */
  readonly settings: "recorded" | "kept" | "guessed"
  /** The stored snapshot was of an older version. */
  readonly isRaised: boolean
  /** The first ones. */
  readonly mismatches: ReadonlyArray<Mismatch>
  /** Where the two differ, the first ones; of a replay that did not come to the end, nothing. */
  readonly differences: ReadonlyArray<Difference>
  /** What could not be replayed; left out where all of it was. */
  readonly unknown?: ReadonlyArray<UnknownCommits>
  /** Calls nothing outside: every value comes from the ledger. */
  readonly modelCalls: 0
  /** No tool runs. */
  readonly toolCalls: 0
  /** Nothing is sent. */
  readonly sends: 0
  /** Nothing is written. */
  readonly writes: 0
}

const MAX_MISMATCHES = 20

/** What a store keeps, as far as entries tell it. */
export type Kept = Pick<AssistantState, "snapshot" | "jobs">

const settingsIn = (snapshot: Json): Partial<Settings> => {
  const restored = restore(snapshot)
  return Result.isSuccess(restored) ? contextOf(restored.success).settings : {}
}

const changesSettings = ({ event }: Entry): boolean => isJsonObject(event) && event["settings"] !== undefined

interface Told {
  /** Undefined where not even the creation is known. */
  readonly state: ReplayState | undefined
  readonly isRecorded: boolean
  readonly hasChanged: boolean
  readonly mismatches: ReadonlyArray<Mismatch>
  readonly unknown: ReadonlyArray<UnknownCommits>
  /** It came to the last commit. */
  readonly isWhole: boolean
}

/** What a verdict is made of besides the entries. */
interface Beyond {
  /** The number of the last commit. */
  readonly version: number
  /** A checkpoint as it is kept, by its key. */
  readonly checkpoint: (key: string) => Promise<Json | undefined>
}

/** The state of the first checkpoint from a commit on. */
const stateFrom = async (no: number, { checkpoint, version }: Beyond): Promise<ReplayState | undefined> => {
  for (let at = Math.ceil(no / CHECKPOINT_COMMITS) * CHECKPOINT_COMMITS; at <= version; at += CHECKPOINT_COMMITS) {
    const state = resumed(await checkpoint(String(at)))
    if (state !== undefined) return state
  }
  return undefined
}

/** A replay to the end, around what cannot be read. */
class Telling {
  readonly #settings: Partial<Settings>
  readonly #seen: (state: ReplayState) => void
  readonly #mismatches: Array<Mismatch> = []
  readonly #unknown: Array<UnknownCommits> = []
  #state: ReplayState | undefined
  #isRecorded = false
  #hasChanged = false

  constructor(settings: Partial<Settings>, seen: (state: ReplayState) => void = () => {}) {
    this.#settings = settings
    this.#seen = seen
  }

  async tell(entries: Entries, beyond: Beyond | undefined): Promise<Told | undefined> {
    let lost = await this.#until(entries())
    while (lost !== undefined) {
      if (beyond === undefined) throw lost.failure
      const { failure, from, to } = lost
      const state = await stateFrom(to, beyond)
      this.#unknown.push({ from, to: state?.no ?? beyond.version, why: failure.message })
      if (state === undefined) return this.#told(false)
      this.#state = state
      this.#seen(state)
      lost = state.no < beyond.version ? await this.#until(entries(state.no + 1)) : undefined
    }
    return this.#state === undefined ? undefined : this.#told(true)
  }

  /** Goes on to the end, or to what cannot be read. */
  async #until(entries: AsyncIterable<Entry>) {
    try {
      for await (const entry of entries) this.#hear(entry)
      return undefined
    } catch (failure) {
      if (!(failure instanceof UnreadableRecord) || failure.lost === undefined) throw failure
      return { failure, ...failure.lost }
    }
  }

  #hear(entry: Entry): void {
    if (this.#state === undefined) {
      this.#isRecorded = beginningOf(entry, this.#settings).isRecorded
      this.#state = openReplayState(entry, this.#settings)
      if (!isFirst(entry)) this.#mismatches.push({ no: entry.no, what: "the creation is missing" })
    } else {
      const step = replayEntry(this.#state, entry)
      const what = contradiction(this.#state, step, entry)
      if (what !== undefined && this.#mismatches.length < MAX_MISMATCHES) this.#mismatches.push({ no: entry.no, what })
      this.#state = step.state
      this.#hasChanged ||= changesSettings(entry)
    }
    this.#seen(this.#state)
  }

  #told(isWhole: boolean): Told {
    return {
      state: this.#state,
      isRecorded: this.#isRecorded,
      hasChanged: this.#hasChanged,
      mismatches: this.#mismatches,
      unknown: this.#unknown,
      isWhole
    }
  }
}

/** The stored snapshot as a claim reads it. */
const raised = (snapshot: Json): Json => {
  const restored = restore(snapshot)
  return Result.isSuccess(restored) ? persist(restored.success) : snapshot
}

const differencesOf = async (
  entries: Entries,
  settings: Partial<Settings>,
  beyond: Beyond | undefined,
  replayed: Json,
  stored: Json
) => {
  const paths = differingPaths(replayed, stored)
  if (paths.length === 0) return []
  const watch = new Watch(paths)
  await new Telling(settings, (state) => watch.see(state.no, keptOf(state))).tell(entries, beyond)
  return paths.map((path, index) => differenceAt(path, replayed, stored, watch.writtenBy(index)))
}

const keptOf = ({ decoded, jobs }: ReplayState): Json => ({ snapshot: persist(decoded), jobs }) as unknown as Json

/**
 * Replays a life to its end and holds it against what the store keeps; undefined when there are no entries. Without `beyond` a segment
 * that cannot be read fails it.
 */
export const verifyReplay = async (
  entries: Entries,
  kept: Kept,
  beyond?: Beyond
): Promise<ReplayVerdict | undefined> => {
  const settings = settingsIn(kept.snapshot)
  const told = await new Telling(settings).tell(entries, beyond)
  if (told === undefined) return undefined
  const { hasChanged, isRecorded, isWhole, mismatches, state, unknown } = told
  const text = state === undefined ? "" : snapshotText(state.decoded)
  const storedText = JSON.stringify(kept.snapshot)
  const snapshot = text === storedText ? kept.snapshot : raised(kept.snapshot)
  const stored = { snapshot, jobs: kept.jobs } as unknown as Json
  const differences =
    isWhole && state !== undefined ? await differencesOf(entries, settings, beyond, keptOf(state), stored) : []
  const last = state?.no ?? 0
  const passed = unknown.reduce((sum, { from, to }) => (to > last ? sum : sum + to - from + 1), 0)
  return {
    commits: last - passed,
    equal: isWhole && mismatches.length === 0 && differences.length === 0,
    replayed: markOf(text),
    stored: markOf(storedText),
    settings: isRecorded ? "recorded" : hasChanged ? "guessed" : "kept",
    isRaised: JSON.stringify(snapshot) !== storedText,
    mismatches,
    differences,
    ...defined({ unknown: unknown.length === 0 ? undefined : unknown }),
    modelCalls: 0,
    toolCalls: 0,
    sends: 0,
    writes: 0
  }
}
