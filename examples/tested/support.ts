// Support: an assistant with three tools, one of which waits for a person.

import { defineAssistant, defineTool } from "reverie"

const findOrder = defineTool({
  name: "find_order",
  description: "Finds an order by its number.",
  input: {
    type: "object",
    properties: { order: { type: "string" } },
    required: ["order"],
    additionalProperties: false
  },
  run: () => ({ status: "delivered", paidCents: 4_200 })
})

export const openTicket = defineTool({
  name: "open_ticket",
  description: "Opens a ticket for a colleague.",
  input: {
    type: "object",
    properties: { about: { type: "string" } },
    required: ["about"],
    additionalProperties: false
  },
  run: (_, { key, now }) => `ticket ${key} of ${new Date(now).toISOString().slice(0, 10)}`
})

const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  needsApproval: true,
  idempotent: true,
  input: {
    type: "object",
    properties: { cents: { type: "integer" } },
    required: ["cents"],
    additionalProperties: false
  },
  run: () => "paid back"
})

export const support = defineAssistant({
  id: "support",
  instructions: "You answer customers. Look an order up before you say anything about it.",
  tools: [findOrder, openTicket, refund],
  settings: { approvalMs: 8 * 60 * 60 * 1_000 }
})
