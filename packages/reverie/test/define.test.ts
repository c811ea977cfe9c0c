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

  it("I2 keeps what differs from the defaults, as it was written", () => {
    const { settings } = defineAssistant({
      ...clerk,
      maxSteps: 100,
      settings: { maxErrors: DEFAULT_SETTINGS.maxErrors, requireApproval: false }
    })
    assert.deepStrictEqual(settings, { maxIterations: 100, confirmDangerous: false })
  })

  const wrong: ReadonlyArray<readonly [object, string]> = [
    [{ maxSteps: 101 }, "its maxSteps must be a whole number from 1 to 100, and is 101"],
    [{ maxSteps: "9" }, 'its maxSteps must be a whole number from 1 to 100, and is "9"'],
    [{ maxStep: 9 }, 'defineAssistant has no "maxStep"; there are id, instructions,'],
    [{ tags: ["two words"] }, 'its tag "two words" must have 1 to 64 letters, digits and . _ : -'],
    [{ tags: ["day", "day"] }, 'it has the tag "day" twice'],
    [{ tags: Array.from({ length: 33 }, (_, n) => `t${n}`) }, "it has 33 tags, and at most 32 are allowed"],
    [{ settings: { approvalMs: -5 } }, "its settings.approvalMs must be a whole number of at least 1, and is -5"],
    [{ settings: { maxErrors: 101 } }, "its settings.maxErrors must be a whole number from 1 to 100, and is 101"],
    [{ settings: { aprovalMs: 5 } }, 'its settings have no "aprovalMs"; there are multiStep,'],
    [{ settings: { multiStep: "yes" } }, 'its settings.multiStep must be true or false, and is "yes"'],
    [{ settings: { compactSleepRatio: 70 } }, "its settings.compactSleepRatio must be a number from 0 to 1, and is 70"],
    [{ settings: { retryMinMs: 9, retryMaxMs: 8 } }, "its settings.retryMinMs is 9, and more than its retryMaxMs, 8"],
    [
      { sleep: { timeZone: "Mars/Base" } },
      "its sleep.timeZone must be a name of the IANA database, as Europe/Berlin, and"
    ],
    [{ sleep: { startHour: 24 } }, "its sleep.startHour must be a whole number from 0 to 23, and is 24"],
    [{ sleep: { durationHours: 30 } }, "its sleep.durationHours must be a number from 0"],
    [{ sleep: { hour: 3 } }, 'its sleep has no "hour"; there are enabled, startHour'],
    [{ memory: { maxHit: 3 } }, 'its memory has no "maxHit"; there are recall, maxHits, maxTokens'],
    [{ memory: { maxHits: 0 } }, "its memory.maxHits must be a whole number of at least 1, and is 0"],
    [
      { compaction: { compactPreserveWindow: 0 } },
      "its compaction.compactPreserveWindow must be a whole number from 1"
    ],
    [{ compaction: { strategy: { type: "cut" } } }, "its compaction.strategy.type must be truncate or recursive-summ"],
    [{ messageRate: { perPair: 1 } }, "its messageRate.perPair must be a whole number of at least 2, and is 1"],
    [
      { listening: { channels: { ops: "shout" } } },
      "its listening.channels.ops must be trigger, context or ignore, and"
    ],
    [{ subAgents: { maxConcurrent: 101 } }, "its subAgents.maxConcurrent must be a whole number from 0 to 100, and is"],
    [{ subAgents: { maxDepth: 9 } }, "its subAgents.maxDepth must be a whole number from 1 to 8, and is 9"],
    [{ subAgents: { budget: { token: 9 } } }, 'its subAgents.budget has no "token"; there are tokens, calls'],
    [{ budget: { tokens: 0.5 } }, "its budget.tokens must be a whole number from 1 to 1,000,000,000,000, and is 0.5"],
    [
      { toolRules: [{ type: "start", tool: "lok" }] },
      'a tool rule names "lok", which is none of its tools: look, noop'
    ],
    [{ contexts: { Plan: {} } }, 'its context "Plan" needs a name of small letters'],
    [
      { contexts: { plan: { mode: "plan" } } },
      "its contexts.plan.mode must be single_action, react_loop or plan_execute,"
    ],
    [{ contexts: { plan: { maxSteps: 9 } } }, "its contexts.plan.maxSteps is 9, and the maxSteps of the assistant 5"],
    [{ contexts: { plan: { tools: ["lok"] } } }, 'its contexts.plan.tools name "lok"; there are look, noop'],
    [
      { contexts: { plan: { overrides: { goal: "x" } } } },
      'its contexts.plan.overrides have no "goal"; there are system_'
    ],
    [
      { contexts: { sleep_consolidate: { tools: ["dig"] } } },
      'its contexts.sleep_consolidate.tools name "dig"; there are noop, add_journal_entry'
    ],
    [
      { contexts: { sleep_consolidate: { maxSteps: 11 } } },
      "its contexts.sleep_consolidate.maxSteps is 11, and a dream"
    ],
    [
      { contexts: { sleep_consolidate: { mode: "single_action" } } },
      "its contexts.sleep_consolidate.mode has no effect"
    ]
  ]
  it.each(wrong)("I2 refuses %j", (options, sentence) => {
    const said = refusal(() => defineAssistant({ ...clerk, tools: [look], ...options }))
    assert.include(said, `assistant "clerk": ${sentence}`)
    assert.notInclude(said, "\n")
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
    const nothingLeft = "the answer's share of the context window leaves nothing for the question"
    for (const [maxContextTokens, reservedResponseTokens, sentence] of [
      [100, 100, nothingLeft],
      [100, 0, "its reservedResponseTokens must be a whole number of at least 1, and is 0"],
      [100, -1, "its reservedResponseTokens must be a whole number of at least 1, and is -1"],
      [100, 0.2, "its reservedResponseTokens must be a whole number of at least 1, and is 0.2"],
      [Number.NaN, undefined, "its maxContextTokens must be a whole number of at least 1, and is NaN"],
      [0, undefined, "its maxContextTokens must be a whole number of at least 1, and is 0"],
      [1, undefined, nothingLeft]
    ] as const) {
      const shares = reservedResponseTokens === undefined ? {} : { reservedResponseTokens }
      assert.strictEqual(
        refusal(() => defineAssistant({ ...clerk, maxContextTokens, ...shares })),
        `assistant "clerk": ${sentence}`
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
