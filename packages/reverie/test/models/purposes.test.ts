import { assert, describe, it } from "@effect/vitest"
import type { Model, Prompt } from "@reverie/model"
import { offlineModel } from "@reverie/model-offline"
import { purposes } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import {
  defineAssistant,
  type DefineFleetOptions,
  defineFleet,
  defineTeam,
  Fleet,
  FleetDefinitionInvalid,
  type ModelChoice,
  type ModelOptions,
  type PurposeModels
} from "../../src/index.ts"
import { choiceFor } from "../../src/models/models.ts"
import { calls, scriptedModel, testFleet } from "../../src/testing/index.ts"

/** What a question is for, by the name that its calls would have. */
const kindOf = ({ callPrefix, messages }: Prompt): string => {
  if (/^\d+\.\d+$/.test(callPrefix)) return "tick"
  if (callPrefix.startsWith("dream.")) return /^dream\.\d+\.(\w+)/.exec(callPrefix)?.[1] ?? "dream"
  if (callPrefix.startsWith("summary.") || callPrefix.startsWith("extract")) return "compact"
  return messages.some(({ content }) => content.includes("recommended_mode")) ? "assess" : callPrefix
}

/** A model that answers by rules and notes what it was asked for. */
const named = (name: string, asked: Array<string>): Model["Service"] => {
  const { infer } = offlineModel()
  return {
    serves: { provider: "test", model: name },
    infer: (prompt) =>
      Effect.suspend(() => {
        asked.push(`${kindOf(prompt)} ${name}`)
        return Effect.map(infer(prompt), (reply) => ({ ...reply, model: name }))
      })
  }
}

const told = ["Olga has a boat that is called Aurora.", "Olga lives in Kiel.", "The Aurora is 95 metres long."]

/** Lives through a day, a night and a compaction of an assistant, and says who was asked for what. */
const lived = async (
  assistant: (model: (name: string) => ModelChoice) => ModelOptions,
  fleet: (model: (name: string) => ModelChoice) => ModelOptions
): Promise<ReadonlyArray<string>> => {
  const asked: Array<string> = []
  const model = (name: string) => named(name, asked)
  const desk = defineAssistant({
    id: "desk",
    instructions: "You are the desk.",
    assessWith: "model",
    settings: { assessTask: true },
    compaction: { compactPreserveWindow: 1 },
    ...assistant(model)
  })
  await using open = await Fleet.open({ data: ":memory:", fleet: defineFleet({ assistants: [desk], ...fleet(model) }) })
  for (const text of told) await open.answer("desk", text, { from: "olga" })
  await open.compactions.run("desk")
  await open.idle()
  await open.sleep("desk")
  await open.idle()
  return [...new Set(asked)].toSorted()
}

describe("M1 the nearest choice counts", () => {
  it("an assistant's for the purpose, an assistant's, a fleet's for the purpose, a fleet's: in a day and a night", async () => {
    const found = await lived(
      (model) => ({ model: model("own"), models: { dream: model("night"), assess: model("judge") } }),
      (model) => ({ model: model("fleet"), models: { compact: model("fleet-compact"), dream: model("fleet-night") } })
    )
    assert.includeMembers([...found], ["tick own", "assess judge", "consolidate night", "profile night", "compact own"])
    assert.isEmpty(found.filter((each) => each.includes("fleet")))
  })

  it("a fleet's where the assistant names none", async () => {
    const found = await lived(
      () => ({}),
      (model) => ({
        model: model("fleet"),
        models: { compact: model("small"), dream: model("night"), profile: model("faces") }
      })
    )
    assert.includeMembers(
      [...found],
      ["tick fleet", "assess fleet", "consolidate night", "profile faces", "compact small"]
    )
    assert.strictEqual(found.filter((each) => each.startsWith("profile ")).length, 1)
  })

  it("for every combination of what is said", () => {
    const said = (where: string, mask: number): ModelOptions => {
      const models: { -readonly [Name in keyof PurposeModels]: ModelChoice } = {}
      if ((mask & 1) !== 0) models.profile = `${where}-profile/m`
      if ((mask & 2) !== 0) models.dream = `${where}-dream/m`
      if ((mask & 4) !== 0) models.answer = `${where}-answer/m`
      return { models, ...((mask & 8) !== 0 ? { model: `${where}/m` } : {}) }
    }
    const wanted = (purpose: string, own: number, fleet: number): string | undefined => {
      for (const [where, mask] of [
        ["a", own],
        ["f", fleet]
      ] as const) {
        if (purpose === "profile" && (mask & 1) !== 0) return `${where}-profile/m`
        if (["profile", "dream"].includes(purpose) && (mask & 2) !== 0) return `${where}-dream/m`
        if (purpose === "answer" && (mask & 4) !== 0) return `${where}-answer/m`
        if ((mask & 8) !== 0) return `${where}/m`
      }
      return undefined
    }
    for (let own = 0; own < 16; own++) {
      for (let fleet = 0; fleet < 16; fleet++) {
        for (const purpose of purposes) {
          assert.strictEqual(choiceFor(purpose, said("a", own), said("f", fleet)), wanted(purpose, own, fleet))
        }
      }
    }
  })
})

