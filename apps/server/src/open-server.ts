// Server: the HTTP face of one process of a fleet.
// Owns what it is opened with, listening and closing. Leaves what a request goes through to front.ts, routes to the groups,
// who may come in to guard.ts, what happens to the fleet.
// S1  It listens where it says, answers `/livez` from then on, and `/readyz` well only while its store answers.
// S2  Closed, it takes in nothing more, ends its streams, and leaves the fleet open.

import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Fleet, FleetRole } from "reverie"
import { endRuns } from "./ag-ui/index.ts"
import { openApi } from "./api-handler.ts"
import { Audit, type Gateway } from "./gateway.ts"
import { Boards } from "./board/boards.ts"
import { Drops } from "./live.ts"
import { ListenRefused } from "./errors.ts"
import { eventDoor } from "./feed/event-door.ts"
import { Feed } from "./feed/feed.ts"
import { type Outbox, OutboxReader } from "./feed/outbox-reader.ts"
import { refuseUnread } from "./http/answer.ts"
import { Front } from "./http/front.ts"
import { Guard, isLoopback, type Token } from "./http/guard.ts"
import { plainOf } from "./health.ts"
import { LoopWatch } from "./loop-watch.ts"
import { mcpMount } from "./mcp/mount.ts"
import { Page } from "./http/page.ts"
import { Patience } from "./http/patience.ts"
import { Shortcut } from "./http/shortcut.ts"
import { Traffic } from "./http/traffic.ts"

export interface ServerOptions {
  /** The fleet of the tenant that this machine itself is served for; others are reached by their tokens. */
  readonly fleet: Fleet
  readonly role: FleetRole
  /** "127.0.0.1" when not said. */
  readonly host?: string
  /** 0, any that is free, when not said. */
  readonly port?: number
  /** With none only this machine is served. */
  readonly tokens: ReadonlyArray<Token>
  /** Something else guards it: without tokens others are served too, under `hosts` where any is named. */
  readonly open?: boolean
  /** Names under which it is asked, besides those of this machine. */
  readonly hosts?: ReadonlyArray<string>
  /** The folder of the built page; without it there is none. */
  readonly page?: string
  /** Where it is written down who changed what; only in memory when not said. */
  readonly auditFile?: string
  /** Event streams of one token at once; 256 when not said. */
  readonly maxStreams?: number
  /** What the process stands on, each with where it comes from, secrets masked: for the system page. */
  readonly config?: ReadonlyArray<{ readonly name: string; readonly value: string; readonly origin: string }>
  /** Where false, messages and event streams go through the router too; both ways answer the same. */
  readonly shortcut?: boolean
  /** Told of what went wrong while answering, one line each, without secrets. */
  readonly onTrouble?: (line: string) => void
}

export interface RunningServer {
  /** `http://host:port`. */
  readonly url: string
  readonly port: number
  readonly close: () => Promise<void>
}

const LOCAL = "127.0.0.1"
const MAX_STREAMS = 256
const BEAT_MILLIS = 15_000
const POLL_MILLIS = 250
/** Connections that wait to be taken. A client that finds no place waits a second before it tries again: 511 are too few. */
const BACKLOG = 4_096
/** What is being answered has so long to end. */
const GRACE_MILLIS = 3_000

/** A hundred who listen learn of it 30 milliseconds later. */
const gathering = (streams: number): number => Math.min(50, 5 + streams / 4)

const limits = {
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  // Anyone who says no Host is judged like anyone who says a wrong one.
  requireHostHeader: false
}

const listening = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "something else listens there" : (error.code ?? error.message)
      const message = `${host}:${port} can not be listened on: ${why}`
      reject(new ListenRefused({ host, port, code: error.code ?? "unknown", message }))
    })
    server.listen({ port, host, backlog: BACKLOG }, () => resolve(server.address() as AddressInfo))
  })

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), GRACE_MILLIS)
    // A connection whose answer has just ended is idle only a moment later.
    const idle = setInterval(() => server.closeIdleConnections(), 20)
    server.close(() => {
      clearTimeout(force)
      clearInterval(idle)
      resolve()
    })
    server.closeIdleConnections()
  })

const outboxOf = (fleet: Fleet): Outbox => ({
  read: (after, limit) => fleet.outbox.read(after, limit),
  end: () => fleet.outbox.end(),
  listen: (listener) => fleet.outbox.onEvery(listener)
})

/**
 * What is made for a tenant is made once. Only tokens name tenants: there are as many as those say. An id in a path is that
 * id: what a name means is for programs and assistants, and would reach another one than the same path reads.
 */
