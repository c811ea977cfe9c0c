import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  addSessionMemory,
  compactSessionMemory,
  noteTask,
  sessionChanges,
  type SessionMemory,
  sessionMemoryOf,
  sessionMemoryText
} from "../src/index.ts"
import { RUNS } from "./arbitraries.ts"
import { MAX_STATEMENTS } from "../src/self/session-memory.ts"

const NOON = Date.UTC(2025, 11, 6, 12, 0, 0)
const none = sessionMemoryOf(new Map())

const facts = (memory: SessionMemory, ...contents: ReadonlyArray<string>): SessionMemory =>
  contents.reduce((state, content) => addSessionMemory(state, { kind: "fact", content }).state, memory)

describe("session memory", () => {
  it("F75: it has exactly these parts, empty at first", () => {
    assert.deepStrictEqual(none, { key_facts: [], learned_patterns: [], completed_tasks: [], last_compacted: null })
  })

  it("F75: the records are those of the wire, only what changed is written, and they are read back as they were", () => {
    const fact = facts(none, "The north gate closes at midnight")
    assert.deepStrictEqual(sessionChanges(none, fact), [
      { kind: "session", key: "key_facts", value: ["The north gate closes at midnight"] }
    ])
    const full = compactSessionMemory(noteTask(fact, "Build a tavern", NOON), NOON).state
    const changes = sessionChanges(none, full)
    assert.deepStrictEqual(
      changes.map(({ key }) => key),
      ["key_facts", "completed_tasks", "last_compacted"]
    )
    assert.deepStrictEqual(sessionMemoryOf(new Map(changes.map(({ key, value }) => [key, value]))), full)
    assert.deepStrictEqual(full.completed_tasks, [{ description: "Build a tavern", timestamp: "2025-12-06T12:00:00Z" }])
    assert.deepStrictEqual(sessionChanges(full, full), [])
  })

  it("F75: records that do not fit are not seen", () => {
    const odd = new Map<string, Json>([
      ["key_facts", ["good", 5, null]],
      ["learned_patterns", "none"],
      ["completed_tasks", [{ description: "done" }, { description: "done", timestamp: "then" }]],
      ["last_compacted", 7]
    ])
    assert.deepStrictEqual(sessionMemoryOf(odd), {
      key_facts: ["good"],
      learned_patterns: [],
      completed_tasks: [{ description: "done", timestamp: "then" }],
      last_compacted: null
    })
  })

  it("F76: a fact and a pattern go into their own lists", () => {
    const fact = addSessionMemory(none, { kind: "fact", content: "  The tavern\n has 5 rooms " })
    assert.deepStrictEqual(fact.result, { success: true, kind: "fact", count: 1 })
    const both = addSessionMemory(fact.state, { kind: "pattern", content: "Players explore first" })
    assert.deepInclude(both.state, {
      key_facts: ["The tavern has 5 rooms"],
      learned_patterns: ["Players explore first"]
    })
  })

  it("F76: what is known already is not added again", () => {
    const known = facts(none, "The tavern has 5 rooms")
    const again = addSessionMemory(known, { kind: "fact", content: "the tavern  has 5 rooms." })
    assert.deepStrictEqual(again.result, { success: true, kind: "fact", count: 1, already_known: true })
    assert.strictEqual(again.state, known)
  })

  it("F77 F78: what speaks of the assistant is rejected and changes nothing, for facts and patterns alike", () => {
    for (const kind of ["fact", "pattern"] as const) {
      const { result, state } = addSessionMemory(none, { kind, content: "I should be more formal" })
      assert.deepStrictEqual(Object.keys(result), ["success", "error", "suggestion"])
      assert.isFalse(result.success)
      assert.strictEqual(state, none)
      assert.isFalse(addSessionMemory(none, { kind, content: "Wren is too slow" }, ["wren"]).result.success)
    }
  })

  it("F76: compacting keeps equal statements once, drops what another one goes on from, and says when", () => {
    const memory: SessionMemory = {
      key_facts: [
        "The gate is old",
        "Alice drinks tea",
        "the gate is  OLD.",
        "The gate is old and rusty",
        " . ",
        "Alice drinks teas"
      ],
      learned_patterns: ["Players explore", "players explore!"],
      completed_tasks: [
        { description: "Feed the cat", timestamp: "2025-12-01T08:00:00Z" },
        { description: "Sweep", timestamp: "2025-12-02T08:00:00Z" },
        { description: "feed the cat", timestamp: "2025-12-03T08:00:00Z" }
      ],
      last_compacted: null
    }
    const { result, state } = compactSessionMemory(memory, NOON)
    assert.deepStrictEqual(state, {
      key_facts: ["Alice drinks tea", "The gate is old and rusty", "Alice drinks teas"],
      learned_patterns: ["Players explore"],
      completed_tasks: [
        { description: "Sweep", timestamp: "2025-12-02T08:00:00Z" },
        { description: "feed the cat", timestamp: "2025-12-03T08:00:00Z" }
      ],
      last_compacted: "2025-12-06T12:00:00Z"
    })
    assert.deepStrictEqual(result, {
      success: true,
      facts: { before: 6, after: 3 },
      patterns: { before: 2, after: 1 },
      tasks: { before: 3, after: 2 },
      last_compacted: "2025-12-06T12:00:00Z"
    })
  })

  it("F76: a full list lets its oldest statement go, and names it", () => {
    const full = facts(none, ...Array.from({ length: MAX_STATEMENTS }, (_, index) => `Fact number ${index}`))
    const { result, state } = addSessionMemory(full, { kind: "fact", content: "One more" })
    assert.deepStrictEqual(result, { success: true, kind: "fact", count: MAX_STATEMENTS, dropped: "Fact number 0" })
    assert.strictEqual(state.key_facts.length, MAX_STATEMENTS)
    assert.strictEqual(state.key_facts.at(-1), "One more")
  })

  it("F76: compacting twice changes nothing but the time, and no statement is lost without one that says as much", () => {
    const statement = fc
      .array(fc.constantFrom("the", "gate", "is", "old", "Old", "tea."), { minLength: 1, maxLength: 5 })
      .map((words) => words.join(" "))
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 12 }), (key_facts) => {
        const once = compactSessionMemory({ ...none, key_facts }, NOON).state
        assert.deepStrictEqual(compactSessionMemory(once, NOON).state, once)
        const plain = (text: string) => text.toLowerCase().replace(/\.$/, "")
        for (const fact of key_facts) {
          assert.isTrue(
            once.key_facts.some((kept) => `${plain(kept)} `.startsWith(`${plain(fact)} `)),
            fact
          )
        }
        for (const fact of once.key_facts) assert.include(key_facts, fact)
      }),
      RUNS
    )
  })

  it("F75: the prompt shows facts, patterns and tasks, and nothing when there is none", () => {
    assert.strictEqual(sessionMemoryText(none), "")
    const memory = noteTask(facts(none, "The tavern has 5 rooms"), "Sweep", NOON)
    assert.strictEqual(
      sessionMemoryText(memory),
      "Known facts:\n- The tavern has 5 rooms\nCompleted tasks:\n- Sweep (2025-12-06T12:00:00Z)"
    )
  })
})
