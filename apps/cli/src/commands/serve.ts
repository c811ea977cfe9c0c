// Serve: one process of a deployment, until it is asked to stop.
// Owns the role of the process and where it listens. Leaves requests to serving/door.ts, assistants to the fleet.
// S1  Asked to stop, it takes in nothing more, lets the work in hand end or leaves it for others, and then ends.
// S2  It listens on this machine only, unless a token guards it or somebody says that something else does.

import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Fleet, type FleetRole, viewOf } from "reverie"
import { CommandFailed } from "../failure.ts"
import { loadFleet } from "../fleet-file.ts"
import { note, painted } from "../output.ts"
import { type Behind, openDoor } from "../serving/door.ts"
import { isLoopback } from "../serving/guard.ts"
import type { Stop } from "../stop.ts"

export interface ServeOptions {
  readonly role: FleetRole
  readonly fleet: string
  readonly data: string | undefined
  readonly model: string
  readonly host: string
  readonly port: number
  /** Something else guards it. */
  readonly open: boolean
  readonly allowHost?: ReadonlyArray<string>
  readonly concurrency?: number
}

const behindOf = (fleet: Fleet): Behind => ({
  views: async (after, limit) => (await fleet.list(after, limit)).map(viewOf),
  post: (to, event, options) => fleet.post(to, event, options),
  ready: () => fleet.inspect(fleet.reception),
  metrics: () => fleet.metrics()
})

const listening = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const where = `${host}:${port}`
      reject(new CommandFailed("port-unusable", `${where} can not be listened on: ${error.code ?? error.message}`))
    })
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })

const tokenFor = ({ host, open }: ServeOptions): string | undefined => {
  const token = process.env["REVERIE_TOKEN"] ?? ""
  if (token !== "") return token
  if (isLoopback(host) || open) return undefined
  throw new CommandFailed(
    "usage",
    `${host} is reached by others: set REVERIE_TOKEN, or say --open if something guards it`
  )
}

export const serve = async (options: ServeOptions, stop: Stop): Promise<number> => {
  const token = tokenFor(options)
  const { concurrency, data, host, model, port, role } = options
  await using fleet = await Fleet.open({
    fleet: await loadFleet(options.fleet),
    role,
    ...(data === undefined ? {} : { data }),
    ...(model === "offline" ? { model: "offline" as const } : {}),
    ...(concurrency === undefined ? {} : { worker: { concurrency } }),
    onTrouble: ({ assistant }, failure) => note(`${painted("yellow", assistant)} can not work here: ${failure.message}`)
  })
  const withApi = role !== "worker"
  const server = openDoor(behindOf(fleet), {
    withApi,
    ...(token === undefined ? {} : { token }),
    hosts: options.allowHost ?? []
  })
  const address = await listening(server, port, host)
  note(
    `${role} on http://${host.includes(":") ? `[${host}]` : host}:${address.port} (${fleet.profile}); Ctrl-C ends it`
  )
  try {
    const ended = fleet.ended.then((failure) => {
      throw failure ?? new CommandFailed("unexpected", "the fleet was closed")
    })
    return await stop.orAsked(ended)
  } finally {
    await closed(server)
  }
}
