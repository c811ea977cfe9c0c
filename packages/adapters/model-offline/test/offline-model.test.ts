import { assert, describe, it } from "@effect/vitest"
import { ModelRefused, type Prompt, type PromptMessage, type Reply, type ToolOffer } from "@reverie/model"
import type { Json } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { offlineModel } from "../src/index.ts"
import { AT_A_LOSS, CAN, SELF } from "../src/calls.ts"
import { MAX_CALLS } from "../src/offline-model.ts"

const offer = (
  name: string,
  description: string,
  properties: { readonly [name: string]: Json } = {},
  required: ReadonlyArray<string> = Object.keys(properties)
): ToolOffer => ({ name, description, parameters: { type: "object", properties, required: [...required] } })

const bookBerth = offer(
  "book_berth",
  "Reserves a mooring place for a vessel.",
  {
    ship: { type: "string" },
    length: { type: "number" },
    side: { enum: ["port", "starboard"] },
    covered: { type: "boolean" }
  },
  ["ship"]
)
const tides = offer("tide_table", "Tells when the water is high and low.", { day: { type: "string" } }, [])
const say = offer("say", "Says something to whoever asked.", { text: { type: "string" } })
const notify = offer("notify_crew", "Sends word to sailors.", { people: { type: "array", items: { type: "string" } } })
const noop = offer("noop", "Does nothing. Use it when a tool must be called and nothing should change.")
const tools = [bookBerth, tides, notify, noop]

const user = (content: string, name = "ann"): PromptMessage => ({ role: "user", content, name })
const system: PromptMessage = { role: "system", content: "You keep the harbour. The office opens at six." }

const model = offlineModel()
const infer = (messages: ReadonlyArray<PromptMessage>, offers = tools, onText?: (text: string) => void): Reply =>
  Effect.runSync(model.infer(promptOf(messages, offers), onText === undefined ? {} : { onText }))
const promptOf = (messages: ReadonlyArray<PromptMessage>, offers = tools): Prompt => ({
  messages,
  tools: offers,
  callPrefix: "7.1"
})
const callsFor = (text: string, offers = tools) =>
  infer([system, user(text)], offers).calls.map((call) => [call.tool, call.arguments])

/** What an assistant would have in its history after the reply and its results. */
const after = (messages: ReadonlyArray<PromptMessage>, reply: Reply, ...results: ReadonlyArray<string>) => [
  ...messages,
  { role: "assistant" as const, content: reply.text, calls: reply.calls },
  ...reply.calls.map(({ id, tool }, index) => ({
    role: "tool" as const,
    content: results[index] ?? "",
    call: id,
    name: tool
  }))
]

/** A history was compacted in the middle of the tick: what was saved before it stands behind the question. */
const saved = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<PromptMessage> => {
  const call = { id: "compact.31.0", tool: "add_journal_entry", arguments: { content: "Ann has a boat." } }
  return [
    ...messages,
    { role: "assistant", content: "", calls: [call] },
    { role: "tool", content: `{"success":true}`, call: call.id, name: call.tool }
  ]
}

describe("a history compacted in the middle of a tick", () => {
  it("O2 what was asked is still done and answered, not what was saved", () => {
    const asked = saved([system, user('Please book a berth for the ship "Aurora".')])
    const reply = infer(asked)
    assert.deepStrictEqual(
      reply.calls.map((call) => [call.tool, call.arguments]),
      [["book_berth", { ship: "Aurora" }]]
    )
    assert.strictEqual(infer(after(asked, reply, "Pier 3.")).text, "Pier 3.")
    assert.deepStrictEqual(
      infer(saved([system, user("/tide_table day=21")])).calls.map(({ tool }) => tool),
      ["tide_table"]
    )
  })
})

