// The form of an answer in a running worker: asked for, judged, asked for again, and kept through a crash.

import { assert, beforeAll, describe, it } from "@effect/vitest"
import { inTurn } from "@reverie/testkit"
import { acceptForm, type Form, formOf } from "@reverie/tools"
import type { Prompt } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { aTool, calling, live, type LifeOptions } from "./rig.ts"

const BERTH = {
  type: "object",
  properties: { berth: { type: "number" }, from: { type: "string" } },
  required: ["berth", "from"]
} as const

const FITTING = { text: '{"berth":7,"from":"noon"}' }
const FENCED = { text: '```json\n{"berth":7,"from":"noon"}\n```' }
const PROSE = { text: "Berth 7, from noon." }
const WRONG = { text: '{"berth":"7"}' }

const known = (accepted: Form | string): Form => {
  if (typeof accepted === "string") throw new Error(accepted)
  return accepted
}

// The time of these lives waits for nothing that really happens, and the check of a JSON Schema is loaded with its first use.
beforeAll(() => Effect.runPromise(Effect.exit(known(formOf(BERTH)).validate({}))))

const asked = (options: LifeOptions, output: typeof BERTH | null = BERTH) => {
  const life = live(options)
  life.post({ type: "message", text: "Which berth?", ...(output === null ? {} : { output }) }, { id: "m-1" })
  life.rest()
  return life
}

const promptsOf = ({ scripted }: { readonly scripted: { readonly prompts: ReadonlyArray<Prompt> } }) =>
  scripted.prompts.map(({ messages }) => messages.slice(1).map(({ content, role }) => `${role}: ${content}`))

