import { assert, describe, it } from "vitest"
import { DEFAULT_LISTENING, judgeMessage, type Listening, listeningOf } from "../src/index.ts"
import { filterRules, type Heard, importanceByRule } from "../src/mail/filter.ts"

const desk = { id: "desk", names: ["Harbor Desk", "Änne"] }

const judge = (heard: Partial<Heard>, changed: Partial<Listening> = {}) =>
  judgeMessage(listeningOf(changed), { from: "user:ada", text: "hello", ...heard }, desk)

const outcome = (...given: Parameters<typeof judge>) => {
  const { rule, verdict } = judge(...given)
  return `${rule}: ${verdict}`
}

describe("the message filter, rules 0 to 8", () => {
  it("has nine rules, numbered by their order", () => {
    assert.deepStrictEqual(
      Object.entries(filterRules).map(([number, name]) => `${number} ${name}`),
      [
        "0 disabled",
        "1 self",
        "2 mention",
        "3 direct",
        "4 assistant",
        "5 permission",
        "6 channel",
        "7 room",
        "8 fallback"
      ]
    )
  })

  it("says how much each matters: mention 10, direct 9, permitted 8, room 6, channel 5, assistant 4, system 3", () => {
    const { assistant, channel, direct, fallback, mention, permission, room } = importanceByRule
    assert.deepStrictEqual([mention, direct, permission, room, channel, assistant, fallback], [10, 9, 8, 6, 5, 4, 3])
    assert.deepStrictEqual(judge({}), { verdict: "trigger", rule: "direct", importance: 9 })
  })

  it("rule 0: who is disabled receives nothing, mentioned or not", () => {
    const off = { enabled: false, permitted: ["user:ada"], channels: { dock: "trigger" } } as const
    assert.strictEqual(outcome({ text: "@desk!" }, off), "disabled: ignore")
    assert.strictEqual(outcome({ channel: "dock" }, off), "disabled: ignore")
  })

  it("rule 1: no one hears itself, under its id or its address", () => {
    for (const from of ["assistant:desk", "desk"]) {
      assert.strictEqual(outcome({ from, text: "@desk", channel: "dock" }, { permitted: [from] }), "self: ignore")
    }
    assert.strictEqual(outcome({ from: "assistant:desk2" }), "direct: trigger")
    assert.strictEqual(outcome({ from: "user:desk" }), "direct: trigger", "a person may have the same name")
  })

  it("rule 2: a mention starts a tick, in a channel that is ignored as well", () => {
    assert.strictEqual(
      outcome({ text: "ask @desk", channel: "dock" }, { channels: { dock: "ignore" } }),
      "mention: trigger"
    )
    assert.strictEqual(outcome({ text: "ask @desk" }, { direct: "ignore" }), "mention: trigger")
  })

  it("rule 3: what has no channel is direct", () => {
    assert.strictEqual(outcome({}), "direct: trigger")
    assert.strictEqual(outcome({ from: "assistant:planner" }), "direct: trigger", "others report and ask directly")
    assert.strictEqual(outcome({}, { direct: "context" }), "direct: context")
    assert.strictEqual(outcome({ channel: "" }), "fallback: context", "a channel without a name is none the less one")
  })

  it("rule 4: what other assistants say in a channel is context, or nothing", () => {
    const said = { from: "assistant:planner", channel: "room:quay" }
    assert.deepStrictEqual(judge(said), { verdict: "context", rule: "assistant", importance: 4 })
    assert.strictEqual(outcome(said, { assistants: "context" }), "assistant: context")
    assert.strictEqual(outcome(said, { assistants: "ignore" }), "assistant: ignore")
    assert.strictEqual(outcome(said, { permitted: ["assistant:planner"] }), "assistant: context")
  })

  it("rule 4 before rule 2 where assistants may not trigger one another", () => {
    const said = { from: "assistant:planner", text: "@desk, your turn", channel: "room:quay" }
    assert.strictEqual(outcome(said), "mention: trigger")
    assert.strictEqual(outcome(said, { assistants: "context" }), "assistant: context")
    assert.strictEqual(outcome(said, { assistants: "ignore" }), "assistant: ignore")
  })

  it("rule 5: who is permitted needs no mention", () => {
    const permitted = ["user:ada"]
    assert.deepStrictEqual(judge({ channel: "room:quay" }, { permitted }), {
      verdict: "trigger",
      rule: "permission",
      importance: 8
    })
    assert.strictEqual(outcome({ channel: "dock" }, { permitted, channels: { dock: "ignore" } }), "permission: trigger")
    assert.strictEqual(outcome({ from: "user:bob", channel: "room:quay" }, { permitted }), "room: context")
  })

  it("rule 6: a channel that is named has its own verdict, a single room as well", () => {
    const channels = { dock: "trigger", gossip: "ignore", "room:attic": "ignore" } as const
    assert.strictEqual(outcome({ channel: "dock" }, { channels }), "channel: trigger")
    assert.strictEqual(outcome({ channel: "gossip" }, { channels }), "channel: ignore")
    assert.strictEqual(outcome({ channel: "room:attic" }, { channels }), "channel: ignore")
    assert.strictEqual(outcome({ channel: "constructor" }, { channels }), "fallback: context")
  })

  it("rule 7: F16 what is said in a room goes to the context_buffer", () => {
    assert.deepStrictEqual(judge({ channel: "room:quay" }), { verdict: "context", rule: "room", importance: 6 })
    assert.strictEqual(outcome({ channel: "room:quay" }, { room: "trigger" }), "room: trigger")
  })

  it("rule 8: everything else, the system's words in a channel among it", () => {
    const said = { from: "system", channel: "weather" }
    assert.deepStrictEqual(judge(said), { verdict: "context", rule: "fallback", importance: 3 })
    assert.strictEqual(outcome(said, { otherwise: "ignore" }), "fallback: ignore")
  })

  it("listens by default to what is direct or a mention, and remembers the rest", () => {
    assert.deepStrictEqual(listeningOf({}), DEFAULT_LISTENING)
    assert.deepStrictEqual(listeningOf({ room: "ignore" }), { ...DEFAULT_LISTENING, room: "ignore" })
  })
})

