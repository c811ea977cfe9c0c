// Papers: the archive of earlier years, and how something is added to it.
// The archive is fixed; what is filed today stands in the archivist's own history, under a number made from the run's key.

import { defineTool } from "reverie"

const archive: Readonly<Record<string, string>> = {
  aurora: "Aurora, 34 m, draught 3.2 m. Last hull survey 2024. Harbour dues paid.",
  bonita: "Bonita, 17 m, draught 1.9 m. Fishing licence until 2027.",
  "duchess of merrow": "Duchess of Merrow, 58 m, draught 5.1 m. Ferry; lies at Cedar by contract.",
  kestrel: "Kestrel, 112 m, draught 8.0 m. Owes harbour dues for two visits.",
  "north star": "North Star, 190 m, draught 11.0 m. Needs two tugs."
}

export const findRecord = defineTool({
  name: "find_record",
  description: "Finds the record of a ship in the archive of earlier years.",
  input: { type: "object", properties: { ship: { type: "string", minLength: 1 } }, required: ["ship"] },
  run: ({ ship }) => {
    return archive[ship.toLowerCase()] ?? `There is no record of a ship called ${ship}.`
  }
})

export const fileRecord = defineTool({
  name: "file_record",
  description: "Files a new record about a ship: a payment, an incident, a certificate.",
  idempotent: true,
  input: {
    type: "object",
    properties: { ship: { type: "string", minLength: 1 }, text: { type: "string", minLength: 1 } },
    required: ["ship", "text"]
  },
  run: ({ ship, text }, run) => `Filed under ${run.key}: ${ship}, ${text}`
})

export const requestSurvey = defineTool({
  name: "request_survey",
  description: "Asks a diver for a survey of a ship's hull. The result comes hours later, as a report.",
  background: true,
  idempotent: true,
  input: { type: "object", properties: { ship: { type: "string", minLength: 1 } }, required: ["ship"] },
  run: ({ ship }, run) => `The diver has the order for ${ship}, number ${run.call}.`
})
