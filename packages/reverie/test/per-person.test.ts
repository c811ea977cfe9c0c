// People apart: what one person says to an assistant is not shown, recalled or read before another.

import { assert, describe, test } from "vitest"
import { type AssistantOptions, defineAssistant, defineFleet, Fleet, memoryTools, selfTools } from "../src/index.ts"

const SECRET = "kestrel-9713"
const TOLD = `The code of the boathouse door is ${SECRET}.`
const ASKED = "What is the code of the boathouse door?"

/** What its model was shown in each tick, by who began it. */
interface Shown {
  readonly from: string
  readonly text: string
}

const opened = async (
  assistant: Partial<AssistantOptions> = {},
  options: Partial<Parameters<typeof Fleet.open>[0]> = {}
) => {
  const shown: Array<Shown> = []
  const speaking = { from: "" }
  const desk = defineAssistant({
    id: "desk",
    instructions: "You keep the harbour office.",
    tools: memoryTools,
    maxContextTokens: 8_000,
    ...assistant,
    hooks: {
      beforeModel: ({ messages, purpose }) => {
        if (purpose === "answer") shown.push({ from: speaking.from, text: JSON.stringify(messages) })
      }
    }
  })
  const fleet = await Fleet.open({
    data: ":memory:",
    model: "offline",
    fleet: defineFleet({ assistants: [desk] }),
    ...options
  })
  const say = async (from: string, text: string): Promise<void> => {
    speaking.from = from
    await fleet.send("desk", text, { from })
    await fleet.idle()
  }
  /** How many prompts of a person's ticks hold a text, of how many. */
  const prompts = (from: string, text: string) => {
    const own = shown.splice(0).filter((each) => each.from === from)
    return { all: own.length, having: own.filter((each) => each.text.includes(text)).length }
  }
  return { fleet, say, prompts }
}

/** Much is said by three people, slept over and compacted: what was said first is in no window any more. */
const passTime = async ({ fleet, say }: Awaited<ReturnType<typeof opened>>): Promise<void> => {
  for (let at = 0; at < 12; at++) {
    for (const from of ["Ann", "Bob", "Cleo"]) {
      await say(from, `${from} saw ship ${at} come in at pier ${at % 5}, late, with a load of timber and salt.`)
    }
  }
  await fleet.sleep("desk")
  await fleet.idle()
  await fleet.post("desk", { type: "compact" })
  await fleet.idle()
}

const questions = [
  ASKED,
  `/recall_memories {"query":"code of the boathouse door"}`,
  `/read_history {"from":"1/0"}`,
  `/recall_memories {"query":"code boathouse", "kinds":["fact"]}`
]

/** How many of the prompts hold the secret, before Ann who told it, and before Bob; `later`: after much else. */
const leaks = async (perPerson: boolean, options: Parameters<typeof opened>[1] = {}) => {
  const life = await opened({ memory: { perPerson } }, options)
  await using _fleet = life.fleet
  await life.say("Ann", TOLD)
  const asked = async (from: string) => {
    life.prompts(from, "")
    for (const question of questions) await life.say(from, question)
    return life.prompts(from, SECRET)
  }
  const now = { bob: await asked("Bob"), ann: await asked("Ann") }
  await passTime(life)
  return { now, later: { bob: await asked("Bob"), ann: await asked("Ann") } }
}