describe("rule 2: what a mention is", () => {
  const mentions = (text: string, changed: Partial<Listening> = {}) =>
    judge({ text, channel: "dock" }, changed).rule === "mention"

  const yes = [
    "@desk",
    "@DESK please",
    "is (@desk) there?",
    "@desk, @planner: come",
    "@desk: hello",
    "I said @desk.",
    "...@desk",
    "thanks @desk's crew",
    "@desk—now",
    "ask @Harbor Desk about it",
    "@änne?",
    "@A\u0308NNE?"
  ]
  for (const text of yes) it(`is in ${JSON.stringify(text)}`, () => assert.isTrue(mentions(text)))

  const no = [
    "desk",
    "ada@desk",
    "@desks",
    "@desk2",
    "@desk-2",
    "@desk.north",
    "@desk:2",
    "@desk_",
    "@ desk",
    "@Harbor",
    "@",
    ""
  ]
  for (const text of no) it(`is not in ${JSON.stringify(text)}`, () => assert.isFalse(mentions(text)))

  it("is also of the names that the listening gives, and never of an empty one", () => {
    assert.isTrue(mentions("@crew, rise", { names: ["crew"] }))
    assert.isFalse(mentions("@crew, rise"))
    assert.isFalse(mentions("@ @@ @, a@b", { names: ["", "  "] }))
  })

  it("takes a name literally, whatever stands in it", () => {
    assert.isTrue(mentions("@a+b.c (d)", { names: ["a+b.c (d)"] }))
    assert.isFalse(mentions("@aabxc d", { names: ["a+b.c (d)"] }))
    assert.isFalse(mentions("@anything", { names: [".*"] }))
  })
})
