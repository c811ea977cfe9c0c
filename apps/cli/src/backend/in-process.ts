// InProcess: the contract without a server: its handlers, mounted over a store that this process has opened.
// Owns how a store is opened for a command, and what a hosted fleet knows by itself. Leaves requests to the handlers.
// S1  Only looking, it writes nothing and disturbs nothing. What it receives without a fleet file is durable, and heard by
//     anyone who works there next.
// S2  The parts of an answer, notices and rest of a hosted fleet come from the fleet itself: they are no requests, and this
//     process, which ends with the command, is where they happen.

import { mountInProcess } from "@reverie/server/in-process"
import { defined } from "@reverie/protocol"
import type { FleetDefinition, Part } from "reverie"
import { FleetReader } from "reverie/look"
import { CommandFailed } from "../failure.ts"
import type { Host } from "../host.ts"
import type { Stop } from "../running/stop.ts"
import { Backend } from "./backend.ts"
import { timed, type Transport } from "./transport.ts"

const LOOK_AGAIN_MILLIS = 2_000

/** Who may be told to tell a notice; a look hears none. */
const silent = () => () => {}

type Source = Parameters<typeof mountInProcess>[0]["source"]

interface Opened {
  readonly source: Source
  readonly place: string
  readonly stop: Stop
  readonly host?: Host
  readonly close: () => Promise<void>
}

const transportOf = ({ close, host, place, source, stop }: Opened): Transport => {
  const { clientOf, close: unmount } = mountInProcess({ source, place: `the store (${place})` })
  const fleet = "fleet" in source ? source.fleet : undefined
  return {
    kind: "store",
    place,
    isWorking: host !== undefined,
    clientOf,
    explained: (error) => error,
    ask: (id, text, question) => {
      if (fleet === undefined) throw new CommandFailed("unexpected", "a look was asked to change something")
      // What a JSON Schema makes of an answer is JSON.
      return fleet.ask(id, text, question) as AsyncIterable<Part>
    },
    rest: async () => host?.fleet.idle(),
    within: (work, timeoutMs) =>
      host === undefined ? timed(stop.orAsked(work), timeoutMs) : host.within(work, timeoutMs),
    listen: (listener) => fleet?.on("*", listener) ?? silent,
    changed: () => new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MILLIS)),
    ...defined({ store: "peek" in source ? source.peek : undefined }),
    close: async () => {
      await unmount()
      await close()
    }
  }
}

/** A store, and whose assistants of it. */
interface Store {
  readonly data: string | undefined
  readonly tenant?: string
}

/** A tenant that is named has something there: a wrong name finds nothing, and begins nothing. */
const openedFor = async ({ data, tenant }: Store): Promise<FleetReader> => {
  const peek = await FleetReader.open(data)
  if (tenant === undefined) return peek
  const there = await peek.tenants()
  await peek[Symbol.asyncDispose]()
  if (there.includes(tenant)) return FleetReader.open(data, tenant)
  throw new CommandFailed("usage", `there is no tenant "${tenant}" in ${data ?? "the database"}`, {
    hint: there.length === 0 ? "nothing is there yet" : `those there: ${there.join(", ")}`
  })
}

export const assertTenant = async (store: Store): Promise<void> => {
  if (store.tenant !== undefined) await (await openedFor(store))[Symbol.asyncDispose]()
}

/** Only looks. With a definition, a tick may be lived again beside the store. */
export const looking = async (store: Store, stop: Stop, definition?: FleetDefinition): Promise<Backend> => {
  const { data } = store
  const peek = await openedFor(store)
  const place = data === undefined ? "the servers of the environment" : `data directory ${data}`
  const source = { peek, ...defined({ definition }) }
  return new Backend(transportOf({ source, place, stop, close: async () => peek[Symbol.asyncDispose]() }))
}

/** Takes orders and lets others follow them: no assistant works here. */
export const ordering = async (store: Store, stop: Stop): Promise<Backend> => {
  // What is not there is not made.
  await (await openedFor(store))[Symbol.asyncDispose]()
  const { Fleet } = await import("reverie")
  const nobody = { assistants: [], defaultAssistant: "nobody" as never }
  const fleet = await Fleet.open({ fleet: nobody, role: "api", ...defined({ data: store.data, tenant: store.tenant }) })
  return new Backend(transportOf({ source: { fleet }, place: fleet.profile, stop, close: () => fleet.close() }))
}

/** Works: what is sent is followed as far as it comes by itself. */
export const hosting = (host: Host, stop: Stop): Backend => {
  const { fleet } = host
  const close = () => host[Symbol.asyncDispose]()
  return new Backend(transportOf({ source: { fleet }, place: fleet.profile, stop, host, close }))
}