describe("models of others", () => {
  it("a member answers its team with the model of its seat, and everyone else with its own", async () => {
    const asked: Array<string> = []
    const [ada, bo] = ["ada", "bo"].map((id) => defineAssistant({ id, instructions: "You answer." }))
    if (ada === undefined || bo === undefined) return assert.fail("no members")
    const council = defineTeam({
      id: "council",
      members: [{ assistant: ada, model: named("seat", asked) }, { assistant: bo }],
      pattern: "round-robin"
    })
    const fleet = defineFleet({ assistants: [ada, bo], teams: [council], model: named("fleet", asked) })
    await using open = await Fleet.open({ data: ":memory:", fleet })
    await open.answer("council", "What is free?")
    assert.deepStrictEqual(asked, ["tick seat"])
    await open.answer("ada", "What is free?")
    await open.answer("council", "And now?")
    assert.deepStrictEqual(asked, ["tick seat", "tick fleet", "tick fleet"])
  })

  it("sub-agents ask what their owner has for them; a specialist with a model of its own asks that", async () => {
    const asked: Array<string> = []
    const expert = defineAssistant({ id: "expert", instructions: "You know ships.", model: named("expert", asked) })
    const scout = defineAssistant({ id: "scout", instructions: "You look." })
    const desk = defineAssistant({
      id: "desk",
      instructions: "You hand on.",
      model: named("own", asked),
      subAgents: { assistants: ["expert", "scout"], model: named("cheap", asked), maxConcurrent: 5 }
    })
    const fleet = defineFleet({ assistants: [desk, expert, scout], model: named("fleet", asked) })
    await using open = await Fleet.open({ data: ":memory:", fleet })
    for (const specialist of [undefined, "expert", "scout"]) {
      asked.length = 0
      const request = { task: "Count ships.", ...(specialist === undefined ? {} : { specialist }) }
      const task = await open.subAgents.delegate("desk", request)
      await task.report()
      assert.deepStrictEqual([...new Set(asked)], [`tick ${specialist === "expert" ? "expert" : "cheap"}`], specialist)
    }
  })

  it("limits of a model hold for the assistant that asks it, and no other", async () => {
    const shown: Array<readonly [string, number]> = []
    const wide = named("wide", [])
    const counting = (model: Model["Service"]): Model["Service"] => ({
      ...model,
      infer: (prompt) => {
        shown.push([String(model.serves?.model), prompt.messages.length])
        return model.infer(prompt)
      }
    })
    const prompt = { modelOverrides: { narrow: { maxTokens: 3_000, reservedResponseTokens: 500 } } }
    const assistants = [
      defineAssistant({
        id: "a",
        instructions: "You talk.",
        prompt,
        model: counting({ ...wide, serves: { provider: "t", model: "narrow" } })
      }),
      defineAssistant({ id: "b", instructions: "You talk.", prompt })
    ]
    await using open = await Fleet.open({ data: ":memory:", fleet: defineFleet({ assistants, model: counting(wide) }) })
    const long = "A word and another one. ".repeat(150)
    for (const to of ["a", "b"]) for (let turn = 0; turn < 5; turn++) await open.answer(to, `${turn} ${long}`)
    const most = (name: string) => Math.max(...shown.flatMap(([model, length]) => (model === name ? [length] : [])))
    assert.isBelow(most("narrow"), most("wide"))
  })
})

