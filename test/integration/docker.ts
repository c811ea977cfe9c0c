// Docker: servers in containers, of the images that docker-compose.yml names.
// Owns how each is started and when it is ready. Leaves the containers' end to Testcontainers, which also removes those
// of a killed run.

import { readFileSync } from "node:fs"
import { request } from "node:http"
import type { ServerName } from "@reverie/testkit/servers"

const socketPath = "/var/run/docker.sock"

const answers = (): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request({ socketPath, path: "/_ping", timeout: 5_000 }, ({ statusCode }) => {
      resolve(statusCode === 200)
      asked.destroy()
    })
    asked.on("timeout", () => asked.destroy()).on("error", () => resolve(false))
    asked.end()
  })

/** Whether containers can be started here. An engine that DOCKER_HOST names is taken at its word. */
export const isDockerThere = (): Promise<boolean> =>
  process.env["DOCKER_HOST"] === undefined ? answers() : Promise.resolve(true)

/** The image that users are told to run. */
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

export const startContainer = async (server: ServerName): Promise<Contained> => {
  const { environment, port, ready, urlOf } = recipes[server]
  // Imported where it is used: it takes a second to load, and is not needed where no Docker is.
  const { GenericContainer, Wait } = await import("testcontainers")
  const container = await new GenericContainer(imageOf(server))
    .withEnvironment(environment)
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
