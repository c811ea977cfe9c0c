// Rig: fleets with hooks, and what must hold of every tick that they had a part in.

import type { Prompt } from "@reverie/model"
import * as Effect from "effect/Effect"
import { assert } from "vitest"
import {
  AnswerFailed,
  defineTool,
  type Fleet,
  forkTick,
  type HookRecord,
  type Hooks,
  promptsOfTick
} from "../../src/index.ts"
import { failureOf, openFleet, type Request } from "../rig.ts"

export const CARD = /\d{4} \d{4}/g
export const masked = (text: string): string => text.replaceAll(CARD, "[card]")

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: { type: "object", properties: { cents: { type: "integer" } }, required: ["cents"] },
  run: ({ cents }) => `paid ${cents} with 1234 5678`
})
export const paying = (cents: number) => ({ calls: [{ tool: "pay", arguments: { cents } }] })

export const withHooks = (hooks: Hooks, { assistant, ...request }: Request = {}) =>
  openFleet({ tools: [pay], ...request, assistant: { ...assistant, hooks } })

export const deedsOf = async (fleet: Fleet): Promise<ReadonlyArray<HookRecord>> =>
  (await fleet.history.entries("desk")).flatMap(({ entry }) => entry.hooks ?? [])

export const OF = `assistant "desk"`

export const failedWith = async (promise: Promise<unknown>, code: string): Promise<AnswerFailed> => {
  const failure = await failureOf(promise)
  assert.instanceOf(failure, AnswerFailed)
  assert.strictEqual(failure.code, code)
  return failure
}

/** Replaying it gives its snapshot again, and a fork with the recorded replies differs in nothing; no hook is called. */
export const assertRepeats = async (fleet: Fleet, count: () => number, tick = 1) => {
  const before = count()
  assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
  const fork = await forkTick(fleet, fleet.definition, { assistant: "desk", tick, model: "recorded" })
  assert.deepStrictEqual(fork.differs, [])
  const prompts = await promptsOfTick(fleet, fleet.definition, { assistant: "desk", tick })
  for (const { diverged, exact } of prompts) assert.deepStrictEqual([diverged, exact], [undefined, true])
  assert.strictEqual(count(), before, "a hook was called again")
  return prompts
}

/** The prompts that a model was asked, and a script of it. */
export const asking = (...lines: ReadonlyArray<{ readonly text?: string }>) => {
  const prompts: Array<Prompt> = []
  const says: Request["says"] = (prompt) => {
    prompts.push(structuredClone(prompt))
    return Effect.succeed(lines[Math.min(prompts.length, lines.length) - 1] ?? {})
  }
  return { prompts, says }
}

export const said = ({ messages }: Prompt): ReadonlyArray<string> =>
  messages.map(({ content, role }) => `${role}: ${content}`)

export const TOOL_DEED = { hook: "beforeTool", of: OF, call: "1.1.0", tool: "pay" } as const
