// EntityTools: update_entity_observation (F12).
// Owns what the model is offered. Leaves the rules of what waits for a dream to `memory`, persona protection to
// `assistant`.
// I1  It is SAFE_CHAIN. What it writes waits among the records; a profile changes only in a dream.
// I2  Nothing that speaks of the assistant is noted of anybody, and nothing that poses as an instruction to a model.

import { personaRejection } from "@reverie/assistant"
import { entityTypes, instructionIn, noteObservation } from "@reverie/memory"
import * as Schema from "effect/Schema"
import { selfTool, text, writeAll } from "./self-tool.ts"

const posing = {
  success: false,
  error: "Content reads like an instruction to a model",
  suggestion: "Say in your own words what you noticed about them, as a statement."
} as const

export const updateEntityObservationTool = selfTool({
  name: "update_entity_observation",
  description:
    "Notes what you noticed about a person, an assistant, a place, an organisation or a thing. In the third person, never " +
    "about yourself. It becomes part of what you know of them when you sleep.",
  input: Schema.Struct({
    entity: text(100, "The name by which you know them"),
    observation: text(500, "One statement about them"),
    type: Schema.optionalKey(
      Schema.Literals(entityTypes).annotate({ description: "What they are; only needed when they are new" })
    )
  }),
  run: (note, { assistant, records, now }) => {
    const texts = [note.entity, note.observation]
    for (const each of texts) {
      const rejected = personaRejection(each, [assistant])
      if (rejected !== undefined) return rejected
    }
    if (texts.some((each) => instructionIn(each) !== undefined)) return posing
    const moment = { by: assistant, now, tick: records.loop.tick }
    const { changes, result } = noteObservation(records.read("observation"), note, moment)
    writeAll(records, changes)
    return result
  }
})
