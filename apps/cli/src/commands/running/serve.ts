// Serve: one process of a deployment, until it is asked to stop.
// Owns the role of the process and where it listens. Leaves requests to the server, assistants to the fleet.
// S1  Asked to stop, it takes in nothing more, lets the work in hand end or leaves it for others, and then ends.
// S2  It listens on this machine only, unless a token guards it or somebody says that something else does.

import { defined } from "@reverie/protocol"
import { Fleet, type FleetRole } from "reverie"
import { CommandFailed } from "../../failure.ts"
import { loadFleet } from "../../running/fleet-file.ts"
import { openFleetServer } from "../../running/fleet-server.ts"
import { IdleCollection } from "../../running/idle-collection.ts"
import { note, painted } from "../../output.ts"
import { isPageBuilt } from "../../running/page.ts"
import type { Stop } from "../../running/stop.ts"

export interface ServeOptions {
  readonly role: FleetRole
  readonly fleet: string
  readonly data: string | undefined
  readonly model: string
  /** Open a directory though it holds less than was acknowledged. */
  readonly force: boolean
  readonly host: string
  readonly port: number
  /** Something else guards it. */
  readonly open: boolean
  readonly allowHost?: ReadonlyArray<string>
  readonly page: boolean
  readonly concurrency?: number
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|::1)$/.test(host)

const hasToken = (): boolean => ["REVERIE_TOKEN", "REVERIE_TOKENS"].some((name) => (process.env[name] ?? "") !== "")

const assertGuarded = ({ host, open }: ServeOptions): void => {
  if (hasToken() || isLoopback(host) || open) return
  throw new CommandFailed(
    "usage",
    `${host} is reached by others: set REVERIE_TOKEN, or say --open if something guards it`
  )
}

/** Any page of the web may have its name lead here, and is then served like the page itself (DNS rebinding). */
const OPEN_TO_ANY_NAME = "--open without --allow-host: a request is served whatever Host it names; name yours"

export const serve = async (options: ServeOptions, stop: Stop): Promise<number> => {
  assertGuarded(options)
  const { allowHost = [], concurrency, data, force, host, model, open, port, role } = options
  await using fleet = await Fleet.open({
    fleet: await loadFleet(options.fleet),
    role,
    acceptLoss: force,
    ...defined({
      data,
      model: model === "offline" ? ("offline" as const) : undefined,
      worker: concurrency === undefined ? undefined : { concurrency }
    }),
    onTrouble: ({ assistant }, failure) => note(`${painted("yellow", assistant)} can not work here: ${failure.message}`)
  })
  const withPage = options.page && role !== "worker"
  const page = withPage ? "built" : "none"
  await using server = await openFleetServer({ fleet, role, data, host, port, open, hosts: allowHost, page })
  if (withPage && !isPageBuilt()) note(painted("dim", "no page is built: node apps/dashboard/build.ts builds it"))
  if (open && allowHost.length === 0 && !hasToken()) note(painted("yellow", OPEN_TO_ANY_NAME))
  note(`${role} on ${server.url} (${fleet.profile}); Ctrl-C ends it`)
  using _collection = IdleCollection.start()
  const ended = fleet.ended.then((failure) => {
    throw failure ?? new CommandFailed("unexpected", "the fleet was closed")
  })
  return await stop.orAsked(ended)
}
