import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { dreamOperations } from "@reverie/assistant"
import { type Compaction, isCompaction } from "@reverie/context"
import { isFact, messageId } from "@reverie/memory"
import type { Json, PlacedMessage } from "@reverie/protocol"
import { readPast, recallFor } from "@reverie/runtime"
import { isLong } from "@reverie/testkit/length"
import { daysOf, harbourTalk, plantedFacts, REAL_MESSAGES, realMessages, type Said } from "./conversation.ts"
import { type Lived, keeper, liveThrough } from "./keeper.ts"

const real = realMessages()
if (real.length === 0) console.warn(`real conversations are not at ${REAL_MESSAGES}: only our own is lived through`)

interface Conversation {
  readonly name: string
  readonly days: ReadonlyArray<ReadonlyArray<Said>>
}

const conversations: ReadonlyArray<Conversation> = [
  { name: "420 messages of our own in three days", days: daysOf(harbourTalk(420), plantedFacts, 3) },
  ...(real.length === 0 || !isLong
    ? []
    : [{ name: `${real.length} real messages in nine days`, days: daysOf(real, plantedFacts, 9) }])
]

interface Line {
  readonly operation: string
  readonly steps: number
  readonly error?: string
}

const dreams = ({ life }: Lived): ReadonlyArray<ReadonlyArray<Line>> =>
  life.records("dream").map(({ value }) => (value as unknown as { readonly lines: ReadonlyArray<Line> }).lines)

const compactions = ({ life }: Lived): ReadonlyArray<Compaction> =>
  life
    .records("compaction")
    .map(({ value }) => value)
    .filter(isCompaction)
    .toSorted((a, b) => a.at - b.at)

const placed = ({ life }: Lived): ReadonlyArray<PlacedMessage> =>
  life.entries.flatMap(({ messages, no }) => messages.map((message, index) => ({ message, place: { no, index } })))

/** As many days as the shorter conversation has: a second life of them is enough to show what is left to chance. */
const DAYS_LIVED_TWICE = 3

const LIMIT = keeper.maxContextTokens - keeper.reservedResponseTokens

describe.each(conversations)("day and night: $name", ({ days }) => {
  let lived: Lived

  beforeAll(async () => {
    lived = await liveThrough(days)
  }, 300_000)
  afterAll(() => lived.end())

  it("F49: every night is slept through and dreamt in, every morning finds it awake, and nothing is dead", () => {
    assert.deepStrictEqual(
      lived.mornings,
      days.map(() => ({ asleep: "dreaming.resting", awake: "awake.idle" }))
    )
    assert.deepStrictEqual(
      dreams(lived).map((lines) => lines.map(({ operation }) => operation)),
      days.map(() => [...dreamOperations])
    )
    assert.deepStrictEqual(
      dreams(lived).flatMap((lines) => lines.flatMap(({ error = "" }) => (error === "" ? [] : [error]))),
      []
    )
    assert.deepStrictEqual(lived.life.disk.deadLetters, [])
    const said = days.flat().map(({ text }) => text)
    const heard = placed(lived).filter(({ message: { name, role } }) => role === "user" && name !== "clock")
    assert.deepStrictEqual(
      heard.map(({ message }) => message.content),
      said
    )
  })

  it("nothing that is asked of the model is ever longer than its window", () => {
    const reports = lived.life.entries.flatMap(({ step }) =>
      step?.kind === "infer" ? [step.detail?.["context"] as unknown as { readonly tokens: number }] : []
    )
    assert.isAtLeast(reports.length, days.flat().length)
    for (const { tokens } of reports) assert.isAtMost(tokens, LIMIT)
    assert.isAbove(lived.life.longestPrompt, LIMIT / 2)
    assert.isAtMost(lived.life.longestPrompt, LIMIT)
  })

  it("F48 F56: the history is compacted by day and by night, each time to below where it would be compacted again", () => {
    const all = compactions(lived)
    assert.isNotEmpty(all.filter(({ trigger }) => trigger === "sleep"))
    assert.isNotEmpty(all.filter(({ trigger }) => trigger === "emergency"))
    for (const { after, before, ratio, threshold } of all) {
      assert.isAtLeast(ratio, threshold)
      assert.isBelow(after.tokens, before.tokens)
      assert.isBelow(after.tokens / keeper.maxContextTokens, threshold)
    }
  })

  it("F54: what each compaction has compacted can be read again, word for word, and nothing lies between two compactions", () => {
    const { life } = lived
    const all = placed(lived)
    let compacted = 0
    for (const { compacted_count, range } of compactions(lived)) {
      const read = life.run(readPast(life.address, range.from, { to: range.to }))
      assert.strictEqual(read.length, compacted_count)
      assert.deepStrictEqual(read, all.slice(compacted, compacted + compacted_count))
      compacted += compacted_count
    }
    assert.isAbove(compacted, all.length / 2)
  })

  it("F107: what was said once, days ago, is found by a question about it", () => {
    const { life } = lived
    for (const { question, value } of plantedFacts) {
      const { degraded, hits } = life.run(recallFor(life.address, question))
      assert.isUndefined(degraded)
      assert.isTrue(
        hits.some(({ entry }) => entry.text.includes(value)),
        `${question} ${hits.map(({ entry }) => entry.text).join(" | ")}`
      )
    }
  })

  it("F49: what was compacted away of what matters stands in the facts", () => {
    const facts = lived.life
      .records("fact")
      .map(({ value }) => value)
      .filter(isFact)
    for (const { text, value } of plantedFacts) {
      const source = placed(lived).find(({ message }) => message.content === text) ?? assert.fail(text)
      const found = facts.filter((fact) => fact.state === "active" && fact.text.includes(value))
      assert.isTrue(
        found.some(({ sources }) => sources.includes(messageId(source.place))),
        `${text} ${found.map((fact) => fact.text).join(" | ")}`
      )
    }
  })

  it("two lives of the same seed leave the same record, byte for byte", { timeout: 300_000 }, async () => {
    const again = await liveThrough(days.slice(0, DAYS_LIVED_TWICE))
    await again.end()
    assert.lengthOf(again.records, DAYS_LIVED_TWICE)
    assert.deepStrictEqual(again.records, lived.records.slice(0, DAYS_LIVED_TWICE))
  })

  // The last one, since it goes on with the life.
  it("history-tool H1: asked for it, the assistant reads what was compacted again", async () => {
    const { life } = lived
    const [first] = compactions(lived)
    const fact = plantedFacts.find(({ text }) =>
      placed(lived).some(
        ({ message, place }) => message.content === text && first !== undefined && place.no <= first.range.to.no
      )
    )
    const source =
      placed(lived).find(({ message }) => message.content === fact?.text) ?? assert.fail("nothing compacted")
    const order: Json = { from: messageId(source.place), limit: 1 }
    life.post({ type: "message", text: `/read_history ${JSON.stringify(order)}` }, "Noor")
    await life.restWithPromises()
    const answer = placed(lived).findLast(({ message }) => message.role === "tool")
    assert.include(answer?.message.content, fact?.text)
  })
})
