// A personal assistant: it has a list of tasks, and dreams by night, which makes facts of what it heard by day.

import { blockTools, defineAssistant, defineFleet, defineTool, memoryTools, selfTools } from "reverie"

export const addTask = defineTool({
  name: "add_task",
  description: "Adds a task to the list of tasks.",
  idempotent: true,
  input: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
  // Replace this by a call of the calendar or the list that you use.
  run: ({ what }, { now }) => `added on ${new Date(now).toISOString().slice(0, 10)}: ${what}`
})

export const assistant = defineAssistant({
  id: "assistant",
  instructions:
    "You are a personal assistant. You answer briefly, and remember what matters to the person you work for.",
  persona: "Calm and attentive.",
  tools: [addTask, ...selfTools, ...memoryTools, ...blockTools],
  // A block is a document in its memory, always in view, that you may edit too.
  blocks: [{ label: "about", type: "core", description: "What to know at all times.", content: "Quiet after 20:00." }],
  // From two to six by night it sleeps: it consolidates the day, links facts, and forgets what matters no more.
  sleep: { startHour: 2, durationHours: 4, timeZone: "Europe/Berlin" }
})

export default defineFleet({ assistants: [assistant] })