describe("an answer that must have a form", () => {
  it("is read by it, in words where the model reads none, and its JSON stands in the end of the tick", () => {
    const life = asked({ model: FENCED })
    assert.deepStrictEqual(life.ends(), [
      {
        envelope: "m-1",
        outcome: "answered",
        iterations: 1,
        reply: FENCED.text,
        output: { berth: 7, from: "noon" }
      }
    ])
    const [[question = "", described = ""] = []] = promptsOf(life)
    assert.strictEqual(question, "user: Which berth?")
    assert.match(
      described,
      /^user: Give your answer as one JSON object that fits this JSON Schema.*"additionalProperties":false/s
    )
    assert.deepInclude(life.messages()[0], { role: "user", output: BERTH })
    assert.deepInclude(life.told("tick-ended")[0], { output: { berth: 7, from: "noon" } })
    const detail = life.entries().at(-1)?.step?.detail ?? {}
    const { parts } = detail["context"] as unknown as { readonly parts: ReadonlyArray<{ readonly key: string }> }
    assert.strictEqual(parts.at(-1)?.key, "answer_form")
  })

  it("reaches a model that reads forms beside the messages, together with tools", () => {
    const prompts: Array<Prompt> = []
    const life = live({ model: inTurn(PROSE, FITTING), tools: [aTool("look")] })
    const { infer } = life.scripted.model
    const native = live({
      tools: [aTool("look")],
      model: {
        serves: { provider: "scripted", model: "scripted", output: "native" },
        infer: (prompt, options) => {
          prompts.push(prompt)
          return infer(prompt, options)
        }
      }
    })
    native.post({ type: "message", text: "Which berth?", output: BERTH })
    native.rest()
    assert.deepStrictEqual(prompts[0]?.output, { name: "answer", schema: { ...BERTH, additionalProperties: false } })
    assert.strictEqual(prompts[0]?.messages.at(-1)?.content, "Which berth?")
    assert.deepStrictEqual(
      prompts[0]?.tools.map(({ name }) => name),
      ["look", "noop"]
    )
    assert.deepInclude(native.ends()[0], { outcome: "answered", output: { berth: 7, from: "noon" } })
    // One that has not kept to it reads it in words as well: some wires pass over what they do not know.
    assert.deepStrictEqual(prompts[1]?.output, prompts[0]?.output)
    assert.match(prompts[1]?.messages.at(-1)?.content ?? "", /^Give your answer as one JSON object/)
  })

  it("is asked for again with what was wrong, and the words stay in the history of the tick", () => {
    const life = asked({ model: inTurn(PROSE, WRONG, FITTING) })
    assert.deepInclude(life.ends()[0], { outcome: "answered", iterations: 3, reply: FITTING.text })
    const again = "Answer again with one JSON object of the form that was asked for, and nothing else."
    const [, second = [], third = []] = promptsOf(life)
    assert.lengthOf(second, 4)
    assert.match(
      second[2] ?? "",
      new RegExp(`^user: Your answer was not accepted: the answer: is not JSON .*${again}$`)
    )
    assert.deepStrictEqual(third.slice(3, 5), [
      `assistant: ${WRONG.text}`,
      `user: Your answer was not accepted: from: is missing; berth: must be number. ${again}`
    ])
    // The prompt of a repair begins with the whole of the one before it, but for the words about the form.
    assert.deepStrictEqual(third.slice(0, 3), second.slice(0, 3))
    assert.deepStrictEqual(life.entries().flatMap(({ step }) => step?.detail?.["misfit"] ?? []).length, 3)
    assert.deepStrictEqual(
      life.messages().map(({ rejected }) => rejected !== undefined),
      [false, true, true, false]
    )
  })

  it("that never fits ends the tick as misshapen, with what does not fit; no one is asked a fourth time", () => {
    const life = asked({ model: WRONG })
    assert.deepStrictEqual(life.ends(), [
      {
        envelope: "m-1",
        outcome: "misshapen",
        iterations: 3,
        reply: WRONG.text,
        misfit: "from: is missing; berth: must be number"
      }
    ])
    assert.lengthOf(life.scripted.prompts, 3)
    assert.deepStrictEqual(life.settled(), [{ id: "m-1", outcome: "handled" }])
    // Nothing is asked for behind the last one: the next tick reads no order to answer again.
    assert.isUndefined(life.messages().at(-1)?.rejected)
    life.say("Thank you.")
    life.rest()
    assert.deepInclude(life.ends()[1], { outcome: "answered", reply: WRONG.text })
  })

  it("tools run before it, and a call beside a text is no answer", () => {
    const life = asked({
      tools: [aTool("look")],
      model: inTurn({ ...calling("look"), text: "I look it up." }, WRONG, calling("look"), FITTING)
    })
    assert.deepInclude(life.ends()[0], { outcome: "answered", iterations: 4 })
    assert.deepStrictEqual(
      life.messages().map(({ role }) => role),
      ["user", "assistant", "tool", "assistant", "assistant", "tool", "assistant"]
    )
  })

  it("N1 that of the message comes before that of the definition; a timer has none, nor has a message without both", () => {
    const definition = { output: known(acceptForm(Schema.Struct({ ok: Schema.Boolean }))) }
    const life = asked({ definition, model: inTurn(FITTING, { text: '{"ok":true}' }, PROSE) })
    assert.deepInclude(life.ends()[0], { output: { berth: 7, from: "noon" } })
    life.say("Are you well?")
    life.rest()
    assert.deepInclude(life.ends()[1], { outcome: "answered", output: { ok: true } })
    life.post({ type: "timer", name: "tea" })
    life.rest()
    assert.notProperty(life.ends()[2] ?? {}, "output")
    assert.deepInclude(life.ends()[2], { outcome: "answered", reply: PROSE.text })

    const plain = asked({ model: PROSE }, null)
    assert.deepInclude(plain.ends()[0], { outcome: "answered", iterations: 1 })
    assert.notProperty(plain.scripted.prompts[0] ?? {}, "output")
    assert.lengthOf(plain.scripted.prompts[0]?.messages ?? [], 2)
  })

  it("N2 survives a crash between two tries: the next process asks for the same form", () => {
    const first = live({ model: PROSE })
    first.post({ type: "message", text: "Which berth?", output: BERTH })
    first.until(() => first.messages().some(({ rejected }) => rejected !== undefined))
    const second = live({
      disk: first.disk,
      model: inTurn(WRONG, FITTING),
      assistants: [],
      startAt: first.time.now + 60_000
    })
    second.rest()
    assert.deepInclude(second.ends()[0], { outcome: "answered", iterations: 3, output: { berth: 7, from: "noon" } })
    assert.lengthOf(second.scripted.prompts, 2)
  })

  it("a sender among assistants that waits for it learns that it failed", () => {
    const definition = { output: known(formOf(BERTH)) }
    const life = live({ definition, model: WRONG, assistants: ["ada", "ben"] })
    life.post({ type: "message", text: "Which berth?", wantsAnswer: true }, { from: "assistant:ben" })
    life.rest()
    const answer = life.entries("ada").flatMap(({ sends = [] }) => sends)[0]?.event
    assert.deepInclude(answer, {
      type: "message",
      text: "its answer has another form than it must have: from: is missing; berth: must be number"
    })
    assert.deepInclude((answer as { answers?: object }).answers, { outcome: "failed" })
  })
})
