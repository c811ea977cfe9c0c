// Servers: a deployment on PostgreSQL and Redis that are started for one attack.
// Owns starting them, and ending the processes of the fleet before their servers. Leaves the attack to the caller.

import { execFileSync } from "node:child_process"
import { placeOf, startPostgres, startRedis } from "@reverie/testkit/servers"
import type { Scene, Server, ServerOptions } from "./scene.ts"

export interface Deployment {
  readonly database: string
  readonly redis: string
  /** Redis forgets everything. */
  readonly emptyRedis: () => Promise<unknown>
  /** Of a process of the fleet in a role. */
  readonly options: (role: string) => ServerOptions
  readonly serve: (role: string) => Promise<Server>
}

const isOnThisMachine = (program: string): boolean => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** What this machine lacks of these servers and programs; undefined when nothing is missing. */
export const lacking =
  (programs: ReadonlyArray<string> = [], needed: ReadonlyArray<"redis" | "postgres"> = ["redis", "postgres"]) =>
  (): string | undefined => {
    const servers = needed.filter((name) => placeOf(name, { own: true }).origin === undefined)
    const absent = [...servers, ...programs.filter((program) => !isOnThisMachine(program))]
    return absent.length === 0 ? undefined : `${absent.join(" and ")} on this machine`
  }

export const onServers = async <A>(
  scene: Scene,
  attack: (deployment: Deployment) => Promise<A>,
  common: ServerOptions = {}
): Promise<A> => {
  const [postgres, redis] = await Promise.all([
    startPostgres({ own: true, fsync: false }),
    startRedis({ own: true, durable: false })
  ])
  const env = { ...common.env, DATABASE_URL: postgres.url, REDIS_URL: redis.url }
  const options = (role: string): ServerOptions => ({ ...common, data: null, args: ["--role", role], env })
  try {
    return await attack({
      database: postgres.url,
      redis: redis.url,
      emptyRedis: () => redis.send("FLUSHALL"),
      options,
      serve: (role) => scene.serve(options(role))
    })
  } finally {
    // The processes of the fleet go first: one that is left without its database only complains.
    await scene.close()
    await Promise.all([postgres.stop(), redis.stop()])
  }
}
