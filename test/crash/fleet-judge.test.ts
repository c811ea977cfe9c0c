import { assert, describe, it } from "@effect/vitest"
import type { Entry, Envelope } from "@reverie/protocol"
import type { Diary, Line } from "./fleet-diary.ts"
import { type Evidence, type FleetVerdict, type Grant, isFaultless, judgeFleet } from "./fleet-judge.ts"
import { planOf } from "./fleet-nemeses.ts"
import { figuresOf, recoveriesOf } from "./fleet-recovery.ts"
import { reportOf } from "./fleet-report.ts"
import { assignmentOf, letterOf } from "./fleet-scene.ts"

const BEGAN = 1_000_000

const entry = (no: number, more: Partial<Record<keyof Entry, unknown>> = {}): Entry =>
  ({
    v: 1,
    no,
    at: BEGAN + no,
    epoch: no,
    tick: 1,
    iteration: 1,
    event: null,
    status: "awake.idle",
    messages: [],
    ...more,
    cause: more.cause ?? { kind: "job", id: `${no}` }
  }) as unknown as Entry

/** What a sub-agent is created with. */
const subAgentStart = { settings: {}, assignment: null, granted: { tokens: 1, costMicros: null, calls: 1 } }

const takenUp = (id: string) => ({ kind: "envelope", lane: "mail", seq: 1, id })
const settled = (id: string, outcome = "handled") => [{ id, outcome }]
const heard = (no: number, id: string, more: Partial<Record<keyof Entry, unknown>> = {}): Entry =>
  entry(no, { cause: takenUp(id), settled: settled(id), ...more })

const send = (id: string, to: string, type = "message") =>
  ({ id, to: { tenant: "default", assistant: to }, event: { type } }) as unknown as Envelope

const grant = (assistant: string, epoch: number, worker: string, at: number): Grant => ({
  assistant,
  epoch,
  worker,
  at: BEGAN + at
})

const diary = (name: string, ...lines: ReadonlyArray<Line>): Diary => ({ name, lines })

/** Two assistants, three events each, a note from one to the other, one worker after another one: nothing wrong. */
const clean = (): { entries: Map<string, Array<Entry>>; diaries: Array<Diary>; grants: Array<Grant> } => ({
  grants: [grant("a-0", 1, "worker-0.0", 1), grant("a-0", 2, "worker-1.0", 100)],
  entries: new Map([
    [
      "a-0",
      [entry(1), heard(2, "event-0"), heard(3, "event-2", { sends: [send("note-1", "a-1")] }), heard(4, "event-4")]
    ],
    ["a-1", [entry(1), heard(2, "event-1"), heard(3, "note-1"), heard(4, "event-3"), heard(5, "event-5")]]
  ]),
  diaries: [
    diary(
      "producer-0.0",
      ...[0, 1, 2, 3, 4, 5].map((number): Line => ({ is: "ack", at: number, id: `event-${number}` }))
    ),
    diary(
      "worker-0.0",
      { is: "run", at: 10, tool: "ring", assistant: "a-0", key: "one" },
      { is: "run", at: 10, tool: "note", assistant: "a-0", key: "two" },
      { is: "trouble", at: 3, assistant: "a-0", what: "CommitFenced", detail: "" }
    ),
    diary("worker-1.0", { is: "run", at: 110, tool: "note", assistant: "a-0", key: "two" })
  ]
})

const evidenceOf = (doctor: (evidence: ReturnType<typeof clean>) => void = () => {}): Evidence => {
  const evidence = clean()
  doctor(evidence)
  return { ...evidence, wounds: [], epochOffset: BEGAN, began: BEGAN, ended: BEGAN + 10 }
}

const worker = (evidence: ReturnType<typeof clean>, line: Line): void =>
  void evidence.diaries.push(diary("worker-0.0", line))

