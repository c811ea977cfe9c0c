// Hooks that fail, that are late, that crash in between, and that can not be: a guardrail fails closed.

import type { Prompt } from "@reverie/model"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { defineAssistant, defineFleet, FleetDefinitionInvalid, type Hooks } from "../../src/index.ts"
import { aDirectory, gate } from "../rig.ts"
import { masked, paying, withHooks, deedsOf, failedWith, assertRepeats, asking, said } from "./rig.ts"

describe("a hook that fails", () => {
  test("refuses what it guards, with one sentence that names it", async () => {
    const boom = (): never => {
      throw new Error("no rules today")
    }
    const cases: ReadonlyArray<readonly [Hooks, string]> = [
      [{ onMessage: boom }, "HookFailed"],
      [{ beforeModel: boom }, "HookFailed"],
      [{ afterModel: async () => Promise.reject(new Error("no rules today")) }, "AnswerRefused"]
    ]
    for (const [hooks, code] of cases) {
      const [name = ""] = Object.keys(hooks)
      await using fleet = await withHooks(hooks)
      const { message } = await failedWith(fleet.answer("desk", "Hello."), code)
      assert.include(message, `the hook ${name} of assistant "desk" failed: no rules today`)
      const [deed] = await deedsOf(fleet)
      assert.deepStrictEqual([deed?.hook, deed?.did], [name, "failed"])
    }
    await using fleet = await withHooks({ beforeTool: boom }, { says: [paying(5), { text: "Done." }] })
    await fleet.answer("desk", "Pay.")
    const [tick] = (await fleet.history.ticks("desk")).ticks
    assert.strictEqual(
      tick?.tools[0]?.result,
      'Refused: the hook beforeTool of assistant "desk" failed: no rules today'
    )
  })

  test("is stopped when its time is over, and told so by its signal", async () => {
    const aborted: Array<boolean> = []
    await using fleet = await withHooks({
      timeoutMs: 500,
      onMessage: ({ signal, text }) => {
        signal.addEventListener("abort", () => aborted.push(signal.aborted))
        return text === "Hang." ? new Promise(() => {}) : undefined
      }
    })
    const { message } = await failedWith(fleet.answer("desk", "Hang."), "HookFailed")
    assert.include(message, 'the hook onMessage of assistant "desk" gave no answer within 500 ms')
    assert.deepStrictEqual(aborted, [true])
    assert.strictEqual(await fleet.answer("desk", "Hello."), "Good morning.")
  })

  test("holds up no other assistant", async () => {
    const { open, passed } = gate()
    const entered = gate()
    await using fleet = await withHooks({
      onMessage: async ({ assistant }) => {
        if (assistant !== "desk") return
        entered.open()
        await passed
      }
    })
    const held = fleet.answer("desk", "Hello.")
    await entered.passed
    assert.strictEqual(await fleet.answer("clerk", "Hello."), "Good morning.")
    open()
    assert.strictEqual(await held, "Good morning.")
  })

  test("returns nothing but what its place takes", async () => {
    const wrong: ReadonlyArray<readonly [unknown, string]> = [
      ["no", "returned a string, where it may return nothing, { text } or { refuse }"],
      [[], "returned a list"],
      [{ txt: "Hello." }, 'returned "txt", where it may return nothing'],
      [{ ask: "May I?" }, "returned { ask }: only beforeTool may ask a person"],
      [{ refuse: "" }, "returned a reason that is no text, or an empty one"],
      [{ refuse: "No.", text: "Yes." }, "returned { refuse } beside something else"],
      [{ text: 7 }, "returned a value of text that can not be used there"]
    ]
    for (const [answer, sentence] of wrong) {
      await using fleet = await withHooks({ onMessage: () => answer as undefined })
      const { message } = await failedWith(fleet.answer("desk", "Hello."), "HookFailed")
      assert.include(message, sentence)
    }
    const looped: Record<string, unknown> = {}
    looped["itself"] = looped
    await using fleet = await withHooks(
      { beforeTool: () => ({ args: looped as never }) },
      { says: [paying(5), { text: "Done." }] }
    )
    await fleet.answer("desk", "Pay.")
    assert.deepInclude((await deedsOf(fleet))[0], { hook: "beforeTool", did: "failed" })
  })

  test("can not change what it was shown in its place", async () => {
    const { prompts, says } = asking({ text: "Good." })
    await using fleet = await withHooks(
      {
        beforeModel: ({ messages }) => {
          for (const message of messages) Object.assign(message, { content: "gone" })
        }
      },
      { says }
    )
    await fleet.answer("desk", "Hello.")
    await fleet.answer("desk", "Again.")
    assert.deepStrictEqual(said(prompts[1] as Prompt).slice(-3), ["user: Hello.", "assistant: Good.", "user: Again."])
    assert.deepStrictEqual(await deedsOf(fleet), [])
  })
})

describe("hooks and crashes", () => {
  test("before the commit a hook is called again, and after it never", async () => {
    const data = aDirectory()
    const calls: Array<string> = []
    const hooks: Hooks = {
      onMessage: ({ text }) => {
        calls.push("onMessage")
        return { text: masked(text) }
      },
      beforeTool: ({ args }) => {
        calls.push("beforeTool")
        return { args }
      }
    }
    const crashedAt = async (commits: number) => {
      const stuck = gate()
      let left = commits
      const fleet = await withHooks(hooks, {
        data,
        says: [paying(5), { text: "Done." }],
        faults: {
          at: (point, { assistant }) =>
            point === "before-commit" && assistant === "desk" && left-- === 0
              ? Effect.andThen(Effect.sync(stuck.open), Effect.never)
              : Effect.void
        }
      })
      const asked = fleet.send("desk", "Card 1234 5678.", { id: "q" })
      await Promise.all([asked, stuck.passed])
      await fleet.close()
    }
    // Before the commit of the message, then before that of the reply.
    await crashedAt(0)
    assert.deepStrictEqual(calls.splice(0), ["onMessage"])
    await crashedAt(1)
    assert.deepStrictEqual(calls.splice(0), ["onMessage", "beforeTool"])
    await using fleet = await withHooks(hooks, { data, says: [paying(5), { text: "Done." }] })
    assert.strictEqual(await fleet.answer("desk", "Card 1234 5678.", { id: "q" }), "Done.")
    assert.deepStrictEqual(calls, ["beforeTool"])
    await assertRepeats(fleet, () => calls.length)
  })
})

describe("the definition", () => {
  test("refuses a name that there is not, a hook that is no function, a time out of range", async () => {
    const wrong = (hooks: unknown) => () =>
      defineAssistant({ id: "desk", instructions: "You are under test.", hooks: hooks as Hooks })
    assert.throws(
      wrong({ onMesage: () => {} }),
      FleetDefinitionInvalid,
      /assistant "desk": its hooks have no "onMesage".*onMessage/
    )
    assert.throws(
      wrong({ beforeTool: true }),
      FleetDefinitionInvalid,
      "its hooks.beforeTool must be a function, and is true"
    )
    assert.throws(
      wrong({ timeoutMs: 60_001 }),
      FleetDefinitionInvalid,
      "its hooks.timeoutMs must be a whole number from 1 to 60,000"
    )
    const desk = defineAssistant({ id: "desk", instructions: "You are under test." })
    assert.throws(
      () => defineFleet({ assistants: [desk], hooks: { befor: () => {} } as Hooks }),
      FleetDefinitionInvalid,
      /fleet: its hooks have no "befor"/
    )
  })
})
