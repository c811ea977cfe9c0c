import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { dynamic, pipeline, roundRobin, supervisor, type TeamMember } from "../../src/index.ts"
import { RUNS } from "../arbitraries.ts"
import { aTeam, type Said, seats, Table } from "./table.ts"

const IDS = ["ada", "bo", "cy", "di", "eve"] as const

const counts = (table: Table): ReadonlyMap<string, number> => {
  const by = new Map<string, number>()
  for (const { to } of table.asks) by.set(to, (by.get(to) ?? 0) + 1)
  return by
}

describe("round robin", () => {
  it("R1 is fair: after any number of messages no one available was asked twice more than another", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.subarray([...IDS], { minLength: 1 }),
        fc.constantFrom("halted" as const, "retired" as const),
        (messages, here, why) => {
          const away = Object.fromEntries(IDS.filter((id) => !here.includes(id)).map((id) => [id, why]))
          const table = new Table(aTeam(roundRobin(), seats(IDS)), { away })
          for (let index = 0; index < messages; index++) table.say(`message ${index}`)
          table.rest()
          const by = counts(table)
          const numbers = here.map((id) => by.get(id) ?? 0)
          assert.isAtMost(Math.max(...numbers) - Math.min(...numbers), 1)
          assert.strictEqual(
            numbers.reduce((sum, number) => sum + number, 0),
            messages
          )
        }
      ),
      RUNS
    )
  })

  it("R2 who fails is followed by the next; when all do, the asker learns of it", () => {
    const failing = new Table(aTeam(roundRobin(), seats(["ada", "bo"])), {
      speak: (member) => (member === "ada" ? { outcome: "failed" } : "I can.")
    })
    const first = failing.say("Who?")
    failing.rest()
    assert.strictEqual(failing.answerTo(first), "I can.")
    const all = new Table(aTeam(roundRobin(), seats(["ada", "bo"])), { speak: () => ({ outcome: "never" }) })
    const id = all.say("Who?")
    all.rest()
    assert.deepInclude(all.answers[0], { outcome: "failed", text: "bo gave no answer in time" })
    assert.strictEqual(all.answerTo(id), "bo gave no answer in time")
  })
})