const guilty: Readonly<Record<string, readonly [keyof FleetVerdict, (evidence: ReturnType<typeof clean>) => void]>> = {
  "an event that was never settled": ["lost", ({ entries }) => entries.get("a-0")?.pop()],
  "a note that never arrived": [
    "lost",
    ({ entries }) => entries.get("a-0")?.push(heard(5, "event-6", { sends: [send("note-2", "a-1")] }))
  ],
  "an order to retire that never arrived": [
    "lost",
    ({ entries }) => entries.get("a-0")?.push(heard(5, "event-6", { sends: [send("retire-1", "a-1", "retire")] }))
  ],
  "an event that was taken up twice": [
    "duplicated",
    ({ entries }) => entries.get("a-0")?.push(entry(5, { cause: takenUp("event-4") }))
  ],
  "an event that was settled twice": [
    "duplicated",
    ({ entries }) => entries.get("a-0")?.push(entry(5, { settled: settled("event-4") }))
  ],
  "a later event before an earlier one": [
    "outOfOrder",
    ({ entries }) => entries.set("a-0", [entry(1), heard(2, "event-0"), heard(3, "event-4"), heard(4, "event-2")])
  ],
  "an earlier note after a later one": [
    "outOfOrder",
    ({ entries }) => {
      entries.get("a-0")?.push(entry(5, { sends: [send("note-2", "a-1"), send("note-3", "a-1")] }))
      entries.get("a-1")?.push(heard(6, "note-3"), heard(7, "note-2"))
    }
  ],
  "an epoch that goes back": ["concurrentWriters", ({ entries }) => entries.get("a-0")?.push(entry(5, { epoch: 3 }))],
  "a number that is missing": ["concurrentWriters", ({ entries }) => entries.get("a-0")?.push(entry(6))],
  "a number that stands twice": ["concurrentWriters", ({ entries }) => entries.get("a-0")?.push(entry(4))],
  "a tool of one who was replaced": [
    "concurrentWriters",
    (evidence) => worker(evidence, { is: "run", at: 120, tool: "note", assistant: "a-0", key: "three" })
  ],
  "an unsafe tool that ran twice": [
    "repeatedUnsafeTools",
    (evidence) => {
      worker(evidence, { is: "run", at: 50, tool: "ring", assistant: "a-0", key: "one" })
    }
  ],
  "an entry of another time": [
    "strayTimes",
    ({ entries }) => entries.get("a-0")?.push(entry(5, { at: BEGAN + 3_600_000 }))
  ],
  "an event that was dead-lettered": [
    "deadLettered",
    ({ entries }) =>
      entries.set("a-0", [
        ...(entries.get("a-0")?.slice(0, 3) ?? []),
        heard(4, "event-4", { settled: settled("event-4", "dead") })
      ])
  ],
  "a sub-agent that no one had promised anything": [
    "budgetOverruns",
    ({ entries }) => entries.set("a-0+1.1.0", [entry(1, { cause: { kind: "creation" }, event: subAgentStart })])
  ]
}

describe("the judge of the fleet's crash lane", () => {
  it("J1 an order to retire finds no one where its receiver has retired by itself", () => {
    const verdict = judgeFleet(
      evidenceOf(({ entries }) => {
        entries.get("a-0")?.push(entry(5, { sends: [send("retire-1", "a-1", "retire")] }))
        entries.get("a-1")?.push(entry(6, { status: "retired" }))
      })
    )
    assert.deepInclude(verdict, { sends: 2, lost: 0 })
  })

  it("J2 an order may overtake mail, and mail overtakes no mail", () => {
    const verdict = judgeFleet(
      evidenceOf(({ entries }) => {
        const sends = [send("note-2", "a-1"), send("retire-1", "a-1", "retire")]
        entries.get("a-0")?.push(entry(5, { sends }))
        const order = { kind: "envelope", lane: "control", seq: 1, id: "retire-1" }
        entries.get("a-1")?.push(entry(6, { cause: order, settled: settled("retire-1") }), heard(7, "note-2"))
      })
    )
    assert.isTrue(isFaultless(verdict))
  })

  it("J1-J4 finds nothing where nothing is wrong, and counts what it looked at", () => {
    const verdict = judgeFleet(evidenceOf())
    assert.isTrue(isFaultless(verdict))
    assert.deepInclude(verdict, { acknowledged: 6, commits: 9, toolRuns: 3, sends: 1 })
    assert.deepInclude(verdict, { repeatedSafeTools: 1, staleCommitsRefused: 1, repeatedUnsafeTools: 0 })
  })

  for (const [what, [figure, doctor]] of Object.entries(guilty))
    it(`J1-J4 ${figure} counts ${what}`, () => {
      const verdict = judgeFleet(evidenceOf(doctor))
      assert.strictEqual(verdict[figure], 1)
      assert.isFalse(isFaultless(verdict))
    })

  it("L2 a run without faults, events or takeovers is no proof", () => {
    const { complaints, ok } = reportOf(evidenceOf(), { kills: 2, events: 7 }, true, [])
    assert.isFalse(ok)
    assert.deepStrictEqual(complaints, [
      "only 0 of 2 faults",
      "no kill, point",
      "only 6 of 7 events",
      "no sub-agent",
      "only 0 assistants were taken over"
    ])
  })
})

