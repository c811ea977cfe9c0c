import { complaintOf } from "@reverie/testkit"
import { serverNames, type ServerName } from "@reverie/testkit/servers"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { registry, stopServers } from "../laws/registry.ts"
import { imageOf } from "./docker.ts"
import { groundOf, withGround } from "./ground.ts"

/** The adapters that talk to a server, by the names under which their laws are judged. */
const adapters: ReadonlyArray<readonly [adapter: string, server: ServerName]> = [
  ["store-postgres", "postgres"],
  ["recall-postgres", "postgres"],
  ["queue-bullmq", "redis"],
  ["queue-bullmq-postgres", "postgres"],
  ["recall-qdrant", "qdrant"]
]

const MINUTES = 60_000

const judgeAll = async (adapter: string): Promise<number> => {
  const suites = registry[adapter] ?? []
  let count = 0
  for (const { port, results, waivers } of suites) {
    assert.notInclude(port, "double")
    const judged = await Effect.runPromise(Effect.ensuring(results, Effect.promise(stopServers)))
    count += judged.length
    assert.deepStrictEqual(
      judged.flatMap((result) => {
        const complaint = complaintOf(result, waivers[result.id])
        return complaint === undefined ? [] : [`${port} ${result.id}: ${complaint}`]
      }),
      []
    )
  }
  return count
}

for (const [adapter, server] of adapters) {
  const ground = await groundOf(server)
  describe.skipIf(ground.start === undefined)(`${adapter} [${server}]`, () => {
    test(
      ground.start === undefined ? "every law holds" : `every law holds on ${ground.says}`,
      { timeout: 15 * MINUTES },
      () =>
        withGround(ground, async () => {
          assert.isAbove(await judgeAll(adapter), 0)
        })
    )
  })
}

describe("the images of docker-compose.yml", () => {
  for (const server of serverNames) {
    test(`${server} is named with its version`, () => {
      assert.match(imageOf(server), /^\S+:v?\d+\.\d+/)
    })
  }
})