describe("written calls", () => {
  it("D1 JSON, pairs and a bare name are that very call, several lines several calls", () => {
    const reply = infer([
      user(
        `Please do this:\n/book_berth {"ship":"Aurora","length":12}\n/tide_table day="next Monday"\n/noop\n/book_berth ship=7 covered=true length=3.5`
      )
    ])
    assert.deepStrictEqual(reply.calls, [
      { id: "7.1.0", tool: "book_berth", arguments: { ship: "Aurora", length: 12 } },
      { id: "7.1.1", tool: "tide_table", arguments: { day: "next Monday" } },
      { id: "7.1.2", tool: "noop", arguments: {} },
      { id: "7.1.3", tool: "book_berth", arguments: { ship: "7", covered: true, length: 3.5 } }
    ])
    assert.strictEqual(reply.finish, "tool-calls")
    assert.strictEqual(reply.text, "")
  })

  it("D1 a timer's note may hold one", () => {
    assert.deepStrictEqual(callsFor("[timer dusk] /tide_table day=today"), [["tide_table", { day: "today" }]])
  })

  it("D1 a tool that is not offered is called too, broken JSON is marked malformed", () => {
    const [unknown, broken] = infer([user("/paint_hull colour=red\n/book_berth {ship")]).calls
    assert.deepStrictEqual(unknown, { id: "7.1.0", tool: "paint_hull", arguments: { colour: "red" } })
    assert.strictEqual(broken?.tool, "book_berth")
    assert.isString(broken?.malformed)
  })

  it("D1 hostile keys do not get through", () => {
    const [pairs, json] = callsFor('/x __proto__=1 day=2\n/x {"__proto__":1,"day":3}')
    assert.deepStrictEqual(pairs, ["x", { day: 2 }])
    assert.deepStrictEqual(json, ["x", { day: 3 }])
  })

  it("D1 a path, an aside and an unknown bare name are text", () => {
    assert.deepStrictEqual(callsFor("/etc/passwd is gone", []), [])
    assert.deepStrictEqual(callsFor("/me waves and smiles", []), [])
    assert.deepStrictEqual(callsFor("/help", []), [])
  })

  it("O2 the same line twice is one call, and none is repeated after its result", () => {
    const first = [user("/tide_table day=today\n/tide_table day=today")]
    const reply = infer(first)
    assert.strictEqual(reply.calls.length, 1)
    const next = infer(after(first, reply, "High at noon"))
    assert.deepStrictEqual(next.calls, [])
    assert.strictEqual(next.text, "High at noon.")
  })
})

describe("steps", () => {
  const asked = [
    user("First:\n/tide_table day=today\n/noop\nThen\n/tide_table day=today\n/noop a=1\n then \n/noop b=2")
  ]

  it("D1 a line `then` begins the next step, which waits for the results of the one before", () => {
    const first = infer(asked)
    assert.deepStrictEqual(
      first.calls.map(({ arguments: args }) => args),
      [{ day: "today" }, {}]
    )
    const second = infer(after(asked, first, "High at noon", "ok"))
    assert.deepStrictEqual(
      second.calls.map(({ arguments: args }) => args),
      [{ a: 1 }],
      "a call that was made before is not made again"
    )
    const third = infer(after(after(asked, first, "High at noon", "ok"), second, "ok"))
    assert.deepStrictEqual(
      third.calls.map(({ arguments: args }) => args),
      [{ b: 2 }]
    )
    const last = infer(after(after(after(asked, first, "High at noon", "ok"), second, "ok"), third, "ok"))
    assert.deepStrictEqual(last.calls, [])
    assert.include(last.text, "High at noon")
  })

  it("D1 `then` within a line is a word", () => {
    assert.strictEqual(infer([user("/noop a=1\nand then\n/noop b=2")]).calls.length, 2)
  })
})

describe("choice by words", () => {
  it("D2 words of a name are enough, endings do not matter, and the best of several wins", () => {
    assert.deepStrictEqual(callsFor("When are the tides today?"), [["tide_table", {}]])
    assert.deepStrictEqual(callsFor("Any berths for a vessel tonight?")[0]?.[0], "book_berth")
    assert.deepStrictEqual(callsFor("Is the water high now, or low?")[0]?.[0], "tide_table")
  })

  it("D2 one word of a description is not enough, and noop and tools that speak are never chosen", () => {
    assert.deepStrictEqual(callsFor("Thank you for the water."), [])
    assert.deepStrictEqual(callsFor("Say that nothing should change.", [say, noop]), [])
  })

  it("D3 text comes from quotes, from after the parameter's name, from after the tool's name, or is the whole message", () => {
    assert.deepStrictEqual(callsFor('Book a berth for "Sea Cow", please'), [["book_berth", { ship: "Sea Cow" }]])
    assert.deepStrictEqual(callsFor("Book a berth: the ship is Aurora, thanks"), [["book_berth", { ship: "Aurora" }]])
    assert.deepStrictEqual(callsFor("Book a berth for Aurora."), [["book_berth", { ship: "Aurora" }]])
    assert.deepStrictEqual(callsFor("We want to book"), [["book_berth", { ship: "We want to book" }]])
  })

  it("D3 numbers, choices and switches", () => {
    assert.deepStrictEqual(callsFor("Book a covered berth on the starboard side for ship Aurora length 12.5"), [
      ["book_berth", { ship: "Aurora", length: 12.5, side: "starboard", covered: true }]
    ])
    assert.deepStrictEqual(callsFor("Book a berth, not covered, for the ship Aurora"), [
      ["book_berth", { ship: "Aurora", covered: false }]
    ])
    const lamp = offer("lamp", "Switches a light.", {
      state: { enum: ["on", "off"] },
      level: { type: "integer", default: 3 }
    })
    assert.deepStrictEqual(callsFor("lamp off", [lamp]), [["lamp", { state: "off", level: 3 }]])
  })

  it("D3 a list is split, and a schema in another form is understood", () => {
    assert.deepStrictEqual(callsFor("Notify the crew: people Ann, Ben and Cy"), [
      ["notify_crew", { people: ["Ann", "Ben", "Cy"] }]
    ])
    const odd = offer("find_pilot", "", {
      name: { anyOf: [{ type: "null" }, { type: "string" }] },
      deep: { type: "object" }
    })
    assert.deepStrictEqual(callsFor("find the pilot name Ida", [odd]), [["find_pilot", { name: "Ida" }]])
  })
})

