import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import { GenericContainer, Wait } from "testcontainers"
import { isDockerThere, sayAbsent } from "./docker.ts"

const isNamed = process.env["QDRANT_URL"] !== undefined
const isHere = isDockerThere || isNamed
if (!isHere) sayAbsent("QDRANT_URL")

/** The image that users are told to run. */
const imageOf = (service: string): string => {
  const compose = readFileSync(new URL("../../docker-compose.yml", import.meta.url), "utf8")
  const [, image] = new RegExp(`^ {2}${service}:\\n(?: {4}#.*\\n)* {4}image: (\\S+)`, "m").exec(compose) ?? []
  if (image === undefined) throw new Error(`docker-compose.yml names no image of ${service}`)
  return image
}

const HTTP_PORT = 6_333

/** The server that the environment names, or one in a container of its own. */
const withQdrant = async (use: () => Promise<void>): Promise<void> => {
  if (isNamed) return use()
  const container = await new GenericContainer(imageOf("qdrant"))
    .withExposedPorts(HTTP_PORT)
    .withWaitStrategy(Wait.forHttp("/readyz", HTTP_PORT))
    .start()
  process.env["QDRANT_URL"] = `http://${container.getHost()}:${container.getMappedPort(HTTP_PORT)}`
  try {
    await use()
  } finally {
    delete process.env["QDRANT_URL"]
    await container.stop()
  }
}

describe("a real Qdrant", () => {
  it("the image of docker-compose.yml is found", () => {
    assert.match(imageOf("qdrant"), /^qdrant\/qdrant:v1\.19\./)
  })

  it.runIf(isHere)("recall I1-I8: every law of recall holds on it", { timeout: 300_000 }, () =>
    withQdrant(async () => {
      // Imported now: it looks for the server when it is loaded.
      const { registry } = await import("../laws/registry.ts")
      const suites = registry["recall-qdrant"] ?? []
      assert.isNotEmpty(suites)
      for (const { port, results } of suites) {
        assert.include(port, "Qdrant at http")
        const judged = await Effect.runPromise(results)
        assert.isNotEmpty(judged)
        assert.deepStrictEqual(
          judged.filter(({ verdict }) => verdict !== "held"),
          []
        )
      }
    })
  )
})
