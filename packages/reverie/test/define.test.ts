import { assert, describe, it } from "@effect/vitest"
import {
  DEFAULT_SETTINGS,
  defineAssistant,
  defineFleet,
  defineTool,
  Fleet,
  FleetDefinitionInvalid
} from "../src/index.ts"

const clerk = { id: "clerk", instructions: "You are a clerk." }
const look = defineTool({ name: "look", description: "Looks.", run: () => "seen" })

/** The one sentence with which a description is refused. */
const refusal = (describe: () => unknown): string => {
  try {
    describe()
  } catch (error) {
    assert.instanceOf(error, FleetDefinitionInvalid)
    assert.strictEqual(error.recovery, "stop")
    return error.message
  }
  return "it was taken"
}

describe("defineAssistant", () => {
  it("takes the least, and fills in the rest", () => {
    const assistant = defineAssistant(clerk)
    assert.deepStrictEqual([String(assistant.id), assistant.name], ["clerk", "clerk"])
    assert.deepInclude(assistant, {
      systemPrompt: "You are a clerk.",
      settings: {},
      maxContextTokens: 100_000,
      reservedResponseTokens: 4_000
    })
    assert.deepStrictEqual(assistant.toolkit.names, ["noop"])
    assert.isTrue(Object.isFrozen(assistant))
  })

  it("keeps what differs from the defaults, brought into range", () => {
    const { settings } = defineAssistant({
      ...clerk,
      maxSteps: 99,
      settings: { maxErrors: DEFAULT_SETTINGS.maxErrors, requireApproval: false }
    })
    assert.deepStrictEqual(settings, { maxIterations: 10, confirmDangerous: false })
  })

  it.each([
    ["", /assistant "": its id must have 1 to 128 letters/],
    ["front desk", /assistant "front desk": its id must have/],
    ["a/b", /assistant "a\/b"/],
    ["a".repeat(129), /its id must have 1 to 128/]
  ])("I1 refuses the id %j", (id, sentence) => {
    assert.match(
      refusal(() => defineAssistant({ ...clerk, id })),
      sentence
    )
  })

  it("I1 refuses an empty prompt, and a window that leaves nothing for the question", () => {
    assert.match(
      refusal(() => defineAssistant({ ...clerk, instructions: " \n" })),
      /assistant "clerk": its instructions are empty/
    )
    for (const [maxContextTokens, reservedResponseTokens] of [
      [100, 100],
      [100, 0],
      [100, -1],
      [100, 0.2],
      [Number.NaN, undefined],
      [0, undefined],
      [1, undefined]
    ] as const) {
      const shares = reservedResponseTokens === undefined ? {} : { reservedResponseTokens }
      assert.match(
        refusal(() => defineAssistant({ ...clerk, maxContextTokens, ...shares })),
        /assistant "clerk": the answer's share of the context window/
      )
    }
  })

  it("refuses two tools of one name", () => {
    assert.throws(() => defineAssistant({ ...clerk, tools: [look, look] }), /two tools have this name/)
  })
})

describe("defineFleet", () => {
  it("the first assistant is the default one, unless another one is named", () => {
    const assistants = [defineAssistant(clerk), defineAssistant({ ...clerk, id: "desk" })]
    assert.strictEqual(defineFleet({ assistants }).defaultAssistant, "clerk")
    assert.strictEqual(defineFleet({ assistants, defaultAssistant: "desk" }).defaultAssistant, "desk")
  })

  it("I1 refuses an empty list, twins, and a default assistant that is none", () => {
    const assistants = [defineAssistant(clerk)]
    assert.match(
      refusal(() => defineFleet({ assistants: [] })),
      /fleet: it has no assistants/
    )
    assert.match(
      refusal(() => defineFleet({ assistants: [...assistants, ...assistants] })),
      /fleet: two assistants have the same id/
    )
    assert.match(
      refusal(() => defineFleet({ assistants, defaultAssistant: "desk" })),
      /fleet: its defaultAssistant "desk" is none of its assistants/
    )
  })

  it("an impossible tenant is refused before anything is opened", async () => {
    const opening = Fleet.open({
      data: ":memory:",
      model: "offline",
      tenant: "no tenant",
      fleet: defineFleet({ assistants: [defineAssistant(clerk)] })
    })
    const error: unknown = await opening.then(
      () => "it was opened",
      (failure: unknown) => failure
    )
    assert.instanceOf(error, FleetDefinitionInvalid)
    assert.match(error.message, /tenant "no tenant": its id must have/)
  })
})
