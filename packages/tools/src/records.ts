// RecordDraft: the changes one run makes to the records of its assistant.
// Owns the draft over what is kept. Leaves making it durable to the commit of the result.
// I1  A run reads its own changes; nobody else does before they are committed.
// I2  Of several changes of one record the last one counts.

import type { Json, RecordChange, RecordKind } from "@reverie/protocol"
import { noBlocks } from "./blocks/block-access.ts"
import type { Watch } from "./run-place.ts"
import type { ToolRecords, LoopState } from "./tool.ts"

/** What the runtime lends a run. */
export interface RecordAccess {
  readonly read: (kind: RecordKind) => ReadonlyMap<string, Json>
  readonly consult: ToolRecords["consult"]
  readonly recall?: ToolRecords["recall"]
  readonly history?: ToolRecords["history"]
  readonly blocks?: ToolRecords["blocks"]
  readonly loop: LoopState
}

const nothing: ToolRecords["recall"] = () =>
  Promise.resolve({ hits: [], mode: "fts", degraded: "there is no memory here" })

const noPast: ToolRecords["history"] = { read: () => Promise.resolve([]), compacted: () => Promise.resolve(undefined) }

/** The state of no tick: what a run outside of one is told. */
export const openLoop: LoopState = {
  tick: 0,
  iteration: 0,
  maxIterations: 0,
  tokensUsed: 0,
  maxContextTokens: 0,
  reservedResponseTokens: 0,
  toolsThisTick: [],
  pendingTools: [],
  sleepBlockers: { isAsleep: false, unfinished: [] }
}

const nowhere: RecordAccess = {
  read: () => new Map(),
  consult: () => Promise.reject(new Error("there is no model to ask here")),
  loop: openLoop
}

type Verb = (...args: ReadonlyArray<never>) => Promise<unknown>

/** The same verbs: what they do is done outside of the run, and what they come to is told inside of it. */
const through = <Verbs extends object>(verbs: Verbs, outside: Watch["outside"]): Verbs =>
  Object.fromEntries(
    Object.entries(verbs as Readonly<Record<string, Verb>>).map(([name, verb]): [string, Verb] => [
      name,
      async (...args) => outside(() => verb(...args))
    ])
  ) as unknown as Verbs

/** What goes on by itself behind the records is ours and belongs to no run; a promise of it that nobody handles does. */
export const recordsOutside = (records: ToolRecords, outside: Watch["outside"]): ToolRecords => {
  const { blocks, consult, history, recall } = records
  return {
    ...records,
    ...through({ consult, recall }, outside),
    history: through(history, outside),
    blocks: through(blocks, outside)
  }
}

export interface RecordDraft {
  readonly records: ToolRecords
  readonly changes: () => ReadonlyArray<RecordChange>
}

export const openRecords = (access: RecordAccess = nowhere): RecordDraft => {
  const changes = new Map<string, RecordChange>()
  return {
    records: {
      read: (kind) => {
        const kept = new Map(access.read(kind))
        for (const change of changes.values()) {
          if (change.kind !== kind) continue
          if (change.value === null) kept.delete(change.key)
          else kept.set(change.key, change.value)
        }
        return kept
      },
      write: (kind, key, value) => {
        changes.set(JSON.stringify([kind, key]), { kind, key, value })
      },
      consult: access.consult,
      recall: access.recall ?? nothing,
      history: access.history ?? noPast,
      blocks: access.blocks ?? noBlocks,
      loop: access.loop
    },
    changes: () => [...changes.values()]
  }
}
