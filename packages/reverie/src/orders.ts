// Orders: one event for every assistant of a tenant.
// Owns going through them page by page. Leaves acceptance, and the fencing of whoever is halted, to the front door.
// O1  Everybody who lives there when the order is given gets it; whoever has retired does not.

import type { AssistantRecord } from "@reverie/ledger"
import type { AssistantId, Event, TenantId } from "@reverie/protocol"
import { arrive } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import { envelopeOf } from "./letter.ts"
import { tenantPage } from "./tenant-page.ts"

const PAGE = 500
const AT_ONCE = 16

/** Gives the order to each that it concerns; answers to how many. `id` names the order, and with it each envelope. */
const tellAll = Effect.fnUntraced(function* (
  tenant: TenantId,
  id: string,
  event: Event,
  concerns: (record: AssistantRecord) => boolean
) {
  let after: AssistantId | undefined
  let told = 0
  while (true) {
    const page = yield* tenantPage(tenant, after, PAGE)
    const meant = page.filter(concerns)
    yield* Effect.forEach(
      meant,
      ({ address: { assistant } }) =>
        Effect.flatMap(
          Effect.fromResult(envelopeOf({ id: `${id}/${assistant}`, tenant, to: assistant, from: "person", event })),
          // Whoever has retired since the page was read needs no order.
          (envelope) => Effect.catchTag(Effect.asVoid(arrive(envelope)), "UnknownAssistant", () => Effect.void)
        ),
      { concurrency: AT_ONCE, discard: true }
    )
    told += meant.length
    after = page.at(-1)?.address.assistant
    if (page.length < PAGE) return told
  }
})

const isAlive = ({ state }: AssistantRecord): boolean => state.status !== "retired"

export const haltAll = (tenant: TenantId, id: string, reason: string) =>
  tellAll(tenant, `halt-${id}`, { type: "halt", reason }, isAlive)

/** An order to halt may not have been heard yet: whoever has something waiting is told too. */
export const resumeAll = (tenant: TenantId, id: string) =>
  tellAll(
    tenant,
    `resume-${id}`,
    { type: "resume" },
    (record) => isAlive(record) && (record.state.status === "halted" || record.waiting > 0)
  )
