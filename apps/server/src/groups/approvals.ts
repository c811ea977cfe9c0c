// Approvals: the group about calls that wait for a person.
// Owns refusing a decision about what is not as it was shown. Leaves what a decision does to the statechart.
// V1  What is decided is what was shown: other arguments, or none any more, are a conflict.
// V2  One decision is accepted for one approval, no matter who else decides at the same moment: the fleet takes no second one.

import { defined } from "@reverie/protocol"
import { ApprovalUnknown, type Fleet } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, Conflict } from "../api/index.ts"
import { asking, changing } from "../gateway.ts"
import { Live } from "../live.ts"
import { living } from "../views/facts.ts"

interface Decision {
  readonly decision: "approved" | "denied"
  readonly note?: string
  readonly seen?: string
}

const decide = async (fleet: Fleet, id: string, approval: string, { decision, note, seen }: Decision) => {
  await living(fleet, id)
  const asked = (await fleet.approvals.list(id)).find((each) => each.approval === approval)
  if (asked === undefined) {
    const message = `${id} does not ask for ${approval}: it was decided, has expired, or was never asked`
    throw new Conflict({ message })
  }
  if (asked.expiresAt !== undefined && asked.expiresAt <= Date.now()) {
    throw new Conflict({ message: `${approval} has expired` })
  }
  if (seen !== undefined && seen !== asked.arguments) {
    throw new Conflict({ message: "the arguments are not those that were shown", hint: "look at them again" })
  }
  const options = defined({ note })
  const decided = decision === "approved" ? fleet.approve(id, approval, options) : fleet.deny(id, approval, options)
  const receipt = await decided.catch((error: unknown) => {
    if (error instanceof ApprovalUnknown) return undefined
    throw error
  })
  if (receipt?.outcome !== "accepted") throw new Conflict({ message: `${approval} was decided already` })
  return receipt
}

export const approvalsLive = HttpApiBuilder.group(
  Api,
  "approvals",
  Effect.fnUntraced(function* (handlers) {
    const { boards, isWhole } = yield* Live
    return handlers.handleAll({
      open: () =>
        asking(async (fleet) => {
          // Where no list of the fleet is kept, looking through the store once costs less than making one.
          if (isWhole) return { items: await fleet.approvals.list() }
          const ids = await (await boards.of(fleet.tenant)).asking(Date.now())
          const open = await Promise.all(ids.map((id) => fleet.approvals.list(id)))
          return { items: open.flat().toSorted((one, other) => one.askedAt - other.askedAt) }
        }),
      decide: ({ params: { approval, id }, payload }) =>
        changing("approvals.decide", `${id} ${approval} ${payload.decision}`, (fleet) =>
          decide(fleet, id, approval, payload)
        )
    })
  })
)
