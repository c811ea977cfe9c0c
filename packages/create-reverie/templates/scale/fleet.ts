// A fleet for many processes: one assistant takes notes in, the other works on them.
// With DATABASE_URL it lives in PostgreSQL, with REDIS_URL its wake-ups go through Redis; with neither it runs embedded, in .reverie.

import { defineAssistant, defineFleet, defineTool } from "reverie"

const handOver = defineTool({
  name: "hand_over",
  description: "Hands a note over to the worker.",
  idempotent: true,
  input: { type: "object", properties: { note: { type: "string" } }, required: ["note"] },
  run: (args, run) => {
    // It leaves together with this result, in one commit: never without it, never twice, on whichever machine this runs.
    run.send("worker", args.note)
    return "The worker has it."
  }
})

const weigh = defineTool({
  name: "weigh",
  description: "Weighs a crate and tells the weight in grams.",
  idempotent: true,
  timeoutMs: 10_000,
  input: { type: "object", properties: { crate: { type: "string" } }, required: ["crate"] },
  run: ({ crate }) => `${200 + crate.length * 10} grams`
})

export const intake = defineAssistant({
  id: "intake",
  instructions: "You take notes in. Hand each one over to the worker, in one sentence.",
  tools: [handOver]
})

export const worker = defineAssistant({
  id: "worker",
  instructions: "You work on the notes that you are sent.",
  tools: [weigh]
})

export default defineFleet({ assistants: [intake, worker], defaultAssistant: "intake" })
