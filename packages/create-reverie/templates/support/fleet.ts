// A support assistant: it looks orders up by itself, and pays back only what a person has approved.

import { defineAssistant, defineFleet, defineTool } from "reverie"

const orders: Readonly<Record<string, { readonly status: string; readonly paidCents: number }>> = {
  A7: { status: "delivered on Monday", paidCents: 4_200 },
  B2: { status: "on its way", paidCents: 1_350 }
}

const findOrder = defineTool({
  name: "find_order",
  description: "Finds an order by its number, and tells where it is.",
  input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  run: ({ order }) => orders[order] ?? "there is no such order"
})

/** It waits for a person: on the page, by `reverie approvals`, or by `fleet.approve`. */
export const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  needsApproval: true,
  idempotent: true,
  input: {
    type: "object",
    properties: { order: { type: "string" }, cents: { type: "integer", minimum: 1 } },
    required: ["order", "cents"]
  },
  run: ({ cents, order }, { key }) => {
    // The key stays the same when the call is run again: give it to the payment service as its idempotency key.
    return `paid ${cents} cents back for ${order}, payment ${key}`
  }
})

export const support = defineAssistant({
  id: "support",
  instructions:
    "You answer customers. Look an order up before you say anything about it, and refund only what was paid.",
  tools: [findOrder, refund],
  settings: { approvalMs: 8 * 60 * 60 * 1_000 }
})

export default defineFleet({ assistants: [support] })
