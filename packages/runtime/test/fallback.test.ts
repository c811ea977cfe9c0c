import { assert, describe, it } from "@effect/vitest"
import {
  firstOf,
  type Model,
  ModelDenied,
  type ModelError,
  ModelParked,
  ModelUnavailable,
  type Prompt
} from "@reverie/model"
import { anAddress, memoryAllowance, type Script, scriptedModel } from "@reverie/testkit"
import { delegateTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { acting, delegate, office, reported, said } from "./office.ts"
import { dreamer } from "./dreamer.ts"
import { aTool, calling, live } from "./rig.ts"

type Service = Model["Service"]

const NO_ANSWER = { provider: "first:1", message: "no answer" }

const down = new ModelUnavailable({ ...NO_ANSWER, kind: "network" })

const named = (name: string, infer: Service["infer"]): Service => ({
  serves: { provider: "test", model: name, server: `${name}:1` },
  infer
})

/** A model that does what it is asked to fail with, and answers by a script when it does not fail. */
const failing = (
  name: string,
  error: (prompt: Prompt) => ModelError | undefined,
  script: Script = () => Effect.succeed({ text: "Here." })
) => {
  const { model } = scriptedModel(script)
  const asked: Array<Prompt> = []
  const infer: Service["infer"] = (prompt, options) =>
    Effect.suspend(() => {
      asked.push(prompt)
      const failure = error(prompt)
      return failure === undefined ? model.infer(prompt, options) : Effect.fail(failure)
    })
  return { model: named(name, infer), asked }
}

const steps = (life: ReturnType<typeof live>, kind: string, name = "ada") =>
  life.entries(name).flatMap(({ step }) => (step?.kind === kind ? [step] : []))

const EARLIER = [{ model: "first", server: "first:1", reason: "ModelUnavailable: no answer" }]

describe("a list of models", () => {
  it("O1 an outage of the first halts and parks no one, and the entry says who answered, and why not the first", () => {
    const first = failing("first", () => down)
    const second = failing("second", () => undefined)
    const life = live({ model: firstOf([first.model, second.model]) })
    for (let turn = 0; turn < 3; turn++) life.say(`Hello ${turn}.`)
    life.rest()
    assert.deepStrictEqual(
      life.ends().map(({ outcome }) => outcome),
      ["answered", "answered", "answered"]
    )
    assert.isEmpty(life.told("model-failed"))
    assert.isFalse(life.entries().some(({ status }) => status.includes("parked")))
    for (const { detail, ok } of steps(life, "infer")) {
      assert.isTrue(ok)
      assert.deepInclude(detail, { model: "scripted", server: "second:1", earlier: EARLIER })
    }
  })

  it("a tool that may not run twice runs once, no matter which model has asked for it", () => {
    let isFirst = true
    const marks: Array<string> = []
    const act: Script = (prompt) =>
      Effect.succeed(prompt.messages.at(-1)?.role === "tool" ? { text: "Done." } : calling("pay"))
    const first = failing(
      "first",
      () => {
        // Asks for the tool, and is away when its result is there.
        const failure = isFirst ? undefined : down
        isFirst = false
        return failure
      },
      act
    )
    const second = failing("second", () => undefined, act)
    const pay = aTool("pay", { effect: (_, { key }) => Effect.sync(() => `paid ${marks.push(key)}`) })
    const life = live({ model: firstOf([first.model, second.model]), tools: [pay] })
    life.say("Pay.")
    life.rest()
    assert.lengthOf(marks, 1)
    assert.deepStrictEqual(
      steps(life, "infer").map(({ detail }) => detail?.["server"]),
      ["first:1", "second:1"]
    )
    assert.deepInclude(life.ends()[0], { outcome: "answered", reply: "Done." })
  })

  it("each model that is asked is a call of its own for the limits of a tenant", () => {
    const allowance = memoryAllowance()
    const models = [failing("first", () => down), failing("second", () => undefined)] as const
    const life = live({
      allowance,
      limits: { of: () => ({ callsPerMinute: 3 }), tariff: {} },
      model: firstOf([models[0].model, models[1].model])
    })
    life.say("One.")
    life.until(() => life.ends().length === 1)
    assert.strictEqual(life.run(allowance.look(anAddress().tenant)).inDay.calls, 2)
    // The third call is the last that there is room for, and no other model has more.
    life.say("Two.")
    life.until(() => life.status() === "awake.thinking.parked")
    assert.deepStrictEqual([models[0].asked.length, models[1].asked.length], [2, 1])
    assert.match(life.told("model-failed")[0]?.reason ?? "", /^CallLimited: /)
  })

  it("a night and its steps say it too", () => {
    const first = failing("first", () => down)
    const second = failing("second", () => undefined, dreamer())
    const life = live({ model: firstOf([first.model, second.model]) })
    life.say("Olga lives in Kiel.")
    life.rest()
    life.post({ type: "sleep" })
    life.rest()
    const asking = steps(life, "dream").filter(({ usage }) => usage !== undefined)
    assert.isNotEmpty(asking)
    for (const { detail } of asking) assert.deepInclude(detail, { model: "scripted", earlier: EARLIER })
    for (const { detail } of steps(life, "dream").filter(({ usage }) => usage === undefined)) {
      assert.notProperty(detail, "model")
    }
  })
})

describe("a list of models under a budget", () => {
  /** How often each was asked by a sub-agent with a budget; the first fails so often. */
  const budgeted = (error: ModelError, times: number) => {
    let left = times
    const child = acting([delegate({ task: "Look", calls: 4 }), said("ok")], [said("Nine ships.")])
    const first = failing("first", ({ paidOnce }) => (paidOnce === true && left-- > 0 ? error : undefined), child)
    const second = failing("second", () => undefined, child)
    const life = office({ tools: delegateTools, model: firstOf([first.model, second.model]) })
    life.say("Go")
    life.rest()
    assert.deepInclude(reported(life), { success: true })
    return [first, second].map(({ asked }) => asked.filter(({ paidOnce }) => paidOnce === true).length)
  }

  it("O6 goes on to the next where the one before has cost nothing", () => {
    const parked = new ModelParked({ ...NO_ANSWER, retryAfterMs: 9 })
    for (const error of [down, new ModelDenied({ ...NO_ANSWER, status: 401 }), parked]) {
      assert.deepStrictEqual(budgeted(error, 99), [1, 1], error._tag)
    }
  })

  it("O6 and asks no other where a model may have worked: what was moved away for one call pays for one", () => {
    assert.deepStrictEqual(budgeted(new ModelUnavailable({ ...NO_ANSWER, kind: "cut" }), 1), [2, 0])
  })
})
