// Talk: what an assistant says to captains and to its colleagues.

import { defineTool } from "reverie"

export const say = defineTool({
  name: "say",
  description: "Speaks to the captain who is waiting for an answer, and ends the conversation for now.",
  final: true,
  idempotent: true,
  input: { type: "object", properties: { text: { type: "string", minLength: 1 } }, required: ["text"] },
  run: ({ text }) => text
})

export const passNote = defineTool({
  name: "pass_note",
  description: "Passes a note to a colleague in the office: desk, archivist or planner.",
  idempotent: true,
  input: {
    type: "object",
    properties: { to: { type: "string" }, note: { type: "string", minLength: 1 } },
    required: ["to", "note"]
  },
  run: ({ note, to }, run) => {
    // It leaves together with this result, in one commit: never without it, never twice.
    run.send(to, note)
    return `The note is on its way to ${to}.`
  }
})