const fleetsOf = (fleet: Fleet): ((tenant: string) => Fleet) => {
  const known = new Map<string, Fleet>()
  return (tenant) => {
    const found = known.get(tenant) ?? fleet.forTenant(tenant, { exact: true })
    known.set(tenant, found)
    return found
  }
}

type PartsOptions = Pick<ServerOptions, "auditFile" | "config" | "fleet" | "maxStreams" | "onTrouble" | "role">

/** Everything behind the listener, and how it ends. */
export const openParts = async (options: PartsOptions, traffic: Traffic) => {
  const { fleet, maxStreams = MAX_STREAMS, role } = options
  const onTrouble = options.onTrouble ?? (() => {})
  const audit = new Audit(options.auditFile, onTrouble)
  const fleetOf = fleetsOf(fleet)
  const readFleetOf = fleetOf
  const outbox = outboxOf(fleet)
  const gatherMillis = () => gathering(feed.size)
  const reader = new OutboxReader({ outbox, gatherMillis, pollMillis: POLL_MILLIS, onTrouble })
  const counted = { onOpen: () => traffic.streamOpened(), onClose: () => traffic.streamClosed() }
  const feed: Feed = new Feed({ outbox, reader, maxStreams, beatMillis: BEAT_MILLIS, ...counted })
  const boards = new Boards(fleetOf, reader)
  const gateway: Gateway["Service"] = {
    fleetOf,
    readFleetOf,
    role,
    startedAt: Date.now(),
    onTrouble,
    record: (line) => audit.record(line),
    audited: (tenant, limit) => audit.of(tenant, limit)
  }
  const drops = new Drops()
  for (const each of [feed, boards]) drops.listen(() => each.drop())
  const stopDropping = fleet.outbox.onRewritten(() => drops.drop())
  const live = { feed, boards, drops, isWhole: false, ownTenant: fleet.tenant, config: options.config ?? [] }
  const api = await openApi(gateway, live)
  return {
    api,
    gateway,
    live,
    /** No one receives anything more. */
    silence: () => {
      stopDropping()
      feed.close()
      endRuns(gateway)
      boards.close()
      reader.close()
    },
    close: async () => {
      await api.close()
      await audit.flushed()
    }
  }
}

const refuseUnguarded = ({ host = LOCAL, open = false, port = 0, tokens }: ServerOptions): void => {
  if (tokens.length > 0 || open || isLoopback(host)) return
  const message = `${host} is reached by others: give it a token, or say that something else guards it`
  throw new ListenRefused({ host, port, code: "unguarded", message })
}

/** Listens; rejects with `ListenRefused` when it can not. */
export const openServer = async (options: ServerOptions): Promise<RunningServer> => {
  refuseUnguarded(options)
  const { fleet, host = LOCAL, hosts = [], open = false, role, tokens } = options
  const traffic = new Traffic()
  const patience = new Patience()
  const parts = await openParts(options, traffic)
  const page = options.page === undefined || role === "worker" ? undefined : new Page(options.page)
  const mcp = mcpMount(parts.gateway, parts.live.drops)
  const watch = new LoopWatch().start()
  const hasShortcut = role !== "worker" && options.shortcut !== false
  let isClosing = false
  const guard = new Guard({ tokens, tenant: fleet.tenant, open, hosts })
  const front = new Front({
    guard,
    patience,
    traffic,
    plain: plainOf({ fleet, role, traffic, patience, watch, isClosing: () => isClosing }),
    mounts: new Map([["/mcp", mcp.answer]]),
    withApi: role !== "worker",
    doors: new Map(hasShortcut ? [["system.events", eventDoor(parts.live.feed, parts.gateway.onTrouble)]] : []),
    api: parts.api.handle,
    page: async (request, response, path) => (await page?.answer(request, response, path)) ?? false,
    isClosing: () => isClosing,
    onTrouble: parts.gateway.onTrouble
  })
  const { boards } = parts.live
  const long = front.handle
  const handle = hasShortcut
    ? new Shortcut({ gateway: parts.gateway, boards, guard, traffic, isClosing: () => isClosing, long }).handle
    : long
  const server = createServer(limits, handle).on("clientError", refuseUnread)
  const { port } = await listening(server, options.port ?? 0, host).catch(async (error: unknown) => {
    await parts.close()
    throw error
  })
  // A fleet that is closed meanwhile needs nothing any more.
  if (role !== "api") fleet.warm().catch(() => {})
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    isClosing = true
    watch.stop()
    parts.silence()
    await mcp.close()
    await closed(server)
    await parts.close()
  }
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    close: () => (closing ??= close())
  }
}
