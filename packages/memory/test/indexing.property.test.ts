import { assert, describe, it } from "@effect/vitest"
import type { Entry, Json, Message, RecordChange } from "@reverie/protocol"
import { aMessage, anEntry } from "@reverie/testkit"
import * as fc from "fast-check"
import {
  type IndexChange,
  indexOf,
  isWindowWhole,
  NOTHING_SAID,
  type RecentEntries,
  applyChanges
} from "../src/index.ts"

const SELF = "ada"

const content = fc.oneof(
  fc.constantFrom("", "ok", "The tug Juniper needs a berth.", "Noted.", "Refused: no such berth."),
  fc.string({ maxLength: 60 }),
  fc.string({ minLength: 450, maxLength: 500 })
)

const message: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom("user", "user", "user", "assistant", "assistant", "tool", "system" as const),
  content,
  name: fc.constantFrom("Ann", "assistant:bob", "note", "recall_memories"),
  at: fc.nat(9),
  tokens: fc.constant(1)
})

const journalEntry = (text: string): Json => ({
  id: "entry_1_0",
  timestamp: "2026-03-01T08:00:00Z",
  content: text,
  source_type: "direct",
  source_trust: 0.9,
  source_entity: "Ann",
  importance: 5,
  importance_method: "heuristic",
  tags: ["quay"],
  related_projects: []
})

const passage = (text: string): Json => ({
  id: "p1",
  text,
  at: 7,
  tags: [],
  readers: "fleet",
  origin: { type: "self", name: SELF },
  trust: 0.6,
  importance: 6
})

const record: fc.Arbitrary<RecordChange> = fc
  .tuple(fc.constantFrom("journal", "passage" as const), fc.constantFrom("k1", "k2"), fc.option(content))
  .map(([kind, key, text]) => ({
    kind,
    key,
    value: text === null ? null : kind === "journal" ? journalEntry(text) : passage(text)
  }))

/** The entries of one life, numbered from 1; some of them a clock began. */
const life: fc.Arbitrary<ReadonlyArray<Entry>> = fc
  .array(fc.tuple(fc.array(message, { maxLength: 3 }), fc.array(record, { maxLength: 2 }), fc.nat(4)), {
    maxLength: 24
  })
  .map((drafts) => {
    // Long silences lie between some of them.
    let no = 0
    return drafts.map(([messages, records, timer], index) =>
      anEntry({
        no: (no += timer === 1 ? 130 : timer === 2 ? 300 : 1),
        event: { type: timer === 0 ? "timer" : "message" },
        messages: messages.map((each) => ({ ...each, at: index })),
        records
      })
    )
  })

const cut = (entries: ReadonlyArray<Entry>, sizes: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<Entry>> => {
  const batches: Array<ReadonlyArray<Entry>> = []
  for (let from = 0, turn = 0; from < entries.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    batches.push(entries.slice(from, from + size))
    from += size
  }
  return batches
}

const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 })

/** What was said last, read back further and further, as who has forgotten it does. */
const readBack = (entries: ReadonlyArray<Entry>, step: number) => {
  const position = entries.at(-1)?.no ?? 0
  for (let count = step; ; count += step) {
    const read = entries.filter(({ no }) => no > position - count)
    const { window } = indexOf(read, NOTHING_SAID, SELF)
    if (count >= position || isWindowWhole(window, count)) return window
  }
}

const asObject = (recent: RecentEntries) => Object.fromEntries([...recent].toSorted(([a], [b]) => (a < b ? -1 : 1)))

