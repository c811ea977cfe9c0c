// InProcess: the contract's handlers, asked by their own process without a socket.
// Owns mounting a group when it is first asked, and what stands in where no server runs. Leaves answers to the groups.
// I1  A request takes the way that one of a socket takes, from the router on: what it asks and what is answered fit the
//     contract. Guard, bounds of a body and the audit log are for those who come from outside.
// I2  What the fleet rejects with is thrown as it is, a bug too: the process asks itself, and there is no log of a server to
//     look into.
// I3  Nothing is kept between two requests: every answer is read for itself.
// I4  What is loaded is the group that is asked: the others are not.

import type { TenantId } from "@reverie/protocol"
import type { Fleet, FleetDefinition, FleetReader } from "reverie"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Access, Principal } from "../api/access.ts"
import { AssistantsApi } from "../api/assistants.ts"
import { Conflict } from "../api/errors.ts"
import { Gateway, type ReadFleet } from "../gateway.ts"
import type { assistantsLive } from "./assistants.ts"
import { fittingLive } from "../http/admitted.ts"
import { Drops, Live } from "../live.ts"

/** Of each group: its handlers, loaded when it is asked. */
const groups = {
  assistants: async () => (await import("./assistants.ts")).assistantsLive,
  messages: async () => (await import("./assistant/messages.ts")).messagesLive,
  context: async () => (await import("./assistant/context.ts")).contextLive,
  timeline: async () => (await import("./assistant/timeline.ts")).timelineLive,
  memory: async () => (await import("./assistant/memory.ts")).memoryLive,
  night: async () => (await import("./assistant/night.ts")).nightLive,
  approvals: async () => (await import("./approvals.ts")).approvalsLive,
  subAgentTree: async () => (await import("./assistant/subagents.ts")).subAgentsLive,
  queues: async () => (await import("./queues.ts")).queuesLive,
  replay: async () => (await import("./assistant/replay.ts")).replayLive,
  prompts: async () => (await import("./prompts.ts")).promptsLive
} as const

export type MountedGroup = keyof typeof groups

export interface MountOptions {
  /** An open fleet, or a store that is only looked into. */
  readonly source: { readonly fleet: Fleet } | { readonly peek: FleetReader; readonly definition?: FleetDefinition }
  /** What it is, in words, without any secret. */
  readonly place: string
}

export interface Mounted {
  /** The client of a group, as `HttpApiClient.group` makes it of the contract. */
  readonly clientOf: (group: MountedGroup) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** A request needs an address, and this one leads nowhere. */
const HERE = "http://in-process.invalid"

const onlyLooked = (): never => {
  throw new Conflict({ message: "the store is only looked into here" })
}

/** What an open fleet answers of itself, answered for a store that no process of ours works on. */
const lookedAt = (peek: FleetReader, definition: FleetDefinition | undefined, place: string): ReadFleet => {
  const { approvals, blob, blocks, compactions, deadLetters, history, inspect, list, memory, outbox, prompts } = peek
  const { monitor, reminders, replay, subAgents, tenant, usage, views } = peek
  return {
    approvals,
    blob,
    blocks,
    compactions: { ...compactions, window: (id) => compactions.window(id, definition?.assistants) },
    deadLetters,
    history,
    inspect,
    list,
    memory,
    outbox,
    prompts,
    reminders,
    subAgents,
    tenant,
    usage,
    views,
    profile: place,
    definitions: async () =>
      definition === undefined ? [] : definition.assistants.map((await import("reverie")).definitionViewOf),
    vacuum: () => peek.due(definition),
    teams: () => [],
    on: () => () => {},
    monitor: { ...monitor, metrics: async () => "", otherWorkers: async () => undefined },
    replay: {
      ...replay,
      prompt: async () => undefined,
      beginning: async () => onlyLooked(),
      evalCase: async () => onlyLooked(),
      fork: async (request) => {
        const { forkTick } = await import("reverie")
        return definition === undefined ? onlyLooked() : forkTick(peek, definition, request)
      }
    }
  }
}

const sourceOf = ({ place, source }: MountOptions): { readonly fleet?: Fleet; readonly read: ReadFleet } => {
  if ("peek" in source) return { read: lookedAt(source.peek, source.definition, place) }
  // An id in a request is that id, and never a name of another.
  const fleet = source.fleet.forTenant(source.fleet.tenant, { exact: true })
  return { fleet, read: fleet }
}

/** A list is made for the question that needs one. */
const boardsOf = (read: ReadFleet): Live["Service"]["boards"] => ({
  of: async () => {
    const { Board } = await import("../board/board.ts")
    const board = new Board(read)
    await board.build(Date.now())
    return board
  },
  touch: () => {}
})

const accessOf = (tenant: TenantId) => {
  const principal = Principal.of({ tenant, name: "person", readOnly: false })
  return Layer.succeed(Access, Access.of({ bearer: (asked) => Effect.provideService(asked, Principal, principal) }))
}

/** No token is asked for. */
const asking = HttpApiMiddleware.layerClient(Access, ({ next, request }) => next(request))

type Group = (typeof AssistantsApi)["groups"]["assistants"]

/** The group that every command asks stands for itself; with any other the whole contract is loaded. */
const contractOf = async (name: MountedGroup): Promise<{ readonly groups: object }> =>
  name === "assistants" ? AssistantsApi : (await import("../api/index.ts")).Api

export const mountInProcess = (options: MountOptions): Mounted => {
  const { fleet, read } = sourceOf(options)
  const scope = Effect.runSync(Scope.make())
  const gateway: Gateway["Service"] = {
    fleetOf: () => fleet ?? onlyLooked(),
    readFleetOf: () => read,
    role: fleet === undefined ? "api" : "all",
    startedAt: Date.now(),
    onTrouble: () => {},
    isOwn: true,
    record: () => {},
    audited: () => []
  }
  const accessLive = accessOf(read.tenant)
  const drops = new Drops()
  fleet?.outbox.onRewritten(() => drops.drop())
  const live: Live["Service"] = {
    feed: undefined,
    boards: boardsOf(read),
    drops,
    isWhole: true,
    ownTenant: read.tenant,
    config: []
  }
  const mount = async (name: MountedGroup): Promise<unknown> => {
    // Which of them it is makes no difference to the router.
    const handlers = (await groups[name]()) as typeof assistantsLive
    const { [name]: group } = (await contractOf(name)).groups as Record<MountedGroup, Group>
    const only = HttpApi.make("reverie").add(group)
    const routes = HttpApiBuilder.layer(only).pipe(
      Layer.provide(handlers.pipe(Layer.provide([accessLive, fittingLive]))),
      Layer.provide([Layer.succeed(Gateway, gateway), Layer.succeed(Live, live), HttpServer.layerServices])
    )
    const app = await Effect.runPromise(Scope.provide(HttpRouter.toHttpEffect(routes), scope))
    const client = HttpClient.make((request) =>
      app.pipe(
        Effect.map((response) => HttpServerResponse.toClientResponse(response, { request })),
        Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromClientRequest(request)),
        Effect.provideService(Gateway, gateway),
        Effect.scoped,
        // A request that no route takes is a mistake of ours.
        Effect.orDie
      )
    )
    const httpClient = HttpClient.mapRequest(client, HttpClientRequest.prependUrl(HERE))
    return Effect.runPromise(
      HttpApiClient.group(only, { group: name as "assistants", httpClient }).pipe(Effect.provide(asking))
    )
  }
  const mounted = new Map<MountedGroup, Promise<unknown>>()
  return {
    clientOf: (name) => {
      const client = mounted.get(name) ?? mount(name)
      mounted.set(name, client)
      return client
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