describe("dynamic", () => {
  const members: ReadonlyArray<TeamMember> = [
    { id: "ada", role: "supervisor", names: ["Countess Lovelace"] },
    { id: "bo", role: "specialist", domain: "tides", capabilities: ["moon", "water levels"] },
    { id: "bo-2", role: "specialist", domain: "papers", capabilities: ["customs"] },
    { id: "cy", role: "member" }
  ]
  const askedBy = (text: string, selector: Parameters<typeof dynamic>[0] = {}, id?: string) => {
    const table = new Table(aTeam(dynamic(selector), members))
    table.say(text, id)
    return table.asks.map(({ to }) => to)
  }

  it("D1 @all asks everybody, a name asks that one, and the selector is bypassed", () => {
    const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["@all well?", ["ada", "bo", "bo-2", "cy"]],
      ["Can @all of you come?", ["ada", "bo", "bo-2", "cy"]],
      ["@cy the moon?", ["cy"]],
      ["@cy and @ada: the moon?", ["ada", "cy"]],
      ["cy: the moon?", ["cy"]],
      ["CY, the moon?", ["cy"]],
      ["hey cy what of the moon?", ["cy"]],
      ["Hey, cy", ["cy"]],
      ["bo-2: the moon?", ["bo-2"]],
      ["@bo-2 the moon?", ["bo-2"]],
      ["bo: customs?", ["bo"]],
      ["Countess Lovelace: the moon?", ["ada"]],
      ["What are the water levels?", ["bo"]],
      ["A paper for the customs", ["bo-2"]],
      // These name no one, and the moon is bo's.
      ["mail to x@all the moon", ["bo"]],
      ["cyan: the moon", ["bo"]],
      ["heycy the moon", ["bo"]],
      ["they told cy: the moon", ["bo"]]
    ]
    for (const [text, ids] of cases) assert.deepStrictEqual(askedBy(text), ids, text)
  })

  it("A1 of two names that begin alike the longer one is meant where it is said", () => {
    const alike: ReadonlyArray<TeamMember> = [
      { id: "x1", role: "member", names: ["Ada", "The Honourable Augusta"] },
      { id: "x2", role: "member", names: ["Ada Lovelace"] }
    ]
    for (const [text, id] of [
      ["hey Ada Lovelace, well?", "x2"],
      ["@Ada Lovelace well?", "x2"],
      ["hey Ada, well?", "x1"]
    ] as const) {
      const table = new Table(aTeam(dynamic(), alike))
      table.say(text)
      assert.deepStrictEqual(
        table.asks.map(({ to }) => to),
        [id],
        text
      )
    }
  })

  it("a member that is named and away is not replaced: the asker learns of it", () => {
    const table = new Table(aTeam(dynamic(), members), { away: { cy: "halted" } })
    table.say("@cy well?")
    assert.deepInclude(table.answers[0], { outcome: "failed", text: "cy is halted." })
  })

  it("D2 random: the same message always goes to the same member, and over many messages to everybody", () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const [first, ...others] = askedBy("Well?", { selector: "random" }, id)
        assert.deepStrictEqual(askedBy("Well?", { selector: "random" }, id), [first])
        assert.deepStrictEqual(others, [])
        seen.add(first ?? "")
      }),
      RUNS
    )
    assert.strictEqual(seen.size, members.length)
  })

  it("load: who has the least open work is asked", () => {
    const table = new Table(aTeam(dynamic({ selector: "load" }), members))
    for (let index = 0; index < 8; index++) table.say(`message ${index}`)
    assert.deepStrictEqual([...counts(table).values()], [2, 2, 2, 2])
  })

  it("D3 supervisor: names members, a full stop is itself, and with the domain routing never itself", () => {
    const decided = (answer: string, domain?: string) => {
      const leader: TeamMember = { id: "ada", role: "supervisor", ...(domain === undefined ? {} : { domain }) }
      const table = new Table(aTeam(dynamic({ selector: "supervisor" }), [leader, ...members.slice(1)]), {
        speak: (member, text, nth) => (member === "ada" && nth === 1 ? answer : `re: ${text}`)
      })
      table.say("Well?")
      table.rest()
      return table.asks.slice(1).map(({ to }) => to)
    }
    assert.deepStrictEqual(decided("bo-2 and cy"), ["bo-2", "cy"])
    assert.deepStrictEqual(decided("."), ["ada"])
    assert.deepStrictEqual(decided(""), ["ada"])
    assert.deepStrictEqual(decided(".", "routing"), ["bo"])
  })

  it("G1 G2 several answers stand in the order of the members, whichever came first; the late are named", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 6 }), (order) => {
        const table = new Table(aTeam(dynamic(), members), {
          order,
          speak: (member) => (member === "bo" ? { outcome: "never" } : `I am ${member}`)
        })
        const id = table.say("@all who?")
        table.rest()
        const lines = (table.answerTo(id) ?? "").split("\n")
        assert.sameMembers(lines, ["ada: I am ada", "bo gave no answer in time", "bo-2: I am bo-2", "cy: I am cy"])
        assert.deepStrictEqual(lines, lines.toSorted())
      }),
      RUNS
    )
  })
})

