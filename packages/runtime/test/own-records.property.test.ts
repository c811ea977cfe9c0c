import { assert, describe, it } from "@effect/vitest"
import type { Json, RecordChange } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  notOvertaken,
  openOwnRecords,
  type OwnRecords,
  recordsAfterCommit,
  recordsAfterRun,
  recordsOf
} from "../src/session/own-records.ts"

const KINDS = ["state", "goal"] as const
const JOBS = ["1/a", "1/b", "1/c"]

const aChange = fc.record({
  kind: fc.constantFrom(...KINDS),
  key: fc.constantFrom("x", "y"),
  value: fc.constantFrom<Json>(null, 1, 2, 3)
})
const changes = fc.array(aChange, { maxLength: 3 })
const aJob = fc.constantFrom(...JOBS)

type Step =
  | { readonly type: "run"; readonly job: string; readonly changes: ReadonlyArray<RecordChange> }
  | { readonly type: "end"; readonly job: string; readonly isUsed: boolean }
  | { readonly type: "arrival"; readonly changes: ReadonlyArray<RecordChange> }
  | { readonly type: "stop"; readonly open: ReadonlyArray<string> }

const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("run" as const), job: aJob, changes }),
    fc.record({ type: fc.constant("end" as const), job: aJob, isUsed: fc.boolean() }),
    fc.record({ type: fc.constant("arrival" as const), changes }),
    fc.record({ type: fc.constant("stop" as const), open: fc.subarray(JOBS) })
  ),
  { maxLength: 12 }
)

const byKey = ([one]: readonly [string, Json], [other]: readonly [string, Json]) => one.localeCompare(other)

/** What is committed, and the runs on their way, as plain as can be. */
interface Model {
  readonly committed: ReadonlyArray<RecordChange>
  readonly runs: ReadonlyArray<{ readonly job: string; readonly changes: ReadonlyArray<RecordChange> }>
}

const written = (all: ReadonlyArray<RecordChange>) => {
  const of = (wanted: string) => {
    const records = new Map<string, Json>()
    for (const { key, kind, value } of all) {
      if (kind !== wanted) continue
      if (value === null) records.delete(key)
      else records.set(key, value)
    }
    return [...records].toSorted(byKey)
  }
  return KINDS.map(of)
}

const shown = (own: OwnRecords) => KINDS.map((kind) => [...recordsOf(own, kind)].toSorted(byKey))

const changesOf = ({ runs }: Model, job: string) => runs.flatMap((run) => (run.job === job ? run.changes : []))

const stepped = (own: OwnRecords, model: Model, step: Step): readonly [OwnRecords, Model] => {
  const all = new Set(JOBS)
  switch (step.type) {
    case "run":
      return [recordsAfterRun(own, step), { ...model, runs: [...model.runs, step] }]
    case "end": {
      const carried = step.isUsed ? changesOf(model, step.job) : []
      const isOver = (one: RecordChange, by: number): boolean =>
        model.runs.some(
          (run, index) =>
            index > by &&
            run.job === step.job &&
            run.changes.some((other) => carried.includes(other) && other.kind === one.kind && other.key === one.key)
        )
      const runs = model.runs
        .map((run, index) => ({ ...run, changes: run.changes.filter((change) => !isOver(change, index)) }))
        .filter(({ job }) => job !== step.job)
      const after = recordsAfterCommit(own, { changes: carried, ended: step.job, open: all })
      return [after, { committed: [...model.committed, ...carried], runs }]
    }
    case "arrival": {
      const after = recordsAfterCommit(own, { changes: step.changes, open: all })
      return [after, { ...model, committed: [...model.committed, ...step.changes] }]
    }
    case "stop": {
      const after = recordsAfterCommit(own, { changes: [], open: new Set(step.open) })
      return [after, { ...model, runs: model.runs.filter(({ job }) => step.open.includes(job)) }]
    }
  }
}

describe("own records", () => {
  it("I2 I3 I4 what is read is what was committed, and over it what finished runs of open jobs have changed", () => {
    fc.assert(
      fc.property(steps, (all) => {
        let own = openOwnRecords([])
        let model: Model = { committed: [], runs: [] }
        const ran = new Map<string, ReadonlyArray<RecordChange>>()
        for (const step of all) {
          if (step.type === "run") ran.set(step.job, [...(ran.get(step.job) ?? []), ...step.changes])
          ;[own, model] = stepped(own, model, step)
          for (const job of JOBS) {
            if (!model.runs.some((run) => run.job === job)) ran.delete(job)
            assert.deepStrictEqual(notOvertaken(own, job, ran.get(job) ?? []), changesOf(model, job))
          }
          const finished = model.runs.flatMap((run) => run.changes)
          assert.deepStrictEqual(shown(own), written([...model.committed, ...finished]))
          assert.deepStrictEqual(shown({ ...own, shown: own.committed }), written(model.committed))
        }
      })
    )
  })

  it("I1 records are another map when they change, and the same one when a commit carries what was read already", () => {
    const change = { kind: "goal", key: "x", value: 1 } as const
    const before = openOwnRecords([{ kind: "state", key: "y", value: 2 }])
    const ran = recordsAfterRun(before, { job: "1/a", changes: [change] })
    assert.notStrictEqual(recordsOf(ran, "goal"), recordsOf(before, "goal"))
    assert.strictEqual(recordsOf(ran, "state"), recordsOf(before, "state"))
    const ended = recordsAfterCommit(ran, { changes: [change], ended: "1/a", open: new Set() })
    assert.strictEqual(recordsOf(ended, "goal"), recordsOf(ran, "goal"))
    const dropped = recordsAfterCommit(ran, { changes: [], ended: "1/a", open: new Set() })
    assert.notStrictEqual(recordsOf(dropped, "goal"), recordsOf(ran, "goal"))
    assert.strictEqual(recordsOf(dropped, "goal").size, 0)
  })
})
