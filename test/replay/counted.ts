// Counted: a fleet whose model and tools are counted, each call of them.
// Owns the counters. Leaves what is played to the tests.

import { offlineModel } from "@reverie/model-offline"
import { type AssistantDefinition, type FleetDefinition, type ModelChoice, type Tool } from "reverie"
import * as Effect from "effect/Effect"

export interface Counted {
  readonly fleet: FleetDefinition
  readonly model: Exclude<ModelChoice, string>
  readonly calls: { model: number; tools: number }
}

type Toolkit = AssistantDefinition["toolkit"]

export const counted = (fleet: FleetDefinition): Counted => {
  const calls = { model: 0, tools: 0 }
  const inner = offlineModel()
  const count = (tool: Tool): Tool => ({
    ...tool,
    run: (args, run) =>
      Effect.suspend(() => {
        calls.tools++
        return tool.run(args, run)
      })
  })
  const kit = (toolkit: Toolkit): Toolkit => ({
    ...toolkit,
    get: (name) => {
      const tool = toolkit.get(name)
      return tool === undefined ? undefined : count(tool)
    }
  })
  return {
    calls,
    fleet: { ...fleet, assistants: fleet.assistants.map((each) => ({ ...each, toolkit: kit(each.toolkit) })) },
    model: {
      infer: (prompt, options) =>
        Effect.suspend(() => {
          calls.model++
          return inner.infer(prompt, options)
        })
    }
  }
}
