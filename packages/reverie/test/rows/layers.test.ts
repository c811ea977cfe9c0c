// Layers: settings, kind of context and assessment narrow what a tick may do, in a running fleet and one after another.

import type { Line, Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { type AssistantOptions, defineTool, type Fleet, selfTools } from "../../src/index.ts"
import { calling, openFleet } from "../rig.ts"

const look = defineTool({ name: "look", description: "Looks.", run: () => "Two ships." })
const dig = defineTool({ name: "dig", description: "Digs.", needsApproval: true, run: () => "A hole." })

interface Verdict {
  readonly event_class?: string
  readonly recommended_mode?: string
  readonly recommended_iterations?: number
  readonly recommend_confirm_dangerous?: boolean
}

/** Nothing that a verdict could ask for narrows anything. */
const WIDE: Verdict = {
  event_class: "goal_action",
  recommended_mode: "react_loop",
  recommended_iterations: 10,
  recommend_confirm_dangerous: false
}

/** A model that gives this verdict on a task, and else says always the same. */
const saying = (line: Line, verdict: Verdict = {}) => {
  let asked = 0
  const says: Script = ({ messages }) =>
    Effect.sync(() => {
      const isAssessed = messages.at(-1)?.content.startsWith("Assess this task") === true
      if (!isAssessed) asked++
      return isAssessed ? { text: JSON.stringify({ complexity: 5, ...WIDE, ...verdict }) } : line
    })
  return { says, calls: () => asked }
}

interface Pattern {
  readonly source_layers: Readonly<Record<string, string>>
  readonly context_signals: Readonly<Record<string, unknown>>
  readonly [part: string]: unknown
}

const patternIn = async (fleet: Fleet): Promise<Pattern> => {
  const report = await fleet.history.contextReport("desk")
  assert.isDefined(report?.pattern)
  return report?.pattern as unknown as Pattern
}

interface Layers {
  readonly assistant?: Partial<AssistantOptions>
  readonly context?: string
  readonly verdict?: Verdict
}

/** What a tick was left by its layers, and how many model calls it made where the model calls for ever. */
const narrowed = async ({ assistant = {}, context = "tick_event", verdict }: Layers) => {
  const { calls, says } = saying(calling("look"), verdict)
  const assessed = verdict === undefined ? {} : { assessWith: "model" as const }
  const settings = { ...assistant.settings, assessTask: verdict !== undefined }
  await using fleet = await openFleet({
    says,
    tools: [look, dig, ...selfTools],
    assistant: { ...assistant, ...assessed, settings }
  })
  await fleet.send("desk", "Go on.", { context })
  await fleet.idle()
  return { pattern: await patternIn(fleet), calls: calls() }
}

const wide = {
  mode: "plan_execute",
  multiStep: true,
  requireApproval: false,
  stopOnFinal: false,
  subAgents: true
} as const

describe("three layers of what a tick may do", () => {
  test("F32 a layer that asks for more gets nothing of it, whichever came before", async () => {
    const settings = { multiStep: false, requireApproval: true, stopOnFinal: true }
    const { calls, pattern } = await narrowed({
      assistant: { settings, contexts: { wide } },
      context: "wide",
      verdict: WIDE
    })
    assert.deepInclude(pattern, {
      mode: "single_action",
      max_iterations: 1,
      multi_tool_enabled: false,
      dangerous_requires_confirm: true,
      terminal_ends_loop: true,
      sub_agents_enabled: false
    })
    assert.strictEqual(calls, 1)
    const narrow = { mode: "single_action", toolCategories: ["safe_chain"] } as const
    const second = await narrowed({ assistant: { contexts: { narrow } }, context: "narrow", verdict: WIDE })
    assert.deepInclude(second.pattern, { mode: "single_action", allowed_categories: ["safe_chain"] })
    assert.strictEqual(second.calls, 1)
  })

  test("F33 what holds where nothing was said: several tools, five steps, no assessment, no sub-agents, three where allowed", async () => {
    const { calls, pattern } = await narrowed({})
    assert.deepInclude(pattern, {
      mode: "react_loop",
      max_iterations: 5,
      multi_tool_enabled: true,
      sub_agents_enabled: false,
      dangerous_requires_confirm: true
    })
    assert.strictEqual(calls, 5)
    await using fleet = await openFleet({ assistant: { subAgents: {} } })
    await fleet.answer("desk", "Hello.")
    assert.isFalse((await fleet.history.entries("desk")).some(({ entry }) => entry.step?.kind === "assess"))
    assert.deepStrictEqual((await fleet.subAgents.tree("desk"))?.slots, { enabled: true, budget: 3, open: 0 })
  })

  test("F34 the least number of steps of all layers holds, and no more model calls are made", async () => {
    const three = { contexts: { three: { maxSteps: 3 } } }
    const rows: ReadonlyArray<readonly [Layers, number]> = [
      [{ assistant: three, context: "three" }, 3],
      [{ assistant: { maxSteps: 3 } }, 3],
      [{ assistant: { maxSteps: 8 } }, 8],
      [{ assistant: three, context: "three", verdict: { recommended_iterations: 2 } }, 2],
      [{ assistant: three, context: "three", verdict: { recommended_iterations: 9 } }, 3]
    ]
    for (const [layers, least] of rows) {
      const { calls, pattern } = await narrowed(layers)
      assert.deepStrictEqual([pattern["max_iterations"], calls], [least, least])
    }
  })

  test("F35 several tools run at once where both layers allow it, else one", async () => {
    const ran = async (settings: AssistantOptions["settings"], multiStep: boolean) => {
      const { says } = saying(calling("look", "look"))
      const contexts = { desk: { multiStep } }
      await using fleet = await openFleet({ says, tools: [look], assistant: { settings: { ...settings }, contexts } })
      await fleet.send("desk", "Look.", { context: "desk" })
      await fleet.idle()
      const { mode, multi_tool_enabled } = await patternIn(fleet)
      const [tick] = (await fleet.history.ticks("desk")).ticks
      return [mode, multi_tool_enabled, tick?.tools.filter(({ ok }) => ok).length]
    }
    assert.deepStrictEqual(await ran({}, true), ["react_loop", true, 10])
    assert.deepStrictEqual(await ran({}, false), ["single_action", false, 1])
    assert.deepStrictEqual(await ran({ multiStep: false }, true), ["single_action", false, 1])
  })

  test("F36 a task is handed on where settings and kind allow it", async () => {
    const handed = async (assistant: Partial<AssistantOptions>) => {
      let tools: ReadonlyArray<string> = []
      let allowed: ReadonlyArray<string> | undefined
      const says: Script = (prompt) =>
        Effect.sync(() => {
          tools = prompt.tools.map(({ name }) => name)
          allowed = prompt.allowed
          return { text: "Aye." }
        })
      await using fleet = await openFleet({ says, tools: [look], assistant })
      await fleet.answer("desk", "Hand it on.", { context: "desk" })
      const isOffered = tools.includes("delegate_task")
      return [(await patternIn(fleet))["sub_agents_enabled"], isOffered && allowed?.includes("delegate_task") !== false]
    }
    assert.deepStrictEqual(await handed({ subAgents: {}, contexts: { desk: {} } }), [true, true])
    assert.deepStrictEqual(await handed({ subAgents: {}, contexts: { desk: { subAgents: false } } }), [false, false])
    assert.deepStrictEqual(await handed({ contexts: { desk: { subAgents: true } } }), [false, false])
  })
})

describe("an assessment", () => {
  const by = "assessment"

  test("F37 a model may lower the mode and the steps, and ask for confirmation; it is named for what it narrowed", async () => {
    const fewer = await narrowed({ verdict: { recommended_iterations: 2 } })
    assert.deepStrictEqual([fewer.pattern["max_iterations"], fewer.calls], [2, 2])
    assert.deepInclude(fewer.pattern.source_layers, { mode: "context", max_iterations: by })
    const single = await narrowed({ verdict: { recommended_mode: "single_action", recommended_iterations: 5 } })
    assert.deepInclude(single.pattern, { mode: "single_action", max_iterations: 1 })
    assert.deepInclude(single.pattern.source_layers, { mode: by, multi_tool_enabled: by })
    const settings = { requireApproval: false }
    const asks = await narrowed({ assistant: { settings }, verdict: { recommend_confirm_dangerous: true } })
    assert.isTrue(asks.pattern["dangerous_requires_confirm"])
    assert.strictEqual(asks.pattern.source_layers["dangerous_requires_confirm"], by)
    const nothing = await narrowed({ assistant: { settings }, verdict: {} })
    assert.deepInclude(nothing.pattern, { mode: "react_loop", max_iterations: 5, dangerous_requires_confirm: false })
  })

  test("F42 communication leaves one action, whatever is recommended beside it", async () => {
    const { calls, pattern } = await narrowed({ verdict: { event_class: "communication" } })
    assert.deepStrictEqual([pattern["mode"], calls], ["single_action", 1])
    assert.deepInclude(pattern.source_layers, { mode: "signal:event_class", event_class: "signal:event_class" })
  })

  test("F43 building asks for a person before what is dangerous, and for nothing else", async () => {
    const asking = async (event_class: string) => {
      const { says } = saying(calling("dig"), { event_class })
      await using fleet = await openFleet({
        says,
        tools: [dig],
        assistant: { assessWith: "model", settings: { assessTask: true, requireApproval: false } }
      })
      await fleet.send("desk", "Dig.")
      await fleet.idle()
      const { max_iterations, mode, source_layers } = await patternIn(fleet)
      const waiting = await fleet.approvals.list("desk")
      return [mode, max_iterations, source_layers["dangerous_requires_confirm"], waiting.length]
    }
    assert.deepStrictEqual(await asking("building"), ["react_loop", 5, "signal:event_class", 1])
    assert.deepStrictEqual(await asking("goal_action"), ["react_loop", 5, undefined, 0])
  })
})

describe("what presses", () => {
  test("F38 F39 a window that is full by four fifths leaves one action, by three fifths two steps", async () => {
    const pressed = async (words: number) => {
      let calls = 0
      const says: Script = ({ messages }) =>
        Effect.sync(() => {
          if (messages.at(-1)?.content.startsWith("tide") === true) return { text: "Aye." }
          calls++
          return calling("look")
        })
      await using fleet = await openFleet({
        says,
        tools: [look],
        assistant: {
          maxContextTokens: 4_000,
          reservedResponseTokens: 100,
          memory: { recall: "off" },
          settings: { compactEmergencyRatio: 0.99 }
        }
      })
      // What fills the window came before the tick that it presses on.
      await fleet.answer("desk", "tide ".repeat(words))
      await fleet.send("desk", "Go on.")
      await fleet.idle()
      const { context_signals, max_iterations, mode, source_layers } = await patternIn(fleet)
      return { mode, max_iterations, calls, by: source_layers, pressure: context_signals["token_pressure"] }
    }
    const source = "signal:token_pressure"
    const critical = await pressed(3_300)
    assert.deepInclude(critical, { mode: "single_action", max_iterations: 1, calls: 1, pressure: "critical" })
    assert.deepInclude(critical.by, { mode: source, max_iterations: source, multi_tool_enabled: source })
    const high = await pressed(2_500)
    assert.deepInclude(high, { mode: "react_loop", max_iterations: 2, calls: 2, pressure: "high" })
    assert.deepInclude(high.by, { mode: "context", max_iterations: source })
    assert.deepInclude(await pressed(500), { mode: "react_loop", max_iterations: 5, calls: 5, pressure: "normal" })
  })
})

describe("a pattern as it is shown", () => {
  test("F45 it has its seven parts, and the layer that decided each", async () => {
    const { pattern } = await narrowed({})
    assert.deepStrictEqual(Object.keys(pattern).toSorted(), [
      "allowed_categories",
      "context_signals",
      "dangerous_requires_confirm",
      "max_iterations",
      "mode",
      "multi_tool_enabled",
      "source_layers",
      "sub_agents_enabled",
      "terminal_ends_loop"
    ])
  })

  test("F46 a reflection of an assistant with five steps: a loop of three, both by its context, several tools allowed", async () => {
    const { pattern } = await narrowed({ context: "reflection" })
    assert.deepInclude(pattern, { mode: "react_loop", max_iterations: 3, multi_tool_enabled: true })
    const { max_iterations, mode, multi_tool_enabled } = pattern.source_layers
    assert.deepStrictEqual([mode, max_iterations, multi_tool_enabled], ["context", "context", "allowed"])
  })
})
