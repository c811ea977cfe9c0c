// LaneTools: what assistants of the crash lanes can do.
// Owns the four tools. Leaves where their runs are written down to each lane.

import { defineTool, type Tool } from "reverie"

/** Tells of a run of a tool before anything of it happens. */
export type NoteRun = (tool: string, assistant: string, key: string) => void

/** `next`: whom an assistant passes its notes to. `wantsAnswer`: and wants to know what came of them. */
export const laneTools = (
  ran: NoteRun,
  next: (assistant: string) => string,
  wantsAnswer = false
): ReadonlyArray<Tool> => [
  defineTool({
    name: "note",
    description: "Notes something; the same note twice is one note.",
    idempotent: true,
    run: (_, { assistant, key }) => {
      ran("note", assistant, key)
      return "noted"
    }
  }),
  defineTool({
    name: "ring",
    description: "Rings the bell. Every ring is heard.",
    run: async (_, { assistant, key }) => {
      ran("ring", assistant, key)
      await Promise.resolve()
      return "rung"
    }
  }),
  defineTool({ name: "say", description: "Speaks.", final: true, run: () => "said" }),
  defineTool({
    name: "pass",
    description: "Passes a note to the next colleague.",
    run: (_, { assistant, send }) => {
      send(next(assistant), `fyi from ${assistant}`, { wantsAnswer })
      return "passed"
    }
  })
]