describe("M4 one model for everyone", () => {
  const away = { baseURL: "http://127.0.0.1:9/v1", model: "far", timeoutMs: 1_000 }

  it("a fleet that is opened offline asks no one else", async () => {
    const assistants = [defineAssistant({ id: "desk", instructions: "You are the desk.", model: away })]
    const fleet = defineFleet({ assistants, models: { answer: away } })
    await using open = await Fleet.open({ data: ":memory:", fleet, model: "offline" })
    assert.match(await open.answer("desk", "What are you?"), /not a language model/)
  })

  it("a test fleet asks its script and no one else, and sees every call", async () => {
    const desk = defineAssistant({ id: "desk", instructions: "You are the desk.", model: "anthropic/claude-x" })
    await using open = await testFleet(desk, { model: scriptedModel([calls("noop"), "Well."]) })
    assert.strictEqual(open.modelCalls.length, 0)
    await open.answer("desk", "Good morning.")
    assert.isAbove(open.modelCalls.length, 0)
  })
})

const refusals: ReadonlyArray<readonly [says: string, define: () => unknown]> = [
  [
    `assistant "desk": its model is "gpt-5", which names no provider; `,
    () => defineAssistant({ id: "desk", instructions: "x", model: "gpt-5" })
  ],
  [
    `assistant "desk": its models have no "night"; there are answer, assess, dream, profile, compact`,
    () => defineAssistant({ id: "desk", instructions: "x", models: { night: "offline" } as PurposeModels })
  ],
  [
    `assistant "desk": its models.dream is "nix/x" of the unknown provider "nix"; `,
    () => defineAssistant({ id: "desk", instructions: "x", models: { dream: "nix/x" } })
  ],
  [
    `assistant "desk": its subAgents.model is an empty list`,
    () => defineAssistant({ id: "desk", instructions: "x", subAgents: { model: [] } })
  ],
  [
    `team "council": the model of ada has no model; `,
    () =>
      defineTeam({
        id: "council",
        pattern: "round-robin",
        members: [{ assistant: "ada", model: { baseURL: "http://h/v1" } as ModelChoice }]
      })
  ],
  [
    `fleet: its models must be an object`,
    () => {
      const options: DefineFleetOptions = { assistants: [defineAssistant({ id: "desk", instructions: "x" })] }
      return defineFleet({ ...options, models: "offline" as unknown as PurposeModels })
    }
  ]
]

describe("a model that can not be meant is refused where it is written", () => {
  it.each(refusals)("%s", (says, define) => {
    try {
      define()
      assert.fail("it was taken")
    } catch (error) {
      assert.instanceOf(error, FleetDefinitionInvalid)
      assert.include((error as Error).message, says)
    }
  })

  it("a key that is missing is said when the fleet is opened", async () => {
    const desk = defineAssistant({ id: "desk", instructions: "x", model: ["offline", "mistral/m"] })
    const failure: unknown = await Fleet.open({ data: ":memory:", fleet: defineFleet({ assistants: [desk] }) }).catch(
      (error) => error
    )
    assert.instanceOf(failure, FleetDefinitionInvalid)
    assert.include(
      (failure as Error).message,
      `model "mistral/m" needs its key: set MISTRAL_API_KEY in the environment`
    )
  })
})

describe("a definition as a person reads it", () => {
  it("names its models, with nothing of a key", async () => {
    const server = { baseURL: "http://me:sk-secret@127.0.0.1:1/v1", model: "m", apiKey: "sk-secret" }
    const desk = defineAssistant({
      id: "desk",
      instructions: "x",
      model: [server, "offline"],
      models: { dream: "offline" }
    })
    await using open = await Fleet.open({
      data: ":memory:",
      fleet: defineFleet({ assistants: [desk] }),
      model: "offline"
    })
    const [view] = open.definitions()
    assert.deepStrictEqual(view?.models, {
      model: "m at http://127.0.0.1:1/v1, else the offline model",
      dream: "the offline model"
    })
    assert.notInclude(JSON.stringify(view), "sk-secret")
  })
})