describe("requests in a list", () => {
  it("D5 each line with a dash is a call by words, and `then` begins the next step", () => {
    const text =
      'Two things before noon:\n- Book a berth for the ship "Aurora" of 12 metres length\n- Look up the tide table of day 3\nthen\n- Say "All is ready."'
    const asked = [system, user(text)]
    const first = infer(asked, [...tools, say])
    assert.deepStrictEqual(
      first.calls.map((call) => [call.tool, call.arguments]),
      [
        ["book_berth", { ship: "Aurora", length: 12 }],
        ["tide_table", { day: "3" }]
      ]
    )
    const second = infer(after(asked, first, "Pier 3.", "High at noon."), [...tools, say])
    assert.deepStrictEqual(
      second.calls.map((call) => [call.tool, call.arguments]),
      [["say", { text: "All is ready." }]]
    )
  })

  it("D5 a line that fits no tool is none, and a list that asks for nothing is heard as it is", () => {
    assert.deepStrictEqual(callsFor("What I like:\n- pears\n- long walks"), [])
    assert.deepStrictEqual(callsFor("- Sing\n- Look up the tide table of day 4"), [["tide_table", { day: "4" }]])
  })

  it("D6 a number within a quote is no argument of its own", () => {
    assert.deepStrictEqual(callsFor('Book a berth for the ship "Vessel 9", length 14.'), [
      ["book_berth", { ship: "Vessel 9", length: 14 }]
    ])
  })
})

describe("answers", () => {
  it("O3 a message without a word is refused, and only when it is the one to answer", () => {
    const exit = Effect.runSyncExit(model.infer(promptOf([user(" \n")])))
    assert.isTrue(Exit.isFailure(exit))
    const failure = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert.instanceOf(failure, ModelRefused)
    assert.strictEqual(infer([user(""), user("Good morning")]).text, "Noted.")
  })

  it("O4 asked what it is, it says that it is not a language model", () => {
    for (const question of ["Who are you?", "What are you", "Are you a language model?", "Which model is this?"]) {
      assert.strictEqual(infer([system, user(question)]).text, SELF)
    }
    assert.include(SELF, "not a language model")
    assert.notStrictEqual(infer([system, user("What are you doing on Sunday?")]).text, SELF)
  })

  it("O9 greeted, or asked what it can do, it names its tools", () => {
    for (const text of ["hello", "Hi!", "What can you do?", "help"]) {
      assert.strictEqual(
        infer([system, user(text)]).text,
        `${CAN}book_berth, tide_table, notify_crew. Ask in plain words.`
      )
    }
    assert.strictEqual(infer([system, user("hello")], []).text, "Noted.")
    assert.notInclude(infer([system, user("hello from the quay")]).text, CAN)
    const many = Array.from({ length: 14 }, (_, index) => offer(`tool_${index}`, "Does something."))
    assert.include(infer([system, user("hello")], many).text, "tool_11 and 2 more.")
  })

  it("O4 at a loss it says so", () => {
    assert.strictEqual(infer([system, user("Where is Paris?")]).text, AT_A_LOSS)
    assert.include(AT_A_LOSS, "not a language model")
  })

  it("Q1 it quotes the nearest sentence and who said it, the newest of equals first, never itself", () => {
    const history: ReadonlyArray<PromptMessage> = [
      system,
      user("My dog is called Rex. He bites.", "ben"),
      { role: "assistant", content: "Your dog is called Rex, a dog." },
      user("What is my dog called?", "cy"),
      user("The dog of my aunt is called Tom.", "eve")
    ]
    assert.strictEqual(
      infer([...history, user("How is the dog called?")]).text,
      'eve said: "The dog of my aunt is called Tom." ben said: "My dog is called Rex."'
    )
    assert.strictEqual(
      infer([...history, user("When does the office open?")]).text,
      'My instructions say: "The office opens at six."'
    )
  })

  it("it notes what asks for nothing", () => {
    assert.strictEqual(infer([system, user("My ship is blue.")], []).text, "Noted.")
    assert.strictEqual(infer([], []).text, "Noted.")
  })

  it("after results it tells them in words, or says them aloud when a tool for that is offered", () => {
    const asked = [system, user("/tide_table day=today\n/book_berth ship=Aurora")]
    const reply = infer(asked)
    const told = after(asked, reply, '{"high":"noon","low":["six","seven"]}', "Berth 4 is yours.")
    const expected = "tide_table: high noon, low six and seven. book_berth: Berth 4 is yours."
    assert.strictEqual(infer(told).text, expected)
    assert.strictEqual(infer(told, [...tools, say]).text, expected)

    const one = [system, user("/tide_table day=today")]
    const aloud = infer(after(one, infer(one), "High at noon"), [...tools, say])
    assert.deepStrictEqual(aloud.calls, [{ id: "7.1.0", tool: "say", arguments: { text: "High at noon." } }])
  })

  it("a long result is reported in short, an empty one is done, the third one is counted", () => {
    const asked = [user("/a x=1\n/b x=1\n/c x=1")]
    const told = infer(after(asked, infer(asked), "x".repeat(9_000), "", "more")).text
    assert.isBelow(told.length, 400)
    assert.match(told, /^a: x+… b is done\. And 1 more\.$/)
  })
})

