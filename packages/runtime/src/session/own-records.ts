// OwnRecords: the assistant's own records, as its session holds them.
// Owns the copy in memory, as a value: what is committed, and over it what finished runs have changed. Leaves their meaning to
// `assistant`, their durability to the commit that carries a change, holding them to the session.
// I1  Records of a kind are another map after each change, so that who rendered one knows whether to render again.
// I2  What is read is what was committed, and over it what finished runs of open jobs have changed and the next commits
//     will carry, in the order in which the runs finished.
// I3  Only a commit changes what is committed. The changes of a run whose job is over are gone unless a commit carried them.
// I4  Runs may be committed in another order than they finished in. What a later run has written over an earlier one stays:
//     the earlier one writes it no more, in memory or in the store.

import { type Journal, journalOf } from "@reverie/assistant"
import { noteLine, NOTHING_WORKING, type WorkingLine, type WorkingMemory } from "@reverie/memory"
import {
  type Address,
  addressKey,
  ownKinds,
  type Json,
  type RecordChange,
  type RecordKind,
  type RecordRow
} from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

type Layer = ReadonlyMap<RecordKind, ReadonlyMap<string, Json>>

/** What a finished run has changed, until the commit of its job's end carries it. */
interface FinishedRun {
  readonly job: string
  readonly changes: ReadonlyArray<RecordChange>
  /** Changes that a later run has written over, and was committed first. */
  readonly overtaken?: ReadonlyArray<RecordChange>
}

/** Own records to be read. */
export interface ShownRecords {
  readonly shown: Layer
}

/** `shown` is made of the other two: the committed records with the changes of finished runs over them. */
export interface OwnRecords extends ShownRecords {
  readonly committed: Layer
  readonly finished: ReadonlyArray<FinishedRun>
}

/** What a commit has written, as far as it concerns own records. */
export interface CommittedRecords {
  readonly changes: ReadonlyArray<RecordChange>
  /** The job whose end it carried. */
  readonly ended?: string | undefined
  /** The jobs that are open after it. */
  readonly open: ReadonlySet<string>
}

const isOwnKind: ReadonlySet<RecordKind> = new Set(ownKinds)

const EMPTY: ReadonlyMap<string, Json> = new Map()

/** Memory and archive are read from the ledger when they are asked for. */
const ownOf = (changes: ReadonlyArray<RecordChange>): ReadonlyArray<RecordChange> =>
  changes.filter(({ kind }) => isOwnKind.has(kind))

const changed = (layer: Layer, changes: ReadonlyArray<RecordChange>): Layer => {
  const own = ownOf(changes)
  if (own.length === 0) return layer
  const after = new Map(layer)
  const fresh = new Map<RecordKind, Map<string, Json>>()
  for (const { key, kind, value } of own) {
    const records = fresh.get(kind) ?? new Map(after.get(kind))
    fresh.set(kind, records)
    after.set(kind, records)
    if (value === null) records.delete(key)
    else records.set(key, value)
  }
  return after
}

export const openOwnRecords = (rows: ReadonlyArray<RecordRow>): OwnRecords => {
  const committed = changed(new Map(), rows)
  return { committed, finished: [], shown: committed }
}

/** The records with changes over them that are on their way into one commit: what its own contributors read. */
export const recordsWith = ({ shown }: ShownRecords, changes: ReadonlyArray<RecordChange>): ShownRecords => ({
  shown: changed(shown, changes)
})

/** The records after a run has finished whose job is open. */
export const recordsAfterRun = (own: OwnRecords, run: FinishedRun): OwnRecords =>
  run.changes.length === 0 ? own : { ...own, finished: [...own.finished, run], shown: changed(own.shown, run.changes) }

const isSame = (one: ReadonlyArray<RecordChange>, other: ReadonlyArray<RecordChange>): boolean =>
  one.length === other.length && one.every((change, index) => change === other[index])

const nameOf = ({ key, kind }: RecordChange): string => `${kind}\u0000${key}`

