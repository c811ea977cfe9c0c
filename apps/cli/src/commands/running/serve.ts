// Serve: one process of a deployment, until it is asked to stop.
// Owns the role of the process, where it listens, and giving memory back at rest. Leaves requests to the server, assistants to the fleet.
// S1  Asked to stop, it takes in nothing more, lets the work in hand end for so long or leaves it for others, and then ends.
// S2  It listens on this machine only, unless a token guards it or someone says that something else does.

import { defined } from "@reverie/protocol"
import { Fleet, type FleetRole } from "reverie"
import { CommandFailed } from "../../failure.ts"
import { loadFleet } from "../../running/fleet-file.ts"
import { openFleetServer } from "../../running/fleet-server.ts"
import { note, painted } from "../../output.ts"
import { isPageBuilt } from "../../running/page.ts"
import type { Stop } from "../../running/stop.ts"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

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
  /** Seconds. */
  readonly grace: number
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
    onError: ({ assistant }, failure) => note(`${painted("yellow", assistant)} can not work here: ${failure.message}`)
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
  try {
    return await stop.orAsked(ended)
  } finally {
    // A fleet that has ended by itself keeps nothing more: there is nothing to wait for.
    if (stop.isAsked) {
      await server[Symbol.asyncDispose]()
      await closing(fleet, options.grace)
    }
  }
}

const QUIET_MILLIS = 500

/** Closes it, and says what it waits for where that takes its time. */
const closing = async (fleet: Fleet, grace: number): Promise<void> => {
  const waits = `waits up to ${grace} s for what runs to end; asked once more it ends at once`
  const saying = setTimeout(() => note(painted("dim", waits)), QUIET_MILLIS)
  try {
    await fleet.close({ graceMs: grace * 1_000 })
  } finally {
    clearTimeout(saying)
  }
}

// IdleCollection: gives back the memory that a burst of work has left behind, once the process is at rest.
// Owns when the heap is collected. V8 collects when something is allocated: a process that rests after a burst keeps all of
// its garbage for as long as it rests, several times what lives.
// I1  Nothing is collected while the process works: between two looks it has used less than a twentieth of a CPU.
// I2  Nothing is collected twice for the same garbage: only when the heap has grown by GROWN_BYTES since the last time.

const LOOK_MILLIS = 5_000
const CALM_SHARE = 0.05
/** Less is not worth the tenth of a second that a collection holds the event loop. */
const GROWN_BYTES = 64 * 1_024 * 1_024

export interface Figures {
  /** Milliseconds of a clock that only rises. */
  readonly now: number
  /** Milliseconds that the process has computed. */
  readonly cpu: number
  /** Bytes that the heap takes, garbage included. */
  readonly heap: number
}

const figures = (): Figures => {
  const { system, user } = process.cpuUsage()
  return { now: performance.now(), cpu: (system + user) / 1_000, heap: process.memoryUsage().heapTotal }
}

type Collect = () => void

/** Node has no call for it but this. */
const collector = (): Collect => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as (options: object) => void
  // Under other flags no code is taken that Node has kept compiled, and all of it is compiled and kept anew at the end.
  setFlagsFromString("--no-expose-gc")
  return () => collect({ type: "major", execution: "sync", flavor: "last-resort" })
}

export class IdleCollection implements Disposable {
  readonly #figures: () => Figures
  readonly #collect: Collect
  #last: Figures
  /** What the heap took after the last collection. */
  #kept = 0
  #timer: NodeJS.Timeout | undefined

  constructor(read: () => Figures, collect: Collect) {
    this.#figures = read
    this.#collect = collect
    this.#last = read()
  }

  /** Looks by itself until it is disposed; keeps no process alive. */
  static start(): IdleCollection {
    const collection = new IdleCollection(figures, collector())
    collection.#timer = setInterval(() => collection.look(), LOOK_MILLIS).unref()
    return collection
  }

  look(): void {
    const before = this.#last
    const seen = this.#figures()
    this.#last = seen
    const isCalm = seen.cpu - before.cpu < CALM_SHARE * (seen.now - before.now)
    if (!isCalm || seen.heap < this.#kept + GROWN_BYTES) return
    this.#collect()
    // A collection is no work that the next look should see.
    this.#last = this.#figures()
    this.#kept = this.#last.heap
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
