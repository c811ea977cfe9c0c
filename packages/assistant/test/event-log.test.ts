import { assert, describe, it } from "@effect/vitest"
import { ENTRY_VERSION, type Entry, EnvelopeId, type RecordChange } from "@reverie/protocol"
import {
  addGoal,
  decomposeGoal,
  gathered,
  goalChanges,
  type Goals,
  reflectionChanges,
  reflectionOf,
  selfPromptChange,
  updateGoal
} from "../src/index.ts"
import { emptyLog, eventLogOf, logEventTypes, logged } from "../src/self/event-log.ts"

const envelope = EnvelopeId.make("e")

const line = (no: number, more: Partial<Entry>): Entry => ({
  v: ENTRY_VERSION,
  no,
  at: no * 1_000,
  epoch: 1,
  tick: 1,
  iteration: 1,
  cause: { kind: "job", id: `${no}/tool.0` },
  event: { type: "message" },
  status: "awake.acting.running",
  messages: [],
  ...more
})

const toolStep = (name: string, ok = true) => ({ id: "3/tool.0", kind: "tool" as const, name, ok, elapsedMs: 12 })

const none: Goals = new Map()
const moment = { tick: 1, now: 0 }
const one = addGoal(none, { description: "Open the pier" }, moment).state
const divided = decomposeGoal(one, "goal_1_0", `["a","b","c"]`, moment).state
const third = updateGoal(divided, { goal_id: "goal_1_1", status: "completed" }).state
const completed = ["goal_1_2", "goal_1_3"].reduce(
  (goals, goal_id) => updateGoal(goals, { goal_id, status: "completed" }).state,
  third
)

const fresh = reflectionOf(new Map())
const reflected = { ...fresh, last_reflection: "2025-12-06T10:00:00Z" }
const journalled = gathered(fresh, { importance: 5 } as Parameters<typeof gathered>[1])
const written: RecordChange = selfPromptChange({ prompt: "p", reasoning: "r", updated_at: "t", previous: null })

const life: ReadonlyArray<Entry> = [
  line(1, { cause: { kind: "creation" }, status: "awake.idle", tick: 0 }),
  line(2, {
    cause: { kind: "envelope", lane: "mail", seq: 1, id: envelope },
    event: { type: "message", settings: { maxIterations: 3 } }
  }),
  line(3, { step: toolStep("add_goal"), records: goalChanges(none, one) }),
  line(4, { step: toolStep("decompose_goal"), records: goalChanges(one, divided) }),
  line(5, { step: toolStep("update_goal"), records: goalChanges(divided, third) }),
  line(6, { step: toolStep("crane", false), records: reflectionChanges(fresh, journalled) }),
  line(7, { step: toolStep("update_system_prompt"), records: [written] }),
  line(8, {
    tick: 2,
    step: { id: "8/dream", kind: "dream", name: "dream reflecting", ok: true, elapsedMs: 5 },
    records: reflectionChanges(journalled, reflected)
  }),
  line(9, { tick: 2, step: toolStep("update_goal"), records: goalChanges(third, completed) }),
  line(10, { tick: 2, status: "halted", cause: { kind: "envelope", lane: "control", seq: 1, id: envelope } }),
  line(11, { tick: 2, status: "awake.thinking.inferring" }),
  line(12, { tick: 2, status: "awake.idle", tickEnd: { envelope, outcome: "answered", iterations: 2, reply: "done" } }),
  line(13, { tick: 2, status: "retired" })
]

const told = (entries: ReadonlyArray<Entry>) =>
  eventLogOf(entries).map(({ detail, entry, type }) => `${entry} ${type} ${JSON.stringify(detail)}`)

