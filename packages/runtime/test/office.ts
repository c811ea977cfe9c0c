// Office: an assistant that hands tasks on, in a life of its own.
// Owns its model: what the parent says, what sub-agents say. Leaves what is said and asserted to the test.

import { assert } from "@effect/vitest"
import { accountOf, contextOf, flawsOf, restore } from "@reverie/assistant"
import type { Prompt } from "@reverie/model"
import type { Json } from "@reverie/protocol"
import type { Line, Script } from "@reverie/testkit"
import { delegateTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { aTool, type Life, type LifeOptions, live } from "./rig.ts"

export const isChild = ({ messages }: Prompt): boolean =>
  messages.some(({ content, role }) => role === "system" && content.includes("finish_task"))

/** Of a prompt: how many replies it holds already. */
export const replies = ({ messages }: Prompt): number => messages.filter(({ role }) => role === "assistant").length

export const delegate = (...requests: ReadonlyArray<Json>): Line => ({
  calls: requests.map((request) => ({ tool: "delegate_task", arguments: request }))
})

export const said = (text: string): Line => ({
  text,
  usage: { inputTokens: 300, outputTokens: 50, source: "provider" }
})

/** The parent hands on what is said to do, then answers; the child does its lines. */
export const acting =
  (parent: ReadonlyArray<Line>, child: ReadonlyArray<Line | Effect.Effect<Line>>): Script =>
  (prompt) => {
    const lines = isChild(prompt) ? child : parent
    const line = lines[Math.min(replies(prompt), lines.length - 1)] ?? said("nothing")
    return Effect.isEffect(line) ? line : Effect.succeed(line)
  }

export const MAY = { subAgents: true }

export const office = (options: LifeOptions) =>
  live({ tools: [...delegateTools, aTool("look")], settings: MAY, worker: { idleMs: 100 }, ...options })

export const contextIn = (life: Life, assistant = "ada") =>
  contextOf(Result.getOrThrow(restore(life.snapshot(assistant))))

/** Every account of every assistant that ever was, at every commit that is in the store now. */
export const sound = (life: Life): void => {
  for (const { address } of life.disk.residents.values()) {
    assert.deepStrictEqual(flawsOf(accountOf(contextIn(life, address.assistant))), [])
  }
}

export const CHILD = "ada+1.1.0"

export const reported = (life: Life, call = "1.1.0") => JSON.parse(life.answerTo(call)) as Record<string, unknown>
