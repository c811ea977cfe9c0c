import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  addEntry,
  gathered,
  isReflectionDue,
  type Journal,
  type JournalEntry,
  journalOf,
  recordReflection,
  reflectionChanges,
  reflectionOf,
  reflectionQuestions,
  reflectionText
} from "../src/index.ts"
import { RUNS } from "./arbitraries.ts"
import { evidenceFor, MAX_EVIDENCE, readInsights, readQuestions, type Reflection } from "../src/self/reflection.ts"

const NOW = Date.UTC(2025, 11, 6, 10, 0, 0)
const fresh = reflectionOf(new Map())

const journalWith = (...contents: ReadonlyArray<string | readonly [string, number]>): Journal =>
  contents.reduce<Journal>(
    (journal, each, index) => {
      const [content, importance] = typeof each === "string" ? [each, 5] : each
      return addEntry(journal, { content, importance, source_type: "observation" }, { tick: index, now: NOW }).state
    },
    journalOf(new Map(), new Map())
  )

const entriesOf = (journal: Journal): ReadonlyArray<JournalEntry> => [...journal.entries.values()]

const harbour = journalWith(
  ["Captain Ruiz paid for the berth in silver", 8],
  ["Fog closed the estuary until noon", 4],
  ["Captain Adler asked for a cheaper berth", 6],
  ["The fog bell of the estuary is cracked", 7],
  ["Dana sells walnuts at the market", 3],
  ["The market opens before sunrise", 2]
)

describe("gathering towards a reflection", () => {
  it("reflection I1: it begins at nothing with a threshold of 150, and adds up importance", () => {
    assert.deepStrictEqual(fresh, {
      threshold: 150,
      cumulative_importance: 0,
      entries_since_reflection: 0,
      last_reflection: null
    })
    const after = entriesOf(harbour).reduce(gathered, fresh)
    assert.deepInclude(after, { cumulative_importance: 30, entries_since_reflection: 6 })
    assert.deepStrictEqual(
      reflectionOf(new Map(reflectionChanges(fresh, after).map(({ key, value }) => [key, value]))),
      after
    )
    assert.deepStrictEqual(reflectionChanges(after, after), [])
  })

  it("is due from 150 on, not before", () => {
    const at = (cumulative_importance: number): Reflection => ({ ...fresh, cumulative_importance })
    assert.isFalse(isReflectionDue(at(149)))
    assert.isTrue(isReflectionDue(at(150)))
    assert.isTrue(isReflectionDue({ ...at(10), threshold: 10 }))
  })
})

describe("questions and evidence", () => {
  it("asks three questions, about what weighs most in entries that no other question covers", () => {
    assert.deepStrictEqual(reflectionQuestions(entriesOf(harbour)), [
      'What keeps coming back about "berth"?',
      'What went well or badly around "estuary", and why?',
      'What should be expected next of "market"?'
    ])
  })

  it("asks three different questions of any journal, the same ones each time", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 40 }), { maxLength: 12 }), (contents) => {
        const entries = entriesOf(journalWith(...contents))
        const questions = reflectionQuestions(entries)
        assert.strictEqual(new Set(questions).size, 3)
        assert.deepStrictEqual(reflectionQuestions(entries), questions)
      }),
      RUNS
    )
  })

  it("takes questions of a model, and fills up what it leaves out", () => {
    const otherwise = reflectionQuestions(entriesOf(harbour))
    assert.deepStrictEqual(readQuestions(`["Who pays late?", "Where is fog?", "Why?", "What else?"]`, otherwise), [
      "Who pays late?",
      "Where is fog?",
      "Why?"
    ])
    assert.deepStrictEqual(readQuestions("1. Who pays late?", otherwise), ["Who pays late?", ...otherwise.slice(0, 2)])
    assert.deepStrictEqual(readQuestions("Nothing to ask.", otherwise), otherwise)
  })

  it("chooses evidence by the words it shares with the question, then by importance", () => {
    const ids = (question: string) => evidenceFor(question, harbour.entries.values()).map(({ id }) => id)
    assert.deepStrictEqual(ids("Which captain pays for a berth in silver?"), ["entry_0_0", "entry_2_0"])
    assert.deepStrictEqual(ids("What of the estuary?"), ["entry_3_0", "entry_1_0"])
    assert.deepStrictEqual(ids("Zebra?").slice(0, 2), ["entry_0_0", "entry_3_0"], "the weightiest, when nothing fits")
  })

  it("never has more than ten hits for a question", () => {
    const crowd = journalWith(...Array.from({ length: 30 }, (_, index) => `Captain number ${index} wants a berth`))
    for (const question of ["Which captain wants a berth?", "Zebra?"]) {
      assert.strictEqual(evidenceFor(question, crowd.entries.values()).length, MAX_EVIDENCE)
    }
    const text = reflectionText(crowd, ["Which captain?", "Which berth?", "Which number?", "Which fourth?"])
    assert.strictEqual(text.match(/\[entry_\d+_0\]/g)?.length, 3 * MAX_EVIDENCE)
    assert.notInclude(text, "fourth")
  })

  it("reflection I5: an entry is shown once, and a long one not whole: what is asked never fills a window", () => {
    const topics = ["berth", "market", "estuary"]
    const long = journalWith(...topics.flatMap((topic) => Array(10).fill(`${topic} ${"captain 🚢 ".repeat(700)}`)))
    const same = reflectionText(long, ["Which captain?", "What captain?", "Whose captain?"])
    assert.strictEqual(same.match(/\] \(importance/g)?.length, MAX_EVIDENCE)
    assert.strictEqual(same.match(/\] \(as above\)/g)?.length, 2 * MAX_EVIDENCE)
    const each = reflectionText(long, topics)
    assert.strictEqual(each.match(/\] \(importance/g)?.length, 3 * MAX_EVIDENCE)
    assert.isBelow(each.length, 15_000)
    assert.isTrue(each.isWellFormed())
  })

  it("shows each question with its evidence, by id", () => {
    const text = reflectionText(harbour, reflectionQuestions(entriesOf(harbour)))
    assert.include(
      text,
      'Question 2: What went well or badly around "estuary", and why?\nJournal entries that bear on it:\n' +
        "[entry_3_0] (importance 7) The fog bell of the estuary is cracked\n" +
        "[entry_1_0] (importance 4) Fog closed the estuary until noon"
    )
    assert.include(text, `"evidence"`)
  })
})