describe("indexing", () => {
  it("X1 F83 in batches of any size, and from any point on, an index comes to hold the same", () => {
    fc.assert(
      fc.property(life, sizes, fc.integer({ min: 1, max: 300 }), (entries, batchSizes, step) => {
        const atOnce = applyChanges(indexOf(entries, NOTHING_SAID, SELF).changes)
        const bit: Array<IndexChange> = []
        const forgetting: Array<IndexChange> = []
        let window = NOTHING_SAID
        let done = 0
        for (const batch of cut(entries, batchSizes)) {
          const remembering = indexOf(batch, window, SELF)
          bit.push(...remembering.changes)
          window = remembering.window
          forgetting.push(...indexOf(batch, readBack(entries.slice(0, done), step), SELF).changes)
          done += batch.length
        }
        assert.deepStrictEqual(asObject(applyChanges(bit)), asObject(atOnce))
        assert.deepStrictEqual(asObject(applyChanges(forgetting)), asObject(atOnce))
      }),
      { numRuns: 300 }
    )
  })

  it("X1 applying a batch a second time changes nothing", () => {
    fc.assert(
      fc.property(life, (entries) => {
        const { changes } = indexOf(entries, NOTHING_SAID, SELF)
        const changed = changes.filter(({ type }) => type !== "remove")
        assert.deepStrictEqual(asObject(applyChanges([...changed, ...changed])), asObject(applyChanges(changed)))
      })
    )
  })

  it("M1 M2 an index holds no marker, no timer, no echo and no endless text", () => {
    fc.assert(
      fc.property(life, (entries) => {
        for (const [id, { entry }] of applyChanges(indexOf(entries, NOTHING_SAID, SELF).changes)) {
          assert.isAtMost(entry.text.length, 8_000)
          assert.isAtMost(entry.context?.length ?? 0, 6 * 401)
          const [, no, index] = /^m\/(\d+)\/(\d+)$/.exec(id) ?? []
          if (no === undefined) continue
          const from = entries.find((each) => each.no === Number(no))
          const said = from?.messages[Number(index)]
          assert.notStrictEqual(said?.role, "system")
          assert.isFalse(said?.role === "user" && Reflect.get(Object(from?.event), "type") === "timer")
          assert.isFalse(said?.role === "tool" && said.name === "recall_memories")
        }
      })
    )
  })
})

describe("what was said around", () => {
  const entryOf = (no: number, role: Message["role"], text: string, name = "Ann") =>
    anEntry({ no, event: { type: "message" }, messages: [aMessage(text, { role, name, at: no })] })
  const contexts = (entries: ReadonlyArray<Entry>) =>
    Object.fromEntries(
      [...applyChanges(indexOf(entries, NOTHING_SAID, SELF).changes)].map(([id, { entry }]) => [
        id,
        entry.context ?? ""
      ])
    )

  it("X2 three things before and two after that others said, and the answer right before", () => {
    const said = ["one", "two", "three", "four", "five", "six", "seven"].map((word, at) =>
      entryOf(at + 1, "user", word, at % 2 === 0 ? "Ann" : "Bob")
    )
    assert.strictEqual(contexts(said)["m/4/0"], "one\ntwo\nthree\nfive\nsix")
    const answered = [
      entryOf(1, "user", "red or blue?"),
      entryOf(2, "assistant", "Which of them?"),
      entryOf(3, "user", "b")
    ]
    assert.deepStrictEqual(contexts(answered), {
      "m/1/0": "b",
      "m/2/0": "",
      "m/3/0": "red or blue?\nWhich of them?"
    })
    const next = contexts([...answered, entryOf(4, "user", "or both")])
    assert.strictEqual(next["m/4/0"], "red or blue?\nb")
  })

  it("X2 a telling answer stands with its question, a short one alone", () => {
    const long = "The harbour master has put the tug on berth nine."
    const told = contexts([
      entryOf(1, "user", "Where is the tug?"),
      entryOf(2, "assistant", long),
      entryOf(3, "assistant", "Yes.")
    ])
    assert.deepStrictEqual([told["m/2/0"], told["m/3/0"]], ["Where is the tug?", ""])
  })

  it("M1 an answer that was not accepted is nothing that was said", () => {
    const rejected = aMessage("berth seven", { role: "assistant", at: 2, rejected: "It does not fit." })
    const told = contexts([
      entryOf(1, "user", "Which berth?"),
      anEntry({ no: 2, event: { type: "message" }, messages: [rejected] }),
      entryOf(3, "assistant", "{}")
    ])
    assert.sameMembers(Object.keys(told), ["m/1/0", "m/3/0"])
  })

  it("X2 what lies far away is not around, and need not be read back", () => {
    const long = "The harbour master has put the tug on berth nine."
    const apart = [
      entryOf(1, "user", "one"),
      entryOf(2, "assistant", "Noted."),
      entryOf(400, "user", "two"),
      entryOf(800, "assistant", long)
    ]
    assert.deepStrictEqual(contexts(apart), { "m/1/0": "", "m/2/0": "", "m/400/0": "", "m/800/0": "" })
    assert.isUndefined(applyChanges(indexOf(apart, NOTHING_SAID, SELF).changes).get("m/800/0")?.entry.thread)
    // Read back from 590, `one` is out of sight, and `two`, which it stands around, must not be told of again.
    const heard = [entryOf(1, "user", "one"), entryOf(200, "user", "two"), anEntry({ no: 590 })]
    const before = indexOf(heard, NOTHING_SAID, SELF)
    const after = indexOf([entryOf(600, "user", "three")], readBack(heard, 64), SELF)
    const told = applyChanges([...before.changes, ...after.changes])
    assert.strictEqual(told.get("m/200/0")?.entry.context, "one")
  })
})
