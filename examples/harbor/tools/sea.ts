// Sea: tides, tugs, weather, and the gate of the harbour.
// Everything is computed from the arguments. The station at the outer buoy is slow and the one at the fog bank is dead, each
// always, so that a day shows a timeout and a failure whenever it is played.

import { setTimeout } from "node:timers/promises"
import { defineTool } from "reverie"

const dayOfMonth = { type: "integer", minimum: 1, maximum: 31, description: "Day of the month." } as const

/** High water moves on by 50 minutes a day. */
const highWater = (date: number): string => {
  const minutes = (190 + date * 50) % 745
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`
}

export const tideTable = defineTool({
  name: "tide_table",
  description: "Gives the first high water of a day of this month.",
  input: { type: "object", properties: { day: dayOfMonth }, required: ["day"] },
  run: ({ day }) => {
    return { day, highWater: highWater(day), metres: 3 + (day % 4) / 2 }
  }
})

export const tugSchedule = defineTool({
  name: "tug_schedule",
  description: "Gives the tugs that are free on a day of this month.",
  input: { type: "object", properties: { day: dayOfMonth }, required: ["day"] },
  run: ({ day }) => {
    return { day, free: day % 2 === 0 ? ["Hercules", "Samson"] : ["Samson"] }
  }
})

const SLOW_MILLIS = 60_000

export const weather = defineTool({
  name: "weather",
  description: "Asks a weather station at sea: lighthouse, outer_buoy or fog_bank.",
  timeoutMs: 200,
  // A report stands for ten minutes; its number says which call it was made for.
  cache: { scope: "ttl", ttlMs: 600_000 },
  input: {
    type: "object",
    properties: {
      station: { type: "string", enum: ["lighthouse", "outer_buoy", "fog_bank"] },
      hours: { type: "integer", minimum: 1, maximum: 48, description: "How far ahead; now when not said." }
    },
    required: ["station"]
  },
  run: async ({ hours, station }, { call, signal }) => {
    if (station === "fog_bank") throw new Error("no signal from the fog bank")
    if (station === "outer_buoy") await setTimeout(SLOW_MILLIS, undefined, { signal })
    const when = hours === undefined ? "Now" : `In ${hours} hours`
    return `Report ${call}. ${when} wind south-west 4, sea slight, visibility good.`
  }
})

export const closeHarbour = defineTool({
  name: "close_harbour",
  description: "Closes the harbour to all traffic. A person must confirm it within moments.",
  needsApproval: true,
  input: { type: "object", properties: { reason: { type: "string", minLength: 1 } }, required: ["reason"] },
  run: ({ reason }) => {
    return `The harbour is closed: ${reason}.`
  }
})
