// Docker: servers in containers, of the images that docker-compose.yml names.
// Owns how each is started and when it is ready, and that a keeper outlives the run. Leaves the engine to engine.
// D1  A run that ends in any way, SIGKILL included, leaves no container behind: the keeper waits for it. Nothing else is
//     pulled for that.

import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import type { Socket } from "node:net"
import { fileURLToPath } from "node:url"
import type { ServerName } from "@reverie/testkit/servers"

/** The image that users are asked to run. */
export const imageOf = (service: ServerName): string => {
  const compose = readFileSync(new URL("../../docker-compose.yml", import.meta.url), "utf8")
  const [, image] = new RegExp(`^ {2}${service}:\\n(?: {4}#.*\\n)* {4}image: (\\S+)`, "m").exec(compose) ?? []
  if (image === undefined) throw new Error(`docker-compose.yml names no image of ${service}`)
  return image
}

export interface Contained {
  readonly url: string
  readonly stop: () => Promise<void>
}

interface Recipe {
  readonly port: number
  readonly environment: Readonly<Record<string, string>>
  readonly urlOf: (place: string) => string
  /** What its log says when it is ready, and how many times; an HTTP path instead, where it has one. */
  readonly ready: { readonly log: RegExp; readonly times: number } | { readonly path: string }
}

const recipes: Readonly<Record<ServerName, Recipe>> = {
  redis: {
    port: 6_379,
    environment: {},
    urlOf: (place) => `redis://${place}`,
    ready: { log: /Ready to accept connections/, times: 1 }
  },
  postgres: {
    port: 5_432,
    environment: { POSTGRES_USER: "reverie", POSTGRES_PASSWORD: "reverie" },
    urlOf: (place) => `postgres://reverie:reverie@${place}/reverie`,
    // It starts once to set itself up, and a second time to stay.
    ready: { log: /database system is ready to accept connections/, times: 2 }
  },
  qdrant: {
    port: 6_333,
    environment: {},
    urlOf: (place) => `http://${place}`,
    ready: { path: "/readyz" }
  }
}

/** Stands on every container of a run; its value is that of one process. */
export const LABEL = "reverie.integration"
const run = randomUUID()

let keeper: ChildProcess | undefined

/** Ends what carries our label as soon as this process is gone: then the pipe that it reads has closed. */
const keep = (): void => {
  if (keeper !== undefined) return
  const file = fileURLToPath(new URL("keeper-child.ts", import.meta.url))
  keeper = spawn(process.execPath, [file, `${LABEL}=${run}`], { detached: true, stdio: ["pipe", "ignore", "inherit"] })
  keeper.unref()
  // A pipe to a child is a socket, which its type does not say.
  ;(keeper.stdin as unknown as Socket).unref()
}

export const startContainer = async (server: ServerName): Promise<Contained> => {
  const { environment, port, ready, urlOf } = recipes[server]
  keep()
  // It would be a container of its own, of an image that an engine without network has not.
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true"
  // Imported where it is used: it takes a second to load, and is not needed where no Docker is.
  const { GenericContainer, Wait } = await import("testcontainers")
  const container = await new GenericContainer(imageOf(server))
    .withEnvironment(environment)
    .withLabels({ [LABEL]: run })
    .withExposedPorts(port)
    .withWaitStrategy("path" in ready ? Wait.forHttp(ready.path, port) : Wait.forLogMessage(ready.log, ready.times))
    .start()
  return {
    url: urlOf(`${container.getHost()}:${container.getMappedPort(port)}`),
    stop: async () => {
      await container.stop()
    }
  }
}
