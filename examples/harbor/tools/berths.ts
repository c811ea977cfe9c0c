// Berths: which ship can lie where.
// The tools keep nothing of their own: the table is fixed, and what was assigned stands in the history of anyone who
// assigned it, which is durable. A slip is numbered after the key of the run, so a repeat gives the same number.

import { defineTool } from "reverie"

interface Berth {
  readonly berth: string
  readonly metres: number
  readonly depth: number
}

const berths: ReadonlyArray<Berth> = [
  { berth: "alder", metres: 18, depth: 2.5 },
  { berth: "birch", metres: 35, depth: 4 },
  { berth: "cedar", metres: 60, depth: 6 },
  { berth: "dogwood", metres: 120, depth: 9 },
  { berth: "elm", metres: 210, depth: 12 }
]

export const findBerth = defineTool({
  name: "find_berth",
  description:
    "Looks up the berths that are long and deep enough for a ship of the given length and draught, in metres.",
  input: {
    type: "object",
    properties: {
      metres: { type: "number", exclusiveMinimum: 0, description: "Length of the ship." },
      draught: { type: "number", minimum: 0, description: "Draught of the ship; 0 when not known." }
    },
    required: ["metres"]
  },
  run: ({ draught = 0, metres }) => {
    const fitting = berths.filter((berth) => berth.metres >= metres && berth.depth > draught)
    return fitting.length === 0
      ? `No berth takes a ship of ${metres} m.`
      : { fitting: fitting.map(({ berth }) => berth) }
  }
})

export const assignBerth = defineTool({
  name: "assign_berth",
  description: "Assigns a berth to a ship. It changes the harbour, so a person confirms it first.",
  needsApproval: true,
  idempotent: true,
  input: {
    type: "object",
    properties: {
      ship: { type: "string", minLength: 1 },
      berth: { type: "string", enum: berths.map(({ berth }) => berth) }
    },
    required: ["ship", "berth"]
  },
  run: ({ berth, ship }, run) => `${ship} lies at ${berth}, slip ${run.key}.`
})
