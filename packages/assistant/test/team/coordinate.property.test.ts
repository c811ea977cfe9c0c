import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  dynamic,
  type Pattern,
  pipeline,
  roundRobin,
  selectors,
  sleepTime,
  supervisor,
  type TeamMember,
  tieBreakers,
  voting
} from "../../src/index.ts"
import { RUNS } from "../arbitraries.ts"
import { aTeam, type Said, seats, Table } from "./table.ts"

const IDS = ["ada", "bo", "cy", "di"] as const
const anyAway = fc.dictionary(fc.constantFrom(...IDS), fc.constantFrom("halted", "retired", "missing", "available"))
const anySaid: fc.Arbitrary<Said> = fc.oneof(
  fc.constantFrom("yes", "VOTE: no", "@bo: do it\n@zed: and you", ".", "bo and cy", "@ada: again"),
  fc.string({ maxLength: 20 }),
  fc.constantFrom<Said>({ outcome: "silent" }, { outcome: "failed" }, { outcome: "never" })
)
const anyText = fc.oneof(
  fc.constantFrom("@all well?", "@ada you", "bo: you", "hey cy, you", "- red\n- blue", "What now?"),
  fc.string({ maxLength: 30 })
)
const anyFailure = fc.constantFrom("skip" as const, "retry" as const, "abort" as const, { fallback: "di" })
const anyPattern: fc.Arbitrary<Pattern> = fc.oneof(
  fc.constant(roundRobin()),
  fc.constantFrom(...selectors).map((selector) => dynamic({ selector })),
  fc
    .record({
      maxRounds: fc.integer({ min: 0, max: 5 }),
      fallback: fc.constantFrom("fail" as const, "member" as const)
    })
    .map(supervisor),
  fc
    .array(fc.record({ member: fc.constantFrom(...IDS), onFailure: anyFailure, retries: fc.nat(3) }), { maxLength: 5 })
    .map((stages) => pipeline({ stages })),
  fc
    .record({
      tieBreaker: fc.constantFrom(...tieBreakers),
      quorum: fc.constantFrom(0.5, 1, 3, 0.9),
      decider: fc.constant("ada")
    })
    .map(voting),
  fc
    .record({ count: fc.integer({ min: 1, max: 4 }), millis: fc.integer({ min: 1, max: 5_000 }) })
    .map(({ count, millis }) =>
      sleepTime({
        watcher: "ada",
        triggers: [
          { type: "messages", count },
          { type: "elapsed", millis }
        ]
      })
    )
)
const members: ReadonlyArray<TeamMember> = [
  { id: "ada", role: "supervisor" },
  { id: "bo", role: "specialist", domain: "tides", capabilities: ["moon"] },
  { id: "cy", role: "member" },
  { id: "di", role: "member" },
  { id: "eve", role: "observer" }
]

const anyLife = fc.record({
  pattern: anyPattern,
  texts: fc.array(anyText, { minLength: 1, maxLength: 6 }),
  said: fc.array(anySaid, { minLength: 1, maxLength: 12 }),
  away: anyAway,
  order: fc.string({ maxLength: 4 }),
  maxAsks: fc.integer({ min: 1, max: 12 })
})

const lived = ({
  away,
  maxAsks,
  order,
  pattern,
  said,
  texts
}: typeof anyLife extends fc.Arbitrary<infer A> ? A : never) => {
  let turn = 0
  const table = new Table(aTeam(pattern, members, { maxAsks }), {
    away,
    order,
    speak: () => said[turn++ % said.length] ?? ""
  })
  const ids = texts.map((text) => {
    const id = table.say(text)
    table.answerOne()
    return id
  })
  table.rest()
  return { ids, table }
}

describe("any team, whatever its members say", () => {
  it("C3 C4 every question is answered once and ends; nothing stays open, no timer stays set", () => {
    fc.assert(
      fc.property(anyLife, (life) => {
        const { ids, table } = lived(life)
        for (const id of ids) assert.strictEqual(table.answers.filter(({ question }) => question.id === id).length, 1)
        assert.strictEqual(table.answers.length, ids.length)
        assert.strictEqual(table.state.questions.size, 0)
        assert.strictEqual(table.state.wakeAt, null)
        for (const { id } of members) assert.strictEqual(table.openOf(id), 0)
      }),
      RUNS
    )
  })

  it("C3 C4 no question makes more asks than it may, observers are never asked, ids are never used twice", () => {
    let asked = 0
    fc.assert(
      fc.property(anyLife, (life) => {
        const { ids, table } = lived(life)
        // The runs of a watcher are questions of the team's own, one for each reason.
        const questions = life.pattern.name === "sleep-time" ? 2 * ids.length + 1 : ids.length
        assert.isAtMost(table.asks.length, life.maxAsks * questions)
        asked += table.asks.length
        assert.notInclude(
          table.asks.map(({ to }) => to),
          "eve"
        )
        for (const { to } of table.copies) assert.strictEqual(to, "eve")
        const sent = [...table.asks, ...table.copies].map(({ id }) => id)
        assert.strictEqual(new Set(sent).size, sent.length)
      }),
      RUNS
    )
    assert.isAbove(asked, RUNS.numRuns)
  })

  it("C2 an answer of someone else, a second one, or one after the end changes nothing", () => {
    const table = new Table(aTeam(dynamic(), seats(IDS)))
    const id = table.say("@ada well?")
    const [ask] = table.asks
    const before = table.state
    const answer = { type: "answered", ask: ask?.id ?? "", outcome: "answered", at: table.now } as const
    table.take({ ...answer, from: "bo", text: "me!" })
    assert.deepStrictEqual(table.state, before)
    table.take({ ...answer, from: "ada", text: "I." })
    table.take({ ...answer, from: "ada", text: "I again." })
    assert.strictEqual(table.answerTo(id), "I.")
    assert.strictEqual(table.answers.length, 1)
  })
})
