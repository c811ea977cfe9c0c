// StreamRig: a fleet whose model shows its replies piece by piece, for the tests of parts and of UI message streams.
// Owns the model and the tools. Leaves what is asked and asserted to the test.

import {
  defineAssistant,
  defineFleet,
  defineTool,
  Fleet,
  type FleetOptions,
  type PromiseModel,
  type PromiseOptions,
  type PromiseReply
} from "../src/index.ts"

type Shown = Pick<PromiseOptions, "onText" | "onReasoning" | "onCall">

/** One model call: what it shows on its way, and its reply. */
export type Turn = (shown: Shown, asked: number) => Promise<PromiseReply> | PromiseReply

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Answers the calls of each tick in their order, by their iteration. */
export const modelOf = (...turns: ReadonlyArray<Turn>): PromiseModel => {
  let asked = 0
  return {
    name: "harbour",
    infer: async ({ callPrefix }, shown) => {
      const iteration = Number(callPrefix.split(".")[1])
      return (turns[Math.min(iteration, turns.length) - 1] as Turn)(shown, ++asked)
    }
  }
}

/** Thinks, speaks and calls, with a turn of the event loop between any two pieces. */
export const calling =
  (text: string, ...calls: ReadonlyArray<{ readonly tool: string; readonly arguments: object }>): Turn =>
  async ({ onCall, onReasoning, onText }) => {
    onReasoning?.("Hm. ")
    await turn()
    onText?.(text.slice(0, 4))
    await turn()
    onText?.(text.slice(4))
    await turn()
    for (const [call, { arguments: args, tool }] of calls.entries()) {
      onCall?.({ call, tool, arguments: "" })
      await turn()
      onCall?.({ call, tool, arguments: JSON.stringify(args) })
      await turn()
    }
    return { text, calls, usage: { inputTokens: 3, outputTokens: 2 } }
  }

export const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  run: () => "two ships"
})
const sink = defineTool({ name: "sink", description: "Sinks.", needsApproval: true, run: () => "sunk" })
const dig = defineTool({ name: "dig", description: "Digs.", run: () => "a hole" })

export const refusingDig = {
  beforeTool: ({ tool }: { readonly tool: string }) => (tool === "dig" ? { refuse: "no digging" } : undefined)
}

export const opened = (model: FleetOptions["model"], options: Partial<Parameters<typeof defineAssistant>[0]> = {}) =>
  Fleet.open({
    data: ":memory:",
    model,
    fleet: defineFleet({
      assistants: [
        defineAssistant({ id: "desk", instructions: "Assign berths.", tools: [look, sink, dig], ...options })
      ]
    })
  } as FleetOptions)

export const two = { tool: "look", arguments: { berth: 7 } }
