// Ground: the real server that a suite of the integration tests stands on.
// Owns the order: what the environment names, else a container where Docker is, else a server of this machine.
// Leaves starting them to docker and to testkit.
// G1  While a suite runs, the variable of its server (`REDIS_URL` ...) names the ground, and no longer.
// G2  A suite without ground is skipped, and the reason is told.

import { clauseOf, placeOf, type ServerName, startPostgres, startRedis, variableOf } from "@reverie/testkit/servers"
import { type Contained, imageOf, isDockerThere, startContainer } from "./docker.ts"

export interface Ground {
  readonly server: ServerName
  /** Where the server is from, or why there is none. */
  readonly says: string
  /** Undefined where there is none. */
  readonly start: (() => Promise<Contained>) | undefined
}

const onMachine: Readonly<Record<ServerName, () => Promise<Contained>>> = {
  redis: () => startRedis(),
  postgres: () => startPostgres({ fsync: false }),
  qdrant: () => Promise.reject(new Error("a Qdrant is not looked for on the machine"))
}

export const groundOf = async (server: ServerName): Promise<Ground> => {
  const place = placeOf(server)
  if (place.origin === "environment") {
    const contained = { url: place.url, stop: () => Promise.resolve() }
    return { server, says: clauseOf(server), start: () => Promise.resolve(contained) }
  }
  if (await isDockerThere()) {
    return { server, says: `${server} in Docker (${imageOf(server)})`, start: () => startContainer(server) }
  }
  if (place.origin === "machine") return { server, says: clauseOf(server), start: onMachine[server] }
  return { server, says: `${clauseOf(server)}; nor is a Docker engine here`, start: undefined }
}

export const withGround = async ({ server, start }: Ground, use: () => Promise<void>): Promise<void> => {
  if (start === undefined) throw new Error(`there is no ${server} to stand on`)
  const variable = variableOf[server]
  const before = process.env[variable]
  const { stop, url } = await start()
  process.env[variable] = url
  try {
    await use()
  } finally {
    if (before === undefined) delete process.env[variable]
    else process.env[variable] = before
    await stop()
  }
}
