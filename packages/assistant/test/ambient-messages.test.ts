import { assert, it } from "@effect/vitest"
import type { Json, RecordChange } from "@reverie/protocol"
import * as fc from "fast-check"
import { describe } from "vitest"
import { ambienceChanges, ambienceOf, listAmbientMessages, overhear } from "../src/index.ts"
import {
  type Ambience,
  DEFAULT_AMBIENT_MESSAGES,
  MAX_AMBIENT_MESSAGES_CHARS,
  type AmbientMessages,
  trimmed
} from "../src/mail/filter.ts"

const said = (text: string, more: Partial<AmbientMessages> = {}): AmbientMessages => ({
  from: "user:ada",
  text,
  channel: "room:quay",
  at: 1_000,
  importance: 6,
  ...more
})

const none: Ambience = new Map()

const heardAll = (texts: ReadonlyArray<string>, limit?: number): Ambience =>
  texts.reduce<Ambience>((ambience, text) => overhear(ambience, said(text), limit), none)

const textsOf = (ambience: Ambience) => listAmbientMessages(ambience).map(({ text }) => text)

/** What the store holds after the changes. */
const committed = (records: ReadonlyMap<string, Json>, changes: ReadonlyArray<RecordChange>) => {
  const after = new Map(records)
  for (const { key, value } of changes) {
    if (value === null) after.delete(key)
    else after.set(key, value)
  }
  return after
}

describe("F16 the context_buffer: what was overheard", () => {
  it("F16 keeps who said what, where, when and how much it matters", () => {
    const [kept] = listAmbientMessages(overhear(none, said("the tide turns")))
    assert.deepStrictEqual(kept, {
      from: "user:ada",
      text: "the tide turns",
      channel: "room:quay",
      at: 1_000,
      importance: 6
    })
  })

  it("F16 overheard I1: keeps 50, the oldest goes first", () => {
    assert.strictEqual(DEFAULT_AMBIENT_MESSAGES, 50)
    const texts = Array.from({ length: 53 }, (_, index) => `line ${index}`)
    assert.deepStrictEqual(textsOf(heardAll(texts)), texts.slice(3))
  })

  it("F16 overheard I1: oldest is what came first, not what an earlier clock said", () => {
    const ambience = overhear(overhear(none, said("first", { at: 9_000 }), 2), said("second", { at: 1 }), 2)
    assert.deepStrictEqual(textsOf(overhear(ambience, said("third", { at: 5 }), 2)), ["second", "third"])
  })

  it("F16 overheard I2: one more arrival changes one record, and takes away at most what it pushed out", () => {
    const before = heardAll(["a", "b"], 2)
    assert.deepStrictEqual(ambienceChanges(before, overhear(before, said("c"), 3)), [
      { kind: "ambientMessages", key: "000000000003", value: said("c") }
    ])
    assert.deepStrictEqual(ambienceChanges(before, overhear(before, said("c"), 2)), [
      { kind: "ambientMessages", key: "000000000003", value: said("c") },
      { kind: "ambientMessages", key: "000000000001", value: null }
    ])
  })

  it("F16 overheard I2: the order is that of arrival, in whatever order the store gives its records", () => {
    const texts = Array.from({ length: 12 }, (_, index) => `${index}`)
    const records = new Map([...heardAll(texts)].toReversed())
    assert.deepStrictEqual(textsOf(ambienceOf(records)), texts)
  })

  it("overheard I3: a long text is cut visibly, never inside a character", () => {
    for (const lead of ["", "a"]) {
      const [kept] = listAmbientMessages(overhear(none, said(lead + "😀".repeat(10_000))))
      assert.isAtMost(kept?.text.length ?? Infinity, MAX_AMBIENT_MESSAGES_CHARS)
      assert.isTrue(kept?.text.endsWith("😀…"))
      assert.isTrue(kept?.text.isWellFormed())
    }
    const fits = "x".repeat(MAX_AMBIENT_MESSAGES_CHARS)
    assert.deepStrictEqual(textsOf(heardAll([fits])), [fits])
  })

  it("sees no record that is none, and does not touch it", () => {
    const records = new Map<string, Json>([
      ["000000000001", { from: "user:ada", text: "kept", at: 1, importance: 5 }],
      ["000000000002", { from: "user:ada", text: 7 }],
      ["odd", { from: "user:ada", text: "no key", at: 1, importance: 5 }]
    ])
    const ambience = ambienceOf(records)
    assert.deepStrictEqual(textsOf(ambience), ["kept"])
    assert.deepStrictEqual(
      ambienceChanges(ambience, trimmed(ambience, 0)).map(({ key }) => key),
      ["000000000001"]
    )
  })

  it("F16 lists the newest few, of one channel, of some importance", () => {
    const ambience = [
      said("a", { importance: 3 }),
      said("b", { channel: "dock" }),
      said("c"),
      said("d", { importance: 4 })
    ].reduce<Ambience>((sum, each) => overhear(sum, each), none)
    const list = (filter: Parameters<typeof listAmbientMessages>[1]) =>
      listAmbientMessages(ambience, filter).map(({ text }) => text)
    assert.deepStrictEqual(list({ limit: 2 }), ["c", "d"])
    assert.deepStrictEqual(list({ limit: 0 }), [])
    assert.deepStrictEqual(list({ minImportance: 4 }), ["b", "c", "d"])
    assert.deepStrictEqual(list({ channel: "dock" }), ["b"])
  })

  it("F16 overheard I1, I2: over any course, restarts between, what is kept is the newest in order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 5 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        (texts, limit) => {
          let records: ReadonlyMap<string, Json> = new Map()
          for (const text of texts) {
            const before = ambienceOf(records)
            records = committed(records, ambienceChanges(before, overhear(before, said(text), limit)))
          }
          assert.deepStrictEqual(textsOf(ambienceOf(records)), texts.slice(-limit))
        }
      )
    )
  })
})
