// Hooks of messages, prompts and answers: each changes or refuses, what it did is recorded, and no replay calls one again.

import type { Prompt } from "@reverie/model"
import { assert, describe, test } from "vitest"
import { type AssistantOptions, defineAssistant, defineFleet, forkTick, type Hooks } from "../../src/index.ts"
import { all, openFleet } from "../rig.ts"
import { CARD, masked, paying, withHooks, deedsOf, OF, failedWith, assertRepeats, asking, said } from "./rig.ts"

describe("onMessage", () => {
  test("changes a message before anything of it is taken up; what stood there is recorded", async () => {
    const seen: Array<unknown> = []
    const { prompts, says } = asking({ text: "Noted." })
    await using fleet = await withHooks(
      {
        onMessage: ({ signal, ...message }) => {
          seen.push(message, signal.aborted)
          return { text: masked(message.text) }
        }
      },
      { says }
    )
    assert.strictEqual(await fleet.answer("desk", "My card is 1234 5678.", { id: "m", from: "ann" }), "Noted.")
    assert.deepStrictEqual(seen, [
      { assistant: "desk", tenant: "default", id: "m", from: "ann", text: "My card is 1234 5678." },
      false
    ])
    assert.strictEqual(said(prompts[0] as Prompt).at(-1), "user: My card is [card].")
    assert.deepStrictEqual(await deedsOf(fleet), [
      { hook: "onMessage", of: OF, did: "changed", before: "My card is 1234 5678." }
    ])
    await assertRepeats(fleet, () => seen.length)
  })

  test("refuses a message: it is dead-lettered with the reason, and who asks learns it", async () => {
    await using fleet = await withHooks({
      onMessage: ({ text }) => (text.includes("!") ? { refuse: "No shouting." } : undefined)
    })
    const failure = await failedWith(fleet.answer("desk", "Now!"), "HookRefused")
    assert.strictEqual(failure.message, "desk could not answer: No shouting.")
    const [dead] = await fleet.deadLetters.list()
    assert.deepInclude(dead, { reason: "HookRefused: No shouting." })
    assert.deepStrictEqual(await deedsOf(fleet), [
      { hook: "onMessage", of: OF, did: "refused", reason: "No shouting.", before: "Now!" }
    ])
    assert.strictEqual(await fleet.answer("desk", "Please."), "Good morning.")
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
  })

  test("the fleet's is called first, and has no say in what it does not return", async () => {
    const seen: Array<string> = []
    const noting = (of: string): Hooks => ({
      onMessage: ({ assistant, text }) => {
        seen.push(`${of} of ${assistant}: ${text}`)
        return { text: `${text} ${of}` }
      }
    })
    const definition = (id: string, options: Partial<AssistantOptions>) =>
      defineAssistant({ id, instructions: "You are under test.", ...options })
    const fleetDefinition = defineFleet({
      assistants: [definition("desk", { hooks: noting("own") }), definition("clerk", {})],
      hooks: noting("fleet")
    })
    await using fleet = await openFleet({ fleet: fleetDefinition })
    await fleet.answer("desk", "Hello.")
    await fleet.answer("clerk", "Hello.")
    assert.deepStrictEqual(seen, ["fleet of desk: Hello.", "own of desk: Hello. fleet", "fleet of clerk: Hello."])
    assert.deepStrictEqual(
      (await deedsOf(fleet)).map(({ of }) => of),
      ["the fleet", OF]
    )
  })
})

describe("beforeModel", () => {
  test("changes the prompt that the model is asked; the exact prompt is what the model got", async () => {
    let calls = 0
    const { prompts, says } = asking({ text: "First." }, { text: "Second." })
    await using fleet = await withHooks(
      {
        beforeModel: ({ iteration, messages, purpose, tools }) => {
          calls++
          assert.deepStrictEqual([iteration, purpose, tools.map(({ name }) => name)], [1, "answer", ["pay", "noop"]])
          return { messages: messages.map((each) => ({ ...each, content: masked(each.content) })), append: "Be kind." }
        }
      },
      { says }
    )
    await fleet.answer("desk", "My card is 1234 5678.")
    await fleet.answer("desk", "And 8765 4321.")
    assert.deepStrictEqual(said(prompts[1] as Prompt).slice(-4), [
      "user: My card is [card].",
      "assistant: First.",
      "user: And [card].",
      "user: Be kind."
    ])
    const [deed] = await deedsOf(fleet)
    assert.deepInclude(deed, { hook: "beforeModel", did: "changed" })
    assert.isBelow(JSON.stringify(deed).length, 400, "only what differs is recorded")
    for (const tick of [1, 2]) {
      const [prompt] = await assertRepeats(fleet, () => calls, tick)
      assert.deepStrictEqual(
        prompt?.messages.map(({ content, role }) => `${role}: ${content}`),
        said(prompts[tick - 1] as Prompt)
      )
      assert.deepInclude(prompt?.messages.at(-1), { part: { id: -1, key: "hook" }, exact: true })
      assert.strictEqual(prompt?.messages[0]?.part.key, "system_prompt")
    }
  })

  test("refuses a prompt: nothing is sent, the tick fails with the reason, and no one halts", async () => {
    const { prompts, says } = asking({ text: "Yes." })
    let isShut = true
    await using fleet = await withHooks({ beforeModel: () => (isShut ? { refuse: "Closed." } : undefined) }, { says })
    for (let time = 0; time < 6; time++) await failedWith(fleet.answer("desk", "Open?"), "HookRefused")
    assert.lengthOf(prompts, 0)
    assert.strictEqual((await fleet.inspect("desk"))?.state.status, "awake.idle")
    assert.lengthOf(await deedsOf(fleet), 6)
    isShut = false
    assert.strictEqual(await fleet.answer("desk", "Open?"), "Yes.")
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
    const fork = await forkTick(fleet, fleet.definition, { assistant: "desk", tick: 1, model: "recorded" })
    assert.deepStrictEqual(fork.differs, [])
  })
})