describe("recovery", () => {
  /** Of a worker that is killed at 10 with one assistant in hand, and another one at rest. */
  const woundedAt10 = (next: Entry | undefined): Evidence => {
    const evidence = evidenceOf(({ entries, grants }) => {
      const busy = [entry(1), entry(2, { cause: takenUp("event-0"), status: "awake.thinking.inferring" })]
      entries.set("a-0", next === undefined ? busy : [...busy, next])
      grants.splice(0, 2, grant("a-0", 1, "worker-2.0", 8), grant("a-1", 1, "worker-2.0", 8))
    })
    return { ...evidence, wounds: [{ kind: "kill", victims: ["worker-2.0"], at: 10 }] }
  }

  it("R1, R2 lasts until what was in hand commits again; who was at rest has nothing to recover", () => {
    const recoveries = recoveriesOf(woundedAt10(entry(3, { at: BEGAN + 5_010 })))
    assert.deepStrictEqual(recoveries, [{ kind: "kill", millis: 5_000, throughAllMillis: 5_000, held: 1 }])
    const figures = { samples: 1, p50Millis: 5_000, p99Millis: 5_000, maxMillis: 5_000, throughAllP99Millis: 5_000 }
    assert.deepStrictEqual(figuresOf(recoveries), figures)
  })

  it("R2, R3 one whose next worker was killed too counts for each of the two", () => {
    const evidence = woundedAt10(entry(3, { at: BEGAN + 9_000 }))
    const grants = [...evidence.grants, grant("a-0", 2, "worker-3.0", 4_000), grant("a-0", 3, "worker-4.0", 8_990)]
    const wounds = [...evidence.wounds, { kind: "kill", victims: ["worker-3.0"], at: 4_001 }]
    const recoveries = recoveriesOf({ ...evidence, grants, wounds })
    assert.deepStrictEqual(
      recoveries.map(({ millis }) => millis),
      [3_990, 4_999]
    )
    assert.strictEqual(recoveries[0]?.throughAllMillis, 8_990)
  })

  it("R2 never ends where no one took it over", () => {
    assert.strictEqual(recoveriesOf(woundedAt10(undefined))[0]?.millis, Number.POSITIVE_INFINITY)
  })

  it("R1 is nothing for a worker that held nothing", () => {
    const evidence = { ...evidenceOf(), wounds: [{ kind: "kill", victims: ["worker-9.0"], at: 10 }] }
    assert.strictEqual(figuresOf(recoveriesOf(evidence)).samples, 0)
  })
})

describe("the plan", () => {
  const first = (limit: number): number => Math.min(0, limit - 1)

  it("has every kind of fault from eleven on, and as many as asked for", () => {
    for (const faults of [1, 8, 11, 40, 200, 333]) assert.lengthOf(planOf(faults, first), faults)
    assert.strictEqual(new Set(planOf(11, first)).size, 11)
    assert.strictEqual(new Set(planOf(200, first)).size, 11)
  })

  it("C1 gives every assistant every kind of event, from one sender in growing order", () => {
    const kinds = new Set(Array.from({ length: 100 }, (_, index) => assignmentOf(index * 200 + 3, 200)))
    assert.isAtLeast(kinds.size, 10)
    const letters = Array.from({ length: 4 }, (_, index) => letterOf(index * 200 + 3, 200, 2))
    assert.strictEqual(new Set(letters.map(({ from, to }) => `${from} ${to}`)).size, 1)
  })
})
