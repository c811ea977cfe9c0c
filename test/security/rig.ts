// Rig: a fleet with a model that obeys whatever an attacker writes.
// Owns the scripted model and what was found out of a run. Leaves attacks and assertions to the tests.

import { inTurn, type Line, type Script, scriptedModel } from "@reverie/testkit"
import {
  type AssistantOptions,
  defineAssistant,
  defineFleet,
  defineTool,
  Fleet,
  type FleetOptions,
  type Tool
} from "reverie"

export interface Request extends Omit<Partial<FleetOptions>, "model"> {
  readonly says: Script | readonly [Line, ...ReadonlyArray<Line>]
  readonly tools?: ReadonlyArray<Tool>
  readonly assistant?: Partial<AssistantOptions>
}

/** A fleet of a desk and a clerk, in memory, and every prompt that its model was given. */
export const openRig = async ({ assistant, says, tools = [], ...options }: Request) => {
  const scripted = scriptedModel(typeof says === "function" ? says : inTurn(...says))
  const fleet = await Fleet.open({
    data: ":memory:",
    model: scripted.model,
    fleet: defineFleet({
      assistants: ["desk", "clerk"].map((id) =>
        defineAssistant({ id, instructions: `You are the ${id}.`, tools, ...assistant })
      )
    }),
    ...options
  })
  return { fleet, prompts: scripted.prompts }
}

/** A tool that counts its runs, and with what it was called. */
export const counted = (
  options: Partial<Pick<Tool, "parameters">> & {
    readonly name: string
    readonly gives?: string
    readonly needsApproval?: boolean
  }
) => {
  const runs: Array<unknown> = []
  const { gives = "done", name, needsApproval = false } = options
  const tool = defineTool({
    name,
    description: `Does ${name}.`,
    needsApproval,
    // Whatever it is called with fits, unless a test says otherwise.
    input: (options.parameters ?? { type: "object" }) as never,
    run: (args: unknown) => {
      runs.push(args)
      return gives
    }
  })
  return { tool, runs }
}

/** All that a kind of message of all prompts says. */
export const saidAs = (
  prompts: Awaited<ReturnType<typeof openRig>>["prompts"],
  wanted: "system" | "user" | "tool" | "assistant"
): string =>
  prompts
    .flatMap(({ messages }) => messages)
    .filter(({ role }) => role === wanted)
    .map(({ content }) => content)
    .join("\n")

export const stateOf = async (fleet: Fleet, id: string): Promise<string | undefined> =>
  (await fleet.inspect(id))?.state.status

/** What a promise rejects with. */
export const failureOf = async (promise: Promise<unknown>): Promise<Error> => {
  try {
    await promise
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error("it was not refused")
}