describe("insights", () => {
  it("are read from JSON and from lines, with the citations that exist", () => {
    const json = JSON.stringify([
      { insight: "Fog is frequent in the estuary", evidence: ["entry_1_0", "entry_3_0", "entry_99_0", 7, "entry_1_0"] }
    ])
    assert.deepStrictEqual(readInsights(json, harbour), [
      { content: "Fog is frequent in the estuary", evidence: ["entry_1_0", "entry_3_0"] }
    ])
    const lines =
      "Insights:\n1. Berths are dear (because of entry_0_0, entry_2_0)\n2. Trade is early [entry_5_0, entry_77_1]"
    assert.deepStrictEqual(readInsights(lines, harbour), [
      { content: "Berths are dear", evidence: ["entry_0_0", "entry_2_0"] },
      { content: "Trade is early", evidence: ["entry_5_0"] }
    ])
    assert.deepStrictEqual(readInsights("There is nothing to learn.", harbour), [])
  })

  it("F77 reflection I2-I4: become entries of the journal with their evidence, when they cite one and speak of the world", () => {
    const reflection = entriesOf(harbour).reduce(gathered, fresh)
    const answer = JSON.stringify([
      { insight: "Captains complain of the price of berths", evidence: ["entry_2_0", "entry_0_0"] },
      { insight: "I explain the fog badly", evidence: ["entry_1_0"] },
      { insight: "Wren is too slow", evidence: ["entry_1_0"] },
      { insight: "Everything is connected", evidence: ["entry_99_0"] }
    ])
    const { result, state } = recordReflection({ journal: harbour, reflection }, answer, ["Wren"], {
      tick: 9,
      now: NOW
    })
    assert.deepStrictEqual(result, { success: true, insights: ["entry_9_0"], uncited: 1, rejected: 2 })
    assert.deepInclude(state.journal.entries.get("entry_9_0"), {
      content: "Captains complain of the price of berths",
      source_type: "inference",
      source_trust: 0.6,
      importance: 5,
      tags: ["reflection"],
      evidence: ["entry_2_0", "entry_0_0"]
    })
    assert.deepStrictEqual(state.reflection, {
      threshold: 150,
      cumulative_importance: 0,
      entries_since_reflection: 0,
      last_reflection: "2025-12-06T10:00:00Z"
    })
  })

  it("reflection I3: of more than nine insights the first nine are kept", () => {
    const twelve = Array.from({ length: 12 }, (_, index) => ({
      insight: `Fog ${index} is thick`,
      evidence: ["entry_1_0"]
    }))
    const { result } = recordReflection({ journal: harbour, reflection: fresh }, JSON.stringify(twelve), [], {
      tick: 9,
      now: NOW
    })
    assert.strictEqual(result.insights.length, 9)
    assert.strictEqual(result.insights.at(-1), "entry_9_8")
  })

  it("reflection I2: one that found nothing starts anew as well", () => {
    const due: Reflection = { ...fresh, cumulative_importance: 160, entries_since_reflection: 30 }
    const { result, state } = recordReflection({ journal: harbour, reflection: due }, "Nothing.", [], {
      tick: 9,
      now: NOW
    })
    assert.deepStrictEqual(result, { success: true, insights: [], uncited: 0, rejected: 0 })
    assert.strictEqual(state.journal, harbour)
    assert.isFalse(isReflectionDue(state.reflection))
    assert.strictEqual(state.reflection.last_reflection, "2025-12-06T10:00:00Z")
  })

  it("reflection I3: any answer gives at most nine insights, each with evidence of the journal as it was", () => {
    const insight = fc.record({
      insight: fc.string(),
      evidence: fc.array(fc.oneof(fc.constantFrom(...harbour.entries.keys()), fc.string()), { maxLength: 4 })
    })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(insight, { maxLength: 15 }).map((all) => JSON.stringify(all)),
          fc.string(),
          fc.json()
        ),
        (answer) => {
          const { result, state } = recordReflection({ journal: harbour, reflection: fresh }, answer, [], {
            tick: 9,
            now: NOW
          })
          assert.isAtMost(result.insights.length, 9)
          for (const id of result.insights) {
            const evidence = state.journal.entries.get(id)?.evidence ?? []
            assert.isNotEmpty(evidence)
            for (const cited of evidence) assert.isTrue(harbour.entries.has(cited))
          }
        }
      ),
      RUNS
    )
  })
})
