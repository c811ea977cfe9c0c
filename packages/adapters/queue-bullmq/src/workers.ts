// Workers: the processes that take wake-ups, by the names under which they are connected to the server.
// Owns what this process is called there, and reading who else is connected. Leaves naming the connection to BullMQ.
// N1  No two queues have the same name, and none has a character at which a server or a list of clients would part it.
// N2  A name is short enough for PostgreSQL, which cuts the name of a connection after 63 bytes.
// N3  Reading changes nothing. A server that does not answer, or may not tell, is no server without workers.

import { hostname } from "node:os"
import type { Carrier } from "./carriers/carrier.ts"
import type { Reach } from "./reach.ts"

export interface SeenWorker {
  /** Process id and machine: `4711@quay-2`. */
  readonly name: string
  /** True of the process that asks. */
  readonly isThis: boolean
}

const MOST_OF_HOST = 20

let opened = 0

/** What a queue that is opened now is called. In a container the machine is the container's id. */
export const newWorkerName = (host: string = hostname()): string => {
  const plain = host.replaceAll(/[^A-Za-z0-9._-]/g, "-").slice(0, MOST_OF_HOST)
  const which = opened++ === 0 ? "" : `/${opened}`
  return `${process.pid}@${plain}${which}`
}

/** Stands between the name of the queue and that of the worker. */
const MARK = ":w:"

/** Undefined when the server can not say. */
export const workersOf = async (
  { events, workerName }: Pick<Carrier, "events" | "workerName">,
  reach: Pick<Reach, "call">
): Promise<ReadonlyArray<SeenWorker> | undefined> => {
  try {
    const clients = await reach.call("say who works", () => events.getWorkers())
    const names = clients.map(({ rawname = "" }) => rawname.slice(rawname.lastIndexOf(MARK) + MARK.length))
    // Where a server keeps no list of its clients, BullMQ answers with one that has no name.
    if (clients.some(({ rawname }) => rawname?.includes(MARK) !== true)) return undefined
    return [...new Set(names)].toSorted().map((name) => ({ name, isThis: name === workerName }))
  } catch {
    return undefined
  }
}