/** The runs that are still open, without what later runs of the committed job have written over them. */
const stillFinished = (own: OwnRecords, { changes, ended, open }: CommittedRecords): ReadonlyArray<FinishedRun> => {
  const over = new Set<string>()
  const left: Array<FinishedRun> = []
  for (const run of own.finished.toReversed()) {
    if (run.job === ended) for (const change of run.changes) if (changes.includes(change)) over.add(nameOf(change))
    if (run.job === ended || !open.has(run.job)) continue
    const overtaken = run.changes.filter((change) => over.has(nameOf(change)))
    left.unshift(
      overtaken.length === 0
        ? run
        : {
            job: run.job,
            changes: run.changes.filter((change) => !overtaken.includes(change)),
            overtaken: [...(run.overtaken ?? []), ...overtaken]
          }
    )
  }
  return left
}

/** Of the changes of a job's end those that no later run has written over. */
export const notOvertaken = (
  { finished }: OwnRecords,
  job: string,
  changes: ReadonlyArray<RecordChange>
): ReadonlyArray<RecordChange> => {
  const overtaken = finished.flatMap((run) => (run.job === job ? (run.overtaken ?? []) : []))
  return overtaken.length === 0 ? changes : changes.filter((change) => !overtaken.includes(change))
}

/** The records after a commit. */
export const recordsAfterCommit = (own: OwnRecords, commit: CommittedRecords): OwnRecords => {
  const finished = stillFinished(own, commit)
  const isAsBefore = finished.length === own.finished.length
  const changes = ownOf(commit.changes)
  if (isAsBefore && changes.length === 0) return own
  const committed = new Map(changed(own.committed, changes))
  const shown = new Map(own.shown)
  const before = ownOf(own.finished.flatMap((run) => run.changes))
  const after = ownOf(finished.flatMap((run) => run.changes))
  for (const kind of new Set([...changes, ...before].map((change) => change.kind))) {
    const of = (some: ReadonlyArray<RecordChange>) => some.filter((change) => change.kind === kind)
    if (of(changes).length === 0 && of(before).length === of(after).length) continue
    const known = own.shown.get(kind)
    // It carries just what was read already: the map stays the same, and so does what was rendered of it.
    if (known !== undefined && of(after).length === 0 && isSame(of(changes), of(before))) committed.set(kind, known)
    else shown.set(kind, changed(committed, of(after)).get(kind) ?? EMPTY)
  }
  return { committed, finished, shown }
}

/** True when a commit has ended a run and carried nothing of what the run had changed. */
export const isTakenBack = (own: OwnRecords, { changes, ended, open }: CommittedRecords): boolean =>
  own.finished.some(
    (run) =>
      (run.job === ended || !open.has(run.job)) &&
      run.changes.length > 0 &&
      !run.changes.some((change) => changes.includes(change))
  )

export const recordsOf = ({ shown }: ShownRecords, kind: RecordKind): ReadonlyMap<string, Json> =>
  shown.get(kind) ?? EMPTY

export const journalOn = (own: ShownRecords): Journal => journalOf(recordsOf(own, "journal"), recordsOf(own, "state"))

// Working: what an assistant's conversations are about just now, held by the process (F83).
// W1  A restart forgets it: nothing here is ever written down.
// W2  It is bounded: the assistants that were quiet for longest are forgotten first.

/** Assistants of one process that are held at most. */
const MAX_ASSISTANTS = 10_000

/** By address; the one that was noted last stands last. */
export class Conversations extends Context.Reference<Map<string, WorkingMemory>>("@reverie/runtime/Conversations", {
  defaultValue: () => new Map()
}) {}

export const workingOf = (address: Address) =>
  Effect.map(Conversations, (held) => held.get(addressKey(address)) ?? NOTHING_WORKING)

/** Notes a line of a conversation. */
export const noteSaid = (address: Address, conversation: string, line: WorkingLine) =>
  Effect.map(Conversations, (held) => addLine(held, address, conversation, line))

const addLine = (held: Map<string, WorkingMemory>, address: Address, conversation: string, line: WorkingLine): void => {
  const key = addressKey(address)
  const working = held.get(key) ?? NOTHING_WORKING
  held.delete(key)
  held.set(key, noteLine(working, conversation, line))
  for (const quiet of held.keys()) {
    if (held.size <= MAX_ASSISTANTS) break
    held.delete(quiet)
  }
}
