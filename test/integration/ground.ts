// Ground: the real server that a suite of the integration tests stands on.
// Owns the order: what the environment names, else a container where Docker is, else a server of this machine.
// Leaves starting them to docker and to testkit.
// G1  While a suite runs, the variable of its server (`REDIS_URL` ...) names the ground, and no longer.
// G2  A suite without ground is skipped, and the reason is reported.
// G3  An engine that has no image of the server, and can not pull it, is passed over like one that is not there.

import { clauseOf, placeOf, type ServerName, startPostgres, startRedis, variableOf } from "@reverie/testkit/servers"
import { type Contained, imageOf, startContainer } from "./docker.ts"
import { type Engine, findEngine } from "./engine.ts"

export interface Ground {
  readonly server: ServerName
  /** Where the server is from, or why there is none. */
  readonly says: string
  /** Undefined where there is none. */
  readonly start: (() => Promise<Contained>) | undefined
  /** Why the engine has no container of it, where one answers: an image that can not be had. */
  readonly lack?: { readonly image: string; readonly reason: string }
}

const onMachine: Readonly<Record<ServerName, () => Promise<Contained>>> = {
  redis: () => startRedis(),
  postgres: () => startPostgres({ fsync: false }),
  qdrant: () => Promise.reject(new Error("a Qdrant is not looked for on the machine"))
}

/** What stands in for a container. */
const withoutContainer = (server: ServerName): Ground => {
  const isHere = placeOf(server).origin === "machine"
  if (isHere) return { server, says: clauseOf(server), start: onMachine[server] }
  return { server, says: `${clauseOf(server)}; nor does a Docker engine give one`, start: undefined }
}

export const groundOf = async (
  server: ServerName,
  engine: Promise<Engine | undefined> = findEngine()
): Promise<Ground> => {
  const place = placeOf(server)
  if (place.origin === "environment") {
    const contained = { url: place.url, stop: () => Promise.resolve() }
    return { server, says: clauseOf(server), start: () => Promise.resolve(contained) }
  }
  const found = await engine
  if (found === undefined) return withoutContainer(server)
  const image = imageOf(server)
  const reason = await found.lackOf(image)
  if (reason === undefined)
    return { server, says: `${server} in Docker (${image})`, start: () => startContainer(server) }
  const ground = withoutContainer(server)
  const why = `it has no ${image} and can not pull it: ${reason}`
  return { ...ground, says: `${ground.says} (a Docker engine answers, but ${why})`, lack: { image, reason } }
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
