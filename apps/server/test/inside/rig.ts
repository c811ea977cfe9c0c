// Rig: the groups about one assistant's inside, asked by the client of the contract over a fleet with two tenants.
// Owns the gateway, the principals and the client. Leaves what is asked and asserted to the test.

import { type AssistantOptions, defineAssistant, defineFleet, Fleet, type FleetOptions, type Tool } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiTest from "effect/http-api/HttpApiTest"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { inTurn, type Line, type Script, scriptedModel } from "@reverie/testkit"
import { Access, Api, Fitting, Malformed, Principal } from "../../src/api/index.ts"
import { type AuditLine, Gateway } from "../../src/gateway.ts"
import { Drops, Live } from "../../src/live.ts"
import { contextLive } from "../../src/groups/assistant/context.ts"
import { subAgentsLive } from "../../src/groups/assistant/subagents.ts"
import { machineLive, promptsLive } from "../../src/groups/prompts.ts"
import { memoryLive } from "../../src/groups/assistant/memory.ts"
import { nightLive } from "../../src/groups/assistant/night.ts"
import { replayLive } from "../../src/groups/assistant/replay.ts"
import { timelineLive } from "../../src/groups/assistant/timeline.ts"

export interface Request extends Omit<Partial<FleetOptions>, "model"> {
  readonly says?: Script | ReadonlyArray<Line>
  readonly tools?: ReadonlyArray<Tool>
  readonly assistant?: Partial<AssistantOptions>
}

/** A fleet of a desk and a clerk, in memory; without `says` the offline model speaks. */
export const openFleet = ({ assistant, says, tools = [], ...options }: Request = {}): Promise<Fleet> => {
  const script = typeof says === "function" || says === undefined ? says : inTurn(says[0] ?? {}, ...says.slice(1))
  return Fleet.open({
    data: ":memory:",
    model: script === undefined ? "offline" : scriptedModel(script).model,
    fleet: defineFleet({
      assistants: ["desk", "clerk"].map((id) =>
        defineAssistant({ id, instructions: "You are under test.", tools, ...assistant })
      )
    }),
    ...options
  })
}

/** What a principal is called: `tenant`, or `tenant:ro` for one that may only look. */
const principalOf = (token: string): Principal["Service"] => {
  const [tenant = "", right] = token.split(":")
  return { tenant, name: `token of ${tenant}`, readOnly: right === "ro" }
}

const access = Layer.succeed(
  Access,
  Access.of({
    bearer: (effect, { credential }) =>
      Effect.provideService(effect, Principal, principalOf(Redacted.value(credential)))
  })
)
const fitting = HttpApiMiddleware.layerSchemaErrorTransform(Fitting, (error) =>
  Effect.fail(new Malformed({ message: error.message.split("\n")[0] ?? "" }))
)

export interface Heard {
  readonly audit: Array<AuditLine>
  readonly trouble: Array<string>
}

const gatewayOf = (fleet: Fleet, heard: Heard): Gateway["Service"] => ({
  fleetOf: (tenant) => fleet.forTenant(tenant),
  readFleetOf: (tenant) => fleet.forTenant(tenant),
  role: "all",
  startedAt: 0,
  onTrouble: (line) => heard.trouble.push(line),
  record: (line) => heard.audit.push(line),
  audited: (tenant, limit) => heard.audit.filter((line) => line.tenant === tenant).slice(-limit)
})

const groups = Layer.mergeAll(
  contextLive,
  subAgentsLive,
  machineLive,
  memoryLive,
  nightLive,
  promptsLive,
  replayLive,
  timelineLive
)
const names = ["context", "subAgentTree", "machine", "memory", "night", "prompts", "replay", "timeline"] as const

const clientOf = HttpApiTest.groups(Api, names)
export type Client = Effect.Success<typeof clientOf>

/** Asks in the name of a token; every promise is one request or a few in order. */
export const asker = (fleet: Fleet, heard: Heard = { audit: [], trouble: [] }) => {
  const gateway = gatewayOf(fleet, heard)
  const unasked = () => Promise.reject(new Error("no list is kept here"))
  const live = Live.of({
    feed: undefined,
    boards: { of: unasked, touch: () => {} },
    drops: new Drops(),
    isWhole: false,
    ownTenant: fleet.tenant,
    config: []
  })
  const layer = groups.pipe(
    HttpRouter.provideRequest(Layer.succeed(Gateway, gateway)),
    Layer.provideMerge(Layer.mergeAll(access, fitting, HttpServer.layerServices, Layer.succeed(Live, live)))
  )
  return <A, E>(
    token: string,
    ask: (client: Client) => Effect.Effect<A, E, Scope.Scope>,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<A> => {
    const bearer = HttpApiMiddleware.layerClient(Access, ({ next, request }) =>
      next(request.pipe(HttpClientRequest.bearerToken(token), HttpClientRequest.setHeaders(headers)))
    )
    return Effect.runPromise(
      Effect.scoped(Effect.flatMap(clientOf, ask)).pipe(
        Effect.provide(Layer.merge(layer, bearer)),
        Effect.provideService(Gateway, gateway)
      )
    )
  }
}

/** The tag of what a promise rejects with. */
export const refusalOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise
  } catch (error) {
    return String(Reflect.get(error as object, "_tag"))
  }
  throw new Error("it was not refused")
}
