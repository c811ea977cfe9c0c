import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@reverie/protocol"
import { planCompaction } from "../../src/index.ts"
import { callOf, result, said, user } from "../histories.ts"
import { placed } from "./compacted.ts"
import { type Split, splitHistory, type Skipped } from "../../src/compaction/split.ts"

const plain = (length: number): ReadonlyArray<Message> =>
  Array.from({ length }, (_, index) => (index % 2 === 0 ? user(`ask ${index}`) : said(`answer ${index}`)))

const sizes = (split: Split | Skipped): readonly [number, number] | string =>
  split.skipped ? split.reason : [split.compacted.length, split.preserved.length]

const cut = (messages: ReadonlyArray<Message>, window = 20, stretchTokens = Infinity) =>
  sizes(splitHistory(placed(messages), { window, stretchTokens }))

describe("splitting a history", () => {
  it("F51 F54 fifty plain messages are thirty and twenty, the very same objects in their order", () => {
    const history = placed(plain(50))
    const split = splitHistory(history, { window: 20 })
    assert.deepStrictEqual(sizes(split), [30, 20])
    if (split.skipped) return
    for (const [index, each] of [...split.compacted, ...split.preserved].entries())
      assert.strictEqual(each, history[index])
  })

  it("F51 A17 plain messages are exactly as many as the window says, wherever the cut falls", () => {
    for (const length of [21, 22, 37, 51, 400]) assert.deepStrictEqual(cut(plain(length)), [length - 20, 20])
    assert.deepStrictEqual(cut(plain(50), 7), [43, 7])
  })

  it("F50 F58 a history as long as the window is skipped, forced or not", () => {
    assert.strictEqual(cut(plain(20)), "within-window")
    assert.strictEqual(cut([]), "within-window")
    const forced = { enabled: true, ratio: 0.99, threshold: 0.8, force: true, window: 20, maxContextTokens: 1_000 }
    assert.strictEqual(sizes(planCompaction({ ...forced, history: placed(plain(20)) })), "within-window")
  })

  it("F50 A16 below the threshold is skipped, at the threshold not", () => {
    const question = {
      enabled: true,
      threshold: 0.7,
      window: 20,
      maxContextTokens: 100_000,
      history: placed(plain(50))
    }
    assert.deepStrictEqual(planCompaction({ ...question, ratio: 0.699 }), { skipped: true, reason: "below-threshold" })
    assert.deepStrictEqual(sizes(planCompaction({ ...question, ratio: 0.7 })), [30, 20])
    assert.deepStrictEqual(planCompaction({ ...question, ratio: Number.NaN }), {
      skipped: true,
      reason: "below-threshold"
    })
    assert.strictEqual(sizes(planCompaction({ ...question, ratio: 0.9, enabled: false })), "disabled")
  })

  it("F58 A14 force does not look at the ratio", () => {
    const question = { enabled: true, ratio: 0, threshold: 0.8, force: true, window: 20, maxContextTokens: 100_000 }
    assert.deepStrictEqual(sizes(planCompaction({ ...question, history: placed(plain(50)) })), [30, 20])
  })

  it("S2 A17 a cut between a call and its results moves before the call", () => {
    const around = [said("look", [callOf("a"), callOf("b")]), result("a", "1"), result("b", "2")]
    const history = [
      ...plain(30).slice(0, 29),
      ...around,
      ...Array.from({ length: 18 }, (_, i) => said(`then ${i}`)),
      user("now")
    ]
    for (const window of [20, 21])
      assert.deepStrictEqual(cut(history, window, 0), [29, history.length - 29], String(window))
    assert.deepStrictEqual(cut(history, 22, 0), [29, 22])
    assert.deepStrictEqual(cut(history, 19, 0), [32, 19])
  })

  it("S2 a report that comes far behind its call keeps both, and what lies between", () => {
    const history = [
      ...plain(10),
      said("ask the port", [callOf("far")]),
      ...plain(40),
      result("far", "late"),
      user("now")
    ]
    assert.deepStrictEqual(cut(history), [10, 43])
    const chain = [
      ...plain(4),
      said("one", [callOf("one")]),
      ...plain(2),
      said("two", [callOf("two")]),
      ...plain(10),
      result("one", "1"),
      ...plain(10),
      result("two", "2"),
      user("now")
    ]
    assert.deepStrictEqual(cut(chain, 5, 0), [4, chain.length - 4], "one pair leads to the next")
  })

  it("S2 a result without a call, or with a compacted one, holds nothing up", () => {
    assert.deepStrictEqual(cut([...plain(30), result("lost", "x"), ...plain(20)]), [31, 20])
  })

  it("S3 the pending turn stays whole within its bounds; a longer one is cut inside, with its pairs whole", () => {
    const turn = (calls: number) =>
      Array.from({ length: calls }, (_, at) => [said("", [callOf(`t${at}`)]), result(`t${at}`, "ok")]).flat()
    assert.deepStrictEqual(cut([...plain(10), user("now"), ...turn(19)]), [10, 39])
    assert.deepStrictEqual(
      cut([...plain(10), user("now"), ...turn(19)], 20, 100),
      [29, 20],
      "more tokens than it may have"
    )
    assert.deepStrictEqual(cut([...plain(10), user("now"), ...turn(30)]), [51, 20])
    assert.deepStrictEqual(cut([user("now"), ...turn(200)]), [381, 20], "one message with four hundred behind it")
    assert.deepStrictEqual(cut([user("now"), ...turn(200)], 21), [379, 22], "no pair is split")
    assert.deepStrictEqual(cut(turn(30)), [40, 20], "where no one speaks the newest piece is the turn")
  })

  it("F106 S4 a turn with tool calls is compacted whole or not at all", () => {
    const turn = (name: string) => [user(name), said("", [callOf(name)]), result(name, "ok"), said("done")]
    const turns = Array.from({ length: 12 }, (_, index) => turn(`t${index}`)).flat()
    assert.deepStrictEqual(cut(turns, 20), [28, 20])
    for (const window of [17, 18, 19]) assert.deepStrictEqual(cut(turns, window), [28, 20], String(window))
  })

  it("F106 S4 what stays for a whole turn is bounded; beyond that only pairs count", () => {
    const long = Array.from({ length: 20 }, (_, index) => [said("", [callOf(`l${index}`)]), result(`l${index}`, "ok")])
    const history = [...plain(10), user("work"), ...long.flat(), user("thanks"), said("bye"), user("now")]
    assert.deepStrictEqual(cut(history, 22), [10, 44])
    assert.deepStrictEqual(cut(history, 21), [33, 21], "more than twice the window")
    assert.deepStrictEqual(cut(history, 22, 30), [31, 23], "more tokens than it may have")
  })

  it("F106 S4 a turn in which a call was never answered is left out, until it is far behind", () => {
    const broken = [user("sign it"), said("", [callOf("gone")])]
    const history = (after: number) => [...plain(30), ...broken, ...plain(after)]
    assert.deepStrictEqual(cut(history(30)), [30, 32], "it stays, and all after it")
    assert.deepStrictEqual(cut(history(38)), [30, 40])
    assert.deepStrictEqual(cut(history(40)), [52, 20], "it does not hold compaction up for ever")
  })
})
