import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { sleepTime, voting } from "../../src/index.ts"
import { RUNS } from "../arbitraries.ts"
import { aTeam, type Said, seats, Table } from "./table.ts"

const IDS = ["ada", "bo", "cy", "di", "eve"] as const

describe("voting", () => {
  const anyVote = fc.constantFrom<Said>(
    "VOTE: yes",
    "I am for it.\n**VOTE: Yes.**",
    "no",
    "vote: NO",
    "perhaps",
    { outcome: "silent" },
    { outcome: "never" }
  )
  const choiceOf = (said: Said) =>
    typeof said !== "string" || said === "perhaps" ? undefined : /yes/i.test(said) ? "yes" : "no"

  it("V1 V2 V3 what is decided is what the votes that came in time say, and nothing without quorum", () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(
        fc.array(anyVote, { minLength: IDS.length, maxLength: IDS.length }),
        fc.integer({ min: 1, max: 5 }),
        fc.string({ maxLength: 4 }),
        (said, quorum, order) => {
          const table = new Table(aTeam(voting({ quorum }), seats(IDS)), {
            order,
            speak: (member) => said[IDS.indexOf(member as "ada")] ?? ""
          })
          const id = table.say("Close the harbour?")
          table.rest()
          const cast = said.flatMap((each) => choiceOf(each) ?? [])
          const yes = cast.filter((choice) => choice === "yes").length
          const no = cast.length - yes
          const expected =
            cast.length < quorum
              ? "No decision: too few votes."
              : yes === no
                ? "No decision: a tie."
                : `Decision: ${yes > no ? "yes" : "no"}.`
          seen.add(expected)
          const [head, votes] = (table.answerTo(id) ?? "").split("\n")
          assert.strictEqual(head, expected)
          assert.match(votes ?? "", new RegExp(`yes: ${yes}.*; no: ${no}`))
          assert.strictEqual(table.asks.length, IDS.length)
        }
      ),
      RUNS
    )
    assert.strictEqual(seen.size, 4)
  })

  it("V1 a vote after the deadline does not count, a second one neither", () => {
    const table = new Table(aTeam(voting({ quorum: 1, deadlineMs: 1_000 }), seats(["ada", "bo"])))
    const id = table.say("Close the harbour?")
    const [ada, bo] = table.asks
    const vote = { type: "answered", outcome: "answered" } as const
    table.take({ ...vote, ask: ada?.id ?? "", from: "ada", text: "VOTE: no", at: table.now })
    table.take({ ...vote, ask: ada?.id ?? "", from: "ada", text: "VOTE: yes", at: table.now })
    assert.isTrue(table.pass())
    table.take({ ...vote, ask: bo?.id ?? "", from: "bo", text: "VOTE: yes", at: table.now + 1 })
    assert.match(
      table.answerTo(id) ?? "",
      /^Decision: no\.\nVotes: yes: 0; no: 1 \(ada\)\. Needed: 1\.\nNo vote: bo\.$/
    )
    assert.strictEqual(table.answers.length, 1)
  })

  it("V3 a share is one of all who may vote: those who are away do not make a quorum smaller", () => {
    const away = { bo: "halted", cy: "retired", di: "missing" } as const
    const table = new Table(aTeam(voting(), seats(IDS)), { away, speak: () => "VOTE: yes" })
    const id = table.say("Close the harbour?")
    table.rest()
    assert.match(table.answerTo(id) ?? "", /^No decision: too few votes\.\n.*Needed: 3\./)
  })

  it("V2 of votes: ties are broken by the first vote, by one member, by lot, or not at all", () => {
    const tied = (options: Parameters<typeof voting>[0], id?: string) => {
      const table = new Table(aTeam(voting({ quorum: 2, ...options }), seats(["ada", "bo"])))
      const question = table.say("Which?\n- red\n- blue", id)
      for (const [index, choice] of [
        [1, "blue"],
        [0, "red"]
      ] as const) {
        const ask = table.asks[index]
        table.take({
          type: "answered",
          ask: ask?.id ?? "",
          from: ask?.to ?? "",
          outcome: "answered",
          text: `VOTE: ${choice}`,
          at: table.now
        })
      }
      return (table.answerTo(question) ?? "").split("\n")[0]
    }
    assert.strictEqual(tied({}), "No decision: a tie.")
    assert.strictEqual(tied({ tieBreaker: "first_vote" }), "Decision: blue, by the tie-breaker.")
    assert.strictEqual(tied({ tieBreaker: "specific_member", decider: "ada" }), "Decision: red, by the tie-breaker.")
    assert.strictEqual(tied({ tieBreaker: "specific_member", decider: "cy" }), "No decision: a tie.")
    const drawn = Array.from({ length: 20 }, (_, index) => tied({ tieBreaker: "random" }, `q${index}`))
    assert.strictEqual(new Set(drawn).size, 2)
    assert.strictEqual(tied({ tieBreaker: "random" }, "q7"), drawn[7])
  })
})

describe("sleep-time", () => {
  it("S1 S2 the watcher runs only when a trigger is due, one run at a time, and a quiet team stays at rest", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ gap: fc.nat(2_000), isAlarm: fc.boolean() }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        (messages, count) => {
          const table = new Table(
            aTeam(
              sleepTime({
                watcher: "ada",
                triggers: [
                  { type: "messages", count },
                  { type: "pattern", pattern: "\\bfire\\b" }
                ]
              }),
              seats(["ada", "bo"])
            )
          )
          let unseen = 0
          let runs = 0
          for (const { gap, isAlarm } of messages) {
            table.now += gap
            table.say(isAlarm ? "Fire!" : "calm")
            unseen++
            if (isAlarm || unseen >= count) {
              runs++
              unseen = 0
            }
            assert.strictEqual(table.asks.length, runs)
            table.rest()
          }
          assert.strictEqual(table.asks.length, runs)
          assert.strictEqual(table.answers.length, messages.length)
          assert.isFalse(table.pass())
        }
      ),
      RUNS
    )
  })

  it("S1 what falls due while the watcher works is one later run", () => {
    const table = new Table(
      aTeam(sleepTime({ watcher: "ada", triggers: [{ type: "messages", count: 1 }] }), seats(["ada"]))
    )
    for (let index = 0; index < 5; index++) table.say(`message ${index}`)
    assert.strictEqual(table.asks.length, 1)
    table.rest()
    assert.strictEqual(table.asks.length, 2)
    assert.match(table.asks[1]?.text ?? "", /message 1\n.*message 2\n.*message 3\n.*message 4$/)
  })

  it("elapsed: so long after the first message that was not seen, and never without one", () => {
    const table = new Table(
      aTeam(sleepTime({ watcher: "ada", triggers: [{ type: "elapsed", millis: 500 }] }), seats(["ada"]))
    )
    assert.isFalse(table.pass())
    table.say("one")
    table.now += 100
    table.say("two")
    assert.strictEqual(table.asks.length, 0)
    table.pass()
    assert.strictEqual(table.now, 1_500)
    assert.strictEqual(table.asks.length, 1)
    table.rest()
    assert.strictEqual(table.asks.length, 1)
    assert.isFalse(table.pass())
  })
})
