// Outside: what the assistants of a simulated world reach beyond the store: a model, tools and their effects.
// Owns the scripted replies and the record of every effect. Leaves what is answered for memory's sake to digestion.ts,
// judging the record to check.ts.
// O1  An effect is recorded in the instant it happens, whether or not its result ever arrives.

import { failureCost, type Model, type ModelError, type Prompt, type Reply, type Tokens } from "@reverie/model"
import type { Json, ToolCategory } from "@reverie/protocol"
import { delegateTools, type Tool, type Toolkit, toolkitOf } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { someTokens } from "../fixtures.ts"
import { type TakenCall, taskIn as assignmentIn } from "./check-sub-agents.ts"
import { digest, taskIn } from "./digestion.ts"
import type { Fate } from "./fate.ts"
import type { Weather } from "./weather.ts"

export interface Effected {
  readonly tool: string
  /** The idempotency key the tool was given. */
  readonly key: string
  readonly idempotent: boolean
}

export interface Outside {
  readonly effects: Array<Effected>
  /** Calls that wait for a report. */
  readonly asked: Array<{ readonly assistant: string; readonly call: string }>
  /** Model calls for tasks that were handed on. */
  readonly taken: Array<TakenCall>
  readonly toolkit: Toolkit
  readonly model: Model["Service"]
  readonly tokens: Tokens["Service"]
}

interface Habits {
  readonly fate: Fate
  readonly assistants: ReadonlyArray<string>
  readonly weather: Weather
  /** A planted bug: tools ignore the key they are given. */
  readonly ignoresKeys: boolean
}

const PARAMETERS: { readonly [key: string]: Json } = { type: "object", properties: {} }

const toolsOf = (habits: Habits, effects: Array<Effected>, asked: Outside["asked"]): ReadonlyArray<Tool> => {
  const { assistants, fate, ignoresKeys } = habits
  const tool = (
    name: string,
    category: ToolCategory,
    idempotent: boolean,
    then?: (run: Parameters<Tool["effect"]>[1]) => void
  ): Tool => ({
    name,
    description: name,
    parameters: PARAMETERS,
    category,
    timeoutMs: 60_000,
    idempotent,
    validate: (args) => Effect.succeed(args),
    effect: (_, run) =>
      Effect.gen(function* () {
        if (fate.chance(0.5)) yield* Effect.sleep(fate.between(1, 3_000))
        effects.push({ tool: name, key: ignoresKeys ? `${run.key}?${fate.between(0, 1e9)}` : run.key, idempotent })
        then?.(run)
        if (fate.chance(0.3)) yield* Effect.sleep(fate.between(1, 2_000))
        return name
      })
  })
  return [
    tool("look", "safe_chain", true),
    tool("mark", "safe_chain", false),
    tool("say", "terminal", true),
    tool("act", "dangerous", false),
    tool("far", "async_required", true, (run) => {
      asked.push({ assistant: run.assistant, call: run.call })
    }),
    tool("pass", "safe_chain", true, (run) => {
      run.send(fate.pick(assistants), `passed on by ${run.assistant}`)
    }),
    tool("ask", "safe_chain", true, (run) => {
      run.send(fate.pick(assistants), `asked by ${run.assistant}`, { wantsAnswer: true })
    })
  ]
}

/** Arguments for the tools that need any. */
const argumentsFor = (tool: string, fate: Fate, nextAssignment: () => number): Json => {
  switch (tool) {
    case "delegate_task":
      return {
        task: `assignment ${nextAssignment()}`,
        ...(fate.chance(0.3) ? { tokens: fate.between(500, 20_000) } : {}),
        ...(fate.chance(0.3) ? { calls: fate.between(1, 5) } : {}),
        ...(fate.chance(0.3) ? { seconds: fate.between(1, 90) } : {}),
        ...(fate.chance(0.3) ? { insulation: fate.pick(["none", "orchestrator", "delegate"]) } : {})
      }
    case "cancel_task":
      return { call: `${fate.between(1, 6)}.1.0` }
    case "finish_task":
      return { summary: "done" }
    default:
      return {}
  }
}

/** No more than the data store thinks that it takes. */
const usageOf = ({ maxOutputTokens = 200, messages }: Prompt, fate: Fate): Reply["usage"] => ({
  inputTokens: messages.reduce((sum, { content }) => sum + Math.ceil(content.length / 4), 0),
  outputTokens: fate.between(1, Math.min(200, maxOutputTokens)),
  source: "counted"
})

const replyTo = (prompt: Prompt, fate: Fate, nextAssignment: () => number): Reply => {
  const names = prompt.tools.map((offer) => offer.name)
  const count = fate.chance(0.55) ? fate.between(1, 3) : 0
  const calls = Array.from({ length: count }, (_, index) => {
    // A tool that does not exist, now and then.
    const tool = fate.chance(0.03) ? "nonsense" : fate.pick(names)
    return { id: `${prompt.callPrefix}.${index}`, tool, arguments: argumentsFor(tool, fate, nextAssignment) }
  })
  return {
    text: count === 0 ? `answer to ${prompt.messages.length} messages` : "",
    calls,
    finish: count === 0 ? "stop" : "tool-calls",
    usage: usageOf(prompt, fate),
    model: "scripted"
  }
}

/** What a provider takes for a call: nothing while it is away, unless it may have worked in silence. */
const costOf = (failure: ModelError | undefined, { usage: { inputTokens, outputTokens } }: Reply) => {
  if (failure === undefined || failureCost(failure) === "unknown")
    return { calls: 1, tokens: inputTokens + outputTokens }
  const isSilent = failure._tag === "ModelUnavailable" && failure.kind === "timeout"
  return { calls: isSilent ? 1 : 0, tokens: 0 }
}

export const outsideOf = (habits: Habits): Outside => {
  const { fate, weather } = habits
  const effects: Array<Effected> = []
  const asked: Outside["asked"] = []
  const taken: Array<TakenCall> = []
  let assignments = 0
  return {
    effects,
    asked,
    taken,
    tokens: someTokens,
    toolkit: toolkitOf([...toolsOf(habits, effects, asked), ...delegateTools]),
    model: {
      infer: (prompt) =>
        Effect.gen(function* () {
          const failure = weather.failure()
          const task = taskIn(prompt)
          const reply = task === undefined ? replyTo(prompt, fate, () => ++assignments) : digest(task, prompt, fate)
          const assignment = assignmentIn(
            prompt.messages.flatMap(({ content, role }) => (role === "user" ? [content] : []))
          )
          const { calls, tokens } = costOf(failure, reply)
          // Paid for when it is sent, whether or not anybody receives the answer.
          if (task === undefined && assignment !== undefined && calls > 0) taken.push({ task: assignment, tokens })
          yield* Effect.sleep(fate.between(1, 4_000))
          return failure === undefined ? reply : yield* failure
        })
    }
  }
}