describe("supervisor", () => {
  const members: ReadonlyArray<TeamMember> = [{ id: "ada", role: "supervisor" }, ...seats(["bo", "cy"])]

  it("S1 S2 S3 gets the question first, hands out, receives everything of a round, and answers; counts rise and fall", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        fc.string({ maxLength: 4 }),
        (rounds, pieces, order) => {
          let heard = 0
          const table = new Table(aTeam(supervisor({ maxRounds: 4 }), members), {
            order,
            speak: (member, text, nth) => {
              if (member !== "ada") return `done: ${text}`
              heard += text.match(/^- \w+: done/gm)?.length ?? 0
              return nth <= rounds ? Array.from({ length: pieces }, (_, n) => `@bo: piece ${n}`).join("\n") : "The end."
            }
          })
          const id = table.say("Go.")
          assert.deepStrictEqual(
            table.asks.map(({ to }) => to),
            ["ada"]
          )
          assert.match(table.asks[0]?.text ?? "", /- bo \(member\)\n- cy \(member\)/)
          table.rest()
          assert.strictEqual(table.answerTo(id), "The end.")
          assert.strictEqual(heard, rounds * pieces)
          assert.strictEqual(table.mostOpen.get("bo"), rounds === 0 ? 0 : pieces)
          assert.strictEqual(table.openOf("bo"), 0)
        }
      ),
      RUNS
    )
  })

  it("S3 one that always hands out has to answer in the end", () => {
    const table = new Table(aTeam(supervisor({ maxRounds: 3 }), members), { speak: () => "@bo: more" })
    const id = table.say("Go.")
    table.rest()
    assert.strictEqual(table.answerTo(id), "@bo: more")
    assert.strictEqual(counts(table).get("bo"), 3)
    assert.match(table.asks.at(-1)?.text ?? "", /answer now/)
  })

  it("S4 what is handed to someone who is not there is reported in the same round", () => {
    const table = new Table(aTeam(supervisor(), members), {
      away: { cy: "retired" },
      speak: (member, _, nth) => (member === "ada" && nth === 1 ? "@cy: one\n@bo: two\n@zed: three" : "fine")
    })
    table.say("Go.")
    table.rest()
    const report = table.asks.at(-1)?.text ?? ""
    for (const line of ["- cy could not answer", "- zed could not answer", "- bo: fine"]) assert.include(report, line)
  })

  it("a supervisor that is away: the question fails, or a member answers, as the definition says", () => {
    const failing = new Table(aTeam(supervisor(), members), { away: { ada: "halted" } })
    failing.say("Go.")
    assert.deepInclude(failing.answers[0], { outcome: "failed", text: "ada is not available." })
    const falling = new Table(aTeam(supervisor({ fallback: "member" }), members), {
      speak: (member) => (member === "ada" ? { outcome: "failed" } : "I did.")
    })
    const id = falling.say("Go.")
    falling.rest()
    assert.strictEqual(falling.answerTo(id), "I did.")
  })
})

describe("pipeline", () => {
  it("P1 a stage gets the answer of the stage before it, and the asker that of the last", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...IDS), { minLength: 1, maxLength: 6 }), (line) => {
        const table = new Table(aTeam(pipeline({ stages: line.map((member) => ({ member })) }), seats(IDS)), {
          speak: (member, text) => `${text}>${member}`
        })
        const id = table.say("in")
        table.rest()
        assert.strictEqual(table.answerTo(id), ["in", ...line].join(">"))
        assert.deepStrictEqual(
          table.asks.map(({ text }) => text),
          line.map((_, stage) => ["in", ...line.slice(0, stage)].join(">"))
        )
      }),
      RUNS
    )
  })

  const failures: ReadonlyArray<Said> = [{ outcome: "failed" }, { outcome: "never" }, { outcome: "silent" }]
  for (const failure of failures) {
    const how = typeof failure === "object" ? failure.outcome : failure
    const run = (onFailure: "skip" | "retry" | "abort" | { readonly fallback: string }, failing: number) => {
      const stages = [{ member: "ada" }, { member: "bo", onFailure, retries: 2 }, { member: "cy" }]
      const table = new Table(aTeam(pipeline({ stages }), seats(IDS)), {
        speak: (member, text, nth) => (member === "bo" && nth <= failing ? failure : `${text}>${member}`)
      })
      const id = table.say("in")
      table.rest()
      return { text: table.answerTo(id), outcome: table.answers[0]?.outcome, asked: table.asks.map(({ to }) => to) }
    }

    it(`P2 ${how}: skip, retry, abort and fallback do what they say`, () => {
      assert.deepInclude(run("skip", 9), { text: "in>ada>cy", outcome: "answered" })
      assert.deepInclude(run("retry", 2), { text: "in>ada>bo>cy", asked: ["ada", "bo", "bo", "bo", "cy"] })
      assert.deepInclude(run("retry", 9), { outcome: "failed", asked: ["ada", "bo", "bo", "bo"] })
      assert.deepInclude(run("abort", 9), { outcome: "failed", asked: ["ada", "bo"] })
      assert.deepInclude(run({ fallback: "di" }, 9), { text: "in>ada>di>cy", asked: ["ada", "bo", "di", "cy"] })
    })
  }

  it("P2 a stage that is away is not waited for", () => {
    const stages = [
      { member: "ada", onFailure: "skip" as const },
      { member: "bo", onFailure: { fallback: "cy" } }
    ]
    const table = new Table(aTeam(pipeline({ stages }), seats(IDS)), { away: { ada: "retired", bo: "halted" } })
    table.say("in")
    assert.deepStrictEqual(
      table.asks.map(({ to, text }) => [to, text]),
      [["cy", "in"]]
    )
  })
})