describe("the event log", () => {
  it("event log I1: one life tells all eleven kinds, each where it happened", () => {
    assert.deepStrictEqual(told(life), [
      "1 AssistantCreated {}",
      `2 ConfigurationChanged {"settings":{"maxIterations":3}}`,
      `3 ToolExecuted {"tool":"add_goal","ok":true,"elapsed_millis":12}`,
      `3 GoalCreated {"goal":"goal_1_0","description":"Open the pier"}`,
      `4 ToolExecuted {"tool":"decompose_goal","ok":true,"elapsed_millis":12}`,
      `4 GoalUpdated {"goal":"goal_1_0","status":"active","progress":0}`,
      `4 GoalCreated {"goal":"goal_1_1","description":"a"}`,
      `4 GoalCreated {"goal":"goal_1_2","description":"b"}`,
      `4 GoalCreated {"goal":"goal_1_3","description":"c"}`,
      `5 ToolExecuted {"tool":"update_goal","ok":true,"elapsed_millis":12}`,
      `5 GoalUpdated {"goal":"goal_1_0","status":"active","progress":33}`,
      `5 GoalCompleted {"goal":"goal_1_1","description":"a"}`,
      `6 ToolExecuted {"tool":"crane","ok":false,"elapsed_millis":12}`,
      `7 ConfigurationChanged {"prompt":"assistant_system_prompt"}`,
      `7 ToolExecuted {"tool":"update_system_prompt","ok":true,"elapsed_millis":12}`,
      `8 ReflectionRecorded {"at":"2025-12-06T10:00:00Z"}`,
      `9 ToolExecuted {"tool":"update_goal","ok":true,"elapsed_millis":12}`,
      `9 GoalCompleted {"goal":"goal_1_0","description":"Open the pier"}`,
      `9 GoalCompleted {"goal":"goal_1_2","description":"b"}`,
      `9 GoalCompleted {"goal":"goal_1_3","description":"c"}`,
      `10 EmergencyStopTriggered {"from":"awake.acting.running"}`,
      `11 EmergencyStopCleared {"to":"awake.thinking.inferring"}`,
      `12 TickCompleted {"outcome":"answered","iterations":2}`,
      `13 AssistantArchived {"from":"awake.idle"}`
    ])
    assert.deepStrictEqual([...new Set(eventLogOf(life).map(({ type }) => type))].toSorted(), logEventTypes.toSorted())
    assert.strictEqual(logEventTypes.length, 11)
  })

  it("event log I1: told entry by entry or all at once, it is the same", () => {
    let log = emptyLog
    const events = life.flatMap((entry) => {
      const step = logged(log, entry)
      log = step.log
      return step.events
    })
    assert.deepStrictEqual(events, eventLogOf(life))
    assert.deepInclude(events[0], { at: 1_000, entry: 1, tick: 0 })
  })

  it("event log I2: begun later, it takes a goal it never saw as updated, unless its id names this tick", () => {
    assert.deepStrictEqual(told(life.slice(2, 3)).slice(1), [
      `3 GoalCreated {"goal":"goal_1_0","description":"Open the pier"}`
    ])
    const late = told([line(20, { tick: 7, records: goalChanges(divided, third) })])
    assert.deepStrictEqual(late, [
      `20 GoalUpdated {"goal":"goal_1_0","status":"active","progress":33}`,
      `20 GoalCompleted {"goal":"goal_1_1","description":"a"}`
    ])
    assert.deepStrictEqual(told([line(21, { status: "halted" })]), [], "how it got there is not known")
  })

  it("F73 event log: a goal is completed once; whatever changes of it later is an update", () => {
    const renamed = updateGoal(third, { goal_id: "goal_1_1", description: "aa" }).state
    const reopened = updateGoal(renamed, { goal_id: "goal_1_1", progress: 10 }).state
    const again = updateGoal(reopened, { goal_id: "goal_1_1", status: "completed" }).state
    const states = [divided, third, renamed, reopened, again]
    const entries = states
      .slice(1)
      .map((after, index) => line(index + 1, { tick: 2, records: goalChanges(states[index] ?? none, after) }))
    const kinds = eventLogOf(entries).flatMap(({ detail, entry, type }) =>
      detail["goal"] === "goal_1_1" ? [`${entry} ${type}`] : []
    )
    assert.deepStrictEqual(kinds, ["1 GoalCompleted", "2 GoalUpdated", "3 GoalUpdated", "4 GoalCompleted"])
  })

  it("a halted assistant that is retired was not cleared", () => {
    const events = told([
      line(1, { status: "awake.idle" }),
      line(2, { status: "halted" }),
      line(3, { status: "retired" })
    ])
    assert.deepStrictEqual(events, [
      `2 EmergencyStopTriggered {"from":"awake.idle"}`,
      `3 AssistantArchived {"from":"halted"}`
    ])
  })
})