describe("the port", () => {
  it("O2 it comes to rest, whatever the results are", () => {
    for (const text of ["Book a berth for Aurora", "When are the tides?", "/say text=hello", "Who are you?"]) {
      let messages: ReadonlyArray<PromptMessage> = [system, user(text)]
      const made: Array<string> = []
      let reply = infer(messages, [...tools, say])
      while (reply.calls.length > 0) {
        made.push(...reply.calls.map(({ tool, arguments: args }) => JSON.stringify([tool, args])))
        assert.isAtMost(made.length, MAX_CALLS)
        messages = after(messages, reply, "Interrupted: nobody knows.")
        reply = infer(messages, [...tools, say])
      }
      assert.strictEqual(new Set(made).size, made.length)
      assert.notStrictEqual(reply.text, "")
      assert.strictEqual(reply.finish, "stop")
    }
  })

  it("it streams word by word what the reply holds, and nothing for calls", () => {
    const parts: Array<string> = []
    const reply = infer([user("Who are you?")], [], (text) => parts.push(text))
    assert.strictEqual(parts.join(""), reply.text)
    assert.isAbove(parts.length, 10)
    infer([user("/noop")], tools, () => assert.fail("calls are not text"))
  })

  it("O1 the same prompt has the same reply", () => {
    const messages = [system, user("Book a berth for Aurora")]
    assert.deepStrictEqual(infer(messages), infer(messages))
  })

  it("usage is counted, by the counter that is given and once for each message", () => {
    const texts: Array<string> = []
    const counting = offlineModel({ count: (text) => (texts.push(text), 10) })
    const prompt = promptOf([system, user("hello")])
    const first = Effect.runSync(counting.infer(prompt))
    assert.deepStrictEqual(first.usage, { inputTokens: 28, outputTokens: 10, source: "counted" })
    Effect.runSync(counting.infer(prompt))
    assert.strictEqual(texts.filter((text) => text === "hello").length, 1)
    assert.deepStrictEqual(infer([user("12345678")]).usage, { inputTokens: 6, outputTokens: 2, source: "counted" })
  })
})

describe("steps of a goal", () => {
  const request = (goal: string) =>
    `Divide this into 3 to 7 steps.\n\n${goal}\nPriority: high\n\nAnswer with a JSON array of short texts, one a step.`

  it("L1 O5 a goal becomes three steps of its own words, as a JSON array", () => {
    const { text } = infer([system, user(request("Goal: Repair the north light. "))], [])
    assert.deepStrictEqual(JSON.parse(text), [
      "Prepare: Repair the north light",
      "Do: Repair the north light",
      "Check: Repair the north light"
    ])
  })

  it("O5 any other list that is asked for as JSON is empty, whatever tools are at hand", () => {
    const text = "Look back on your journal. Answer with a JSON array of insights about the harbour."
    assert.strictEqual(infer([system, user(text)]).text, "[]")
  })

  it("D4 a tool of several free texts is chosen by words only when the message quotes as many", () => {
    const letter = offer("write_letter", "Writes a letter.", { title: { type: "string" }, body: { type: "string" } })
    assert.deepStrictEqual(callsFor("Please write a letter to the owner of the boat.", [letter]), [])
    assert.deepStrictEqual(callsFor('Write a letter: "Dues" and "They are paid."', [letter]), [
      ["write_letter", { title: "Dues", body: "They are paid." }]
    ])
  })

  it("O5 without a goal, or with tools at hand, the list is empty; without a request for one it is any other message", () => {
    assert.strictEqual(infer([user(request("Goal: "))], []).text, "[]")
    assert.strictEqual(infer([user("Goal: Repair the light. What are the steps?")], []).text, AT_A_LOSS)
    assert.strictEqual(infer([user(request("Goal: Repair the north light."))], [noop]).text, "[]")
  })
})