describe("people apart", () => {
  test("P1 P2 no prompt of another person's tick holds it: in the window, by recall, by tools, after a dream, compacted", async () => {
    const apart = await leaks(true)
    for (const { ann, bob } of [apart.now, apart.later]) {
      assert.isAtLeast(bob.all, questions.length)
      assert.strictEqual(bob.having, 0)
      assert.isAtLeast(ann.having, 1)
    }
    const together = await leaks(false)
    assert.isAtLeast(together.now.bob.having, 1, "the same life shows it where people are not kept apart")
    assert.isAtLeast(together.later.bob.having, 1)
  })

  test("P1 who comes back finds what was said together where it was, no matter who spoke in between", async () => {
    const { fleet, prompts, say } = await opened({ memory: { perPerson: true, recall: "off" } })
    await using _fleet = fleet
    await say("Ann", TOLD)
    await say("Bob", "Good morning.")
    prompts("Ann", "")
    await say("Ann", "Good morning.")
    assert.deepStrictEqual(prompts("Ann", SECRET), { all: 1, having: 1 })
  })

  test("P1 what was noted of one person while another spoke is in no profile that is shown to either", async () => {
    const noted = async (perPerson: boolean) => {
      const { fleet, prompts, say } = await opened({ memory: { perPerson }, tools: selfTools })
      await using _fleet = fleet
      await say("Ann", `/update_entity_observation {"entity":"Bob","observation":"Bob has a cottage named ${SECRET}"}`)
      await fleet.sleep("desk")
      await fleet.idle()
      await fleet.post("desk", { type: "compact" })
      await fleet.idle()
      prompts("Bob", "")
      await say("Bob", "Do you know Bob?")
      return prompts("Bob", SECRET)
    }
    assert.strictEqual((await noted(true)).having, 0)
    assert.isAtLeast((await noted(false)).having, 1)
  })

  test("L3 no night joins what one person asked with what another said, nor puts the one in the place of the other", async () => {
    const learnt = async (perPerson: boolean) => {
      const { fleet, say } = await opened({ memory: { perPerson }, instructions: "You only listen." })
      await using _fleet = fleet
      await say("Gus", "Which clinic did you choose for the melanoma?")
      await say("Ann", "The Aldgate clinic that my aunt likes.")
      await say("Ann", "The fair of Graz is in May 2024.")
      await fleet.sleep("desk")
      await fleet.idle()
      await say("Gus", "The fair of Graz is in June 2024.")
      await fleet.sleep("desk")
      await fleet.idle()
      return (await fleet.memory.facts("desk")).filter(({ state }) => state === "active").map(({ text }) => text)
    }
    const apart = await learnt(true)
    assert.isFalse(apart.some((text) => text.includes("melanoma")))
    assert.lengthOf(
      apart.filter((text) => text.includes("fair")),
      2
    )
    const together = await learnt(false)
    assert.isTrue(together.some((text) => text.includes("melanoma")))
  })

  test("L3 P4 T1 no ask of a night holds what two people said, and nothing is left unread", async () => {
    const asked = async (perPerson: boolean) => {
      const asks: Array<string> = []
      const fleet = await Fleet.open({
        data: ":memory:",
        model: "offline",
        fleet: defineFleet({
          assistants: [
            defineAssistant({
              id: "desk",
              instructions: "You only listen.",
              memory: { perPerson },
              hooks: {
                beforeModel: ({ messages, purpose }) => {
                  if (purpose === "dream") asks.push(messages.map(({ content }) => content).join("\n"))
                }
              }
            })
          ]
        })
      })
      await using _fleet = fleet
      for (let at = 0; at < 15; at++) {
        for (const from of ["Ann", "Bob"]) {
          const name = from === "Ann" ? "heron" : "falcon"
          await fleet.send("desk", `The ship ${name} ${at} lies at Graz. I have a ${name} called Rex ${at}.`, { from })
        }
      }
      await fleet.idle()
      await fleet.sleep("desk")
      await fleet.idle()
      const facts = (await fleet.memory.facts("desk")).map(({ text }) => text)
      const profiled = (await fleet.memory.facts("desk")).filter((fact) => fact.state === "active" && !fact.profiled)
      return { asks, facts, profiled, unlinked: (await fleet.memory.facts("desk")).filter(({ linked }) => !linked) }
    }
    const both = (asks: ReadonlyArray<string>) => asks.filter((text) => /heron/.test(text) && /falcon/.test(text))
    const apart = await asked(true)
    assert.deepStrictEqual(both(apart.asks), [])
    const together = await asked(false)
    assert.isNotEmpty(both(together.asks), "the same life shows both where people are not kept apart")
    assert.deepStrictEqual(apart.facts.toSorted(), together.facts.toSorted())
    assert.isAtLeast(apart.facts.length, 30)
    assert.deepStrictEqual([apart.profiled, apart.unlinked], [[], []])
  })

  test("S1 what stands beside events of one person, such as goals, is shown anew beside those of another", async () => {
    const { fleet, prompts, say } = await opened({ memory: { perPerson: true }, tools: selfTools })
    await using _fleet = fleet
    await say("Ann", `/add_goal {"description":"Paint the boathouse"}`)
    await say("Ann", "Good morning.")
    prompts("Bob", "")
    await say("Bob", "Good morning.")
    assert.deepStrictEqual(prompts("Bob", "Paint the boathouse"), { all: 1, having: 1 })
    await say("Bob", "Good day.")
    assert.deepStrictEqual(prompts("Bob", "Paint the boathouse"), { all: 1, having: 1 })
  })

  test("P3 a sub-agent finds nothing of what a person said", async () => {
    const found = async (perPerson: boolean) => {
      const { fleet, prompts, say } = await opened({ memory: { perPerson }, subAgents: {} })
      await using _fleet = fleet
      await say("Ann", TOLD)
      prompts("Ann", "")
      const task = await fleet.subAgents.delegate("desk", `/recall_memories {"query":"code of the boathouse door"}`)
      await task.report()
      return prompts("Ann", SECRET)
    }
    assert.strictEqual((await found(true)).having, 0)
    assert.isAtLeast((await found(false)).having, 1)
  })

  test("P1 what was put away in one person's tick is found in that person's ticks only", async () => {
    const { fleet, prompts, say } = await opened({ memory: { perPerson: true } })
    await using _fleet = fleet
    await say("Ann", `/store_memory {"text":"The boathouse opens with ${SECRET}."}`)
    const found = async (from: string) => {
      prompts(from, "")
      await say(from, `/recall_memories {"query":"boathouse opens", "kinds":["passage"]}`)
      return prompts(from, SECRET)
    }
    assert.strictEqual((await found("Bob")).having, 0)
    assert.isAtLeast((await found("Ann")).having, 1)
  })

  test("P1 what was put away in one person's tick is deleted in that person's ticks only", async () => {
    const { fleet, say } = await opened({ memory: { perPerson: true } })
    await using _fleet = fleet
    await say("Ann", `/store_memory {"text":"The boathouse opens with ${SECRET}."}`)
    const left = () => fleet.memory.passages("desk")
    const id = (await left())[0]?.id ?? ""
    await say("Bob", `/delete_archival {"id":"${id}"}`)
    assert.lengthOf(await left(), 1)
    await say("Ann", `/delete_archival {"id":"${id}"}`)
    assert.lengthOf(await left(), 0)
  })

  test("P4 a reminder is of the person in whose tick it was set, and what an operator sets is everyone's", async () => {
    const { fleet, prompts, say } = await opened({ memory: { perPerson: true }, tools: selfTools })
    await using _fleet = fleet
    const noteOf = async (name: string) =>
      (await fleet.reminders.list("desk")).find(({ id, state }) => id === name && state === "active")?.note
    const shown = async (from: string, text: string) => {
      prompts(from, "")
      await say(from, "/list_reminders {}")
      return prompts(from, text).having > 0
    }
    await say("Ann", `/set_reminder {"name":"boat","in_minutes":600,"note":"The code is ${SECRET}."}`)
    await fleet.reminders.set("desk", "tide", { inMs: 3_600_000, note: "The tide is high." })
    await fleet.idle()
    assert.isFalse(await shown("Bob", SECRET))
    assert.isFalse(await shown("user", SECRET), "who gives no name")
    assert.isTrue(await shown("Bob", "The tide is high."))
    await say("Bob", `/cancel_reminder {"name":"boat"}`)
    await say("Bob", `/set_reminder {"name":"boat","in_minutes":5,"note":"Bob was here."}`)
    assert.include(await noteOf("boat"), SECRET)
    await say("Bob", `/cancel_reminder {"name":"tide"}`)
    assert.isUndefined(await noteOf("tide"))
    await say("Ann", `/set_reminder {"name":"boat","in_minutes":700,"note":"It was ${SECRET}."}`)
    assert.include(await noteOf("boat"), "It was")
    assert.isTrue(await shown("Ann", SECRET))
    await say("Ann", `/cancel_reminder {"name":"boat"}`)
    assert.isUndefined(await noteOf("boat"))
  })

  test("P4 of Ann who is forgotten no reminder says anything, and the life replays", async () => {
    const { fleet, say } = await opened({ memory: { perPerson: true }, tools: selfTools })
    await using _fleet = fleet
    await say("Ann", `/set_reminder {"name":"boat","in_minutes":600,"note":"The code is ${SECRET}."}`)
    await say("Bob", "Good morning.")
    await fleet.forget({ person: "Ann" })
    const left = JSON.stringify([await fleet.history.entries("desk", 1, 100), await fleet.reminders.list("desk")])
    assert.notInclude(left, SECRET)
    assert.notInclude(left, "Ann")
    assert.include(left, "Good morning.")
    assert.isTrue((await fleet.replay.verify("desk")).equal)
  })

  test("P1 what belongs to no one is found by everyone: what an operator wrote", async () => {
    const { fleet, prompts, say } = await opened({ memory: { perPerson: true } })
    await using _fleet = fleet
    await fleet.memory.addFact("desk", `The boathouse is painted in ${SECRET}.`)
    await fleet.idle()
    await say("Bob", "Which paint has the boathouse?")
    assert.isAtLeast(prompts("Bob", SECRET).having, 1)
  })

  test("P1 what an operator wrote stays everybody's when one person says it too", async () => {
    const { fleet, prompts, say } = await opened({ memory: { perPerson: true } })
    await using _fleet = fleet
    const paint = `The boathouse is painted in ${SECRET}.`
    // As the offline model takes down what Ann says.
    await fleet.memory.addFact("desk", `Ann said: ${paint}`)
    await fleet.idle()
    await say("Ann", paint)
    await fleet.sleep("desk")
    await fleet.idle()
    const facts = await fleet.memory.facts("desk")
    assert.lengthOf(facts[0]?.sources ?? [], 2, "Ann's message is a source of it")
    await say("Bob", "Which paint has the boathouse?")
    assert.isAtLeast(prompts("Bob", SECRET).having, 1)
  })

  test("R2 the report of a prompt says how much of the history was kept from the person", async () => {
    const { fleet, say } = await opened({ memory: { perPerson: true } })
    await using _fleet = fleet
    await say("Ann", TOLD)
    await say("Bob", "Good morning.")
    const { leftOut = [] } = (await fleet.history.contextReport("desk")) ?? {}
    assert.deepStrictEqual(
      leftOut.map(({ messages, reason }) => [reason, messages]),
      [["other-person", 2]]
    )
  })
})
