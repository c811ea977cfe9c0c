// System: the group about the deployment itself: what it is, who changed what, and the event stream.
// Owns what is reported of the process. Leaves telling events to ../feed/.
// Y1  No secret, no path and no other tenant is reported.

import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { chart } from "reverie"
import { Api, type DefinitionJson, type Outage, type Principal, Unavailable } from "../api/index.ts"
import { asking, Gateway, type ReadFleet } from "../gateway.ts"
import { openStream, STREAM_TYPE, streamHeaders } from "../feed/event-door.ts"
import { Live } from "../live.ts"
import { unworded } from "../views/facts.ts"
import { version } from "../version.ts"

// SystemView: what a deployment is, in words and figures.
// V1  What the process stands on is for those who may change the tenant that it is opened for.
// V2  So are all definitions. Another tenant sees those that its own assistants were made from, and the names of the rest,
//     by which it can make more.
// V3  Who may only look sees no prompt, no persona, and no text that a context puts in the place of one.

type Definition = Awaited<ReturnType<ReadFleet["definitions"]>>[number]

interface SystemQuestion {
  /** The tenant that the process is opened for. */
  readonly ownTenant: string
  /** The names of the definitions that assistants of the tenant were made from. */
  readonly used: () => Promise<ReadonlySet<string>>
  readonly fleet: ReadFleet
  readonly principal: Principal["Service"]
  readonly gateway: Gateway["Service"]
  readonly config: ReadonlyArray<{ readonly name: string; readonly value: string; readonly origin: string }>
  readonly outages: ReadonlyArray<Outage>
}

const checked = async (name: string, ask: () => Promise<string>, hint: string) => {
  try {
    return { name, ok: true, says: await ask() }
  } catch {
    return { name, ok: false, says: "it does not answer", hint }
  }
}

const withoutWords = ({ contexts, persona: _persona, systemPrompt: _prompt, ...rest }: Definition) => ({
  ...rest,
  contexts: contexts.map(unworded)
})

const definitionsFor = async ({
  fleet,
  ownTenant,
  principal,
  used
}: SystemQuestion): Promise<ReadonlyArray<object>> => {
  const { readOnly, tenant } = principal
  const all = await fleet.definitions()
  const own = tenant === ownTenant ? undefined : await used()
  return all.map((definition) => {
    const { isTeam, name } = definition
    if (own !== undefined && !own.has(name)) return { name, isTeam }
    return readOnly ? withoutWords(definition) : definition
  })
}

const time = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ")

const awayText = ({ assistants, nextTry, reason, server, since }: Outage): string => {
  const next = nextTry === undefined ? "it is being tried now" : `it is tried again by ${time(nextTry)}`
  return `${server} has not answered since ${time(since)} UTC (${reason}); ${assistants} wait for it, ${next}`
}

/** Whether anybody waits for a model; each server that is away is named. */
const modelCheck = (outages: ReadonlyArray<Outage>) => {
  if (outages.length === 0) return { name: "model", ok: true, says: "no one waits for it" }
  const says = outages.map(awayText).join("; ")
  return { name: "model", ok: false, says, hint: "nothing is lost: they go on by themselves when it answers" }
}

const systemOf = async (question: SystemQuestion) => {
  const { config, gateway, fleet, ownTenant, outages, principal } = question
  const isOperator = principal.tenant === ownTenant && !principal.readOnly
  const [store, outboxEnd] = await Promise.all([
    checked("store", async () => `position ${await fleet.outbox.end()}`, "look whether the store of the profile runs"),
    fleet.outbox.end()
  ])
  const definitions = (await definitionsFor(question)) as unknown as ReadonlyArray<DefinitionJson>
  return {
    version,
    node: process.version,
    role: gateway.role,
    profile: fleet.profile,
    tenant: principal.tenant,
    principal: principal.name,
    readOnly: principal.readOnly,
    startedAt: gateway.startedAt,
    now: Date.now(),
    outboxEnd,
    machine: chart().hash,
    checks: [store, modelCheck(outages)],
    config: isOperator ? config : [],
    definitions
  }
}

export const systemLive = HttpApiBuilder.group(
  Api,
  "system",
  Effect.fnUntraced(function* (handlers) {
    const gateway = yield* Gateway
    const { boards, config, feed, ownTenant } = yield* Live
    return handlers.handleAll({
      system: () =>
        asking(async (fleet, principal) => {
          const board = await boards.of(fleet.tenant)
          const used = async () => board.definitions()
          const outages = await board.outages(Date.now())
          return systemOf({ fleet, principal, gateway, config, ownTenant, outages, used })
        }),
      pulse: () => asking(async ({ tenant }) => (await boards.of(tenant)).pulse(Date.now())),
      audit: ({ query: { limit } }) => asking(({ tenant }) => ({ items: gateway.audited(tenant, limit) })),
      // A client that leaves before the answer has begun leaves no stream behind: the answer destroys what no one reads.
      events: ({ headers, query }) =>
        Effect.uninterruptible(
          asking(async (_, principal) => {
            const { "last-event-id": lastEventId } = headers
            const wanted = { ...query, ...defined({ lastEventId }) }
            if (feed === undefined) throw new Unavailable({ message: "no events are reported here" })
            const stream = await openStream(feed, principal, wanted)
            return HttpServerResponse.raw(stream, { contentType: STREAM_TYPE, headers: streamHeaders })
          })
        )
    })
  })
)
