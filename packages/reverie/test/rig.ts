// Rig: fleets with a scripted model, and the promises a test holds in its hand.
// Owns fresh directories and gates. Leaves what is asked and asserted to the test.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ModelError, Prompt } from "@reverie/model"
import { inTurn, type Line, type Script, scriptedModel } from "@reverie/testkit"
import { later } from "@reverie/testkit/later"
import * as Effect from "effect/Effect"
import { assert } from "vitest"
import {
  type AssistantOptions,
  defineAssistant,
  defineFleet,
  Fleet,
  type FleetOptions,
  type Part,
  type Tool
} from "../src/index.ts"

/** A path at which nothing exists yet. */
export const aDirectory = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-fleet-"))
  later(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, "data")
}

export interface Request extends Omit<Partial<FleetOptions>, "model"> {
  readonly says?: Script | ReadonlyArray<Line | ModelError>
  readonly tools?: ReadonlyArray<Tool>
  readonly assistant?: Partial<AssistantOptions>
  /** The model knows no tool calls. */
  readonly plain?: boolean
  /** The name of the model. */
  readonly serves?: string
}

/** A fleet of a desk and a clerk, in memory unless said otherwise. */
export const openFleet = ({
  assistant,
  plain = false,
  serves,
  says = [{ text: "Good morning." }],
  tools = [],
  ...options
}: Request = {}) => {
  const script = typeof says === "function" ? says : inTurn(says[0] ?? {}, ...says.slice(1))
  const { model } = scriptedModel(script)
  return Fleet.open({
    data: ":memory:",
    model:
      plain || serves !== undefined
        ? {
            ...model,
            serves: { provider: "scripted", model: serves ?? "scripted", ...(plain ? { tools: "json" as const } : {}) }
          }
        : model,
    fleet: defineFleet({
      assistants: ["desk", "clerk"].map((id) =>
        defineAssistant({ id, instructions: "You are under test.", tools, ...assistant })
      )
    }),
    ...options
  })
}

export const calling = (...tools: ReadonlyArray<string>): Line => ({ calls: tools.map((tool) => ({ tool })) })

export const all = (parts: AsyncIterable<Part>): Promise<ReadonlyArray<Part>> => Array.fromAsync(parts)

/** A promise, and the hand that opens it. */
export const gate = <A = void>() => {
  const { promise, resolve } = Promise.withResolvers<A>()
  return { passed: promise, open: resolve }
}

/** What a promise rejects with. */
export const failureOf = async (promise: Promise<unknown>): Promise<Error> => {
  try {
    await promise
  } catch (error) {
    assert.instanceOf(error, Error)
    return error
  }
  throw new Error("it was not refused")
}

/** A model that keeps what it was asked, and is content with everything. */
export const heard = () => {
  const prompts: Array<Prompt> = []
  const says: Script = (prompt) =>
    Effect.sync(() => {
      prompts.push(prompt)
      return { text: "Good." }
    })
  return { prompts, says }
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesIn(path) : [path]
  })

/** The files below a directory in which the text stands, in UTF-8 or in UTF-16. */
export const filesWith = (folder: string, text: string): ReadonlyArray<string> =>
  filesIn(folder).filter((path) => {
    const bytes = readFileSync(path)
    return bytes.includes(text) || bytes.includes(Buffer.from(text, "utf16le"))
  })