describe("afterModel", () => {
  test("changes an answer; no piece of it is shown before", async () => {
    let calls = 0
    await using fleet = await withHooks(
      {
        afterModel: ({ text }) => {
          calls++
          return { text: masked(text) }
        }
      },
      { says: [{ text: "It is 1234 5678." }] }
    )
    const parts = await all(fleet.ask("desk", "Which card?"))
    assert.deepStrictEqual(
      parts.map((part) => (part.type === "text" ? part.text : part.type)),
      ["It is [card].", "usage", "done"]
    )
    assert.deepInclude(parts.at(-1), { outcome: "answered", reply: "It is [card]." })
    assert.deepStrictEqual(await deedsOf(fleet), [
      { hook: "afterModel", of: OF, did: "changed", before: { text: "It is 1234 5678." } }
    ])
    await assertRepeats(fleet, () => calls)
  })

  test("changes the calls of a reply, which are named anew", async () => {
    let calls = 0
    await using fleet = await withHooks(
      {
        afterModel: ({ calls: asked }) => {
          calls++
          return asked.length === 0 ? undefined : { calls: asked.filter(({ args }) => Number(args["cents"]) < 100) }
        }
      },
      { says: [{ calls: [paying(900).calls, paying(5).calls].flat() }, { text: "Done." }] }
    )
    assert.strictEqual(await fleet.answer("desk", "Pay."), "Done.")
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepStrictEqual(
      tick?.tools.map(({ arguments: args, call }) => [call, args]),
      [["1.1.0", '{"cents":5}']]
    )
    await assertRepeats(fleet, () => calls)
  })

  test("refuses an answer: the model answers again, and the words that were refused reach no one", async () => {
    let calls = 0
    const { prompts, says } = asking({ text: "It is 1234 5678." }, { text: "I may not say." })
    await using fleet = await withHooks(
      {
        afterModel: ({ text }) => {
          calls++
          return text.search(CARD) < 0 ? undefined : { refuse: "It names a card." }
        }
      },
      { says }
    )
    assert.strictEqual(await fleet.answer("desk", "Which card?"), "I may not say.")
    assert.deepStrictEqual(said(prompts[1] as Prompt).slice(-2), [
      "assistant: (withheld)",
      "user: Your answer was not accepted: It names a card. Answer again."
    ])
    const entries = await fleet.history.entries("desk")
    const messages = entries.flatMap(({ entry }) => entry.messages)
    assert.notInclude(JSON.stringify(messages), "1234")
    assert.deepStrictEqual(await deedsOf(fleet), [
      {
        hook: "afterModel",
        of: OF,
        did: "refused",
        reason: "It names a card.",
        before: { text: "It is 1234 5678.", calls: [] }
      }
    ])
    await assertRepeats(fleet, () => calls)
  })

  test("that refuses every answer ends the tick as refused after two tries more", async () => {
    const { prompts, says } = asking({ text: "1234 5678" })
    let calls = 0
    await using fleet = await withHooks(
      {
        afterModel: () => {
          calls++
          return { refuse: "It names a card." }
        }
      },
      { says }
    )
    const failure = await failedWith(fleet.answer("desk", "Which card?", { id: "q" }), "AnswerRefused")
    assert.strictEqual(failure.message, "desk gave no whole answer: a hook refused its answer: It names a card.")
    assert.strictEqual(failure.reply, "")
    assert.lengthOf(prompts, 3)
    await failedWith(fleet.answer("desk", "Which card?", { id: "q" }), "AnswerRefused")
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepInclude(tick, { outcome: "refused", reply: "" })
    await assertRepeats(fleet, () => calls)
  })

  test("refuses a reply with calls as a whole: nothing of it runs", async () => {
    await using fleet = await withHooks(
      { afterModel: ({ calls }) => (calls.length > 0 ? { refuse: "Pay nothing." } : undefined) },
      { says: [paying(900), { text: "I pay nothing." }] }
    )
    assert.strictEqual(await fleet.answer("desk", "Pay."), "I pay nothing.")
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.deepStrictEqual(tick?.tools, [])
  })
})
